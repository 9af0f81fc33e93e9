//! The due times of messages: an absolute schedule, so that delays neither drop nor accumulate messages.
//!
//! A schedule is a rate that changes over time. Messages are due where its integral reaches certain values. For equal
//! distances these are whole numbers. For a Poisson process they are sums of exponential gaps of mean 1 (the
//! time-rescaling theorem: Çınlar, *Introduction to Stochastic Processes*, 1975, ch. 4.7). A burst is a step of the
//! integral. Memory is constant, because only the next message is kept.

use std::sync::Arc;

use rabbitscope_runs::scenario::{AfterPhases, Arrival, Demand, Schedule};
use rabbitscope_timing::{Nanos, RunInstant};

/// Nanoseconds in a second.
const SECOND: f64 = 1e9;

/// The due times of a member's messages.
#[derive(Clone, Debug)]
pub(crate) struct ArrivalSchedule {
    phases: Arc<[Segment]>,
    after: AfterPhases,
    /// The phase of the next message, and the beginning of that phase.
    phase: usize,
    begin: RunInstant,
    /// The integral since `begin` at the next message is `base + index`.
    base: f64,
    index: u64,
    gaps: Option<Gaps>,
    /// [`RunInstant::NEVER`] if no message follows.
    due: RunInstant,
}

/// A phase of the schedule.
#[derive(Clone, Copy, Debug)]
struct Segment {
    demand: Demand,
    length: Nanos,
    /// Messages in the whole phase.
    total: f64,
}

impl ArrivalSchedule {
    /// Returns the schedule of one of `count` members with the same schedule, which begins at `start`; absent without a
    /// schedule. Members alternate: each is a fraction of a message ahead of the next.
    pub(crate) fn new(
        schedule: &Schedule,
        member: u32,
        count: u32,
        seed: u64,
        start: RunInstant,
    ) -> Option<Self> {
        let (phases, after): (Arc<[Segment]>, _) = match schedule.rate {
            Some(rate) => {
                let steady = Demand::Rate { from: rate, to: rate };
                ([Segment::endless(steady)].into(), AfterPhases::Stop)
            }
            None if schedule.phases.is_empty() => return None,
            None => {
                let phases = schedule.phases.iter();
                let phases = phases.map(|phase| Segment::new(phase.demand(), phase.length.into()));
                (phases.collect(), schedule.after_phases)
            }
        };
        let gaps = (schedule.arrival == Arrival::Poisson).then(|| Gaps::new(seed));
        let turn = f64::from(member) / f64::from(count.max(1));
        let mut arrivals =
            Self { phases, after, phase: 0, begin: start, base: turn, index: 0, gaps, due: start };
        if let Some(gaps) = &mut arrivals.gaps {
            arrivals.base = gaps.next();
        }
        arrivals.find();
        Some(arrivals)
    }

    /// Returns the due time of the next message.
    #[inline]
    pub(crate) fn due(&self) -> Option<RunInstant> {
        (self.due < RunInstant::NEVER).then_some(self.due)
    }

    /// Returns whether the next message is due at `now`.
    #[inline]
    pub(crate) fn is_due(&self, now: RunInstant) -> bool {
        self.due <= now && self.due < RunInstant::NEVER
    }

    /// Advances by one message.
    #[inline]
    pub(crate) fn advance(&mut self) {
        match &mut self.gaps {
            None => self.index += 1,
            Some(gaps) => self.base += gaps.next(),
        }
        self.find();
    }

    fn find(&mut self) {
        loop {
            let segment = self.phases[self.phase];
            let messages = self.base + self.index as f64;
            if messages < segment.total {
                self.due = self.begin + whole(segment.at(messages).ceil());
                return;
            }
            self.base = messages - segment.total;
            self.index = 0;
            if !self.enter_next(segment) {
                self.due = RunInstant::NEVER;
                return;
            }
        }
    }

