//! `textDocument/semanticTokens`: full, by range, and as the difference from the last full answer.

use crate::documents::Snapshot;
use crate::ide::{self, Analysis, Span, Token, TokenKind, shared_ends};
use crate::lsp::backend::{Backend, Shared};
use crate::lsp::convert::{self, Encoding};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tower_lsp::jsonrpc::Result;
use tower_lsp::lsp_types::{
    SemanticToken, SemanticTokenModifier, SemanticTokenType, SemanticTokens, SemanticTokensDelta,
    SemanticTokensDeltaParams, SemanticTokensEdit, SemanticTokensFullDeltaResult, SemanticTokensLegend,
    SemanticTokensParams, SemanticTokensRangeParams, SemanticTokensRangeResult, SemanticTokensResult, Url,
};

/// The names of tokens, in the order of [`number`]. All but the second are the protocol's own; that one is what
/// themes colour as an error.
pub(in crate::lsp) fn legend() -> SemanticTokensLegend {
    SemanticTokensLegend {
        token_types: vec![
            SemanticTokenType::PROPERTY,
            SemanticTokenType::new("unresolvedReference"),
            SemanticTokenType::TYPE,
            SemanticTokenType::VARIABLE,
            SemanticTokenType::ENUM_MEMBER,
            SemanticTokenType::MACRO,
        ],
        token_modifiers: vec![SemanticTokenModifier::DECLARATION, SemanticTokenModifier::DEPRECATED],
    }
}

fn number(kind: TokenKind) -> u32 {
    match kind {
        TokenKind::Key => 0,
        TokenKind::UnknownKey => 1,
        TokenKind::ProviderType => 2,
        TokenKind::Id => 3,
        TokenKind::Choice => 4,
        TokenKind::Placeholder => 5,
    }
}

/// The last full answer for each open document, to tell the next one as a difference.
#[derive(Debug, Default)]
pub(in crate::lsp) struct LastTokens {
    answers: Mutex<HashMap<Url, Answer>>,
    count: AtomicU64,
}

#[derive(Clone, Debug)]
struct Answer {
    id: String,
    tokens: Arc<[SemanticToken]>,
}

impl LastTokens {
    /// Forgets a document that was closed.
    pub(in crate::lsp) fn forget(&self, uri: &Url) {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner).remove(uri);
    }

    /// Remembers an answer. Returns it with its name, and the one before.
    fn remember(&self, uri: &Url, tokens: Vec<SemanticToken>) -> (Answer, Option<Answer>) {
        let id = self.count.fetch_add(1, Ordering::Relaxed).to_string();
        let answer = Answer { id, tokens: tokens.into() };
        let before = self.answers.lock().unwrap_or_else(PoisonError::into_inner).insert(uri.clone(), answer.clone());
        (answer, before)
    }
}

/// All tokens of the document.
pub(in crate::lsp) async fn full(
    backend: &Backend,
    params: SemanticTokensParams,
) -> Result<Option<SemanticTokensResult>> {
    let uri = params.text_document.uri;
    let Some(tokens) = backend.ask(&uri, "textDocument/semanticTokens/full", whole).await? else { return Ok(None) };
    let (answer, _) = backend.shared.tokens.remember(&uri, tokens);
    Ok(Some(SemanticTokensResult::Tokens(in_full(answer))))
}

/// What changed since the answer that the client names; all tokens if that is not the last one.
pub(in crate::lsp) async fn delta(
    backend: &Backend,
    params: SemanticTokensDeltaParams,
) -> Result<Option<SemanticTokensFullDeltaResult>> {
    let uri = params.text_document.uri;
    let query = backend.ask(&uri, "textDocument/semanticTokens/full/delta", whole);
    let Some(tokens) = query.await? else { return Ok(None) };
    let (answer, before) = backend.shared.tokens.remember(&uri, tokens);
    let before = before.filter(|before| before.id == params.previous_result_id);
    Ok(Some(match before {
        Some(before) => SemanticTokensFullDeltaResult::TokensDelta(SemanticTokensDelta {
            edits: difference(&before.tokens, &answer.tokens).into_iter().collect(),
            result_id: Some(answer.id),
        }),
        None => SemanticTokensFullDeltaResult::Tokens(in_full(answer)),
    }))
}

