//! The thread that empties a spool.

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

/// Limit of attempts for a request that the backend answers with a server error (500): the request itself may break
/// it. With the usual pauses this takes about five minutes.
const MAX_ATTEMPTS: u32 = 15;

/// Figures of one exporter. Its lock is held to count or copy, never during a wait.
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

/// Sends the requests of a spool until it is closed.
#[derive(Debug)]
pub(crate) struct Sender {
    name: String,
    client: Client,
    spool: Arc<Spool>,
    figures: Arc<SharedFigures>,
    notices: Arc<Notices>,
    said: Said,
    backoff: Backoff,
    attempts: Attempts,
}

/// Attempts to send the next request. Between two attempts it may be dropped in favour of a later one.
#[derive(Debug, Default)]
struct Attempts {
    /// The request's number in the spool.
    of: Option<u64>,
    count: u32,
}

impl Attempts {
    /// Counts another attempt to send this request, and returns the total.
    fn count(&mut self, number: u64) -> u32 {
        if self.of.replace(number) != Some(number) {
            self.count = 0;
        }
        self.count = self.count.saturating_add(1);
        self.count
    }
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
        Self { name, client, spool, figures, notices, said, backoff, attempts: Attempts::default() }
    }

    pub(crate) fn run(mut self) {
        loop {
            match self.spool.next() {
                Next::End => return,
                Next::Unreadable => self.figures.drop_some("spool-unreadable", 1),
                Next::Send { number, body } => self.send(number, &body),
            }
        }
    }

    fn send(&mut self, number: u64, body: &[u8]) {
        let attempts = self.attempts.count(number);
        match self.client.send(body) {
            Answer::Accepted => {
                self.spool.done();
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
                if may_be_its_fault && attempts >= MAX_ATTEMPTS =>
            {
                self.give_up(&failure);
            }
            Answer::Failed { failure, after, .. } => {
                self.spool.keep();
                self.failed(
                    &failure,
                    "; requests wait in the spool, which drops the oldest when full",
                );
                let pause = self.backoff.pause(after);
                self.pause(pause);
            }
        }
    }

    /// Drops a refused request. The next one may be refused as well, so there is a pause: a full spool must not cause
    /// a storm.
    fn give_up(&mut self, failure: &Failure) {
        self.spool.done();
        self.figures.drop_some(failure.reason, 1);
        self.failed(failure, "; refused requests are dropped and counted");
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spool::Next;

    /// Takes the next request, lets the attempt fail, and returns the number of attempts.
    fn attempt(attempts: &mut Attempts, spool: &Spool) -> u32 {
        let Next::Send { number, .. } = spool.next() else { panic!("one waits") };
        let count = attempts.count(number);
        spool.keep();
        count
    }

    #[test]
    fn attempts_are_those_of_one_request() {
        let (spool, _) = Spool::open(None, 100).unwrap();
        let mut attempts = Attempts::default();
        spool.push(vec![1; 60]);
        assert_eq!([1, 2].map(|_| attempt(&mut attempts, &spool)), [1, 2]);
        assert_eq!(spool.push(vec![2; 60]).dropped, 1, "the first gives way between two attempts");
        assert_eq!([1, 2].map(|_| attempt(&mut attempts, &spool)), [1, 2]);
        spool.done();
        spool.push(vec![3; 60]);
        assert_eq!(attempt(&mut attempts, &spool), 1);
    }
}
