//! Replacement of lost connections, on separate threads: load threads never wait for the broker.

use std::{
    cmp::Reverse,
    collections::BinaryHeap,
    sync::{Arc, Condvar, Mutex, mpsc::Sender},
    thread::Scope,
    time::{Duration, Instant},
};

use mio::Waker;
use rabbitscope_measurements::{Failure, Report, ServiceMonitor};
use rabbitscope_runs::{record::ErrorKind, scenario::Recovery};
use rabbitscope_timing::RunClock;
use rabbitscope_topology::TopologyError;

use super::prepared_connection::PreparedConnection;
use crate::{context::RunContext, share::Share};

/// The sending side of a load thread's inbox: index of the link, and its new connection.
pub(crate) type ReconnectedLinks = Sender<(usize, PreparedConnection)>;

/// A connection that was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LostConnection {
    /// Time of the next attempt.
    due: Instant,
    pub(crate) at: Instant,
    pub(crate) worker: usize,
    pub(crate) link: usize,
    pub(crate) plan: usize,
    /// Failed attempts since the connection was last stable.
    pub(crate) attempts: u32,
}

/// Replaces lost connections.
pub(crate) struct Reconnector<'a> {
    context: &'a RunContext<'a>,
    recovery: Recovery,
    clock: RunClock,
    service: &'a ServiceMonitor,
    /// The inbox of each worker, with the waker of its poll.
    inboxes: Vec<(ReconnectedLinks, Arc<Waker>)>,
    reports: Sender<Report>,
    queue: Mutex<Queue>,
    changed: Condvar,
}

#[derive(Default)]
struct Queue {
    waiting: BinaryHeap<Reverse<LostConnection>>,
    is_over: bool,
    random: u64,
}

impl<'a> Reconnector<'a> {
    pub(crate) fn new(
        context: &'a RunContext<'a>,
        recovery: Recovery,
        (clock, service): (RunClock, &'a ServiceMonitor),
        inboxes: Vec<(ReconnectedLinks, Arc<Waker>)>,
        reports: Sender<Report>,
    ) -> Self {
        let random = jitter_seed(context.scenario.seed.number(), context.share);
        let queue = Queue { random, ..Queue::default() };
        let (queue, changed) = (Mutex::new(queue), Condvar::new());
        Self { context, recovery, clock, service, inboxes, reports, queue, changed }
    }

    /// Starts the threads; they end after [`Reconnector::end`].
    pub(crate) fn start<'scope>(&'scope self, scope: &'scope Scope<'scope, '_>) {
        let parallel = self.context.scenario.broker.connecting.parallel as usize;
        for _ in 0..parallel.min(self.context.plans.len()) {
            scope.spawn(|| self.serve());
        }
    }

    /// Requests a new connection in place of a lost one.
    pub(crate) fn submit(&self, mut lost: LostConnection) {
        let mut queue = self.queue.lock().expect("the queue's holders do not panic");
        let delay = backoff(&self.recovery, lost.attempts, random_share(&mut queue.random));
        lost.due = Instant::now() + delay;
        queue.waiting.push(Reverse(lost));
        self.changed.notify_one();
    }

    /// Ends the threads when no more connections are wanted.
    pub(crate) fn end(&self) {
        self.queue.lock().expect("the queue's holders do not panic").is_over = true;
        self.changed.notify_all();
    }

    fn serve(&self) {
        while let Some(lost) = self.next() {
            match self.make(&lost) {
                Ok(prepared) => {
                    let (reconnected, waker) = &self.inboxes[lost.worker];
                    // A worker that has ended needs neither of them.
                    reconnected.send((lost.link, prepared)).ok();
                    waker.wake().ok();
                }
                Err(error) if lost.at.elapsed() >= self.recovery.timeout => {
                    let seconds = self.recovery.timeout.as_secs();
                    let reason =
                        format!("a connection could not be recovered in {seconds} s: {error}");
                    self.reports.send(Report::Failed(Failure::wrong(reason))).ok();
                    return;
                }
                Err(error) => {
                    let now = self.clock.now();
                    self.service.failed(ErrorKind::NotReconnected, now, &error.to_string());
                    self.submit(LostConnection {
                        attempts: lost.attempts.saturating_add(1),
                        ..lost
                    });
                }
            }
        }
    }

