//! Parsing of a request's head. Nothing here touches a socket.

use percent_encoding::percent_decode_str;

use super::{Host, Response, Status};

/// Size limit of a head. The credentials of a browser's proxy fit in, and 256 heads are 4 MiB.
pub(crate) const MAX_HEAD_BYTES: usize = 16 << 10;

/// Size limit of a target. RFC 9110 (4.1) requires at least 8,000 bytes.
const MAX_TARGET_BYTES: usize = 8 << 10;

/// Limit of headers. Browsers send about 20.
const MAX_HEADERS: usize = 64;

/// A valid request.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Request {
    pub(crate) is_get: bool,
    pub(crate) is_head: bool,
    /// The path without the query, as sent.
    pub path: String,
    /// The parameters of the query, decoded, in their order.
    pub query: Vec<(String, String)>,
    /// Hosts of the header `Host` and, if the target is absolute, of the target.
    pub(crate) hosts: Vec<Host>,
    pub(crate) authorization: Option<String>,
    /// Tags of the versions that the client has; `*` stands for any.
    pub(crate) if_none_match: Option<String>,
    pub(crate) keep_alive: bool,
}

type Refused = (Status, &'static str);

/// Parses the request at the start of `bytes`. Returns it with the length of its head, or `None` if the head is
/// incomplete.
pub(crate) fn parse(bytes: &[u8]) -> Result<Option<(Request, usize)>, Response> {
    parse_head(bytes).map_err(|(status, reason)| Response::text(status, reason))
}

fn parse_head(bytes: &[u8]) -> Result<Option<(Request, usize)>, Refused> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut head = httparse::Request::new(&mut headers);
    let length = match head.parse(bytes) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) if bytes.len() < MAX_HEAD_BYTES => return Ok(None),
        Ok(httparse::Status::Partial) | Err(httparse::Error::TooManyHeaders) => {
            return Err(too_large());
        }
        Err(httparse::Error::Version) => return Err((Status::VERSION, "only HTTP/1.0 and 1.1")),
        Err(_) => return Err(bad("the head is no HTTP request")),
    };
    let is_1_1 = head.version == Some(1);
    let mut request = Request {
        is_get: head.method == Some("GET"),
        is_head: head.method == Some("HEAD"),
        keep_alive: is_1_1,
        ..Request::default()
    };
    for header in head.headers.iter() {
        request.heed(header)?;
    }
    // Only old tools omit it, and no browser does.
    if is_1_1 && request.hosts.is_empty() {
        return Err(bad("the header Host is missing"));
    }
    request.take_target(head.path.unwrap_or_default())?;
    Ok(Some((request, length)))
}

fn too_large() -> Refused {
    (Status::HEAD_TOO_LARGE, "the head is too large")
}

fn bad(reason: &'static str) -> Refused {
    (Status::BAD_REQUEST, reason)
}

fn host(authority: &str) -> Result<Host, Refused> {
    Host::from_authority(authority).ok_or(bad("the host is not valid"))
}

impl Request {
    /// Returns true if the client has the version with this tag (RFC 9110, weak comparison).
    pub fn knows(&self, tag: &str) -> bool {
        let opaque = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
        let same = |one: &str| one.trim() == "*" || opaque(one) == opaque(tag);
        self.if_none_match.as_ref().is_some_and(|known| known.split(',').any(same))
    }

    fn heed(&mut self, header: &httparse::Header<'_>) -> Result<(), Refused> {
        let is = |name: &str| header.name.eq_ignore_ascii_case(name);
        if is("transfer-encoding") || (is("content-length") && header.value != b"0") {
            return Err(bad("a body is not expected"));
        }
        let value = || {
            let text = std::str::from_utf8(header.value).map(str::trim);
            text.map_err(|_| bad("a header is not text"))
        };
        if is("host") {
            if !self.hosts.is_empty() {
                return Err(bad("there is more than one Host"));
            }
            self.hosts.push(host(value()?)?);
        } else if is("authorization") {
            if self.authorization.replace(value()?.to_owned()).is_some() {
                return Err(bad("there is more than one Authorization"));
            }
        } else if is("if-none-match") {
            self.if_none_match = Some(value()?.to_owned());
        } else if is("connection") {
            for option in value()?.split(',').map(str::trim) {
                self.keep_alive |= option.eq_ignore_ascii_case("keep-alive");
                self.keep_alive &= !option.eq_ignore_ascii_case("close");
            }
        }
        Ok(())
    }

