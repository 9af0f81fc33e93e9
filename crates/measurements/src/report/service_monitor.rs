//! Times without service: lost connections and resource alarms, as the load threads report them.
//!
//! Threads report changes only. Changes are so rare that one lock for all threads costs nothing.

use std::{collections::BTreeMap, sync::Mutex};

use rabbitscope_runs::record::{ErrorCount, ErrorKind, ServiceSpan, SpanKind, Stall};
use rabbitscope_timing::{Nanos, RunInstant};

use super::{
    failure::Failure,
    service_change::{ServiceChange, ServiceJournal, TimedChange},
    side::Side,
    stalls::{MIN_STALL, Stalls},
};

/// Limit of the kept spans; further ones are only counted. Chosen.
const MAX_SPANS: usize = 1000;

/// Connections and alarms of a run, reported by its threads.
#[derive(Debug, Default)]
pub struct ServiceMonitor(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    sides: [Connections; Side::COUNT],
    down: ConditionTime,
    alarm: ConditionTime,
    blocked: usize,
    spans: Vec<ServiceSpan>,
    spans_left_out: u64,
    errors: BTreeMap<ErrorKind, ErrorCount>,
    /// Changes for another process; absent if none asks for them.
    journal: Option<ServiceJournal>,
    stalls: Stalls,
}

/// Connections of one side.
#[derive(Debug, Default)]
struct Connections {
    all: usize,
    lost: usize,
}

/// The time in which a condition holds, split by interval.
#[derive(Debug, Default)]
struct ConditionTime {
    /// Start and reason of the condition that holds now.
    current: Option<(RunInstant, String)>,
    /// Past times that no interval has counted yet.
    untold: Vec<(RunInstant, RunInstant)>,
    /// Time up to which the current condition has been counted.
    told_until: RunInstant,
}

/// A condition that has ended.
struct EndedCondition {
    from: RunInstant,
    to: RunInstant,
    reason: String,
}

impl ConditionTime {
    fn begin(&mut self, now: RunInstant, reason: &str) {
        if self.current.is_none() {
            self.current = Some((now, reason.to_owned()));
            self.told_until = now;
        }
    }

    fn end(&mut self, now: RunInstant) -> Option<EndedCondition> {
        let (since, reason) = self.current.take()?;
        self.untold.push((self.told_until, now.max(self.told_until)));
        Some(EndedCondition { from: since, to: now.max(since), reason })
    }

    /// Counts and returns the time before `end` that was not counted yet.
    fn tell(&mut self, end: RunInstant) -> Nanos {
        let mut sum = Nanos::ZERO;
        for (from, to) in &mut self.untold {
            sum += end.min(*to).since(*from);
            *from = (*from).max(end.min(*to));
        }
        self.untold.retain(|(from, to)| from < to);
        if self.current.is_some() {
            sum += end.since(self.told_until);
            self.told_until = self.told_until.max(end);
        }
        sum
    }
}

/// Time without service and time with an alarm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct UnavailableTime {
    pub(crate) down: Nanos,
    pub(crate) alarm: Nanos,
}

/// The service of a whole run.
#[derive(Debug, Default)]
pub struct ServiceFindings {
    pub(crate) spans: Vec<ServiceSpan>,
    pub(crate) spans_left_out: u64,
    /// True if all connections of one side were lost when the load ended.
    pub(crate) is_down: bool,
    pub(crate) errors: Vec<ErrorCount>,
    /// Times without service.
    pub stalls: Vec<Stall>,
    pub(crate) stalls_left_out: u64,
}

impl ServiceMonitor {
    /// Records changes from now on, for [`ServiceMonitor::take_changes`].
    pub fn keep_journal(&self) {
        self.with(|state| state.journal = Some(ServiceJournal::default()));
    }

    /// Returns the reason of the alarm that blocks connections now; absent if there is none.
    pub(crate) fn alarm(&self) -> Option<String> {
        self.with(|state| state.alarm.current.as_ref().map(|(_, reason)| reason.clone()))
    }

    /// Takes the changes since the last call.
    pub(crate) fn take_changes(&self) -> Vec<TimedChange> {
        self.with(|state| state.journal.as_mut().map(ServiceJournal::take).unwrap_or_default())
    }

    /// Returns whether a connection is lost and not yet replaced.
    pub fn has_losses(&self) -> bool {
        self.with(|state| state.sides.iter().any(|side| side.lost > 0))
    }

    /// Adds a connection.
    pub fn connected(&self, side: Side) {
        self.note(RunInstant::START, ServiceChange::Connected { side, count: 1 });
    }

