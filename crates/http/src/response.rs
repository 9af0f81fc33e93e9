//! A response and its head.

use std::fmt::Write;

/// A status line without the version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status(&'static str);

impl Status {
    /// The resource is in the body.
    pub const OK: Self = Self("200 OK");
    /// The client already has the current version.
    pub const NOT_MODIFIED: Self = Self("304 Not Modified");
    /// The request is invalid.
    pub const BAD_REQUEST: Self = Self("400 Bad Request");
    pub(crate) const UNAUTHORIZED: Self = Self("401 Unauthorized");
    /// The resource does not exist.
    pub const NOT_FOUND: Self = Self("404 Not Found");
    pub(crate) const METHOD_NOT_ALLOWED: Self = Self("405 Method Not Allowed");
    pub(crate) const TARGET_TOO_LONG: Self = Self("414 URI Too Long");
    pub(crate) const MISDIRECTED: Self = Self("421 Misdirected Request");
    pub(crate) const HEAD_TOO_LARGE: Self = Self("431 Request Header Fields Too Large");
    /// The handler failed.
    pub const INTERNAL: Self = Self("500 Internal Server Error");
    /// The resource is not available now.
    pub const UNAVAILABLE: Self = Self("503 Service Unavailable");
    pub(crate) const VERSION: Self = Self("505 HTTP Version Not Supported");
}

/// A response.
#[derive(Debug)]
pub struct Response {
    pub(crate) status: Status,
    content_type: &'static str,
    pub(crate) body: Vec<u8>,
    /// `ETag` of the content; the same for every request of the same content.
    tag: Option<String>,
    header: Option<(&'static str, String)>,
}

impl Response {
    /// A line for people. Control characters are replaced, so it cannot move a terminal's cursor.
    pub fn text(status: Status, text: &str) -> Self {
        let visible = |c: char| if c.is_control() { '\u{fffd}' } else { c };
        let body = text.chars().map(visible).chain(['\n']).collect::<String>().into_bytes();
        let content_type = "text/plain; charset=utf-8";
        Self { status, content_type, body, tag: None, header: None }
    }

    /// A response with the resource.
    pub fn found(content_type: &'static str, body: Vec<u8>) -> Self {
        Self { status: Status::OK, content_type, body, tag: None, header: None }
    }

    /// A response to a client that already has the current version.
    pub fn not_modified(tag: String) -> Self {
        let content_type = "application/json";
        let (status, tag) = (Status::NOT_MODIFIED, Some(tag));
        Self { status, content_type, body: Vec::new(), tag, header: None }
    }

    /// Sets the version (`ETag`).
    #[must_use]
    pub fn with_tag(self, tag: String) -> Self {
        Self { tag: Some(tag), ..self }
    }

    pub(crate) fn with_header(self, name: &'static str, value: String) -> Self {
        Self { header: Some((name, value)), ..self }
    }

    /// Returns the head. Nothing in it comes from a request.
    pub(crate) fn head(&self, keep_alive: bool) -> String {
        let mut head = format!("HTTP/1.1 {}\r\n", self.status.0);
        let mut line = |name: &str, value: &str| {
            write!(head, "{name}: {value}\r\n").expect("a string takes everything");
        };
        line("Content-Type", self.content_type);
        // For a 304 the length would be that of the omitted body.
        if self.status != Status::NOT_MODIFIED {
            line("Content-Length", &self.body.len().to_string());
        }
        if let Some((name, value)) = &self.header {
            line(name, value);
        }
        if let Some(tag) = &self.tag {
            line("ETag", tag);
        }
        // With a tag a client may store the response, but must revalidate it. Without one it is useless later.
        line("Cache-Control", if self.tag.is_some() { "private, no-cache" } else { "no-store" });
        line("X-Content-Type-Options", "nosniff");
        // Foreign pages cannot embed the response either.
        line("Cross-Origin-Resource-Policy", "same-origin");
        line("Connection", if keep_alive { "keep-alive" } else { "close" });
        head.push_str("\r\n");
        head
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_client_has_is_not_sent_again() {
        let head = Response::not_modified("W/\"a\"".to_owned()).head(true);
        assert!(head.starts_with("HTTP/1.1 304 Not Modified\r\n"), "{head}");
        assert!(head.contains("\r\nETag: W/\"a\"\r\n") && head.ends_with("\r\n\r\n"), "{head}");
        assert!(!head.contains("Content-Length"), "{head}");
    }

    #[test]
    fn what_is_said_moves_no_cursor() {
        let response = Response::text(Status::OK, "a\x1b[2J\r\nSet-Cookie: x\u{9b}");
        assert_eq!(response.body, "a\u{fffd}[2J\u{fffd}\u{fffd}Set-Cookie: x\u{fffd}\n".as_bytes());
        assert!(response.head(false).contains("\r\nX-Content-Type-Options: nosniff\r\n"));
    }
}
