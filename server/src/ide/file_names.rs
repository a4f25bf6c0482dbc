//! Names of files: paths on the command line, URIs in an editor, with `/` between folders in both.

use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};
use std::borrow::Cow;

/// The folder of a file, with the slash at its end; empty where there is none.
pub(super) fn folder_of(file: &str) -> &str {
    file.rfind('/').map_or("", |at| &file[..=at])
}

pub(super) fn last_part(file: &str) -> &str {
    file.rsplit('/').next().unwrap_or(file)
}

/// The name of a file as seen from a folder, for a message.
pub(super) fn from_folder(folder: &str, file: &str) -> String {
    let shown = file.strip_prefix(folder).unwrap_or_else(|| last_part(file));
    if file.contains("://") { decoded(shown) } else { shown.to_owned() }
}

/// A part of a file's name without the escapes of a URI.
pub(super) fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8().map_or_else(|_| text.to_owned(), Cow::into_owned)
}

/// The file that a path in a folder leads to, written as the names of files are.
pub(super) fn relative(folder: &str, path: &str) -> String {
    let mut all = folder.trim_end_matches('/').to_owned();
    for part in path.split('/').filter(|part| !part.is_empty() && *part != ".") {
        if part == ".." {
            all.truncate(all.rfind('/').unwrap_or(0));
            continue;
        }
        // a file at the very top has no folder in front
        if !all.is_empty() || folder.starts_with('/') {
            all.push('/');
        }
        match folder.contains("://") {
            true => all.extend(utf8_percent_encode(part, ESCAPED)),
            false => all.push_str(part),
        }
    }
    all
}

/// As the file names of clients are written, see `lsp::convert::name`.
const ESCAPED: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'\\')
    .add(b'`')
    .add(b'{')
    .add(b'}')
    .add(b'^');

/// The last part of a file's name, as a person writes it.
pub(crate) fn file_name(file: &str) -> String {
    let last = last_part(file);
    if file.contains("://") { decoded(last) } else { last.to_owned() }
}

/// The way from a folder to a file or folder, as a kustomization writes it.
pub(super) fn way(folder: &str, target: &str) -> String {
    let (start, end): (Vec<&str>, Vec<&str>) =
        (folder.trim_end_matches('/').split('/').collect(), target.split('/').collect());
    let common = start.iter().zip(&end).take(end.len() - 1).take_while(|(one, other)| one == other).count();
    let up = start.len() - common.min(start.len());
    let up = if folder.is_empty() { 0 } else { up };
    let mut parts: Vec<String> = vec!["..".to_owned(); up];
    let uri = target.contains("://");
    parts.extend(
        end[common.min(end.len() - 1)..].iter().map(|part| if uri { decoded(part) } else { (*part).to_owned() }),
    );
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_lead_up_and_down() {
        for (folder, target, path) in [
            ("", "a.yaml", "a.yaml"),
            ("", "d/a.yaml", "d/a.yaml"),
            ("a/b/", "a/b/c.yaml", "c.yaml"),
            ("a/b/", "a/b/d/c.yaml", "d/c.yaml"),
            ("a/b/", "a/c.yaml", "../c.yaml"),
            ("a/b/", "x/c.yaml", "../../x/c.yaml"),
            ("file:///a/b/", "file:///a/c%20d.yaml", "../c d.yaml"),
        ] {
            assert_eq!(way(folder, target), path, "{folder} {target}");
            assert_eq!(relative(folder, path), target);
        }
    }

    #[test]
    fn paths_are_followed_as_names_of_files() {
        for (folder, path, file) in [
            ("", "a.yaml", "a.yaml"),
            ("", "a/b.yaml", "a/b.yaml"),
            ("a/", "./b.yaml", "a/b.yaml"),
            ("a/b/", "../c/d.yaml", "a/c/d.yaml"),
            ("/a/", "../../../b.yaml", "/b.yaml"),
            ("file:///a/", "b c.yaml", "file:///a/b%20c.yaml"),
            ("file:///a/", "é/(b).yaml", "file:///a/%C3%A9/(b).yaml"),
        ] {
            assert_eq!(relative(folder, path), file, "{folder} {path}");
        }
    }
}
