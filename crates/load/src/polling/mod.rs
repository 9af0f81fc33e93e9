//! HTTP pollers: requests at a fixed interval beside the load, each poller on a thread of its own.
//!
//! [`Page`] is what is asked for and by whom; [`Pollers`] asks, and is asked once a second what it
//! saw. What deliberately is not here: where a password comes from, and the rows that the answers
//! end up in.

mod page;
mod poller;
mod tally;

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant, SystemTime},
};

use rabbitscope_runs::record::{Loss, PollPoint, PollTotals};

pub use page::{Page, PageError};
use poller::{Pause, Schedule};
use tally::Tally;

use crate::outcome::LatencyRecord;

/// What a group and its threads share.
type Shared = Arc<Mutex<Tally>>;

/// Pollers that run until they are asked for their results.
#[derive(Debug)]
pub struct Pollers {
    groups: Vec<Group>,
    pause: Arc<Pause>,
    started: Instant,
}

#[derive(Debug)]
struct Group {
    page: Page,
    tally: Shared,
}

/// What pollers saw over a whole run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PollOutcome {
    /// One for each group.
    pub totals: Vec<PollTotals>,
    /// Two for each group that had an answer.
    pub latencies: Vec<LatencyRecord>,
    /// What was not measured.
    pub losses: Vec<Loss>,
}

impl Pollers {
    /// Starts asking for these pages.
    pub fn start(pages: Vec<Page>) -> Self {
        let (started, pause) = (Instant::now(), Arc::new(Pause::default()));
        let groups = pages.into_iter().map(|page| {
            let tally = Tally::new(&page.name, SystemTime::now());
            Group { page, tally: Arc::new(Mutex::new(tally)) }
        });
        let pollers = Self { groups: groups.collect(), pause, started };
        for group in &pollers.groups {
            group.start(&pollers.pause, started);
        }
        pollers
    }

    /// What was seen since the last call, one for each group. `is_warm_up`: no part of the whole
    /// run's latencies.
    pub fn lap(&mut self, is_warm_up: bool) -> Vec<PollPoint> {
        let now = self.started.elapsed();
        self.groups.iter().map(|group| lock(&group.tally).lap(now, is_warm_up)).collect()
    }

    /// Ends all of them. A request whose answer is still awaited is given up.
    pub fn finish(self) -> PollOutcome {
        self.pause.end();
        let now = self.started.elapsed();
        let mut outcome = PollOutcome::default();
        for group in self.groups {
            let scheduled = group.schedules().map(|one| one.due_until(now)).sum();
            let mut tally = lock(&group.tally);
            tally.lap(now, false);
            let (totals, latencies) = tally.close(&group.page.url, scheduled);
            outcome.losses.extend(losses(&totals));
            outcome.totals.push(totals);
            outcome.latencies.extend(latencies);
        }
        outcome
    }
}

impl Group {
    fn start(&self, pause: &Arc<Pause>, origin: Instant) {
        for schedule in self.schedules() {
            let (page, tally) = (self.page.clone(), Arc::clone(&self.tally));
            let pause = Arc::clone(pause);
            thread::spawn(move || poller::poll(&page, schedule, origin, &tally, &pause));
        }
    }

    /// Members take turns within the interval.
    fn schedules(&self) -> impl Iterator<Item = Schedule> {
        let Page { count, interval, .. } = self.page;
        (0..count).map(move |member| Schedule { offset: interval * member / count, interval })
    }
}

fn lock(tally: &Mutex<Tally>) -> MutexGuard<'_, Tally> {
    // A thread that panicked left counters that are as good as before.
    tally.lock().unwrap_or_else(PoisonError::into_inner)
}

fn losses(totals: &PollTotals) -> Vec<Loss> {
    let loss = |what: &str, count, of, meaning: &str| Loss {
        what: format!("{what} of {}", totals.name),
        count,
        of,
        meaning: meaning.to_owned(),
    };
    let refused = totals.statuses.range(400..).map(|(_, count)| count).sum();
    let all = [
        loss("answers", totals.failed, totals.scheduled, "requests that got no complete answer"),
        loss(
            "requests",
            totals.unanswered,
            totals.scheduled,
            "due, but not sent or not answered before the end: their waiting is in no latency",
        ),
        loss(
            "pages",
            refused,
            totals.answered,
            "answers with an error status: measured, but not what was asked for",
        ),
    ];
    all.into_iter().filter(|loss| loss.count > 0).collect()
}

/// Nanoseconds of a duration.
fn nanos(duration: Duration) -> u64 {
    crate::clock::nanos(duration)
}
