//! Text that a template engine, a shell or the user has still to fill in.

/// Who fills in a placeholder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placeholder {
    /// A tool: `{{ .Values.x }}`, `${NAME}`, `$name`.
    Template,
    /// A person fills it in before the file is used: `<namespace>`.
    ToFill,
}

/// Whether `text` has a placeholder. llama-stack's own `${env.NAME}` and Kubernetes' `$(NAME)` are none.
pub(crate) fn placeholder(text: &str) -> Option<Placeholder> {
    if text.contains("{{") || braces(text) || bare_variable(text) {
        return Some(Placeholder::Template);
    }
    // A script or a config in a block scalar may hold anything between angle brackets.
    (!text.contains('\n') && (angles(text) || words(text))).then_some(Placeholder::ToFill)
}

/// Whether `text` is for the reader to fill in.
pub(crate) fn is_to_fill(text: &str) -> bool {
    placeholder(text) == Some(Placeholder::ToFill)
}

/// `${NAME}`, `${NAME:-default}` and the like.
fn braces(text: &str) -> bool {
    // In a text of several lines, a script or a config, they belong to that language.
    !text.contains('\n')
        && text.match_indices("${").any(|(start, _)| {
            let rest = &text[start + 2..];
            !rest.starts_with("env.")
                && rest.starts_with(|char: char| char.is_ascii_alphabetic() || matches!(char, '_' | '{'))
        })
}

/// Whether the whole text is one variable of a shell: `$name`, `${name}`.
pub(crate) fn is_variable(text: &str) -> bool {
    let inner = text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
    bare_variable(text) || inner.is_some_and(|name| bare_variable(&format!("${name}")))
}

/// The whole text is `$name`.
fn bare_variable(text: &str) -> bool {
    text.strip_prefix('$').is_some_and(|name| {
        name.starts_with(|char: char| char.is_ascii_alphabetic() || char == '_')
            && name.chars().all(|char| char.is_ascii_alphanumeric() || char == '_')
    })
}

/// `PLACEHOLDER_URL`, `REPLACE_ME`, `TODO`, `__NAME__`, `xxxx`: a text without blanks that holds one of the words with which
/// examples mark what is to be replaced.
fn words(text: &str) -> bool {
    if text.is_empty() || text.contains(char::is_whitespace) {
        return false;
    }
    let inner = text.strip_prefix("__").and_then(|rest| rest.strip_suffix("__"));
    let is_name = |name: &str| {
        name.starts_with(|char: char| char.is_ascii_uppercase())
            && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
    };
    inner.is_some_and(is_name)
        || matches!(text, "REPLACE_ME" | "REPLACEME" | "REPLACE-ME")
        || text.split(|char: char| !char.is_ascii_alphanumeric()).any(|word| {
            matches!(word, "PLACEHOLDER" | "TODO" | "REPLACEME")
                || ((4..=16).contains(&word.len()) && word.bytes().all(|byte| byte.eq_ignore_ascii_case(&b'x')))
        })
}

/// `<name>` somewhere: words without blanks at the ends. `<1>`, a callout of a book, counts.
fn angles(text: &str) -> bool {
    text.match_indices('<').any(|(start, _)| {
        let rest = &text[start + 1..];
        let Some(end) = rest.find('>') else { return false };
        let inner = &rest[..end];
        !inner.is_empty()
            && inner.len() <= 64
            && inner.starts_with(|char: char| char.is_ascii_alphanumeric())
            && inner.ends_with(|char: char| char.is_ascii_alphanumeric())
            && inner.chars().all(|char| char.is_alphanumeric() || matches!(char, ' ' | '-' | '_' | '.' | '\''))
    })
}