    fn next(&self) -> Option<LostConnection> {
        let mut queue = self.queue.lock().expect("the queue's holders do not panic");
        loop {
            if queue.is_over {
                return None;
            }
            let now = Instant::now();
            let wait = match queue.waiting.peek() {
                Some(Reverse(lost)) if lost.due <= now => {
                    return queue.waiting.pop().map(|Reverse(lost)| lost);
                }
                Some(Reverse(lost)) => lost.due - now,
                None => Duration::from_secs(3600),
            };
            let waited = self.changed.wait_timeout(queue, wait);
            queue = waited.expect("the queue's holders do not panic").0;
        }
    }

    /// Restores the topology and connects. Each attempt starts with the next address.
    fn make(&self, lost: &LostConnection) -> Result<PreparedConnection, TopologyError> {
        let RunContext { plans, dialer, restorer, .. } = self.context;
        if let Some(restorer) = restorer {
            restorer.restore(lost.at, dialer)?;
        }
        let plan = &plans[lost.plan];
        PreparedConnection::set_up(plan, dialer, plan.number + lost.attempts as usize)
    }
}

impl LostConnection {
    pub(crate) fn now(worker: usize, link: usize, plan: usize, attempts: u32) -> Self {
        let now = Instant::now();
        Self { due: now, at: now, worker, link, plan, attempts }
    }
}

/// Returns the delay before an attempt. It doubles with each failed attempt, up to the limit. A random share of up to
/// one half is subtracted, so that connections lost together do not all return together.
fn backoff(recovery: &Recovery, attempts: u32, share: f64) -> Duration {
    let doubled = recovery.delay.saturating_mul(1 << attempts.min(20));
    doubled.min(recovery.max_delay).mul_f64(1.0 - share / 2.0)
}

/// Returns the seed of the delays. Each process of a run has its own. Otherwise connections lost together would return
/// together. A scenario has the same seeds in each run. A seed is never 0, which xorshift never leaves.
fn jitter_seed(seed: u64, share: Share) -> u64 {
    // The golden ratio, as in splitmix64: neighbours differ in many bits.
    seed.wrapping_add(u64::from(share.number).wrapping_mul(0x9e37_79b9_7f4a_7c15)) | 1
}

/// Returns a random number from 0 to 1 (xorshift64).
fn random_share(state: &mut u64) -> f64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    (*state >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_double_up_to_the_limit() {
        fn check(attempts: u32, share: f64, expected_millis: u64) {
            let second = Duration::from_secs(1);
            let recovery = Recovery { delay: second, max_delay: 10 * second, timeout: second };
            let expected = Duration::from_millis(expected_millis);
            assert_eq!(backoff(&recovery, attempts, share), expected, "{attempts} {share}");
        }
        check(0, 0.0, 1000);
        check(0, 0.5, 750);
        check(1, 0.0, 2000);
        check(3, 0.0, 8000);
        check(4, 0.0, 10_000);
        check(4_000_000_000, 1.0, 5000);
    }

    #[test]
    fn processes_have_delays_of_their_own() {
        let delays = |number| {
            let mut state = jitter_seed(1, Share { number, of: 4 });
            [(); 3].map(|()| random_share(&mut state).to_bits())
        };
        let all: std::collections::BTreeSet<_> = (0..4).flat_map(delays).collect();
        assert_eq!(all.len(), 12);
        assert_eq!(delays(3), delays(3), "the same in each run");
    }

    #[test]
    fn shares_are_spread() {
        let mut state = 1;
        let shares: Vec<_> = (0..1000).map(|_| random_share(&mut state)).collect();
        assert!(shares.iter().all(|share| (0.0..1.0).contains(share)));
        let mean = shares.iter().sum::<f64>() / 1000.0;
        assert!((0.45..0.55).contains(&mean), "{mean}");
    }
}
