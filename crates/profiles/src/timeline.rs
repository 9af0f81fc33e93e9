//! Time lines of a profile's threads, for formats with a time axis.
//!
//! Times are known by step (50 ms when recorded by rabbitscope). The samples of one thread in one step follow one
//! another in an arbitrary order, from the step's start on; waits end at the step's end. Spans never overlap. Threads of
//! several nodes with the same name have no time line if they have more weight than time.

use std::collections::BTreeMap;

use super::{Event, Profile};

/// A stack that lasts for some time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    /// Index of the sample.
    pub(super) sample: usize,
    /// Time since the start of the recording.
    pub(super) start_nanos: u64,
    /// 0 for an event without duration, such as a call.
    pub(super) length_nanos: u64,
    /// Weight in the unit of the event.
    pub(super) weight: u64,
}

impl Span {
    pub(super) fn end_nanos(&self) -> u64 {
        self.start_nanos.saturating_add(self.length_nanos)
    }
}

/// The time line of one thread.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ThreadLine {
    /// Spans in order of time.
    pub(super) spans: Vec<Span>,
    /// Samples with weight whose time was not recorded, and that weight.
    pub(super) untimed: Vec<(usize, u64)>,
}

/// Step, index of the sample, and weight.
type Point = (u32, usize, u64);

/// Returns time lines by thread name; `None` if no times were recorded.
pub(super) fn timeline(profile: &Profile) -> Option<BTreeMap<&str, ThreadLine>> {
    let step_nanos = profile.capture.time_step_nanos;
    if step_nanos == 0 || profile.samples.iter().all(|sample| sample.times.is_empty()) {
        return None;
    }
    let mut threads: BTreeMap<&str, (Vec<Point>, ThreadLine)> = BTreeMap::new();
    for (number, sample) in profile.samples.iter().enumerate() {
        let (points, line) = threads.entry(&sample.labels.thread).or_default();
        let mut rest = sample.weight;
        for (step, weight) in sample.times.iter() {
            points.push((step, number, weight));
            rest = rest.saturating_sub(weight);
        }
        if rest > 0 {
            line.untimed.push((number, rest));
        }
    }
    let placed = threads.into_iter().map(|(name, (mut points, mut line))| {
        points.sort_unstable();
        match placed(profile, &points, step_nanos) {
            Some(spans) => line.spans = spans,
            None => line.untimed.extend(points.iter().map(|&(_, sample, weight)| (sample, weight))),
        }
        (name, line)
    });
    Some(placed.collect())
}

/// Share of the time so far by which spans may be late: the clock of a processor ticks a little faster than it says.
const LATE_SHARE: u64 = 20;

/// Places the points of each step on the time line, in order. `None` if one would end too late by more than a step and
/// the share of the time so far.
fn placed(profile: &Profile, points: &[Point], step_nanos: u64) -> Option<Vec<Span>> {
    let mut spans = Vec::with_capacity(points.len());
    let mut free = 0_u64;
    for points_of_step in points.chunk_by(|left, right| left.0 == right.0) {
        let begin = u64::from(points_of_step[0].0).saturating_mul(step_nanos);
        let length = |weight: u64| weight.saturating_mul(nanos_of_weight(profile));
        let all =
            points_of_step.iter().fold(0_u64, |sum, point| sum.saturating_add(length(point.2)));
        // A wait counts for the step in which it ended.
        let first = match profile.event {
            Event::OffCpu => begin.saturating_add(step_nanos).saturating_sub(all),
            _ => begin,
        };
        free = free.max(first);
        for &(_, sample, weight) in points_of_step {
            let length_nanos = length(weight);
            spans.push(Span { sample, start_nanos: free, length_nanos, weight });
            free = free.saturating_add(length_nanos);
        }
        let end = begin.saturating_add(step_nanos);
        if free.saturating_sub(end) > step_nanos.saturating_add(end / LATE_SHARE) {
            return None;
        }
    }
    Some(spans)
}

