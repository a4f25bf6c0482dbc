//! Files that nobody vouches for: one that never ends, or that waits for a writer, holds nobody up.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// Larger files are refused where nothing else is set, in bytes: nobody writes them, and each byte is looked at several
/// times.
pub const MAX_SIZE: u64 = 64 << 20;

/// A name that is the same for the same file, however its path is written, with `/` between folders.
#[must_use]
pub fn key(path: &Path) -> Arc<str> {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let mut plain = PathBuf::new();
    for part in whole.components() {
        match part {
            Component::ParentDir => _ = plain.pop(),
            other => plain.push(other),
        }
    }
    Arc::from(with_slashes(plain.to_string_lossy().into_owned()))
}

/// A path with `/` between folders, also where the system writes `\`: what is told of a file, for people and for the tools
/// that read it, is the same everywhere.
#[must_use]
pub fn with_slashes(path: String) -> String {
    if cfg!(windows) { path.replace('\\', "/") } else { path }
}

/// The text of a file; `None` if it cannot be read, is no regular file, is no UTF-8 text or has more than `max_size`
/// bytes. What it is, is asked of the open file, so that nobody can put another in its place meanwhile.
#[must_use]
pub fn text_of(path: &Path, max_size: u64) -> Option<String> {
    let file = open(path).ok()?;
    let found = file.metadata().ok()?;
    if !found.is_file() || found.len() > max_size {
        return None;
    }
    let mut bytes = Vec::with_capacity(usize::try_from(found.len()).unwrap_or_default());
    // It may grow while it is read.
    file.take(max_size + 1).read_to_end(&mut bytes).ok()?;
    if bytes.len() as u64 > max_size {
        return None;
    }
    String::from_utf8(bytes).ok()
}

/// Whether a file that a path inside one of `folders` names really lies in one of them: a link may lead elsewhere. What
/// is in none of the folders by its path either was chosen by somebody, and is no business of theirs.
#[must_use]
pub fn is_within(path: &Path, folders: &[PathBuf]) -> bool {
    if !folders.iter().any(|folder| path.starts_with(folder)) {
        return true;
    }
    let Ok(real) = path.canonicalize() else { return false };
    let real_folder = |folder: &PathBuf| folder.canonicalize().is_ok_and(|folder| real.starts_with(folder));
    folders.iter().any(real_folder)
}

/// Opens a file without waiting for the other end of a pipe.
#[cfg(unix)]
fn open(path: &Path) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    Ok(File::from(rustix::fs::open(path, flags, Mode::empty())?))
}

#[cfg(not(unix))]
fn open(path: &Path) -> io::Result<File> {
    File::open(path)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::io::Write as _;
    use std::sync::atomic::{AtomicBool, Ordering};

    #[test]
    fn what_is_no_text_of_that_size_is_not_read() {
        // Of these the system says that they are empty; they are not.
        let path = Path::new("/proc/self/status");
        assert_eq!(path.metadata().unwrap().len(), 0);
        assert!(text_of(path, 1 << 20).is_some_and(|text| text.contains("Pid:")));
        assert_eq!(text_of(path, 10), None);
        for path in ["/dev/zero", "/dev/tty", "/proc", "/no/such/file", "/proc/self/exe"] {
            assert_eq!(text_of(Path::new(path), 1 << 10), None, "{path}");
        }
    }

    #[test]
    fn a_file_that_grows_while_it_is_read_has_an_end() {
        let path = std::env::temp_dir().join(format!("llsd-grows-{}", std::process::id()));
        let mut file = File::create(&path).unwrap();
        let done = AtomicBool::new(false);
        let most = 1 << 16;
        std::thread::scope(|scope| {
            scope.spawn(|| {
                // As long as somebody reads it, and no further than a disk can bear.
                for _ in 0..1 << 14 {
                    if done.load(Ordering::Relaxed) || file.write_all(&[b'a'; 1 << 10]).is_err() {
                        break;
                    }
                }
            });
            let mut read = text_of(&path, most);
            while let Some(text) = read {
                assert!(text.len() as u64 <= most);
                read = text_of(&path, most);
            }
            done.store(true, Ordering::Relaxed);
        });
        assert!(path.metadata().unwrap().len() > most);
        std::fs::remove_file(path).unwrap();
    }
}
