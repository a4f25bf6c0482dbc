//! The two paths, with bounds on what is read and on how much is worked on at once.

use super::{VALIDATE_PATH, admit, convert, review::BadReview};
use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;

/// The path of the conversion webhook.
pub const CONVERT_PATH: &str = "/convert";

/// Bytes of a review. One object is at most three megabytes; a review of a list holds many.
const LARGEST: usize = 64 << 20;
/// Reviews that are worked on at once; each holds its objects in memory.
const AT_ONCE: usize = 8;
/// How long a caller may take to send a review.
const PATIENCE: Duration = Duration::from_secs(10);

type Answer = fn(&[u8]) -> Result<Value, BadReview>;

/// The service behind the TLS connections.
pub(super) fn router() -> Router {
    let permits = Arc::new(Semaphore::new(AT_ONCE));
    let route = |answer: Answer| {
        let permits = Arc::clone(&permits);
        post(move |body: Body| respond(Arc::clone(&permits), body, answer))
    };
    Router::new().route(CONVERT_PATH, route(convert::review)).route(VALIDATE_PATH, route(admit::review))
}

async fn respond(permits: Arc<Semaphore>, body: Body, answer: Answer) -> Response {
    // The semaphore is never closed.
    let _permit = permits.acquire().await;
    let bytes = match tokio::time::timeout(PATIENCE, to_bytes(body, LARGEST)).await {
        Ok(Ok(bytes)) => bytes,
        Ok(Err(error)) => {
            return (StatusCode::PAYLOAD_TOO_LARGE, format!("the review cannot be read: {error}")).into_response();
        }
        Err(_) => return (StatusCode::REQUEST_TIMEOUT, "the review did not arrive in time").into_response(),
    };
    // Judging takes milliseconds of CPU, a long list more: not on the threads that serve connections.
    match tokio::task::spawn_blocking(move || answered(&bytes, answer)).await {
        Ok(response) => response,
        Err(error) => {
            tracing::error!(%error, "a review ended without an answer");
            (StatusCode::INTERNAL_SERVER_ERROR, "internal error; the operator's log has more").into_response()
        }
    }
}

fn answered(bytes: &Bytes, answer: Answer) -> Response {
    match answer(bytes) {
        Ok(review) => ([(header::CONTENT_TYPE, "application/json")], review.to_string()).into_response(),
        Err(error) => (StatusCode::BAD_REQUEST, error.to_string()).into_response(),
    }
}