/// Duration of a unit of weight.
fn nanos_of_weight(profile: &Profile) -> u64 {
    match profile.event {
        Event::Cpu => profile.capture.period_nanos,
        Event::OffCpu => 1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read_folded;

    const STEP: u64 = 50_000_000;

    /// A profile of samples `a` and `b` with weights by step, on these threads.
    fn profile(samples: [(&str, &[(u32, u64)]); 2]) -> Profile {
        let mut profile = read_folded(&b"a 1\nb 1\n"[..]).unwrap();
        profile.capture.time_step_nanos = STEP;
        profile.capture.period_nanos = 1_000_000;
        for (sample, (thread, times)) in profile.samples.iter_mut().zip(samples) {
            sample.labels.thread = thread.into();
            sample.weight = times.iter().map(|(_, weight)| weight).sum();
            for &(step, weight) in times {
                sample.times.add(step, weight);
            }
        }
        profile
    }

    fn starts(line: &ThreadLine) -> Vec<(usize, u64, u64)> {
        let millis = |nanos: u64| nanos / 1_000_000;
        let spans = line.spans.iter();
        spans
            .map(|span| (span.sample, millis(span.start_nanos), millis(span.length_nanos)))
            .collect()
    }

    #[test]
    fn what_fell_into_a_step_stands_there() {
        let profile = profile([("1_scheduler", &[(0, 10), (4, 5)]), ("1_scheduler", &[(4, 20)])]);
        let lines = timeline(&profile).unwrap();
        assert_eq!(starts(&lines["1_scheduler"]), [(0, 0, 10), (0, 200, 5), (1, 205, 20)]);
    }

    #[test]
    fn threads_run_at_the_same_time() {
        let profile = profile([("1_scheduler", &[(2, 50)]), ("2_scheduler", &[(2, 50)])]);
        let lines = timeline(&profile).unwrap();
        assert_eq!(starts(&lines["1_scheduler"]), [(0, 100, 50)]);
        assert_eq!(starts(&lines["2_scheduler"]), [(1, 100, 50)]);
    }

    /// Waits of 400 and 20 ms that ended in the steps from 450 and from 500 ms on.
    #[test]
    fn a_wait_ends_in_its_step() {
        let waits = [("aux", &[(9, 400_000_000)][..]), ("aux", &[(10, 20_000_000)][..])];
        let mut profile = profile(waits);
        profile.event = Event::OffCpu;
        let lines = timeline(&profile).unwrap();
        assert_eq!(starts(&lines["aux"]), [(0, 100, 400), (1, 530, 20)]);
    }

    #[test]
    fn threads_with_more_weight_than_time_have_no_time_line() {
        let profile = profile([("aux", &[(0, 50), (1, 50)]), ("aux", &[(0, 20), (1, 20)])]);
        assert_eq!(starts(&timeline(&profile).unwrap()["aux"]).len(), 4);
        let mut profile = profile;
        for sample in &mut profile.samples {
            sample.times.add(2, 40);
        }
        let lines = timeline(&profile).unwrap();
        assert_eq!(starts(&lines["aux"]), []);
        let untimed: u64 = lines["aux"].untimed.iter().map(|(_, weight)| weight).sum();
        assert_eq!(untimed, 220, "all of it");
    }

    #[test]
    fn a_busy_thread_whose_clock_ticks_too_fast_keeps_its_time_line() {
        // An hour of 50.1 ms in each step of 50 ms.
        let steps: Vec<(u32, u64)> = (0..72_000).map(|step| (step, 501)).collect();
        let mut profile = profile([("aux", &steps), ("other", &[])]);
        profile.capture.period_nanos = 100_000;
        assert_eq!(starts(&timeline(&profile).unwrap()["aux"]).len(), steps.len());
    }

    #[test]
    fn what_has_no_time_is_kept_apart() {
        let mut profile = profile([("aux", &[(0, 3)]), ("aux", &[])]);
        profile.samples[0].weight = 5;
        profile.samples[1].weight = 7;
        let lines = timeline(&profile).unwrap();
        assert_eq!(lines["aux"].untimed, [(0, 2), (1, 7)]);
        profile.capture.time_step_nanos = 0;
        assert_eq!(timeline(&profile), None);
    }
}
