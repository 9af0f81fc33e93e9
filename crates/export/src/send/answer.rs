//! The outcome of a request.

use std::{io, time::Duration};

use rabbitscope_text::escapes;
use ureq::{
    Body,
    http::{HeaderMap, Response},
};

use crate::{ExporterKind, encode::rejected_profiles};

/// Limit of an answer's body; the rest is not read.
const MAX_ANSWER_BYTES: u64 = 64 << 10;

/// Limit of a backend's text in a message.
const MAX_SHOWN_CHARS: usize = 200;

/// Outcome of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Accepted,
    /// The backend would refuse the same request again.
    Refused(Failure),
    /// The backend may accept the request later.
    Failed {
        failure: Failure,
        /// Delay that the backend asks for.
        after: Option<Duration>,
        /// The request itself may be the cause, so its attempts are limited.
        may_be_its_fault: bool,
    },
}

/// A failure: the reason for the counters, and a sentence without its subject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Failure {
    pub(super) reason: &'static str,
    pub(super) said: String,
}

impl Answer {
    pub(super) fn from_response(kind: ExporterKind, mut response: Response<Body>) -> Self {
        let status = response.status().as_u16();
        let after = retry_after(response.headers());
        let body = response.body_mut().with_config().limit(MAX_ANSWER_BYTES).read_to_vec();
        match status {
            200..=299 => accepted(kind, &body.unwrap_or_default()),
            408 | 429 | 500..=599 => Self::Failed {
                failure: failure(status, &body.unwrap_or_default()),
                after,
                may_be_its_fault: !matches!(status, 408 | 429 | 502..=504),
            },
            _ => Self::Refused(failure(status, &body.unwrap_or_default())),
        }
    }

    /// Outcome of a request without an answer, or with one that is not HTTP.
    pub(super) fn from_error(error: &ureq::Error) -> Self {
        let (reason, said) = match error {
            ureq::Error::Timeout(_) => ("timeout", "gives no answer in time".to_owned()),
            ureq::Error::HostNotFound => ("unreachable", "has an unknown host".to_owned()),
            ureq::Error::ConnectionFailed => ("unreachable", "cannot be reached".to_owned()),
            ureq::Error::Tls(_) | ureq::Error::Rustls(_) => {
                ("tls", format!("fails in TLS: {error}"))
            }
            ureq::Error::Io(error) => socket_failure(error),
            _ => ("not-http", "answers with something that is not HTTP".to_owned()),
        };
        let said = shown(&said);
        Self::Failed { failure: Failure { reason, said }, after: None, may_be_its_fault: false }
    }
}

fn accepted(kind: ExporterKind, body: &[u8]) -> Answer {
    let rejected = (kind == ExporterKind::OtlpProfiles).then(|| rejected_profiles(body)).flatten();
    match rejected {
        Some(reason) => {
            let said = format!("has rejected data after accepting the request: {}", shown(&reason));
            Answer::Refused(Failure { reason: "rejected", said })
        }
        None => Answer::Accepted,
    }
}

fn socket_failure(error: &io::Error) -> (&'static str, String) {
    match error.kind() {
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => {
            ("timeout", "gives no answer in time".to_owned())
        }
        io::ErrorKind::ConnectionReset
        | io::ErrorKind::BrokenPipe
        | io::ErrorKind::UnexpectedEof
        | io::ErrorKind::ConnectionAborted => {
            ("closed", "closes the connection before it answers".to_owned())
        }
        io::ErrorKind::InvalidData => {
            ("not-http", "answers with something that is not HTTP".to_owned())
        }
        _ => ("unreachable", format!("cannot be reached: {error}")),
    }
}

fn failure(status: u16, body: &[u8]) -> Failure {
    let reason = match status {
        300..=399 => "redirect",
        401 | 403 => "unauthorized",
        404 => "not-found",
        429 => "too-many-requests",
        500..=599 => "server-error",
        _ => "refused",
    };
    let text = shown(&String::from_utf8_lossy(body));
    let detail = match status {
        300..=399 => "; redirects are not followed, give the final `url`".to_owned(),
        _ if text.is_empty() => String::new(),
        _ => format!(" and says: {text}"),
    };
    Failure { reason, said: format!("answers with status {status}{detail}") }
}

/// Start of a foreign text, on one line and without control sequences for the terminal.
fn shown(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line: String = line.chars().take(MAX_SHOWN_CHARS).collect();
    escapes::value(&line).into_owned()
}

/// Parses `Retry-After` in seconds. A date is ignored, because the clocks of two machines differ.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds = headers.get("retry-after")?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds))
}
