//! The server of a live page.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use rabbitscope_http::{Broadcast, Limits, Listener, Server};
use rabbitscope_profiles::Profile;
use rabbitscope_web::{LiveHead, LivePage, Tick, write_live_page};
use serde::Serialize;

use super::answers::Answers;

/// Limit of the ticks that are kept for viewers who come later or again.
pub(super) const MAX_TICK_BYTES: usize = 16 << 20;

/// Interval at which the end of viewers is looked for.
const END_POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Time after the last request of the report in which its bytes arrive on this machine.
const SENDING_TIME: Duration = Duration::from_millis(500);

/// A live page that is served. Dropping it ends the connections.
pub struct LiveServer {
    url: String,
    broadcast: Broadcast,
    answers: Arc<Answers>,
    /// Time of the latest tick in nanoseconds since 1970. Locked while one is sent, so that their order is that of their
    /// times.
    latest: Mutex<u64>,
    _server: Server,
}

/// The last event.
#[derive(Serialize)]
struct End<'a> {
    sentence: &'a str,
    /// Address of the report, if there is one.
    page: Option<&'static str>,
}

impl LiveServer {
    /// Serves the page. The paths of all addresses begin with a new secret.
    pub fn start(listener: Listener, page: &LivePage, head: &LiveHead) -> anyhow::Result<Self> {
        let mut shell = Vec::new();
        write_live_page(&mut shell, page)?;
        let broadcast = Broadcast::new(&head.to_json(), MAX_TICK_BYTES);
        let answers = Arc::new(Answers::new(shell, broadcast.clone()));
        let listener = listener.with_path_token()?;
        let url = listener.url()?;
        let answering = Arc::clone(&answers);
        let answer = move |request: &_| answering.respond(request);
        let server = Server::start(listener, Limits::default(), answer)?;
        Ok(Self { url, broadcast, answers, latest: Mutex::new(0), _server: server })
    }

    /// Returns the address of the page, which is secret.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns the number of connected viewers.
    pub fn viewers(&self) -> usize {
        self.broadcast.viewers()
    }

    /// Sends a tick to all viewers, with the profile's latest window if it is new.
    pub fn tick(&self, tick: Tick) {
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        let tick = tick.with_window(self.answers.windows().take_new()).after(*latest);
        if !tick.is_empty() {
            *latest = tick.at();
            self.broadcast.send("tick", &tick.to_json());
        }
    }

    /// Keeps a window of the profile. Each begins at the end of the one before; the next tick names it.
    pub fn window(&self, profile: Profile) {
        self.answers.windows().push(profile);
        // Added up without the lock, which the next tick needs.
        let older = self.answers.windows().older();
        if let Some((span, sum)) = older.and_then(|older| older.sum()) {
            self.answers.windows().fold(span, sum);
        }
    }

    /// Returns the profile of the latest windows within `time`. `None` without a window.
    pub fn profile(&self, time: Duration) -> Option<Profile> {
        let kept = self.answers.windows().latest_of(Some(time));
        kept.sum().map(|(_, profile)| profile)
    }

    /// Sends the end to all viewers. They then show `report`, a page in HTML.
    pub fn end(&self, sentence: &str, report: Option<Vec<u8>>) {
        let page = report.is_some().then_some("report.html");
        self.answers.keep_report(report);
        let end = serde_json::to_string(&End { sentence, page });
        self.broadcast.send("end", &end.expect("texts become JSON"));
    }

    /// Waits until every viewer has asked for the report, for `longest` at most, or until `stop` is set meanwhile.
    /// Without viewers, returns at once.
    pub fn linger(&self, longest: Duration, stop: &AtomicBool) {
        let (begun, was_set) = (Instant::now(), stop.load(Ordering::Relaxed));
        let is_stopped = || stop.load(Ordering::Relaxed) && !was_set;
        while begun.elapsed() < longest && !is_stopped() {
            let is_sending = self.answers.reported_since(SENDING_TIME);
            // The server may not have noticed yet that a viewer has left.
            if self.answers.reports() >= self.broadcast.viewers() && !is_sending {
                return;
            }
            thread::sleep(END_POLL_INTERVAL);
        }
    }
}