    fn enter_next(&mut self, from: Segment) -> bool {
        if from.length == Nanos::MAX {
            return false;
        }
        self.begin = self.begin + from.length;
        if self.phase + 1 < self.phases.len() {
            self.phase += 1;
            return true;
        }
        match self.after {
            AfterPhases::Stop => false,
            AfterPhases::Repeat => {
                self.phase = 0;
                self.begin < RunInstant::NEVER
            }
            AfterPhases::Hold => {
                let held = match from.demand {
                    Demand::Rate { to, .. } => Demand::Rate { from: to, to },
                    bursts @ Demand::Bursts { .. } => bursts,
                };
                self.phases = [Segment::endless(held)].into();
                self.phase = 0;
                true
            }
        }
    }
}

impl Segment {
    fn new(demand: Demand, length: Nanos) -> Self {
        let total = match demand {
            Demand::Rate { from, to } => f64::midpoint(from, to) * length.seconds(),
            Demand::Bursts { messages, every } => {
                length.get().div_ceil(Nanos::from(every).get()) as f64 * f64::from(messages)
            }
        };
        Self { demand, length, total }
    }

    fn endless(demand: Demand) -> Self {
        let is_silent = demand == Demand::Rate { from: 0.0, to: 0.0 };
        Self { demand, length: Nanos::MAX, total: if is_silent { 0.0 } else { f64::INFINITY } }
    }

    /// Returns the nanoseconds from the beginning of the phase until the integral reaches `messages`.
    fn at(&self, messages: f64) -> f64 {
        match self.demand {
            Demand::Rate { from, to } if (to - from).abs() < f64::EPSILON => {
                messages * (SECOND / from)
            }
            // The inverse of `from·t + (to − from)·t² / 2T`, in the form without a loss of digits.
            Demand::Rate { from, to } => {
                let slope = (to - from) / self.length.seconds();
                let root = (from * from + 2.0 * slope * messages).max(0.0).sqrt();
                2.0 * messages / (from + root) * SECOND
            }
            Demand::Bursts { messages: size, every } => {
                (messages / f64::from(size)).floor() * Nanos::from(every).get() as f64
            }
        }
    }
}

/// Exponential gaps of mean 1 from a seed: xorshift64*, Vigna 2016.
#[derive(Clone, Debug)]
struct Gaps(u64);

impl Gaps {
    fn new(seed: u64) -> Self {
        // splitmix64: neighbouring seeds must not give neighbouring gaps.
        let mut mixed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        Self((mixed ^ (mixed >> 31)).max(1))
    }

    fn next(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let bits = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11;
        // The range is above 0 to 1, so that the logarithm is finite.
        let uniform = (bits + 1) as f64 / (1_u64 << 53) as f64;
        -uniform.ln()
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "not negative, and below 2^53 for runs of up to 100 days"
)]
fn whole(nanos: f64) -> Nanos {
    Nanos::new(nanos as u64)
}

#[cfg(test)]
mod tests {
    use rabbitscope_runs::scenario::{self, Scenario};

    use super::*;

    const SECOND: u64 = Nanos::SECOND.get();
    const MILLI: u64 = SECOND / 1000;

    fn schedule(keys: &str) -> Schedule {
        let text = format!(
            "name = \"t\"\nqueues = [{{ name = \"q\" }}]\nrun = {{ duration = \"1s\" }}\n\
             [[publishers]]\nqueue = \"q\"\n{keys}"
        );
        let Scenario { mut publishers, .. } = scenario::parse(&text, "t", &[]).unwrap();
        publishers.remove(0).schedule()
    }

    fn arrivals(keys: &str) -> ArrivalSchedule {
        ArrivalSchedule::new(&schedule(keys), 0, 1, 1, RunInstant::START).unwrap()
    }

    /// Returns the first due times.
    fn dues(mut arrivals: ArrivalSchedule, count: usize) -> Vec<u64> {
        let mut dues = Vec::new();
        while let Some(due) = arrivals.due().filter(|_| dues.len() < count) {
            dues.push(due.nanos());
            arrivals.advance();
        }
        dues
    }

    fn count_before(arrivals: ArrivalSchedule, end: u64) -> usize {
        let mut arrivals = arrivals;
        let mut count = 0;
        while arrivals.is_due(RunInstant::from_nanos(end - 1)) {
            count += 1;
            arrivals.advance();
        }
        count
    }

