//! Finds one file in a layer: a tar, plain or compressed with gzip, read once from front to back.

use flate2::read::MultiGzDecoder;
use std::io::{self, BufRead as _, BufReader, Read};
use tar::{Archive, EntryType};
use tokio::sync::mpsc::Receiver;

/// Bytes of a name that a tar keeps outside the header.
const NAME: u64 = 64 << 10;

/// The file that is looked for in a layer, and what unpacking may cost.
pub(super) struct Wanted {
    /// The file, with or without a leading `/`.
    pub(super) path: String,
    /// Bytes of the file at most; a larger one is an error.
    pub(super) size: usize,
    /// Bytes to unpack, at most.
    pub(super) unpacked: u64,
}

/// The file's content. Where it is there twice, the later one counts, as it does on disk.
///
/// Everything is read to the end, so that the sender can compare the layer with its digest.
pub(super) fn scan<B: AsRef<[u8]>>(chunks: Receiver<B>, wanted: &Wanted) -> io::Result<Option<Vec<u8>>> {
    let mut packed = BufReader::new(Chunks { chunks, current: None, at: 0 });
    let found = match packed.fill_buf()? {
        [0x1f, 0x8b, ..] => unpack(MultiGzDecoder::new(&mut packed), wanted),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Err(io::Error::other("layers compressed with zstd are not supported")),
        _ => unpack(&mut packed, wanted),
    }?;
    io::copy(&mut packed, &mut io::sink())?;
    Ok(found)
}

fn unpack(bytes: impl Read, wanted: &Wanted) -> io::Result<Option<Vec<u8>>> {
    let path = normal(wanted.path.as_bytes());
    let mut archive = Archive::new(Bounded { inner: bytes, left: wanted.unpacked, limit: wanted.unpacked });
    let mut found = None;
    // Names that do not fit into a header come in entries of their own. The library would read those into memory,
    // whatever their size.
    let mut long_name: Option<Vec<u8>> = None;
    for entry in archive.entries()?.raw(true) {
        let mut entry = entry?;
        match entry.header().entry_type() {
            EntryType::GNULongName => {
                let name = read_name(&mut entry)?;
                long_name = Some(name.split(|byte| *byte == 0).next().unwrap_or_default().to_vec());
            }
            EntryType::XHeader => {
                let records = read_name(&mut entry)?;
                long_name = pax_path(&records).or(long_name);
            }
            EntryType::XGlobalHeader | EntryType::GNULongLink => {}
            kind => {
                let name = long_name.take().unwrap_or_else(|| entry.path_bytes().into_owned());
                if !matches!(kind, EntryType::Regular | EntryType::Continuous) || normal(&name) != path {
                    continue;
                }
                let size = entry.header().entry_size()?;
                if size > wanted.size as u64 {
                    return Err(io::Error::other(format!("the config is larger than {} bytes", wanted.size)));
                }
                let mut content = Vec::new();
                entry.read_to_end(&mut content)?;
                found = Some(content);
            }
        }
    }
    Ok(found)
}

fn read_name(entry: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    entry.take(NAME).read_to_end(&mut text)?;
    Ok(text)
}

/// The path in the records of a pax header, each `LENGTH KEY=VALUE\n`.
fn pax_path(mut records: &[u8]) -> Option<Vec<u8>> {
    let mut path = None;
    loop {
        let space = records.iter().position(|byte| *byte == b' ')?;
        let length: usize = std::str::from_utf8(&records[..space]).ok()?.parse().ok()?;
        let record = records.get(space + 1..length)?;
        if let Some(value) = record.strip_prefix(b"path=") {
            path = Some(value.strip_suffix(b"\n").unwrap_or(value).to_vec());
        }
        records = &records[length..];
        if records.is_empty() {
            return path;
        }
    }
}

/// A path without `./` and `/` in front.
fn normal(mut path: &[u8]) -> &[u8] {
    loop {
        path = match path {
            [b'.', b'/', rest @ ..] | [b'/', rest @ ..] => rest,
            _ => return path,
        };
    }
}

