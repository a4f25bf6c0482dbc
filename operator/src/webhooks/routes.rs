//! The paths, with bounds on what is read and on how much is worked on at once.

use super::listener::Connection;
use super::{Surroundings, VALIDATE_OGX_PATH, VALIDATE_PATH, admit, admit_ogx, convert, review::BadReview};
use crate::lane::{LARGE, Lane};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::Extension;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use http_body_util::BodyExt as _;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinError;

/// The path of the conversion webhook.
pub const CONVERT_PATH: &str = "/convert";

/// Bytes of a review. It holds an object twice at most, and an object has 3 MiB at most; the API server converts lists
/// object by object.
const LARGEST: usize = 8 << 20;
/// Bytes of all large reviews that are arriving, waiting or being worked on, each beyond [`LARGE`]. Up to there every
/// connection has room: 8 MiB for all that there may be.
const BYTES: usize = 16 << 20;
/// Reviews that are worked on at once. More would only take memory: they wait for a processor.
const AT_ONCE: usize = 2;
/// How long a caller may take to send a review. The API server gives a webhook ten seconds in all.
const PATIENCE: Duration = Duration::from_secs(10);
/// While there is no room for more bytes, it is looked for so often.
const LOOK: Duration = Duration::from_millis(10);

/// What a path is for.
#[derive(Clone)]
enum Service {
    Convert,
    Admit {
        /// Judges a resource of its kind by itself.
        judge: fn(&[u8]) -> Result<admit::Admission, BadReview>,
        surroundings: Option<Surroundings>,
    },
}

/// What there is to say of a review.
enum Answer {
    Whole(String),
    /// Its surroundings may add to it.
    Admitted(admit::Admission),
}

impl Service {
    /// What there is to say of a review by itself.
    fn answer(&self, body: &[u8]) -> Result<Answer, BadReview> {
        match self {
            Self::Convert => convert::review(body).map(Answer::Whole),
            Self::Admit { judge, .. } => judge(body).map(Answer::Admitted),
        }
    }

    /// The text of an answer, with what the surroundings of the resource add.
    async fn text(&self, answer: Answer, workers: &Arc<Semaphore>) -> Result<String, JoinError> {
        let admit::Admission { review, passed } = match answer {
            Answer::Whole(text) => return Ok(text),
            Answer::Admitted(admission) => admission,
        };
        let (Self::Admit { surroundings: Some(surroundings), .. }, Some(passed)) = (self, passed) else {
            return Ok(review.to_string());
        };
        match surroundings.facts(passed.version, &passed.object, &passed.namespace).await {
            None => Ok(review.to_string()),
            Some(facts) => work(workers, move || passed.warned(review, &facts).to_string()).await,
        }
    }
}

/// Does what takes milliseconds of CPU, for some objects more: not on the threads that serve connections. The caller may
/// give up meanwhile, the work cannot; so it is the work that holds its place, and what it was given.
async fn work<T: Send + 'static>(
    workers: &Arc<Semaphore>,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, JoinError> {
    // The semaphore is never closed.
    let worker = Arc::clone(workers).acquire_owned().await.ok();
    let working = move || {
        let done = work();
        drop(worker);
        done
    };
    tokio::task::spawn_blocking(working).await
}

/// What all connections share: permits for work, and room in memory.
#[derive(Clone)]
struct Room {
    bytes: Arc<Semaphore>,
    workers: Arc<Semaphore>,
    /// Of large resources that are judged. Converting one is cheap, and a list of them is converted one by one.
    lane: Lane,
}

/// The service behind the TLS connections.
pub(super) fn router(surroundings: Option<Surroundings>) -> Router {
    let room = Room {
        bytes: Arc::new(Semaphore::new(BYTES)),
        workers: Arc::new(Semaphore::new(AT_ONCE)),
        lane: Lane::default(),
    };
    let route = |service: Service| {
        let room = room.clone();
        post(move |connection: Extension<Connection>, body: Body| {
            respond(room.clone(), connection.0, body, service.clone())
        })
    };
    let admit = |judge| route(Service::Admit { judge, surroundings: surroundings.clone() });
    Router::new()
        .route(CONVERT_PATH, route(Service::Convert))
        .route(VALIDATE_PATH, admit(admit::review))
        .route(VALIDATE_OGX_PATH, admit(admit_ogx::review))
}

async fn respond(room: Room, connection: Connection, body: Body, service: Service) -> Response {
    // Whoever sends slowly takes a connection and some bytes from others, but no worker.
    let (body, taken) = match tokio::time::timeout(PATIENCE, whole(&room.bytes, &connection, body)).await {
        Ok(Ok(whole)) => whole,
        Ok(Err(refusal)) => return refusal,
        Err(_) => return (StatusCode::REQUEST_TIMEOUT, "the review did not arrive in time").into_response(),
    };
    let is_large = matches!(service, Service::Admit { .. }) && body.len() > LARGE;
    // Whoever waits for the lane can still be cut to make room.
    let _turn = if is_large { Some(room.lane.turn().await) } else { None };
    let _busy = connection.busy();
    let by_itself = service.clone();
    let answered = match work(&room.workers, move || (by_itself.answer(&body), taken)).await {
        Ok((Ok(answer), _taken)) => service.text(answer, &room.workers).await.map(Ok),
        Ok((Err(error), _)) => Ok(Err(error)),
        Err(error) => Err(error),
    };
    match answered {
        Ok(Ok(text)) => ([(header::CONTENT_TYPE, "application/json")], Bytes::from(text)).into_response(),
        Ok(Err(error @ BadReview::Values)) => (StatusCode::PAYLOAD_TOO_LARGE, error.to_string()).into_response(),
        Ok(Err(error)) => (StatusCode::BAD_REQUEST, error.to_string()).into_response(),
        Err(error) => {
            tracing::error!(%error, "a review ended without an answer");
            (StatusCode::INTERNAL_SERVER_ERROR, "internal error; the operator's log has more").into_response()
        }
    }
}

/// The body, and the room that it takes. Where there is none for a large one, the oldest connection that has sent no
/// whole review makes some.
async fn whole(
    room: &Arc<Semaphore>,
    connection: &Connection,
    mut body: Body,
) -> Result<(Vec<u8>, Vec<OwnedSemaphorePermit>), Response> {
    let (mut bytes, mut taken) = (Vec::new(), Vec::new());
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| {
            (StatusCode::BAD_REQUEST, format!("the review cannot be read: {error}")).into_response()
        })?;
        let Some(data) = frame.data_ref() else { continue };
        if bytes.len() + data.len() > LARGEST {
            let text = format!("the review is larger than {LARGEST} bytes");
            return Err((StatusCode::PAYLOAD_TOO_LARGE, text).into_response());
        }
        let size = (bytes.len() + data.len()).saturating_sub(bytes.len().max(LARGE));
        let size = u32::try_from(size).unwrap_or(u32::MAX);
        let permit = loop {
            match Arc::clone(room).try_acquire_many_owned(size) {
                Ok(permit) => break permit,
                Err(_) => {
                    connection.make_room();
                    tokio::time::sleep(LOOK).await;
                }
            }
        };
        taken.push(permit);
        bytes.extend_from_slice(data);
    }
    Ok((bytes, taken))
}
