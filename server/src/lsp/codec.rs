//! Messages on a byte stream: the header with the length, then JSON.

use serde_json::Value;
use std::io::{self, BufRead, Read, Write};
use tower_lsp::jsonrpc::{Error, Request, Response};

/// Bytes of a message at most: more than any file that is analysed, and a wrong header must not take all memory.
const MAX_LENGTH: usize = 256 << 20;
/// Bytes that are set aside for a message before any of it has come.
const FIRST_PIECE: usize = 1 << 16;
/// Bytes of a header line at most. The two that exist are shorter than 100.
const MAX_HEADER: u64 = 4096;
/// Header lines of one message, with the empty ones in front of it.
const MAX_LINES: usize = 64;

/// A message of the client, as far as JSON-RPC tells them apart.
#[derive(Debug)]
pub(super) enum Message {
    /// A request or a notification.
    Request(Request),
    /// An answer to a request of the server.
    Response(Response),
    /// Nothing that can be understood; the next message may be.
    Malformed(Error),
}

/// Reads one message. None: the stream has ended.
///
/// # Errors
/// If the stream fails, or holds something from which no next message can be found.
pub(super) fn read(input: &mut impl BufRead) -> io::Result<Option<Message>> {
    let Some(length) = read_header(input)? else { return Ok(None) };
    // A length alone takes no memory: the bytes have to come.
    let mut body = Vec::with_capacity(length.min(FIRST_PIECE));
    if Read::take(&mut *input, length as u64).read_to_end(&mut body)? < length {
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the stream ended inside a message"));
    }
    Ok(Some(parse(&body)))
}

/// Writes one message with its header.
pub(super) fn write(output: &mut impl Write, message: &impl serde::Serialize) -> io::Result<()> {
    let mut text = Text::new();
    serde_json::to_writer(text.body(), message)?;
    text.framed().write(output)
}

/// Room for the longest header.
const HEADER: usize = "Content-Length: 18446744073709551615\r\n\r\n".len();

/// A message in the making. Its header is put in front when the length is known, without moving the body.
#[derive(Debug)]
pub(super) struct Text(Vec<u8>);

impl Text {
    pub(super) fn new() -> Self {
        Self(vec![0; HEADER])
    }

    /// Where the JSON goes: append only.
    pub(super) fn body(&mut self) -> &mut Vec<u8> {
        &mut self.0
    }

    /// The text with its header in front, ready to be written.
    pub(super) fn framed(self) -> Framed {
        let mut bytes = self.0;
        let header = format!("Content-Length: {}\r\n\r\n", bytes.len() - HEADER);
        let start = HEADER - header.len();
        bytes[start..HEADER].copy_from_slice(header.as_bytes());
        Framed { bytes, start }
    }
}

/// A message as it goes over the wire.
#[derive(Debug)]
pub(super) struct Framed {
    bytes: Vec<u8>,
    start: usize,
}

impl Framed {
    /// The message without the header that a stream needs.
    #[cfg(target_family = "wasm")]
    pub(super) fn into_body(self) -> Vec<u8> {
        let mut bytes = self.bytes;
        bytes.drain(..HEADER);
        bytes
    }

    /// Writes it in one piece, so that a reader wakes once.
    pub(super) fn write(&self, output: &mut impl Write) -> io::Result<()> {
        output.write_all(&self.bytes[self.start..])?;
        output.flush()
    }
}

fn read_header(input: &mut impl BufRead) -> io::Result<Option<usize>> {
    let (mut length, mut line) = (None, Vec::new());
    for _ in 0..MAX_LINES {
        line.clear();
        if Read::take(&mut *input, MAX_HEADER).read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        let Ok(text) = std::str::from_utf8(&line) else { return Err(broken("a header that is not text")) };
        match (text.trim_end().split_once(':'), length) {
            (Some((name, value)), _) if name.eq_ignore_ascii_case("content-length") => {
                length = value.trim().parse().ok().filter(|length| *length <= MAX_LENGTH);
                if length.is_none() {
                    return Err(broken("a Content-Length that is no length"));
                }
            }
            (None, Some(length)) if text.trim_end().is_empty() => return Ok(Some(length)),
            // Other headers, and empty lines between messages, mean nothing.
            (Some(_), _) | (None, None) if text.trim_end().is_empty() || text.contains(':') => {}
            _ => return Err(broken("a header that is no header")),
        }
    }
    Err(broken("a header without an end"))
}

