//! Parses a request about queues, and builds the response.

use std::time::Duration;

use rabbitscope_http::{Request, Response, Status};
use rabbitscope_text::{metrics::CONTENT_TYPE, parse_duration};

use super::shared_reader::SharedReader;
use crate::queues::{Listing, ListingView, Page, QueueFilter, SortKey, prometheus};

/// Reserved capacity per queue in JSON: a queue with a name of some 20 characters takes about 170 bytes.
const ROW_BYTES: usize = 192;

/// Responds with a reading that is recent enough for the request. Otherwise waits for a new one.
pub(super) fn respond(request: &Request, reader: &SharedReader) -> Response {
    let answer: fn(&ListingView<'_>) -> Response = match request.path.as_str() {
        "/queues" => as_json,
        "/metrics" => as_prometheus,
        _ => return Response::text(Status::NOT_FOUND, "known paths are /queues and /metrics"),
    };
    let query = match Query::parse(&request.query) {
        Ok(query) => query,
        Err(wrong) => return Response::text(Status::BAD_REQUEST, &wrong),
    };
    match reader.next(query.max_age) {
        Ok(listing) => answer_unless_cached(&listing, &query, request, answer),
        Err(reason) => Response::text(Status::UNAVAILABLE, &reason),
    }
}

/// The parameters of a request.
#[derive(Debug, PartialEq, Eq)]
struct Query {
    filter: QueueFilter,
    sort: SortKey,
    page: Page,
    /// Greatest age of the reading at the arrival of the request.
    max_age: Duration,
}

impl Query {
    fn parse(query: &[(String, String)]) -> Result<Self, String> {
        let mut parsed = Self {
            filter: QueueFilter::default(),
            sort: SortKey::Name,
            page: Page { number: 1, size: None },
            max_age: Duration::ZERO,
        };
        for (key, value) in query {
            let number = || match value.parse() {
                Ok(0) | Err(_) => Err(format!("{key} must be a number of 1 or more")),
                Ok(number) => Ok(number),
            };
            match key.as_str() {
                "vhost" => parsed.filter.vhost = Some(value.clone()),
                "name" => parsed.filter.name = Some(value.clone()),
                "sort" => {
                    parsed.sort = SortKey::parse(value)
                        .ok_or("sort must be name, ready, unacknowledged, consumers or memory")?;
                }
                "page" => parsed.page.number = number()?,
                "page-size" => parsed.page.size = Some(number()?),
                "max-age" => {
                    parsed.max_age =
                        parse_duration(value).map_err(|_| "max-age must be a time, such as 2s")?;
                }
                // The message does not repeat the key: a page of another site may have made the request.
                _ => {
                    let known =
                        "known parameters are vhost, name, sort, page, page-size and max-age";
                    return Err(known.to_owned());
                }
            }
        }
        Ok(parsed)
    }
}

fn answer_unless_cached(
    listing: &Listing,
    query: &Query,
    request: &Request,
    answer: fn(&ListingView<'_>) -> Response,
) -> Response {
    let view = listing.view(&query.filter, query.sort, query.page);
    let tag = view.tag();
    if request.knows(&tag) { Response::not_modified(tag) } else { answer(&view).with_tag(tag) }
}

fn as_json(view: &ListingView<'_>) -> Response {
    let mut body = Vec::with_capacity(ROW_BYTES * (view.queues.len() + 1));
    match serde_json::to_writer(&mut body, view) {
        Ok(()) => Response::found("application/json", body),
        Err(error) => Response::text(Status::INTERNAL, &error.to_string()),
    }
}

fn as_prometheus(view: &ListingView<'_>) -> Response {
    let body = prometheus(&view.queues, view.unanswered.len()).into_bytes();
    Response::found(CONTENT_TYPE, body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_parsed() {
        fn check(key: &str, value: &str, expected: bool) {
            let query = [(key.to_owned(), value.to_owned())];
            assert_eq!(Query::parse(&query).is_ok(), expected, "{key}={value}");
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
