//! A source that is read on a thread of its own, and given up at a deadline.

use std::{
    sync::mpsc::{self, Receiver, RecvTimeoutError, Sender},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use rabbitscope_diagnosis::{Source, Unread};

/// A result that a thread is working on.
#[derive(Debug)]
pub(crate) struct Pending<T> {
    source: Source,
    results: Receiver<T>,
    /// Absent if there is none.
    thread: Option<JoinHandle<()>>,
}

/// A sign that a source is not ready yet. Dropping it says that the source is ready, or that it failed.
#[derive(Debug)]
pub(crate) struct Unready(#[expect(dead_code, reason = "its drop is the sign")] Sender<()>);

/// Counts the sources that are not ready.
#[derive(Debug)]
pub(crate) struct Readiness {
    sign: Option<Sender<()>>,
    all: Receiver<()>,
}

impl<T: Send + 'static> Pending<T> {
    /// Starts a thread. `work` may send several results, each better than the one before.
    pub(crate) fn start(source: Source, work: impl FnOnce(&Sender<T>) + Send + 'static) -> Self {
        let (sender, results) = mpsc::channel();
        // Without a thread there is no result, which `finish` reports.
        let thread = thread::Builder::new().name(source.name().to_owned());
        let thread = thread.spawn(move || work(&sender)).ok();
        Self { source, results, thread }
    }

    /// Returns true once the thread has ended.
    pub(crate) fn has_ended(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Returns the last result by the deadline. A thread that still works is left alone; it ends with the program.
    pub(crate) fn finish(self, deadline: Instant) -> Result<T, Unread> {
        let mut last = None;
        loop {
            match self.results.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(result) => last = Some(result),
                Err(end) => return last.ok_or_else(|| self.missing(end)),
            }
        }
    }

    fn missing(&self, end: RecvTimeoutError) -> Unread {
        let reason = match end {
            RecvTimeoutError::Timeout => "it did not answer in time",
            RecvTimeoutError::Disconnected => "its thread failed",
        };
        let remedy = "repeat the check, or give a longer --duration";
        Unread { source: self.source, reason: reason.to_owned(), remedy: remedy.to_owned() }
    }
}

impl Readiness {
    pub(crate) fn new() -> Self {
        let (sign, all) = mpsc::channel();
        Self { sign: Some(sign), all }
    }

    /// Returns the sign for another source.
    pub(crate) fn unready(&self) -> Unready {
        Unready(self.sign.clone().expect("signs are given before the wait"))
    }

    /// Returns true once every source is ready, and false after `patience`.
    pub(crate) fn wait(&mut self, patience: Duration) -> bool {
        self.sign = None;
        self.all.recv_timeout(patience) == Err(RecvTimeoutError::Disconnected)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn soon() -> Instant {
        Instant::now() + Duration::from_millis(200)
    }

    #[test]
    fn the_last_result_counts() {
        let pending = Pending::start(Source::Host, |results| {
            results.send(1).unwrap();
            results.send(2).unwrap();
        });
        assert_eq!(pending.finish(Instant::now() + Duration::from_secs(30)), Ok(2));
    }

    #[test]
    fn a_source_that_hangs_keeps_what_it_has() {
        let (keep, awaited) = mpsc::channel::<()>();
        let pending = Pending::start(Source::Host, move |results| {
            results.send(1).unwrap();
            let _ = awaited.recv();
        });
        assert_eq!(pending.finish(soon()), Ok(1));
        drop(keep);
    }

    #[test]
    fn a_source_without_a_result_says_why() {
        let (keep, awaited) = mpsc::channel::<()>();
        let hanging = Pending::<u32>::start(Source::Node, move |_| {
            let _ = awaited.recv();
        });
        let reason = |pending: Pending<u32>| pending.finish(soon()).unwrap_err().reason;
        assert_eq!(reason(hanging), "it did not answer in time");
        drop(keep);
        assert_eq!(reason(Pending::start(Source::Node, |_| ())), "its thread failed");
    }

    #[test]
    fn all_sources_are_ready_when_the_last_is() {
        let mut readiness = Readiness::new();
        let (one, other) = (readiness.unready(), readiness.unready());
        drop(one);
        assert!(!readiness.wait(Duration::from_millis(20)));
        drop(other);
        assert!(readiness.wait(Duration::from_secs(30)));
    }
}
