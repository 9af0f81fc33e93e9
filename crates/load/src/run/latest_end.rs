//! The deadline by which the processes of a run must be done. Without it, the controller would wait for ever for a
//! process that reports progress but never its end.

use std::{
    sync::atomic::Ordering,
    time::{Duration, Instant},
};

use rabbitscope_measurements::SharedState;
use rabbitscope_runs::scenario::{Scenario, UntilKind};
use rabbitscope_timing::{Nanos, RunInstant};

use super::coordinator::end_of_load;
use crate::worker::{ANSWER_TIMEOUT, CLOSE_TIMEOUT, DRAIN_TIMEOUT};

/// Allowance beyond the time that an end can take, for a process without CPU or with late updates. Chosen: three times
/// the silence after which a process is dropped.
const MARGIN: Duration = Duration::from_secs(30);

/// A call of `next` that takes longer was interrupted: the bus was unreachable, or this process was stopped. Chosen.
const MAX_ABSENCE: Duration = Duration::from_secs(1);

/// Longest time for reading the backlog of updates. Chosen: a log of ten hours is read in less.
const CATCH_UP_TIME: Duration = Duration::from_secs(600);

/// The time at which this process caught up with the backlog of updates.
pub(super) struct Hearing {
    /// Absent while the backlog is being read.
    since: Option<Instant>,
    away: Instant,
}

impl Hearing {
    pub(super) fn new(now: Instant) -> Self {
        Self { since: None, away: now }
    }

    /// Notes a wait for updates from `asked` to `now`. `is_behind`: older updates are still unread.
    pub(super) fn note(&mut self, asked: Instant, now: Instant, is_behind: bool) {
        if now.saturating_duration_since(asked) > MAX_ABSENCE {
            *self = Self::new(now);
        }
        let is_patient = now.saturating_duration_since(self.away) < CATCH_UP_TIME;
        if self.since.is_none() && !(is_behind && is_patient) {
            self.since = Some(now);
        }
    }
}

/// The step that a process has not completed in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Overdue {
    /// To stop publishing, and to await no more answers.
    Stopping,
    /// To end.
    Ending,
}

impl Overdue {
    /// Text that follows the name of a process in a message.
    pub(super) fn text(self) -> &'static str {
        match self {
            Self::Stopping => "still publishes long after the end of the load",
            Self::Ending => "is still not done long after the scenario's latest end",
        }
    }
}

/// The latest end that a scenario allows.
pub(super) struct LatestEnd {
    planned: RunInstant,
    awaits_empty: bool,
    /// Longest time for which churn may keep connections open.
    churn: Duration,
    /// End of the load.
    over: Option<Instant>,
    /// Time from which consumers had no more reason to go on.
    emptied: Option<Instant>,
}

impl LatestEnd {
    pub(super) fn new(scenario: &Scenario, churn: Duration) -> Self {
        Self {
            planned: end_of_load(scenario),
            awaits_empty: scenario.run.until == Some(UntilKind::Empty),
            churn,
            over: None,
            emptied: None,
        }
    }