pub(super) fn parse(body: &[u8]) -> Message {
    // Some clients, eglot among them, send `"params": null` where the library wants none.
    const NO_PARAMS: &[u8] = b"\"params\":null";
    if body.windows(NO_PARAMS.len()).any(|part| part == NO_PARAMS)
        && let Ok(Value::Object(mut message)) = serde_json::from_slice(body)
        && message.get("params").is_some_and(Value::is_null)
    {
        message.remove("params");
        return parse(Value::Object(message).to_string().as_bytes());
    }
    // An answer reads as a request without a method.
    if let Some(request) = serde_json::from_slice(body).ok().filter(|request: &Request| !request.method().is_empty()) {
        return Message::Request(request);
    }
    if let Ok(response) = serde_json::from_slice(body) {
        return Message::Response(response);
    }
    Message::Malformed(match serde_json::from_slice::<Value>(body) {
        Ok(_) => Error::invalid_request(),
        Err(_) => Error::parse_error(),
    })
}

fn broken(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the client sent {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn all(mut bytes: &[u8]) -> Vec<String> {
        let mut kinds = Vec::new();
        loop {
            kinds.push(match read(&mut bytes) {
                Ok(Some(Message::Request(request))) => request.method().to_owned(),
                Ok(Some(Message::Response(response))) => format!("answer to {}", response.id()),
                Ok(Some(Message::Malformed(error))) => error.code.code().to_string(),
                Ok(None) => return kinds,
                Err(error) => {
                    kinds.push(error.to_string());
                    return kinds;
                }
            });
        }
    }

    fn framed(body: &str) -> String {
        format!("Content-Length: {}\r\n\r\n{body}", body.len())
    }

    #[test]
    fn a_broken_message_is_not_the_end() {
        let stream = [
            framed("{"),
            framed("[]"),
            framed(r#"{"jsonrpc":"2.0","method":"a"}"#),
            "\r\nContent-Type: x\r\ncontent-length:36\r\n\r\n".to_owned() + r#"{"jsonrpc":"2.0","id":7,"result":{}}"#,
        ];
        assert_eq!(all(stream.concat().as_bytes()), ["-32700", "-32600", "a", "answer to 7"]);
    }

    #[test]
    fn no_parameters_may_be_null() {
        let stream = framed(r#"{"jsonrpc":"2.0","id":1,"method":"shutdown","params":null}"#);
        let Ok(Some(Message::Request(request))) = read(&mut stream.as_bytes()) else { panic!("no request") };
        assert_eq!((request.method(), request.params()), ("shutdown", None));
    }

    #[test]
    fn what_is_no_stream_of_messages_ends() {
        assert_eq!(all(b"hello\n"), ["the client sent a header that is no header"]);
        assert_eq!(
            all(b"Content-Length: 999999999999\r\n\r\n"),
            ["the client sent a Content-Length that is no length"]
        );
        assert_eq!(all(b"Content-Length: 5\r\n\r\n{}"), ["the stream ended inside a message"]);
        assert_eq!(all(b"Content-Length: 5\r\n"), Vec::<String>::new());
        assert_eq!(all("a: b\r\n".repeat(1000).as_bytes()), ["the client sent a header without an end"]);
        assert_eq!(all(&[b'a'; 10_000]), ["the client sent a header that is no header"]);
    }

    #[test]
    fn what_is_written_can_be_read() {
        let mut bytes = Vec::new();
        write(&mut bytes, &json!({"jsonrpc": "2.0", "method": "é"})).unwrap();
        assert_eq!(all(&bytes), ["é"]);
    }
}