    /// Parses `/path?query`, or `http://host/path?query`, whose host counts as well.
    fn take_target(&mut self, target: &str) -> Result<(), Refused> {
        if target.len() > MAX_TARGET_BYTES {
            return Err((Status::TARGET_TOO_LONG, "the target is too long"));
        }
        let mut local = target;
        if let Some((scheme, rest)) = target.split_once("://")
            && !scheme.contains('/')
        {
            let end = rest.find(['/', '?']).unwrap_or(rest.len());
            self.hosts.push(host(&rest[..end])?);
            local = &rest[end..];
        } else if !target.starts_with('/') {
            return Err(bad("the target is no path"));
        }
        let (path, query) = local.split_once('?').unwrap_or((local, ""));
        path.clone_into(&mut self.path);
        self.query = query.split('&').filter(|pair| !pair.is_empty()).map(pair).collect();
        Ok(())
    }
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

    #[test]
    fn requests() {
        let text = "GET /queues?vhost=%2f&name=a+b%zz HTTP/1.1\r\nHost: x\r\n\
                    Authorization: Bearer t\r\nIf-None-Match: \"1\"\r\nConnection: close\r\n\r\n";
        let expected = Request {
            is_get: true,
            is_head: false,
            path: "/queues".to_owned(),
            query: vec![
                ("vhost".to_owned(), "/".to_owned()),
                ("name".to_owned(), "a b%zz".to_owned()),
            ],
            hosts: vec![Host::Name("x".to_owned())],
            authorization: Some("Bearer t".to_owned()),
            if_none_match: Some("\"1\"".to_owned()),
            keep_alive: false,
        };
        let with_another = format!("{text}GET / HTTP/1.1\r\n");
        assert_eq!(parse(with_another.as_bytes()).unwrap(), Some((expected, text.len())));
        for length in 0..text.len() {
            assert_eq!(parse(&text.as_bytes()[..length]).unwrap(), None, "{length}");
        }
    }

    #[test]
    fn targets_and_hosts() {
        fn check(target: &str, path: &str, hosts: usize) {
            let text = format!("HEAD {target} HTTP/1.1\r\nHost: localhost\r\n\r\n");
            let (request, _) = parse(text.as_bytes()).unwrap().unwrap();
            assert_eq!((request.path.as_str(), request.hosts.len()), (path, hosts), "{target}");
            assert!(request.is_head && request.keep_alive);
        }
        check("/a?b=http://c", "/a", 1);
        check("//evil.example/a", "//evil.example/a", 1);
        check("http://b:80/a?c", "/a", 2);
        check("HTTPS://b", "", 2);
        let (old, _) = parse(b"GET /a HTTP/1.0\r\n\r\n").unwrap().unwrap();
        assert_eq!((old.hosts.len(), old.keep_alive), (0, false));
    }

    #[test]
    fn what_is_no_request() {
        fn check(text: &str, expected: Status) {
            let refused = parse(text.as_bytes()).unwrap_err();
            assert_eq!(refused.status, expected, "{text:.100}");
        }
        for text in [
            "GET /\r\n\r\n",
            "GET  / HTTP/1.1\r\nHost: x\r\n\r\n",
            "GET / HTTP/1.1\r\n\r\n",
            "GET / HTTP/1.1\r\nHost:\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: x\r\nhost: x\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: x\r\nnonsense\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: x\r\n folded: y\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: x\r\nA : y\r\n\r\n",
            "GET x HTTP/1.1\r\nHost: x\r\n\r\n",
            "GET http:// HTTP/1.1\r\nHost: x\r\n\r\n",
            "GET http://u@x/ HTTP/1.1\r\nHost: x\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: x\r\nAuthorization: a\r\nAuthorization: b\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello",
            "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nContent-Length: 5\r\n\r\n",
            "\u{16}\u{3}\u{1}",
        ] {
            check(text, Status::BAD_REQUEST);
        }
        check("GET / HTTP/2.0\r\nHost: x\r\n\r\n", Status::VERSION);
        let endless = format!("GET / HTTP/1.1\r\nX: {}", "y".repeat(MAX_HEAD_BYTES));
        check(&endless[..MAX_HEAD_BYTES], Status::HEAD_TOO_LARGE);
        let headers = "X: y\r\n".repeat(MAX_HEADERS + 1);
        check(&format!("GET / HTTP/1.1\r\n{headers}\r\n"), Status::HEAD_TOO_LARGE);
        let long = "y".repeat(MAX_TARGET_BYTES);
        check(&format!("GET /{long} HTTP/1.1\r\nHost: x\r\n\r\n"), Status::TARGET_TOO_LONG);
    }

    #[test]
    fn whatever_stands_in_a_head_it_is_read_or_refused() {
        let head =
            b"GET http://[::1]:80/a?b=%2f&c HTTP/1.1\r\nHost: a.b:1\r\nConnection: a\r\n\r\n";
        for position in 0..head.len() {
            for byte in 0..=u8::MAX {
                let mut head = head.to_vec();
                head[position] = byte;
                if let Ok(Some((request, length))) = parse(&head) {
                    assert!(length <= head.len() && !request.hosts.is_empty(), "{head:?}");
                }
                head.truncate(position);
                let _ = parse(&head);
            }
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