    /// Returns the step that every process must have completed by now. `age` is the time of the run, or less.
    ///
    /// Queues that do not become empty have their own limit (`empty-timeout`). A load without duration has none.
    pub(super) fn check(
        &mut self,
        now: Instant,
        age: Duration,
        shared: &SharedState,
        hearing: &Hearing,
    ) -> Option<Overdue> {
        let is_set = |flag: &std::sync::atomic::AtomicBool| flag.load(Ordering::Relaxed);
        let is_aborted = is_set(&shared.abort);
        let is_planned = RunInstant::START + Nanos::from(age) >= self.planned;
        if is_planned || is_aborted || is_set(&shared.ending) {
            self.over.get_or_insert(now);
        }
        if is_aborted || is_set(&shared.is_empty) {
            self.emptied.get_or_insert(now);
        }
        let (over, heard) = (self.over?, hearing.since?);
        let emptied = if self.awaits_empty { self.emptied } else { self.over };
        let has_passed = |since: Instant, allowed: Duration| {
            now.saturating_duration_since(since.max(heard)) >= allowed + MARGIN
        };
        let [answers, drain, close] =
            [ANSWER_TIMEOUT, DRAIN_TIMEOUT, CLOSE_TIMEOUT].map(Duration::from);
        let is_ending = emptied.is_some_and(|emptied| {
            has_passed(over, self.churn.max(answers + drain + close))
                && has_passed(emptied, drain + close)
        });
        let is_stopping = has_passed(over, answers);
        match (is_ending, emptied) {
            (true, _) => Some(Overdue::Ending),
            (false, None) if is_stopping => Some(Overdue::Stopping),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use rabbitscope_runs::scenario;

    use super::*;

    /// A simulated run, second by second.
    struct Run {
        shared: SharedState,
        latest: LatestEnd,
        hearing: Hearing,
        began: Instant,
        second: u64,
    }

    fn run(keys: &str, churn: u64) -> Run {
        let text = format!(
            "name = 'r'\nrun = {{ {keys} }}\nqueues = [{{ name = 'q' }}]\n\
                            publishers = [{{ queue = 'q' }}]\nconsumers = [{{ queue = 'q' }}]"
        );
        let scenario = scenario::parse(&text, "test", &[]).unwrap();
        let began = Instant::now();
        Run {
            shared: SharedState::default(),
            latest: LatestEnd::new(&scenario, Duration::from_secs(churn)),
            hearing: Hearing::new(began),
            began,
            second: 0,
        }
    }

    impl Run {
        /// Returns the overdue step at a second of the run. Updates are heard in every second up to it.
        fn at(&mut self, second: u64) -> Option<Overdue> {
            let mut found = None;
            while self.second < second {
                self.second += 1;
                let now = self.now();
                self.hearing.note(now, now, false);
                let age = Duration::from_secs(self.second);
                found = self.latest.check(now, age, &self.shared, &self.hearing);
            }
            found
        }

        fn now(&self) -> Instant {
            self.began + Duration::from_secs(self.second)
        }
    }

    /// The limit is 30 s more than answers (120 s), drain (2 s) and close (1 s) may take.
    #[test]
    fn a_load_ends_after_its_duration() {
        let mut planned = run("duration = '10s'", 0);
        assert_eq!(planned.at(162), None);
        assert_eq!(planned.at(163), Some(Overdue::Ending));
        let mut churned = run("duration = '10s'", 200);
        assert_eq!((churned.at(239), churned.at(240)), (None, Some(Overdue::Ending)));
    }

    #[test]
    fn a_load_without_duration_ends_when_it_is_told_to() {
        let mut run = run("until = 'idle'", 0);
        assert_eq!(run.at(100_000), None);
        run.shared.ending.store(true, Ordering::Relaxed);
        assert_eq!((run.at(100_153), run.at(100_154)), (None, Some(Overdue::Ending)));
    }

    #[test]
    fn queues_may_take_their_time_to_become_empty() {
        let mut run = run("duration = '10s', until = 'empty', empty-timeout = '1h'", 0);
        assert_eq!((run.at(159), run.at(160)), (None, Some(Overdue::Stopping)), "answers, 30 s");
        assert_eq!(run.at(3_000), Some(Overdue::Stopping), "who has stopped is not meant");
        run.shared.is_empty.store(true, Ordering::Relaxed);
        assert_eq!((run.at(3_033), run.at(3_034)), (None, Some(Overdue::Ending)));
    }

    #[test]
    fn who_could_not_be_heard_is_not_late() {
        let mut run = run("duration = '10s'", 0);
        run.at(20);
        let asked = run.now();
        run.second = 80;
        run.hearing.note(asked, run.now(), true);
        run.second = 200;
        for _ in 0..2 {
            run.hearing.note(run.now(), run.now(), true);
            let age = Duration::from_secs(200);
            assert_eq!(run.latest.check(run.now(), age, &run.shared, &run.hearing), None);
        }
        assert_eq!((run.at(353), run.at(354)), (None, Some(Overdue::Ending)));
        run.hearing = Hearing::new(run.now());
        let later = run.now() + CATCH_UP_TIME;
        run.hearing.note(later, later, true);
        assert!(run.hearing.since.is_some(), "whoever floods the log does not put it off");
    }
}
