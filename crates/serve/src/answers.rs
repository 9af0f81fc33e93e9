//! Finds the answer to a request.

use std::path::Path;

use percent_encoding::percent_decode_str;
use rabbitscope_analysis::history::{Figure, Filter, Listing, trends};
use rabbitscope_files::SourceDirectory;
use rabbitscope_http::{Request, Response, Status};
use rabbitscope_web::{HistoryQuery, write_history};
use serde::Serialize;

use crate::{
    pair,
    scan::{is_page, scan},
};

/// Size limit of a page or a record.
const MAX_FILE_BYTES: u64 = 64 << 20;

/// Policy for the pages of this crate: their own script and style, and nothing from elsewhere.
const PAGE_POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; \
    style-src 'unsafe-inline'; img-src data:; worker-src blob:; base-uri 'none'; form-action 'none'";

/// Policy for pages of runs. Their directory may come from somebody else, so they reach no other page and no server.
pub(crate) const RUN_PAGE_POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; \
    style-src 'unsafe-inline'; img-src data:; worker-src blob:; base-uri 'none'; \
    form-action 'none'; sandbox allow-scripts allow-same-origin allow-downloads";

/// Answers with the list, as page or JSON, with trends, with two runs, or with a file of a run.
pub(crate) fn respond(request: &Request, place: &SourceDirectory) -> Response {
    if let Some(file) = request.path.strip_prefix("/files/") {
        return file_of_run(file, place);
    }
    if request.path == "/compare" {
        return two_runs(request, place);
    }
    let listing = match scan(place) {
        Ok(listing) => listing,
        Err(error) => return Response::text(Status::UNAVAILABLE, &error.to_string()),
    };
    match request.path.as_str() {
        "/" => list(&listing, request),
        "/runs.json" => json(&listing),
        "/trends.json" => of_figure(&listing, request),
        _ => Response::text(
            Status::NOT_FOUND,
            "known paths are /, /compare, /runs.json and /trends.json",
        ),
    }
}

fn parameter<'a>(request: &'a Request, name: &str) -> &'a str {
    optional(request, name).unwrap_or_default()
}

fn optional<'a>(request: &'a Request, name: &str) -> Option<&'a str> {
    request.query.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
}

fn list(listing: &Listing, request: &Request) -> Response {
    let text = |name| parameter(request, name).to_owned();
    let filter = Filter {
        search: text("search"),
        scenario: text("scenario"),
        broker: text("broker"),
        outcome: text("outcome"),
    };
    let figure = Figure::from_name(parameter(request, "figure")).unwrap_or(Figure::ALL[0]);
    let mut page = Vec::new();
    match write_history(&mut page, listing, &HistoryQuery { filter, figure }) {
        Ok(()) => Response::page(PAGE_POLICY, page),
        Err(error) => Response::text(Status::INTERNAL, &error.to_string()),
    }
}

fn two_runs(request: &Request, place: &SourceDirectory) -> Response {
    let paths = [optional(request, "before"), optional(request, "after")];
    let [Some(before), Some(after)] = paths else {
        return Response::text(Status::BAD_REQUEST, "name two runs: ?before=PATH&after=PATH");
    };
    match pair::page(place, [before, after]) {
        Ok(page) => Response::page(PAGE_POLICY, page),
        Err(reason) => Response::text(Status::NOT_FOUND, &reason),
    }
}

fn of_figure(listing: &Listing, request: &Request) -> Response {
    let Some(figure) = Figure::from_name(parameter(request, "figure")) else {
        let known = Figure::ALL.map(Figure::name).join(", ");
        return Response::text(Status::BAD_REQUEST, &format!("figure must be one of {known}"));
    };
    json(&trends(listing.entries.iter(), figure))
}

fn json(value: &impl Serialize) -> Response {
    match serde_json::to_vec(value) {
        Ok(body) => Response::found("application/json", body),
        Err(error) => Response::text(Status::INTERNAL, &error.to_string()),
    }
}

/// Reads a page or a record below the directory. No link and no `..` leads out of it.
fn file_of_run(path: &str, place: &SourceDirectory) -> Response {
    let missing = || Response::text(Status::NOT_FOUND, "there is no such page of a run");
    let Ok(path) = percent_decode_str(path).decode_utf8() else { return missing() };
    let path = Path::new(path.as_ref());
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return missing() };
    let is_record = ["run.json", "experiment.json"].contains(&name);
    if path.is_absolute() || !(is_record || is_page(name)) {
        return missing();
    }
    match place.read(path, MAX_FILE_BYTES) {
        Ok(body) if is_record => Response::found("application/json", body),
        Ok(body) => Response::page(RUN_PAGE_POLICY, body),
        Err(_) => missing(),
    }
}
