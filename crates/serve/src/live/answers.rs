//! Finds the answer to a request for a live page.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use rabbitscope_http::{Broadcast, Bytes, Request, Response, Status};
use rabbitscope_web::{LIVE_POLICY, live_profile};

use super::windows::Windows;
use crate::answers::RUN_PAGE_POLICY;

/// Number of encoded profiles that are kept: the latest seconds, and the whole.
const KEPT_PROFILES: usize = 2;

/// The contents of a live page.
pub(super) struct Answers {
    shell: Bytes,
    broadcast: Broadcast,
    windows: Mutex<Windows>,
    /// The latest encoded profiles. Locked while one is encoded, so that each is encoded once.
    profiles: Mutex<Vec<(Asked, Bytes)>>,
    report: Mutex<Report>,
}

/// A span of the profile: the number of its latest window, and its seconds; all without seconds.
type Asked = (u64, Option<u64>);

/// The report after the end.
#[derive(Default)]
struct Report {
    page: Option<Bytes>,
    /// Time of the latest request.
    asked: Option<Instant>,
    /// Number of requests.
    requests: usize,
}

impl Answers {
    pub(super) fn new(shell: Vec<u8>, broadcast: Broadcast) -> Self {
        Self {
            shell: shell.into(),
            broadcast,
            windows: Mutex::default(),
            profiles: Mutex::default(),
            report: Mutex::default(),
        }
    }

    pub(super) fn windows(&self) -> MutexGuard<'_, Windows> {
        locked(&self.windows)
    }

    pub(super) fn keep_report(&self, page: Option<Vec<u8>>) {
        locked(&self.report).page = page.map(Bytes::from);
    }

    /// Returns whether a viewer asked for the report in the latest `time`.
    pub(super) fn reported_since(&self, time: Duration) -> bool {
        locked(&self.report).asked.is_some_and(|asked| asked.elapsed() < time)
    }

    /// Returns the number of requests for the report.
    pub(super) fn reports(&self) -> usize {
        locked(&self.report).requests
    }

    /// Answers with the page, its events, a profile or the report.
    pub(super) fn respond(&self, request: &Request) -> Response {
        match request.path.as_str() {
            "/" => Response::page(LIVE_POLICY, self.shell.clone()),
            "/events" => Response::events(&self.broadcast, request.last_event),
            "/profile.json" => self.profile(request),
            "/report.html" => self.report(),
            _ => Response::text(
                Status::NOT_FOUND,
                "known paths are /, /events, /profile.json and /report.html",
            ),
        }
    }

    fn profile(&self, request: &Request) -> Response {
        let seconds = request.query.iter().find(|(key, _)| key == "seconds");
        let seconds = seconds.map(|(_, text)| text.parse::<u64>().ok().filter(|asked| *asked > 0));
        match seconds {
            Some(None) => Response::text(Status::BAD_REQUEST, "seconds must be a whole number"),
            known => self.profile_of(known.flatten()),
        }
    }

    fn profile_of(&self, seconds: Option<u64>) -> Response {
        let mut profiles = locked(&self.profiles);
        let Some(latest) = self.windows().latest() else {
            return Response::text(Status::NOT_FOUND, "there is no profile yet");
        };
        let asked = (latest, seconds);
        if let Some((_, body)) = profiles.iter().find(|(of, _)| *of == asked) {
            return Response::found("application/json", body.clone());
        }
        // The windows stay free while they are added up, so that no window waits for a viewer.
        let kept = self.windows().latest_of(seconds.map(Duration::from_secs));
        let Some((span, profile)) = kept.sum() else {
            return Response::text(Status::INTERNAL, "the windows have different events");
        };
        let body = Bytes::from(live_profile(span, &profile));
        profiles.retain(|((_, of), _)| *of != seconds);
        profiles.truncate(KEPT_PROFILES - 1);
        profiles.insert(0, ((span.number, seconds), body.clone()));
        Response::found("application/json", body)
    }

    fn report(&self) -> Response {
        let mut report = locked(&self.report);
        let Some(page) = report.page.clone() else {
            return Response::text(Status::NOT_FOUND, "the report is here after the end");
        };
        report.asked = Some(Instant::now());
        report.requests += 1;
        Response::page(RUN_PAGE_POLICY, page)
    }
}

fn locked<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}
