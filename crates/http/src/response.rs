//! A response, its head and its body.

use std::{
    convert::Infallible,
    mem,
    pin::Pin,
    rc::Rc,
    task::{Context, Poll},
};

use hyper::{
    body::{Bytes, Frame, SizeHint},
    header::{HeaderMap, HeaderName, HeaderValue},
};

use super::{Broadcast, connection::Connection, events::Viewer};

/// Status of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status(u16);

impl Status {
    /// The resource is in the body.
    pub const OK: Self = Self(200);
    /// The client already has the current version.
    pub const NOT_MODIFIED: Self = Self(304);
    /// The request is invalid.
    pub const BAD_REQUEST: Self = Self(400);
    pub(crate) const UNAUTHORIZED: Self = Self(401);
    pub(crate) const FORBIDDEN: Self = Self(403);
    /// The resource does not exist.
    pub const NOT_FOUND: Self = Self(404);
    pub(crate) const METHOD_NOT_ALLOWED: Self = Self(405);
    pub(crate) const TARGET_TOO_LONG: Self = Self(414);
    pub(crate) const MISDIRECTED: Self = Self(421);
    /// The handler failed.
    pub const INTERNAL: Self = Self(500);
    /// The resource is not available now.
    pub const UNAVAILABLE: Self = Self(503);
}

/// Name of the header with the version.
const TAG: &str = "etag";

/// Policy for answers that are no pages.
const NO_PAGE: &str = "default-src 'none'";

/// A response.
#[derive(Debug)]
pub struct Response {
    pub(crate) status: Status,
    content_type: &'static str,
    /// Policy for the content (Content-Security-Policy, without its end).
    policy: &'static str,
    content: Content,
    /// Further headers, by names in lower case.
    headers: Vec<(&'static str, String)>,
    /// True if the connection ends with it.
    closes: bool,
}

#[derive(Debug)]
enum Content {
    Whole(Bytes),
    Events(Viewer),
}

impl Response {
    fn new(status: Status, content_type: &'static str, content: Content) -> Self {
        let (policy, headers, closes) = (NO_PAGE, Vec::new(), false);
        Self { status, content_type, policy, content, headers, closes }
    }

    /// A line for people. Control characters are replaced, so it cannot move a terminal's cursor.
    pub fn text(status: Status, text: &str) -> Self {
        let visible = |c: char| if c.is_control() { '\u{fffd}' } else { c };
        let body = text.chars().map(visible).chain(['\n']).collect::<String>();
        Self::new(status, "text/plain; charset=utf-8", Content::Whole(body.into()))
    }

    /// A response with the resource. Several responses can share its bytes.
    pub fn found(content_type: &'static str, body: impl Into<Bytes>) -> Self {
        Self::new(Status::OK, content_type, Content::Whole(body.into()))
    }

    /// A page in HTML. `policy` says what it may do (Content-Security-Policy). It is never shown inside of another.
    pub fn page(policy: &'static str, body: impl Into<Bytes>) -> Self {
        let found = Self::found("text/html; charset=utf-8", body);
        Self { policy, ..found }
    }

    /// A response to a client that already has the current version.
    pub fn not_modified(tag: String) -> Self {
        let empty = Content::Whole(Bytes::new());
        Self::new(Status::NOT_MODIFIED, "application/json", empty).with_tag(tag)
    }

    /// Events as they occur (`text/event-stream`), from the one after `last_event` ([`Request::last_event`]).
    ///
    /// [`Request::last_event`]: crate::Request::last_event
    pub fn events(broadcast: &Broadcast, last_event: Option<u64>) -> Self {
        let viewer = Viewer::new(broadcast, last_event);
        Self::new(Status::OK, "text/event-stream", Content::Events(viewer))
    }

    /// Sets the version (`ETag`): the same for every request of the same content.
    #[must_use]
    pub fn with_tag(self, tag: String) -> Self {
        self.with_header(TAG, tag)
    }

    pub(crate) fn with_header(mut self, name: &'static str, value: String) -> Self {
        self.headers.push((name, value));
        self
    }

    pub(crate) fn closing(self) -> Self {
        Self { closes: true, ..self }
    }

    pub(crate) fn is_stream(&self) -> bool {
        matches!(self.content, Content::Events(_))
    }

