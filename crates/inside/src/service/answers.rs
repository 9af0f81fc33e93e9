//! What a request asks of the queues, and the answer.

use std::time::Duration;

use rabbitscope_http::{Request, Response, Status};
use rabbitscope_text::parse_duration;

use super::readings::Readings;
use crate::{Listing, Page, Shown, SortKey, Wanted, prometheus};

/// A little more than a queue takes as JSON.
const ROW_BYTES: usize = 192;

/// Waits for a look at the node, unless the request does with an older one.
pub(super) fn respond(request: &Request, readings: &Readings) -> Response {
    let answer: fn(&Shown<'_>) -> Response = match request.path.as_str() {
        "/queues" => as_json,
        "/metrics" => as_prometheus,
        _ => return Response::text(Status::NOT_FOUND, "there are /queues and /metrics"),
    };
    let question = match Question::parse(&request.query) {
        Ok(question) => question,
        Err(wrong) => return Response::text(Status::BAD_REQUEST, &wrong),
    };
    match readings.next(question.max_age) {
        Ok(listing) => answer_unless_known(&listing, &question, request, answer),
        Err(reason) => Response::text(Status::UNAVAILABLE, &reason),
    }
}

/// What is wanted of all queues.
#[derive(Debug, PartialEq, Eq)]
struct Question {
    wanted: Wanted,
    sort: SortKey,
    page: Page,
    /// How old the look may be when the question comes.
    max_age: Duration,
}

impl Question {
    fn parse(query: &[(String, String)]) -> Result<Self, String> {
        let mut question = Self {
            wanted: Wanted::default(),
            sort: SortKey::Name,
            page: Page { number: 1, size: None },
            max_age: Duration::ZERO,
        };
        for (key, value) in query {
            let number = || match value.parse() {
                Ok(0) | Err(_) => Err(format!("{key} has to be a number of 1 or more")),
                Ok(number) => Ok(number),
            };
            match key.as_str() {
                "vhost" => question.wanted.vhost = Some(value.clone()),
                "name" => question.wanted.name = Some(value.clone()),
                "sort" => {
                    question.sort = SortKey::parse(value)
                        .ok_or("sort has to be name, ready, unacknowledged, consumers or memory")?;
                }
                "page" => question.page.number = number()?,
                "page-size" => question.page.size = Some(number()?),
                "max-age" => {
                    question.max_age = parse_duration(value)
                        .map_err(|_| "max-age has to be a time, such as 2s")?;
                }
                // What was asked is not said again: whoever reads this may not be who wrote it.
                _ => {
                    let known = "parameters are vhost, name, sort, page, page-size and max-age";
                    return Err(known.to_owned());
                }
            }
        }
        Ok(question)
    }
}

fn answer_unless_known(
    listing: &Listing,
    question: &Question,
    request: &Request,
    answer: fn(&Shown<'_>) -> Response,
) -> Response {
    let shown = listing.shown(&question.wanted, question.sort, question.page);
    let tag = shown.tag();
    if request.knows(&tag) { Response::not_modified(tag) } else { answer(&shown).with_tag(tag) }
}

fn as_json(shown: &Shown<'_>) -> Response {
    let mut body = Vec::with_capacity(ROW_BYTES * (shown.queues.len() + 1));
    match serde_json::to_writer(&mut body, shown) {
        Ok(()) => Response::found("application/json", body),
        Err(error) => Response::text(Status::INTERNAL, &error.to_string()),
    }
}

fn as_prometheus(shown: &Shown<'_>) -> Response {
    let body = prometheus(&shown.queues, shown.unanswered.len()).into_bytes();
    Response::found("text/plain; version=0.0.4; charset=utf-8", body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions() {
        fn check(key: &str, value: &str, expected: bool) {
            let query = [(key.to_owned(), value.to_owned())];
            assert_eq!(Question::parse(&query).is_ok(), expected, "{key}={value}");
        }
        check("vhost", "/", true);
        check("sort", "memory", true);
        check("sort", "colour", false);
        check("page", "2", true);
        check("page", "0", false);
        check("page-size", "x", false);
        check("max-age", "500ms", true);
        check("max-age", "5", false);
        check("nonsense", "", false);
    }
}
