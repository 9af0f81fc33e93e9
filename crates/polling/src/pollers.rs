//! The groups of pollers of a run: their start, and their results per second and over the run.

use std::{
    sync::{Arc, Mutex},
    thread,
    time::{Instant, SystemTime},
};

use rabbitscope_runs::record::{Loss, PollPoint, PollTotals};
use rabbitscope_timing::LatencyRecord;

use super::{
    page::Page,
    poller::{EndSignal, RequestSchedule, poll},
    statistics::{PollStatistics, SharedStatistics, lock},
};

/// Pollers that run until [`Pollers::finish`].
#[derive(Debug)]
pub struct Pollers {
    groups: Vec<Group>,
    end_signal: Arc<EndSignal>,
    started: Instant,
}

#[derive(Debug)]
struct Group {
    page: Page,
    statistics: SharedStatistics,
}

/// The results of a whole run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PollOutcome {
    /// Totals of each group.
    pub totals: Vec<PollTotals>,
    /// Two latencies for each group with an answer.
    pub latencies: Vec<LatencyRecord>,
    /// Missing measurements.
    pub losses: Vec<Loss>,
}

impl Pollers {
    /// Starts the requests to these pages.
    pub fn start(pages: Vec<Page>) -> Self {
        let (started, end_signal) = (Instant::now(), Arc::new(EndSignal::default()));
        let groups = pages.into_iter().map(|page| {
            let statistics = PollStatistics::new(&page.name, SystemTime::now());
            Group { page, statistics: Arc::new(Mutex::new(statistics)) }
        });
        let pollers = Self { groups: groups.collect(), end_signal, started };
        for group in &pollers.groups {
            group.start(&pollers.end_signal, started);
        }
        pollers
    }

    /// Returns the results since the last call, one per group. With `is_warm_up` they are excluded from the latencies
    /// of the whole run.
    pub fn lap(&mut self, is_warm_up: bool) -> Vec<PollPoint> {
        let now = self.started.elapsed();
        self.groups.iter().map(|group| lock(&group.statistics).lap(now, is_warm_up)).collect()
    }

    /// Ends all pollers. Does not wait for outstanding answers.
    pub fn finish(self) -> PollOutcome {
        self.end_signal.end();
        let now = self.started.elapsed();
        let mut outcome = PollOutcome::default();
        for group in self.groups {
            let scheduled = group.schedules().map(|one| one.due_until(now)).sum();
            let mut statistics = lock(&group.statistics);
            statistics.lap(now, false);
            let (totals, latencies) = statistics.close(&group.page.url, scheduled);
            outcome.losses.extend(losses(&totals));
            outcome.totals.push(totals);
            outcome.latencies.extend(latencies);
        }
        outcome
    }
}

impl Group {
    fn start(&self, end_signal: &Arc<EndSignal>, origin: Instant) {
        for schedule in self.schedules() {
            let (page, statistics) = (self.page.clone(), Arc::clone(&self.statistics));
            let end_signal = Arc::clone(end_signal);
            thread::spawn(move || poll(&page, schedule, origin, &statistics, &end_signal));
        }
    }

    /// Returns the schedules of the members, which are spread over the interval.
    fn schedules(&self) -> impl Iterator<Item = RequestSchedule> {
        let Page { count, interval, .. } = self.page;
        (0..count)
            .map(move |member| RequestSchedule { offset: interval * member / count, interval })
    }
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
        loss("answers", totals.failed, totals.scheduled, "requests without a complete answer"),
        loss(
            "requests",
            totals.unanswered,
            totals.scheduled,
            "due, but not sent or not answered before the end: no latency includes their wait",
        ),
        loss(
            "pages",
            refused,
            totals.answered,
            "answers with an error status: measured, but not the expected content",
        ),
    ];
    all.into_iter().filter(|loss| loss.count > 0).collect()
}