    /// Returns the memory of the content in bytes, or `None` for events, which are shared.
    pub(crate) fn size(&self) -> Option<usize> {
        match &self.content {
            Content::Whole(body) => Some(body.len()),
            Content::Events(_) => None,
        }
    }

    /// Returns the response for hyper, which leaves the body of an answer to HEAD out.
    pub(crate) fn into_http(self, connection: Rc<Connection>) -> hyper::Response<Body> {
        let headers = self.headers();
        let content = match self.content {
            Content::Whole(body) => Sent::Whole(body),
            Content::Events(viewer) => Sent::Events(viewer),
        };
        let mut response = hyper::Response::new(Body { content, connection });
        *response.status_mut() = self.status.0.try_into().expect("a constant of this file");
        *response.headers_mut() = headers;
        response
    }

    /// Returns the headers. Nothing in them comes from a request.
    fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        let mut set = |name: &'static str, value: &str| {
            let value = HeaderValue::from_str(value).expect("the program's own text");
            headers.insert(HeaderName::from_static(name), value);
        };
        set("content-type", self.content_type);
        // For a 304 the length would be that of the omitted body.
        if let Content::Whole(body) = &self.content
            && self.status != Status::NOT_MODIFIED
        {
            set("content-length", &body.len().to_string());
        }
        for (name, value) in &self.headers {
            set(name, value);
        }
        // With a tag a client may store the response, but must revalidate it. Without one it is useless later.
        let has_tag = self.headers.iter().any(|(name, _)| *name == TAG);
        set("cache-control", if has_tag { "private, no-cache" } else { "no-store" });
        set("x-content-type-options", "nosniff");
        set("content-security-policy", &format!("{}; frame-ancestors 'none'", self.policy));
        // Foreign pages cannot embed the response either, and do not learn the address from a link.
        set("cross-origin-resource-policy", "same-origin");
        set("referrer-policy", "no-referrer");
        if self.closes {
            set("connection", "close");
        }
        headers
    }
}

/// A body on its way to the client. Its drop tells the connection that hyper has all of it.
#[derive(Debug)]
pub(crate) struct Body {
    content: Sent,
    connection: Rc<Connection>,
}

#[derive(Debug)]
enum Sent {
    Whole(Bytes),
    Events(Viewer),
}

impl hyper::body::Body for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let next = match &mut self.content {
            Sent::Whole(rest) if rest.is_empty() => Poll::Ready(None),
            Sent::Whole(rest) => Poll::Ready(Some(mem::take(rest))),
            Sent::Events(viewer) => viewer.poll_next(context),
        };
        next.map(|next| next.map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        matches!(&self.content, Sent::Whole(rest) if rest.is_empty())
    }

    fn size_hint(&self) -> SizeHint {
        match &self.content {
            Sent::Whole(rest) => SizeHint::with_exact(rest.len() as u64),
            Sent::Events(_) => SizeHint::default(),
        }
    }
}

impl Drop for Body {
    fn drop(&mut self) {
        self.connection.body_ended();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_client_has_is_not_sent_again() {
        let headers = Response::not_modified("W/\"a\"".to_owned()).headers();
        assert_eq!(headers["etag"], "W/\"a\"");
        assert!(!headers.contains_key("content-length"), "{headers:?}");
    }

    #[test]
    fn what_is_said_moves_no_cursor() {
        let response = Response::text(Status::OK, "a\x1b[2J\r\nSet-Cookie: x\u{9b}");
        let Content::Whole(body) = &response.content else { panic!("a text has a body") };
        assert_eq!(body, "a\u{fffd}[2J\u{fffd}\u{fffd}Set-Cookie: x\u{fffd}\n".as_bytes());
        assert_eq!(response.headers()["x-content-type-options"], "nosniff");
    }

    #[test]
    fn no_other_site_gets_an_answer() {
        for response in [Response::text(Status::OK, ""), Response::page("sandbox", Vec::new())] {
            let headers = response.headers();
            assert_eq!(headers["referrer-policy"], "no-referrer");
            assert_eq!(headers["cross-origin-resource-policy"], "same-origin");
            let policy = headers["content-security-policy"].to_str().unwrap();
            assert!(policy.contains("frame-ancestors 'none'"), "{policy}");
            let permits = |name: &HeaderName| name.as_str().starts_with("access-control-");
            assert!(!headers.keys().any(permits), "{headers:?}");
        }
    }
}
