//! As much of HTTP/1.1 as a service needs that is asked and answers: GET, keep-alive, no bodies.

use std::io::{self, BufRead, Read, Write};

/// All lines of a request's head together.
const MOST_HEAD_BYTES: u64 = 16 << 10;

/// A request.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) method: String,
    pub(super) path: String,
    /// Decoded, in the order in which they came.
    pub(super) query: Vec<(String, String)>,
    pub(super) authorization: Option<String>,
    /// The client has an answer with one of these tags, or with any (`*`).
    pub(super) if_none_match: Option<String>,
    pub(super) keep_alive: bool,
}

/// An answer.
#[derive(Debug)]
pub(super) struct Response {
    pub(super) status: &'static str,
    pub(super) content_type: &'static str,
    pub(super) body: Vec<u8>,
    /// Of what is in it, whenever it was asked for.
    pub(super) tag: Option<String>,
}

/// The next request; `None` at the end of the connection.
pub(super) fn read_request(stream: &mut impl BufRead) -> io::Result<Option<Request>> {
    let mut head = stream.take(MOST_HEAD_BYTES);
    let mut line = String::new();
    if head.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let mut words = line.split_ascii_whitespace();
    let (Some(method), Some(target), Some(version)) = (words.next(), words.next(), words.next())
    else {
        return Err(malformed("the first line is no request"));
    };
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut request = Request {
        method: method.to_owned(),
        path: path.to_owned(),
        query: query.split('&').filter(|pair| !pair.is_empty()).map(pair).collect(),
        authorization: None,
        if_none_match: None,
        keep_alive: version == "HTTP/1.1",
    };
    loop {
        let mut line = String::new();
        if head.read_line(&mut line)? == 0 {
            return Err(malformed("the head does not end"));
        }
        let line = line.trim_end();
        if line.is_empty() {
            return Ok(Some(request));
        }
        let (name, value) =
            line.split_once(':').ok_or_else(|| malformed("a header has no colon"))?;
        heed(&mut request, &name.to_ascii_lowercase(), value.trim())?;
    }
}

fn heed(request: &mut Request, name: &str, value: &str) -> io::Result<()> {
    match name {
        "authorization" => request.authorization = Some(value.to_owned()),
        "if-none-match" => request.if_none_match = Some(value.to_owned()),
        "connection" if value.eq_ignore_ascii_case("close") => request.keep_alive = false,
        "connection" if value.eq_ignore_ascii_case("keep-alive") => request.keep_alive = true,
        "transfer-encoding" => return Err(malformed("a body is not expected")),
        "content-length" if value != "0" => return Err(malformed("a body is not expected")),
        _ => {}
    }
    Ok(())
}

fn malformed(reason: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason)
}

fn pair(text: &str) -> (String, String) {
    let (key, value) = text.split_once('=').unwrap_or((text, ""));
    (decoded(key), decoded(value))
}

/// `%2F` and `+` to what they stand for; what stands for nothing stays.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let hex = after.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        match (first, hex.and_then(|hex| u8::from_str_radix(hex, 16).ok())) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            (b'+', _) => {
                bytes.push(b' ');
                rest = after;
            }
            _ => {
                bytes.push(first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

impl Request {
    /// The client has what has this tag (RFC 9110, weak comparison).
    pub(super) fn knows(&self, tag: &str) -> bool {
        let opaque = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
        let same = |one: &str| one.trim() == "*" || opaque(one) == opaque(tag);
        self.if_none_match.as_ref().is_some_and(|known| known.split(',').any(same))
    }
}

impl Response {
    pub(super) fn text(status: &'static str, text: &str) -> Self {
        let body = format!("{text}\n").into_bytes();
        Self { status, content_type: "text/plain; charset=utf-8", body, tag: None }
    }

    pub(super) fn found(content_type: &'static str, body: Vec<u8>) -> Self {
        Self { status: "200 OK", content_type, body, tag: None }
    }

    /// The client has it already.
    pub(super) fn not_modified(tag: String) -> Self {
        let (status, content_type) = ("304 Not Modified", "application/json");
        Self { status, content_type, body: Vec::new(), tag: Some(tag) }
    }

    pub(super) fn with_tag(self, tag: String) -> Self {
        Self { tag: Some(tag), ..self }
    }

    /// Two writes, for the body may be large: of a stream that does not wait to fill its segments.
    pub(super) fn write(&self, stream: &mut impl Write, keep_alive: bool) -> io::Result<()> {
        let challenge = if self.status.starts_with("401") {
            "WWW-Authenticate: Basic realm=\"rabbitscope\"\r\n"
        } else {
            ""
        };
        let tag = self.tag.as_ref().map_or_else(String::new, |tag| format!("ETag: {tag}\r\n"));
        // Of a 304 that would be the length of what is not sent.
        let length = if self.status.starts_with("304") {
            String::new()
        } else {
            format!("Content-Length: {}\r\n", self.body.len())
        };
        let head = format!(
            "HTTP/1.1 {}\r\nContent-Type: {}\r\n{length}{challenge}{tag}\
             Cache-Control: no-cache\r\nConnection: {}\r\n\r\n",
            self.status,
            self.content_type,
            if keep_alive { "keep-alive" } else { "close" },
        );
        stream.write_all(head.as_bytes())?;
        stream.write_all(&self.body)?;
        stream.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> io::Result<Option<Request>> {
        read_request(&mut text.as_bytes())
    }

    #[test]
    fn requests() {
        let text = "GET /queues?vhost=%2f&name=a+b%zz HTTP/1.1\r\nHost: x\r\n\
                    Authorization: Bearer t\r\nIf-None-Match: \"1\"\r\nConnection: close\r\n\r\n";
        let expected = Request {
            method: "GET".to_owned(),
            path: "/queues".to_owned(),
            query: vec![
                ("vhost".to_owned(), "/".to_owned()),
                ("name".to_owned(), "a b%zz".to_owned()),
            ],
            authorization: Some("Bearer t".to_owned()),
            if_none_match: Some("\"1\"".to_owned()),
            keep_alive: false,
        };
        assert_eq!(parse(text).unwrap(), Some(expected));
        assert_eq!(parse("").unwrap(), None);
    }

    #[test]
    fn what_is_no_request() {
        for text in [
            "\r\n",
            "GET /\r\n\r\n",
            "GET / HTTP/1.1\r\n",
            "GET / HTTP/1.1\r\nnonsense\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello",
        ] {
            assert!(parse(text).is_err(), "{text:?}");
        }
        let endless = format!("GET / HTTP/1.1\r\nX: {}", "y".repeat(20_000));
        assert!(parse(&endless).is_err());
    }

    #[test]
    fn what_the_client_has() {
        fn check(known: &str, expected: bool) {
            let request = Request { if_none_match: Some(known.to_owned()), ..Request::default() };
            assert_eq!(request.knows("W/\"a\""), expected, "{known}");
        }
        check("\"b\"", false);
        check("\"a\"", true);
        check("\"b\", W/\"a\"", true);
        check("*", true);
    }

    #[test]
    fn what_the_client_has_is_not_sent_again() {
        let mut sent = Vec::new();
        Response::not_modified("W/\"a\"".to_owned()).write(&mut sent, true).unwrap();
        let sent = String::from_utf8(sent).unwrap();
        assert!(sent.starts_with("HTTP/1.1 304 Not Modified\r\n"), "{sent}");
        assert!(sent.contains("\r\nETag: W/\"a\"\r\n") && sent.ends_with("\r\n\r\n"), "{sent}");
        assert!(!sent.contains("Content-Length"), "{sent}");
    }
}