    /// Notes the loss of a connection.
    pub fn lost(&self, side: Side, now: RunInstant, failure: &Failure) {
        self.note(now, ServiceChange::Lost { side, reason: failure.reason.clone() });
    }

    /// Notes that a lost connection was replaced.
    pub fn back(&self, side: Side, now: RunInstant) {
        self.note(now, ServiceChange::Back { side });
    }

    /// Notes that an alarm blocks a connection that was not blocked.
    pub fn blocked(&self, now: RunInstant, reason: &str) {
        self.note(now, ServiceChange::Blocked { reason: reason.to_owned() });
    }

    /// Notes that a connection is no longer blocked, or no longer exists.
    pub fn unblocked(&self, now: RunInstant) {
        self.note(now, ServiceChange::Unblocked);
    }

    /// Notes that a channel had no confirm from `since` to `now`, although one was due. Shorter waits than
    /// [`MIN_STALL`] are ignored.
    #[inline]
    pub fn waited(&self, since: RunInstant, now: RunInstant) {
        if now.since(since) >= MIN_STALL {
            self.note(now, ServiceChange::Waited { since });
        }
    }

    /// Counts an error.
    pub fn failed(&self, kind: ErrorKind, now: RunInstant, reason: &str) {
        self.note(now, ServiceChange::Failed { kind, count: 1, reason: reason.to_owned() });
    }

    /// Applies a change, and adds it to the journal if there is one.
    pub(crate) fn note(&self, at: RunInstant, change: ServiceChange) {
        self.with(|state| {
            state.apply(at, &change);
            if let Some(journal) = &mut state.journal {
                journal.push(at, change);
            }
        });
    }

    /// Counts and returns the times before `end` that were not counted yet.
    pub(crate) fn lap(&self, end: RunInstant) -> UnavailableTime {
        self.with(|state| UnavailableTime {
            down: state.down.tell(end),
            alarm: state.alarm.tell(end),
        })
    }

    /// Returns the service of a load that ended at `load_end`.
    pub fn finish(&self, load_end: RunInstant) -> ServiceFindings {
        self.with(|state| {
            let over = state.down.end(load_end);
            state.keep(SpanKind::Down, over);
            let over = state.alarm.end(load_end);
            state.keep(SpanKind::Blocked, over);
            let (stalls, stalls_left_out) = state.stalls.finish(load_end);
            let load_end = load_end.nanos();
            let mut spans = std::mem::take(&mut state.spans);
            let is_down = |span: &ServiceSpan| {
                span.kind == SpanKind::Down && (span.from_nanos..=span.to_nanos).contains(&load_end)
            };
            let is_down = spans.iter().any(is_down);
            spans.retain(|span| span.from_nanos < load_end);
            for span in &mut spans {
                span.to_nanos = span.to_nanos.min(load_end);
            }
            spans.sort_by_key(|span| span.from_nanos);
            let errors = std::mem::take(&mut state.errors).into_values().collect();
            let spans_left_out = state.spans_left_out;
            ServiceFindings { spans, spans_left_out, is_down, errors, stalls, stalls_left_out }
        })
    }

    fn with<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        change(&mut self.0.lock().expect("those who tell of changes do not panic"))
    }
}

impl State {
    fn apply(&mut self, now: RunInstant, change: &ServiceChange) {
        match change {
            ServiceChange::Connected { side, count } => {
                let all = &mut self.sides[*side as usize].all;
                *all = all.saturating_add(*count);
            }
            ServiceChange::Lost { side, reason } => {
                let connections = &mut self.sides[*side as usize];
                connections.lost += 1;
                if connections.lost == connections.all {
                    self.down.begin(now, reason);
                }
            }
            ServiceChange::Back { side } => self.back(*side, now),
            ServiceChange::Blocked { reason } => {
                self.blocked += 1;
                self.alarm.begin(now, reason);
            }
            ServiceChange::Unblocked => {
                self.blocked = self.blocked.saturating_sub(1);
                if self.blocked == 0 {
                    let over = self.alarm.end(now);
                    self.keep(SpanKind::Blocked, over);
                }
            }
            ServiceChange::Waited { since } => self.stalls.add(*since, now),
            ServiceChange::Failed { kind, count, reason } => {
                let first =
                    ErrorCount { kind: *kind, count: 0, last: String::new(), last_at_nanos: 0 };
                let error = self.errors.entry(*kind).or_insert(first);
                error.count = error.count.saturating_add(*count);
                reason.clone_into(&mut error.last);
                error.last_at_nanos = now.nanos();
            }
        }
    }