    #[test]
    fn a_constant_rate_keeps_its_distances() {
        for rate in [0.5, 3.0, 999.9, 14_000.0, 1_000_000.0] {
            let dues = dues(arrivals(&format!("rate = {rate}")), 100_000);
            for (index, due) in dues.iter().enumerate() {
                let exact = index as f64 * SECOND as f64 / rate;
                assert!((*due as f64 - exact).abs() <= 1.0, "{rate} {index}");
            }
        }
        assert_eq!(count_before(arrivals("rate = 14000"), SECOND), 14_000);
        assert!(ArrivalSchedule::new(&schedule(""), 0, 1, 1, RunInstant::START).is_none());
    }

    #[test]
    fn members_take_turns_and_start_when_told() {
        let steady = Schedule::steady(10.0);
        let first = |member, start| {
            let start = RunInstant::from_nanos(start);
            let arrivals = ArrivalSchedule::new(&steady, member, 4, 1, start).unwrap();
            arrivals.due().map(RunInstant::nanos)
        };
        assert_eq!(first(0, 0), Some(0));
        assert_eq!(first(1, 0), Some(25 * MILLI));
        assert_eq!(first(3, 7), Some(75 * MILLI + 7));
    }

    #[test]
    fn a_ramp_sends_the_area_below_it() {
        let ramp = "phases = [{ for = \"2s\", rate = 0, to = 100 }]\nafter-phases = \"stop\"";
        let times = dues(arrivals(ramp), 1000);
        assert_eq!(times.len(), 100);
        // Message k is due at T·√(k / 100).
        assert_eq!(times[25], SECOND);
        let down = "phases = [{ for = \"2s\", rate = 100, to = 0 }]\nafter-phases = \"stop\"";
        let falling = dues(arrivals(down), 1000);
        assert_eq!(falling.len(), 100);
        assert_eq!(falling[75], SECOND);
        assert!(falling.iter().all(|due| *due < 2 * SECOND));
    }

    #[test]
    fn phases_follow_one_another() {
        let phases = "phases = [{ for = \"1s\", rate = 4 }, { for = \"500ms\", rate = 0 }, \
                      { for = \"1s\", burst = 3, every = \"400ms\" }]\nafter-phases = ";
        let quarter = SECOND / 4;
        let burst = |start: u64| [start; 3];
        let mut expected: Vec<u64> = (0..4).map(|index| index * quarter).collect();
        for start in [1500, 1900, 2300] {
            expected.extend(burst(start * MILLI));
        }
        assert_eq!(dues(arrivals(&format!("{phases}\"stop\"")), 100), expected);
        let again: Vec<u64> = expected.iter().map(|due| due + 2500 * MILLI).collect();
        let repeated = dues(arrivals(&format!("{phases}\"repeat\"")), 26);
        assert_eq!(repeated[..13], expected);
        assert_eq!(repeated[13..], again);
        let held = dues(arrivals(&format!("{phases}\"hold\"")), 19);
        assert_eq!(held[13..], [burst(2500 * MILLI), burst(2900 * MILLI)].concat());
    }

    #[test]
    fn poisson_gaps_have_mean_and_variance_of_an_exponential() {
        let times = dues(arrivals("rate = 1000\narrival = \"poisson\""), 100_001);
        let gaps: Vec<f64> =
            times.windows(2).map(|pair| (pair[1] - pair[0]) as f64 / MILLI as f64).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        assert!(
            (0.99..1.01).contains(&mean) && (0.97..1.03).contains(&variance),
            "{mean} {variance}"
        );
        assert_eq!(times, dues(arrivals("rate = 1000\narrival = \"poisson\""), 100_001), "seeded");
        let random = schedule("rate = 1000\narrival = \"poisson\"");
        let other = dues(ArrivalSchedule::new(&random, 0, 1, 2, RunInstant::START).unwrap(), 10);
        assert_ne!(times[..10], other);
        let ramp = "phases = [{ for = \"10s\", rate = 0, to = 2000 }]\narrival = \"poisson\"\n\
                    after-phases = \"stop\"";
        let early = count_before(arrivals(ramp), 5 * SECOND);
        assert!((2300..2700).contains(&early), "a quarter of 10,000 in the first half: {early}");
    }
}
