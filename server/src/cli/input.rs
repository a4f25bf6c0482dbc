//! Files named on the command line, and their texts.

use crate::workspace;
use std::collections::HashSet;
use std::fmt;
use std::fs;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// Larger files are refused: nobody writes them, and each byte is looked at several times.
pub(super) const MAX_SIZE: u64 = 64 << 20;

/// One place to read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// Standard input, written `-`.
    Stdin,
    /// A file.
    File(PathBuf),
}

impl Source {
    /// The source that an argument names.
    pub(super) fn named(argument: &Path) -> Self {
        if argument.as_os_str() == "-" { Self::Stdin } else { Self::File(argument.to_path_buf()) }
    }

    /// The same for the same file, however it was named, with `/` between folders.
    pub(super) fn key(&self) -> Arc<str> {
        let Self::File(path) = self else { return Arc::from(self.to_string()) };
        let whole = std::path::absolute(path).unwrap_or_else(|_| path.clone());
        let mut plain = PathBuf::new();
        for part in whole.components() {
            match part {
                Component::ParentDir => _ = plain.pop(),
                other => plain.push(other),
            }
        }
        Arc::from(plain.to_string_lossy().replace('\\', "/"))
    }

    /// Its text.
    pub(super) fn read(&self) -> Result<Arc<str>, Unreadable> {
        let refuse = |reason: String| Unreadable { source: self.clone(), reason };
        let bytes = match self {
            Self::Stdin => {
                let mut bytes = Vec::new();
                let read = io::stdin().lock().take(MAX_SIZE + 1).read_to_end(&mut bytes);
                read.map_err(|error| refuse(error.to_string()))?;
                bytes
            }
            Self::File(path) => read_file(path).map_err(refuse)?,
        };
        if bytes.len() as u64 > MAX_SIZE {
            return Err(refuse(too_large()));
        }
        text(bytes).map(Arc::from).map_err(refuse)
    }
}

impl fmt::Display for Source {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdin => out.write_str("<stdin>"),
            Self::File(path) => path.display().fmt(out),
        }
    }
}

/// A source without a text, and why.
#[derive(Clone, Debug)]
pub(super) struct Unreadable {
    source: Source,
    reason: String,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "cannot read {}: {}", self.source, self.reason)
    }
}

/// The files that arguments stand for: directories stand for the YAML files below them. Each file once, in the order
/// of the arguments. Arguments that stand for nothing are told apart.
pub(super) fn expand(arguments: &[PathBuf]) -> (Vec<Source>, Vec<Unreadable>) {
    let (mut sources, mut empty, mut seen) = (Vec::new(), Vec::new(), HashSet::new());
    for argument in arguments {
        let source = Source::named(argument);
        let found = match &source {
            Source::File(path) if path.is_dir() => {
                let files = workspace::manifests(path, &|| false);
                if files.is_empty() {
                    let reason = "no .yaml or .yml file in this directory".to_owned();
                    empty.push(Unreadable { source, reason });
                }
                files.into_iter().map(Source::File).collect()
            }
            _ => vec![source],
        };
        sources.extend(found.into_iter().filter(|source| seen.insert(source.to_string())));
    }
    (sources, empty)
}

fn read_file(path: &Path) -> Result<Vec<u8>, String> {
    let found = fs::metadata(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => "no such file".to_owned(),
        _ => error.to_string(),
    })?;
    if found.is_dir() {
        return Err("is a directory; name one file".to_owned());
    }
    if found.len() > MAX_SIZE {
        return Err(too_large());
    }
    fs::read(path).map_err(|error| error.to_string())
}

fn too_large() -> String {
    format!("larger than {} MiB", MAX_SIZE >> 20)
}

fn text(bytes: Vec<u8>) -> Result<String, String> {
    if bytes.starts_with(&[0xFF, 0xFE]) || bytes.starts_with(&[0xFE, 0xFF]) {
        return Err("is UTF-16; save it as UTF-8".to_owned());
    }
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let line = 1 + error.as_bytes()[..valid].iter().filter(|byte| **byte == b'\n').count();
        format!("is not UTF-8 (line {line}); save it as UTF-8")
    })
}

#[cfg(test)]
mod tests {
    use super::text;

    #[test]
    fn other_encodings_are_named() {
        assert_eq!(text(b"\xFF\xFEa\0".to_vec()).unwrap_err(), "is UTF-16; save it as UTF-8");
        assert_eq!(text(b"a: 1\nb: \xE4".to_vec()).unwrap_err(), "is not UTF-8 (line 2); save it as UTF-8");
        assert_eq!(text("é".into()).unwrap(), "é");
    }
}