/// The tokens of a range.
pub(in crate::lsp) async fn range(
    backend: &Backend,
    params: SemanticTokensRangeParams,
) -> Result<Option<SemanticTokensRangeResult>> {
    let query = move |shared: &Shared, snapshot: &Snapshot, analysis: &Analysis| {
        let encoding = shared.client_capabilities().encoding;
        let span = convert::span(&snapshot.rope, params.range, encoding);
        let data = encode(snapshot, ide::tokens(analysis, Some(span)), encoding);
        SemanticTokensRangeResult::Tokens(SemanticTokens { result_id: None, data })
    };
    backend.ask(&params.text_document.uri, "textDocument/semanticTokens/range", query).await
}

fn whole(shared: &Shared, snapshot: &Snapshot, analysis: &Analysis) -> Vec<SemanticToken> {
    encode(snapshot, ide::tokens(analysis, None), shared.client_capabilities().encoding)
}

fn in_full(answer: Answer) -> SemanticTokens {
    SemanticTokens { result_id: Some(answer.id), data: answer.tokens.to_vec() }
}

/// Each token relative to the one before.
fn encode(snapshot: &Snapshot, tokens: Vec<Token>, encoding: Encoding) -> Vec<SemanticToken> {
    let mut last = tower_lsp::lsp_types::Position::default();
    let encode = |token: Token| {
        let Span { start, end } = token.span;
        let range = convert::range(&snapshot.rope, Span { start, end }, encoding);
        let same_line = range.start.line == last.line;
        let encoded = SemanticToken {
            delta_line: range.start.line - last.line,
            delta_start: range.start.character - if same_line { last.character } else { 0 },
            length: range.end.character.saturating_sub(range.start.character),
            token_type: number(token.kind),
            token_modifiers_bitset: u32::from(token.declaration) | u32::from(token.deprecated) << 1,
        };
        last = range.start;
        encoded
    };
    tokens.into_iter().map(encode).collect()
}

/// One edit that makes the old tokens the new ones; none if they are the same. The protocol counts numbers, five for
/// each token.
fn difference(old: &[SemanticToken], new: &[SemanticToken]) -> Option<SemanticTokensEdit> {
    let (head, tail) = shared_ends(old, new, |one, other| one == other);
    let (removed, added) = (old.len() - head - tail, &new[head..new.len() - tail]);
    let numbers = |tokens: usize| u32::try_from(tokens.saturating_mul(5)).unwrap_or(u32::MAX);
    (removed > 0 || !added.is_empty()).then(|| SemanticTokensEdit {
        start: numbers(head),
        delete_count: numbers(removed),
        data: (!added.is_empty()).then(|| added.to_vec()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(length: u32) -> SemanticToken {
        SemanticToken { delta_line: 1, delta_start: 0, length, token_type: 0, token_modifiers_bitset: 0 }
    }

    #[test]
    fn only_the_middle_is_sent_again() {
        let old = [token(1), token(2), token(3)];
        assert_eq!(difference(&old, &old), None);
        let edit = difference(&old, &[token(1), token(9), token(8), token(3)]).unwrap();
        assert_eq!((edit.start, edit.delete_count), (5, 5));
        assert_eq!(edit.data, Some(vec![token(9), token(8)]));
        let edit = difference(&old, &[token(1)]).unwrap();
        assert_eq!((edit.start, edit.delete_count, edit.data), (5, 10, None));
        let edit = difference(&[], &old).unwrap();
        assert_eq!((edit.start, edit.delete_count), (0, 0));
    }
}
