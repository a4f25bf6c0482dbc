//! Findings that are known and wait: `llsd check --baseline FILE` speaks of new ones only.
//!
//! A finding is the same as long as rule, file, place in the resource and words are the same. Lines may move, and so may
//! items of a list; of equal findings only as many are known as there were.

use super::report::Checked;
use crate::workspace;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Bytes of a baseline at most: larger files were not written by this program.
const MAX_SIZE: u64 = 256 << 20;
/// The version of the file's format, which it names itself: another one is refused, not guessed at.
const VERSION: u32 = 1;

/// The findings that are known.
#[derive(Debug, Default)]
pub(super) struct Baseline {
    /// How many there are of each.
    known: BTreeMap<Accepted, usize>,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Written {
    version: u32,
    findings: Vec<Entry>,
}

#[derive(Debug, Deserialize, Serialize)]
struct Entry {
    #[serde(flatten)]
    known: Accepted,
    count: usize,
}

/// What makes a finding the same as another one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
struct Accepted {
    /// Relative to the baseline's folder, with `/`.
    file: String,
    rule: String,
    /// Without the numbers of items.
    path: String,
    message: String,
}

impl Baseline {
    /// Reads a baseline.
    ///
    /// # Errors
    /// A sentence, if there is none or it is none.
    pub(super) fn read(path: &Path) -> Result<Self, String> {
        let told = |reason: &str| format!("cannot read the baseline {}: {reason}", path.display());
        if !path.exists() {
            return Err(told("no such file; --write-baseline makes one"));
        }
        let text = workspace::text_of(path, MAX_SIZE).ok_or_else(|| told("it is no file of text, or too large"))?;
        let written: Written = serde_json::from_str(&text).map_err(|error| told(&error.to_string()))?;
        if written.version != VERSION {
            return Err(told(&format!("it has version {}, and {VERSION} is known", written.version)));
        }
        let mut known = BTreeMap::new();
        for Entry { known: one, count } in written.findings {
            *known.entry(one).or_default() += count;
        }
        Ok(Self { known })
    }

    /// Takes what is known out of the findings of files. Returns how many that were, and how many known ones were not
    /// found any more.
    pub(super) fn hide(&self, path: &Path, files: &mut [Checked]) -> (usize, usize) {
        let mut left = self.known.clone();
        let mut hidden = 0;
        let folder = folder_of(path);
        for file in files {
            let name = relative(&file.name, &folder);
            file.retain(|found| {
                let known = left.get_mut(&Accepted {
                    file: name.clone(),
                    rule: found.code.to_owned(),
                    path: without_numbers(&found.path),
                    message: found.message.clone(),
                });
                match known {
                    Some(count) if *count > 0 => {
                        *count -= 1;
                        hidden += 1;
                        false
                    }
                    _ => true,
                }
            });
        }
        (hidden, left.values().sum())
    }

    /// Writes all findings of files as known.
    ///
    /// # Errors
    /// A sentence, if the file cannot be written.
    pub(super) fn write(path: &Path, files: &[Checked]) -> Result<usize, String> {
        let folder = folder_of(path);
        let mut known: BTreeMap<Accepted, usize> = BTreeMap::new();
        for file in files {
            let name = relative(&file.name, &folder);
            for found in &file.diagnostics {
                let one = Accepted {
                    file: name.clone(),
                    rule: found.code.to_owned(),
                    path: without_numbers(&found.path),
                    message: found.message.clone(),
                };
                *known.entry(one).or_default() += 1;
            }
        }
        let count = known.values().sum();
        let findings = known.into_iter().map(|(known, count)| Entry { known, count }).collect();
        let mut text = serde_json::to_string_pretty(&Written { version: VERSION, findings }).unwrap_or_default();
        text.push('\n');
        fs::write(path, text).map_err(|error| format!("cannot write the baseline {}: {error}", path.display()))?;
        Ok(count)
    }
}

fn folder_of(baseline: &Path) -> PathBuf {
    let whole = std::path::absolute(baseline).unwrap_or_else(|_| baseline.to_path_buf());
    whole.parent().map(Path::to_path_buf).unwrap_or_default()
}

/// A file's name as it is in the baseline: the same from whatever folder the check is run.
fn relative(name: &str, folder: &Path) -> String {
    let whole = super::input::Source::named(Path::new(name)).key();
    let folder = super::input::Source::named(folder).key();
    let inner = whole.strip_prefix(&*folder).and_then(|rest| rest.strip_prefix('/'));
    inner.unwrap_or(&whole).to_owned()
}

/// Replaces the numbers in a path, so that `a.b[2].c` and `a.b[3].c` are the same to a baseline.
fn without_numbers(path: &str) -> String {
    let mut plain = String::with_capacity(path.len());
    let mut rest = path;
    while let Some(at) = rest.find('[') {
        let (before, behind) = rest.split_at(at + 1);
        plain.push_str(before);
        rest = behind.trim_start_matches(|letter: char| letter.is_ascii_digit());
    }
    plain + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_may_move() {
        assert_eq!(
            without_numbers("spec.providers.inference[12].settings[\"a1\"]"),
            "spec.providers.inference[].settings[\"a1\"]"
        );
        assert_eq!(without_numbers("spec"), "spec");
    }

    #[test]
    fn names_do_not_depend_on_the_folder_of_the_run() {
        assert_eq!(relative("/team/a/../b.yaml", Path::new("/team")), "b.yaml");
        assert_eq!(relative("/other/b.yaml", Path::new("/team")), "/other/b.yaml");
        assert_eq!(relative("/teams/b.yaml", Path::new("/team")), "/teams/b.yaml");
    }
}
