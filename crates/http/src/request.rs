//! A request's head, after hyper has parsed it. Nothing here touches a socket.

use hyper::{
    Method, Uri, Version,
    header::{
        AUTHORIZATION, CONTENT_LENGTH, HOST, HeaderMap, HeaderName, IF_NONE_MATCH, ORIGIN,
        TRANSFER_ENCODING,
    },
    http::request::Parts,
};
use percent_encoding::percent_decode_str;

use super::{Host, Response, Status};

/// Size limit of a head. The credentials of a browser's proxy fit in, and 256 heads are 4 MiB.
pub(crate) const MAX_HEAD_BYTES: usize = 16 << 10;

/// Size limit of a target. RFC 9110 (4.1) requires at least 8,000 bytes.
const MAX_TARGET_BYTES: usize = 8 << 10;

/// Limit of headers. Browsers send about 20.
pub(crate) const MAX_HEADERS: usize = 64;

/// A valid request.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Request {
    pub(crate) is_get: bool,
    pub(crate) is_head: bool,
    /// The path without the query and without the server's token, as sent.
    pub path: String,
    /// The parameters of the query, decoded, in their order.
    pub query: Vec<(String, String)>,
    /// Hosts of the header `Host` and, if the target is absolute, of the target.
    pub(crate) hosts: Vec<Host>,
    /// True if the page of another site asks.
    pub(crate) is_of_other_site: bool,
    pub(crate) authorization: Option<String>,
    /// Tags of the versions that the client has; `*` stands for any.
    pub(crate) if_none_match: Option<String>,
    /// Number of the last event that the client has received.
    pub last_event: Option<u64>,
}

type Refused = (Status, &'static str);

fn bad(reason: &'static str) -> Refused {
    (Status::BAD_REQUEST, reason)
}

fn host(authority: &str) -> Result<Host, Refused> {
    Host::from_authority(authority).ok_or(bad("the host is not valid"))
}

impl Request {
    /// Reads the head, or returns the response to a head that this server does not accept.
    pub(crate) fn parse(head: &Parts) -> Result<Self, Response> {
        Self::from_head(head).map_err(|(status, reason)| Response::text(status, reason))
    }

    /// Returns true if the client has the version with this tag (RFC 9110, weak comparison).
    pub fn knows(&self, tag: &str) -> bool {
        let opaque = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
        let same = |one: &str| one.trim() == "*" || opaque(one) == opaque(tag);
        self.if_none_match.as_ref().is_some_and(|known| known.split(',').any(same))
    }

    fn from_head(head: &Parts) -> Result<Self, Refused> {
        let headers = &head.headers;
        let has_length = headers.get_all(CONTENT_LENGTH).iter().any(|length| length != "0");
        if has_length || headers.contains_key(TRANSFER_ENCODING) {
            return Err(bad("a body is not expected"));
        }
        let authority = only(headers, &HOST)?;
        // Only old tools omit it, and no browser does.
        if authority.is_none() && head.version == Version::HTTP_11 {
            return Err(bad("the header Host is missing"));
        }
        let last_event = only(headers, &LAST_EVENT_ID)?.and_then(|id| id.parse().ok());
        let mut request = Self {
            is_get: head.method == Method::GET,
            is_head: head.method == Method::HEAD,
            is_of_other_site: is_of_other_site(headers, authority)?,
            hosts: authority.map(host).transpose()?.into_iter().collect(),
            authorization: only(headers, &AUTHORIZATION)?.map(str::to_owned),
            if_none_match: last(headers, &IF_NONE_MATCH)?.map(str::to_owned),
            last_event,
            ..Self::default()
        };
        request.take_target(&head.uri)?;
        Ok(request)
    }

    /// Reads `/path?query`, or `http://host/path?query`, whose host counts as well.
    fn take_target(&mut self, target: &Uri) -> Result<(), Refused> {
        if target.path_and_query().is_some_and(|path| path.as_str().len() > MAX_TARGET_BYTES) {
            return Err((Status::TARGET_TOO_LONG, "the target is too long"));
        }
        if !target.path().starts_with('/') {
            return Err(bad("the target is no path"));
        }
        if let Some(authority) = target.authority() {
            self.hosts.push(host(authority.as_str())?);
        }
        target.path().clone_into(&mut self.path);
        let pairs = target.query().unwrap_or_default().split('&');
        self.query = pairs.filter(|pair| !pair.is_empty()).map(pair).collect();
        Ok(())
    }
}

/// Names that hyper has no constants for.
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const SEC_FETCH_DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");

/// Returns true if a browser says that the page of another site asks. A link to this server may be followed: the page
/// with the link does not learn the answer.
fn is_of_other_site(headers: &HeaderMap, authority: Option<&str>) -> Result<bool, Refused> {
    let site = last(headers, &SEC_FETCH_SITE)?;
    let is_link = last(headers, &SEC_FETCH_DEST)? == Some("document");
    let is_foreign = site.is_some_and(|site| site != "same-origin" && site != "none" && !is_link);
    let origin = last(headers, &ORIGIN)?;
    let own = |origin: &str| {
        let given = origin.split_once("://").map(|(_, given)| given);
        given.zip(authority).is_some_and(|(given, own)| given.eq_ignore_ascii_case(own))
    };
    Ok(is_foreign || origin.is_some_and(|origin| !own(origin)))
}

/// Returns the value of a header that must not be repeated.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<Option<&'a str>, Refused> {
    if headers.get_all(name).iter().nth(1).is_some() {
        return Err(bad("a header is given more than once"));
    }
    last(headers, name)
}