/// Bytes that arrive in pieces.
struct Chunks<B> {
    chunks: Receiver<B>,
    current: Option<B>,
    at: usize,
}

impl<B: AsRef<[u8]>> Read for Chunks<B> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Some(current) = &self.current {
                let rest = &current.as_ref()[self.at..];
                if !rest.is_empty() {
                    let count = rest.len().min(buffer.len());
                    buffer[..count].copy_from_slice(&rest[..count]);
                    self.at += count;
                    return Ok(count);
                }
            }
            self.at = 0;
            self.current = self.chunks.blocking_recv();
            if self.current.is_none() {
                return Ok(0);
            }
        }
    }
}

/// Fails where more comes than was allowed: a few compressed bytes can unpack to any number.
struct Bounded<R> {
    inner: R,
    left: u64,
    limit: u64,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.left = self
            .left
            .checked_sub(count as u64)
            .ok_or_else(|| io::Error::other(format!("the layer unpacks to more than {} bytes", self.limit)))?;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write as _;

    fn tar(files: &[(&str, &[u8])]) -> Vec<u8> {
        let mut builder = tar::Builder::new(Vec::new());
        for (path, content) in files {
            let mut header = tar::Header::new_gnu();
            header.set_size(content.len() as u64);
            header.set_mode(0o644);
            builder.append_data(&mut header, path, *content).expect("an entry");
        }
        builder.into_inner().expect("a tar")
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).expect("it is written");
        encoder.finish().expect("it is packed")
    }

    fn find(layer: &[u8], path: &str) -> io::Result<Option<Vec<u8>>> {
        let (sender, receiver) = tokio::sync::mpsc::channel(layer.len() / 7 + 2);
        layer.chunks(7).for_each(|chunk| sender.try_send(chunk.to_vec()).expect("room"));
        drop(sender);
        scan(receiver, &Wanted { path: path.to_owned(), size: 1000, unpacked: 100_000 })
    }

    #[test]
    fn finds_files_plain_and_packed() {
        let long = format!("{}/config.yaml", "folder/".repeat(40));
        let layer =
            tar(&[("other", b"x"), ("app/config.yaml", b"one"), (&long, b"two"), ("app/config.yaml", b"three")]);
        for layer in [layer.clone(), gzip(&layer)] {
            assert_eq!(find(&layer, "/app/config.yaml").expect("a tar").as_deref(), Some(&b"three"[..]));
            assert_eq!(find(&layer, &long).expect("a tar").as_deref(), Some(&b"two"[..]));
            assert_eq!(find(&layer, "app").expect("a tar"), None);
        }
    }

    #[test]
    fn refuses_what_is_too_large_or_broken() {
        let message = |layer: &[u8]| find(layer, "config.yaml").expect_err("it is refused").to_string();
        assert!(message(&tar(&[("config.yaml", &[b'x'; 1001])])).contains("larger than 1000 bytes"));
        let bomb = gzip(&tar(&[("zeros", &vec![0; 1 << 20])]));
        assert!(bomb.len() < 20_000 && message(&bomb).contains("more than 100000 bytes"));
        assert!(message(&[0x28, 0xb5, 0x2f, 0xfd, 0, 0]).contains("zstd"));
        let whole = gzip(&tar(&[("config.yaml", b"one")]));
        assert!(find(&whole[..whole.len() / 2], "config.yaml").is_err());
        assert!(find(b"no tar at all, but some text that is long enough".repeat(20).as_slice(), "x").is_err());
    }

    #[test]
    fn reads_pax_paths() {
        assert_eq!(pax_path(b"12 path=a/b\n15 comment=abc\n").as_deref(), Some(&b"a/b"[..]));
        assert_eq!(pax_path(b"99 path=a"), None);
        assert_eq!(pax_path(b"x"), None);
        assert_eq!(pax_path(b"1 "), None);
    }
}
