//! Rules of `x-kubernetes-validations`: what one entry says, and its program once it is compiled.

use super::program::Program;
use crate::path::Segment;
use serde_json::Value;
use std::sync::OnceLock;

/// A rule and its messages. It compiles when it is first needed.
#[derive(Debug)]
pub(crate) struct Rule {
    /// The CEL expression as it stands in the schema.
    pub(crate) source: String,
    pub(crate) message: String,
    pub(crate) reason: Option<String>,
    /// The place inside the value that the rule speaks of.
    pub(crate) field_path: Vec<Segment>,
    /// Whether the rule also runs without an old value.
    pub(crate) optional_old: bool,
    message_source: Option<String>,
    program: OnceLock<Result<Program, String>>,
    message_program: OnceLock<Option<Program>>,
}

impl Rule {
    pub(crate) fn read(value: &Value) -> Option<Self> {
        let text = |key: &str| value.get(key).and_then(Value::as_str);
        let source = text("rule").filter(|source| !source.trim().is_empty())?;
        Some(Self {
            source: source.to_owned(),
            message: text("message").unwrap_or_default().to_owned(),
            reason: text("reason").map(str::to_owned),
            field_path: text("fieldPath").map(read_field_path).unwrap_or_default(),
            optional_old: value.get("optionalOldSelf").and_then(Value::as_bool).unwrap_or(false),
            message_source: text("messageExpression").filter(|source| !source.trim().is_empty()).map(str::to_owned),
            program: OnceLock::new(),
            message_program: OnceLock::new(),
        })
    }

    /// The compiled rule, or why there is none.
    pub(crate) fn program(&self) -> Result<&Program, &str> {
        self.program.get_or_init(|| Program::compile(&self.source)).as_ref().map_err(String::as_str)
    }

    /// The compiled expression of the message, if there is one that compiles.
    pub(crate) fn message_program(&self) -> Option<&Program> {
        let source = self.message_source.as_ref()?;
        self.message_program.get_or_init(|| Program::compile(source).ok()).as_ref()
    }

    /// Why the rule cannot be checked here, if so.
    pub(crate) fn uncheckable(&self) -> Option<String> {
        self.program().err().map(str::to_owned)
    }

    /// How the API server names the rule in texts about it.
    pub(crate) fn shown(&self) -> &str {
        if self.message.is_empty() { self.source.trim() } else { self.message.trim() }
    }

    /// The message of a failed rule without `messageExpression`.
    pub(crate) fn plain_message(&self) -> String {
        if self.message.is_empty() { format!("failed rule: {}", self.source.trim()) } else { self.shown().to_owned() }
    }
}

/// Reads `.a['b'].c`. What cannot be read ends the path.
fn read_field_path(text: &str) -> Vec<Segment> {
    let mut steps = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        if let Some(behind) = rest.strip_prefix("['") {
            let mut name = String::new();
            let mut chars = behind.char_indices();
            let mut end = None;
            while let Some((at, c)) = chars.next() {
                match c {
                    '\\' => name.extend(chars.next().map(|(_, c)| c)),
                    '\'' => {
                        end = Some(at);
                        break;
                    }
                    c => name.push(c),
                }
            }
            let Some(behind) = end.and_then(|end| behind[end + 1..].strip_prefix(']')) else { break };
            steps.push(Segment::Key(name));
            rest = behind;
        } else if let Some(behind) = rest.strip_prefix('.') {
            let end = behind.find(['.', '[']).unwrap_or(behind.len());
            steps.push(Segment::Key(behind[..end].to_owned()));
            rest = &behind[end..];
        } else {
            break;
        }
    }
    steps
}
