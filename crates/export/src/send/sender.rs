//! The thread that empties one spool.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

use super::{
    RetryDelays,
    answer::{Answer, Failure},
    backoff::Backoff,
    client::Client,
    notices::{Notices, Said},
};
use crate::{
    ExporterFigures,
    spool::{Next, Spool},
};

/// A request that a backend answers with errors of its own (500) is dropped after so many attempts: it may be
/// the request that breaks it. With the usual pauses that takes about five minutes.
const MAX_ATTEMPTS: u32 = 15;

/// Figures of one exporter. Locked to be counted up or copied, never while anything waits.
#[derive(Debug, Default)]
pub(crate) struct SharedFigures(Mutex<ExporterFigures>);

impl SharedFigures {
    pub(crate) fn change<T>(&self, change: impl FnOnce(&mut ExporterFigures) -> T) -> T {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn drop_some(&self, reason: &'static str, count: u64) {
        if count > 0 {
            self.change(|figures| *figures.dropped.entry(reason).or_default() += count);
        }
    }
}

/// Sends what is in a spool until that is closed.
#[derive(Debug)]
pub(crate) struct Sender {
    name: String,
    client: Client,
    spool: Arc<Spool>,
    figures: Arc<SharedFigures>,
    notices: Arc<Notices>,
    said: Said,
    backoff: Backoff,
    /// Of the request that is the next one.
    attempts: u32,
}

impl Sender {
    pub(crate) fn new(
        client: Client,
        spool: Arc<Spool>,
        figures: Arc<SharedFigures>,
        notices: Arc<Notices>,
        delays: RetryDelays,
    ) -> Self {
        let name = figures.change(|figures| figures.name.clone());
        let (said, backoff) = (Said::default(), Backoff::new(delays));
        Self { name, client, spool, figures, notices, said, backoff, attempts: 0 }
    }

    pub(crate) fn run(mut self) {
        loop {
            match self.spool.next() {
                Next::End => return,
                Next::Unreadable => self.figures.drop_some("spool-unreadable", 1),
                Next::Send(body) => self.send(&body),
            }
        }
    }

    fn send(&mut self, body: &[u8]) {
        self.attempts += 1;
        match self.client.send(body) {
            Answer::Accepted => {
                self.finish_entry();
                self.backoff.reset();
                self.figures.change(|figures| {
                    figures.sent += 1;
                    figures.sent_bytes += body.len() as u64;
                });
                let text = format!("exporter {}: the backend accepts requests again", self.name);
                self.said.success(&self.notices, Instant::now(), text);
            }
            Answer::Refused(failure) => self.give_up(&failure),
            Answer::Failed { failure, may_be_its_fault, .. }
                if may_be_its_fault && self.attempts >= MAX_ATTEMPTS =>
            {
                self.give_up(&failure);
            }
            Answer::Failed { failure, after, .. } => {
                self.spool.keep();
                self.failed(
                    &failure,
                    "; requests wait in the spool, the oldest are dropped when it is full",
                );
                let pause = self.backoff.pause(after);
                self.pause(pause);
            }
        }
    }

    fn finish_entry(&mut self) {
        self.spool.done();
        self.attempts = 0;
    }

    /// The next request may be as little welcome: there is a pause, too, so that a full spool is no storm.
    fn give_up(&mut self, failure: &Failure) {
        self.finish_entry();
        self.figures.drop_some(failure.reason, 1);
        self.failed(failure, "; what it refuses is dropped and counted");
        let pause = self.backoff.pause(None);
        self.pause(pause);
    }

    fn failed(&mut self, failure: &Failure, consequence: &str) {
        let reason = failure.reason;
        self.figures.change(|figures| *figures.errors.entry(reason).or_default() += 1);
        let text = format!("exporter {}: the backend {}{consequence}", self.name, failure.said);
        self.said.failure(&self.notices, Instant::now(), reason, text);
    }

    fn pause(&self, pause: std::time::Duration) {
        self.spool.pause_until(Instant::now() + pause);
    }
}