fn last<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<Option<&'a str>, Refused> {
    let text = |value: &'a [u8]| std::str::from_utf8(value).map(str::trim);
    let value = headers.get_all(name).iter().next_back().map(|value| text(value.as_bytes()));
    value.transpose().map_err(|_| bad("a header is not text"))
}

fn pair(text: &str) -> (String, String) {
    let (key, value) = text.split_once('=').unwrap_or((text, ""));
    (decoded(key), decoded(value))
}

/// Decodes `%2F` and `+`. Invalid escapes stay.
fn decoded(text: &str) -> String {
    percent_decode_str(&text.replace('+', " ")).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a head of this target and these headers.
    fn parse(target: &str, headers: &[(&str, &str)]) -> Result<Request, Response> {
        let head = hyper::Request::builder().uri(target);
        let head = headers.iter().fold(head, |head, (name, value)| head.header(*name, *value));
        Request::parse(&head.body(()).unwrap().into_parts().0)
    }

    #[test]
    fn requests() {
        let expected = Request {
            is_get: true,
            path: "/queues".to_owned(),
            query: vec![
                ("vhost".to_owned(), "/".to_owned()),
                ("name".to_owned(), "a b%zz".to_owned()),
            ],
            hosts: vec![Host::Name("x".to_owned())],
            authorization: Some("Bearer t".to_owned()),
            if_none_match: Some("\"1\"".to_owned()),
            last_event: Some(7),
            ..Request::default()
        };
        let headers = [
            ("Host", "x"),
            ("Authorization", "Bearer t"),
            ("If-None-Match", "\"1\""),
            ("Last-Event-ID", "7"),
        ];
        assert_eq!(parse("/queues?vhost=%2f&name=a+b%zz", &headers).unwrap(), expected);
    }

    #[test]
    fn targets_and_hosts() {
        fn check(target: &str, path: &str, hosts: usize) {
            let request = parse(target, &[("Host", "localhost")]).unwrap();
            assert_eq!((request.path.as_str(), request.hosts.len()), (path, hosts), "{target}");
        }
        check("/a?b=http://c", "/a", 1);
        check("//evil.example/a", "//evil.example/a", 1);
        check("http://b:80/a?c", "/a", 2);
        check("HTTPS://b", "/", 2);
    }

    #[test]
    fn pages_of_other_sites() {
        fn check(headers: &[(&str, &str)], expected: bool) {
            let headers = [&[("Host", "127.0.0.1:80")], headers].concat();
            let request = parse("/", &headers).unwrap();
            assert_eq!(request.is_of_other_site, expected, "{headers:?}");
        }
        let site = |site: &'static str, dest: &'static str| {
            [("Sec-Fetch-Site", site), ("Sec-Fetch-Dest", dest)]
        };
        check(&[], false);
        check(&site("none", "document"), false);
        check(&site("same-origin", "empty"), false);
        check(&site("cross-site", "document"), false);
        check(&site("cross-site", "empty"), true);
        check(&site("cross-site", "iframe"), true);
        check(&site("same-site", "script"), true);
        check(&site("nonsense", ""), true);
        check(&[("Origin", "http://127.0.0.1:80")], false);
        for other in
            ["http://127.0.0.1:81", "http://localhost:80", "https://evil.example", "null", ""]
        {
            check(&[("Origin", other)], true);
        }
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
}