    fn back(&mut self, side: Side, now: RunInstant) {
        let connections = &mut self.sides[side as usize];
        connections.lost = connections.lost.saturating_sub(1);
        if !self.sides.iter().any(|side| side.all > 0 && side.lost == side.all) {
            let over = self.down.end(now);
            self.keep(SpanKind::Down, over);
        }
    }

    fn keep(&mut self, kind: SpanKind, over: Option<EndedCondition>) {
        let Some(EndedCondition { from, to, reason }) = over else { return };
        if self.spans.len() < MAX_SPANS {
            let (from_nanos, to_nanos) = (from.nanos(), to.nanos());
            self.spans.push(ServiceSpan { kind, from_nanos, to_nanos, reason });
        } else {
            self.spans_left_out += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn monitor(sides: &[Side]) -> ServiceMonitor {
        let monitor = ServiceMonitor::default();
        for side in sides {
            monitor.connected(*side);
        }
        monitor
    }

    fn at(nanos: u64) -> RunInstant {
        RunInstant::from_nanos(nanos)
    }

    fn gone() -> Failure {
        Failure::lost("gone")
    }

    #[test]
    fn there_is_service_while_each_side_has_a_connection() {
        let monitor = monitor(&[Side::Sending, Side::Sending, Side::Receiving]);
        monitor.lost(Side::Sending, at(100), &gone());
        assert_eq!(monitor.lap(at(200)).down, Nanos::new(0), "one is left");
        monitor.lost(Side::Sending, at(250), &gone());
        assert_eq!(monitor.lap(at(300)).down, Nanos::new(50));
        monitor.lost(Side::Receiving, at(320), &gone());
        monitor.back(Side::Sending, at(340));
        assert_eq!(monitor.lap(at(400)).down, Nanos::new(100), "nobody consumes");
        monitor.back(Side::Receiving, at(430));
        monitor.lost(Side::Receiving, at(450), &gone());
        monitor.back(Side::Receiving, at(520));
        assert_eq!(monitor.lap(at(500)).down, Nanos::new(80), "and not what comes later");
        assert_eq!(monitor.lap(at(600)).down, Nanos::new(20));
        let found = monitor.finish(at(600));
        let spans: Vec<_> =
            found.spans.iter().map(|span| (span.from_nanos, span.to_nanos)).collect();
        assert_eq!((spans, found.is_down), (vec![(250, 430), (450, 520)], false));
    }

    #[test]
    fn what_ends_after_the_load_is_cut_off() {
        let monitor = monitor(&[Side::Sending]);
        monitor.lost(Side::Sending, at(900), &gone());
        assert_eq!(monitor.lap(at(1000)).down, Nanos::new(100));
        monitor.back(Side::Sending, at(1500));
        monitor.lost(Side::Sending, at(1600), &gone());
        let found = monitor.finish(at(1000));
        let expected = ServiceSpan {
            kind: SpanKind::Down,
            from_nanos: 900,
            to_nanos: 1000,
            reason: "gone".to_owned(),
        };
        assert_eq!((found.spans, found.is_down), (vec![expected], true));
    }

    #[test]
    fn an_alarm_holds_while_it_blocks_anybody() {
        let monitor = monitor(&[Side::Sending, Side::Sending]);
        monitor.blocked(at(100), "low on memory");
        monitor.blocked(at(150), "low on memory");
        monitor.unblocked(at(180));
        assert_eq!(
            monitor.lap(at(200)),
            UnavailableTime { down: Nanos::ZERO, alarm: Nanos::new(100) }
        );
        monitor.unblocked(at(230));
        assert_eq!(monitor.lap(at(300)).alarm, Nanos::new(30));
        assert_eq!(monitor.finish(at(300)).spans[0].reason, "low on memory");
    }

    #[test]
    fn the_last_error_of_each_kind_is_kept() {
        let monitor = monitor(&[]);
        for (kind, now, reason) in [
            (ErrorKind::NotReconnected, 1, "refused"),
            (ErrorKind::ChannelClosed, 2, "too large"),
            (ErrorKind::NotReconnected, 3, "timed out"),
        ] {
            monitor.failed(kind, at(now), reason);
        }
        let errors = monitor.finish(at(9)).errors;
        let errors: Vec<_> =
            errors.iter().map(|error| (error.count, error.last.as_str())).collect();
        assert_eq!(errors, [(1, "too large"), (2, "timed out")]);
    }
}
