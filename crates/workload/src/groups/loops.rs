//! Open or closed loop, the arrivals of an open one, and the window of unconfirmed messages.
//!
//! A publisher that waits for answers sends soon after one. Its pauses end earlier after an answer than a random moment of
//! the same pauses lies after one. The rule and its threshold were tested on publishers of known kinds; a closed
//! publisher with long times to think is not to be told from an open one with a window of 1. Only if these times are much
//! more even than the pauses, it is seen to be paced by its answers.

use crate::figures::{Buckets, CountsOverTime, GapSample, GapSamples, Values};

/// Share of pauses from which on a publisher is driven by answers.
const CLOSED_SHARE: f64 = 0.7;
/// Number of pauses below which nothing is said.
const PAUSES_MIN: usize = 20;
/// Variation of gaps above which only the longest tenth of the pauses count, unless messages and answers alternate.
const VARIED: f64 = 1.5;
/// Share of pauses with an answer from which on messages and answers alternate.
const ALTERNATE: f64 = 0.9;
/// Share of pauses that begin with the most unconfirmed messages, from which on these are a limit.
const FULL_SHARE: f64 = 0.5;
/// Share of all publishes that fill the window, up to which full windows before pauses are no coincidence.
const OFTEN: f64 = 0.3;
/// Part of the pauses' spread below which the times since an answer are even.
const EVEN_PART: f64 = 0.5;
/// Part of the pauses that their spread exceeds if they are no timer's.
const TIMER_PART: f64 = 0.05;
/// Least part of the time between bursts.
const SILENT_SHARE: f64 = 0.5;
/// Shortest period of bursts in nanoseconds. Shorter ones are how programs write.
const PERIOD_MIN: f64 = 5e7;

/// The loop of publishers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Loop {
    /// True if answers drive the publishers.
    pub(crate) is_closed: bool,
    /// Share of the pauses that ended sooner after an answer than a random moment of them; none with too few pauses.
    pub(crate) driven_share: Option<f64>,
    /// True if each message follows the answer before, after about the same time.
    pub(crate) is_paced: bool,
    /// Share of the pauses that began with as many unconfirmed messages as there ever were.
    pub(crate) full_share: f64,
    /// The same share of all publishes.
    full_often: f64,
}

impl Loop {
    /// Judges the pauses of publishers, and their unconfirmed messages after each publish. Bursts with a period fill
    /// windows as well, so that only answers show what drives them.
    pub(crate) fn new(
        (samples, gaps): (&GapSamples, &Buckets),
        unconfirmed: &Values<u32>,
        arrival: Arrival,
    ) -> Self {
        let most = most(unconfirmed);
        let pauses = pauses(samples, gaps);
        let driven_share = driven_share(&pauses);
        let known: Vec<u32> = pauses.iter().filter_map(|pause| pause.unconfirmed).collect();
        let full = known.iter().filter(|count| Some(**count) == most).count();
        let full_share = full as f64 / known.len().max(1) as f64;
        let is_driven = driven_share.is_some_and(|share| share >= CLOSED_SHARE);
        // A timer does not wait just when the window is full, unless the window is always as full.
        let of_all = unconfirmed.ranked().into_iter().find(|(count, _)| Some(**count) == most);
        let often = of_all.map_or(0.0, |(_, times)| times as f64 / unconfirmed.total() as f64);
        let is_held_up = most.is_some_and(|most| most > 1)
            && full_share >= FULL_SHARE
            && often <= OFTEN
            && !matches!(arrival, Arrival::Bursts { .. } | Arrival::Constant);
        let is_closed = is_driven || is_held_up;
        let is_paced = !is_closed && most == Some(1) && is_paced(samples.samples());
        Self { is_closed, driven_share, is_paced, full_share, full_often: often }
    }

    /// Returns whether the most unconfirmed messages are a window. Without a closed loop, they may be the messages of one
    /// write, which are all unconfirmed in the pause behind it.
    fn is_full(&self) -> bool {
        let share = if self.is_closed { self.full_share } else { self.full_often };
        share >= FULL_SHARE
    }
}

/// Returns whether the times from an answer to the next message are much more even than those between messages.
pub(crate) fn is_paced(pauses: &[GapSample]) -> bool {
    let times = |of: fn(&GapSample) -> u64| {
        let mut times: Vec<u64> = pauses.iter().map(of).collect();
        times.sort_unstable();
        let at =
            |quarter: usize| times.get(times.len() * quarter / 4).map_or(0.0, |time| *time as f64);
        (at(3) - at(1), at(2))
    };
    let ((spread, middle), (after_answer, _)) =
        (times(|pause| pause.nanos), times(|pause| pause.since_answer));
    pauses.len() >= PAUSES_MIN && spread > TIMER_PART * middle && after_answer < EVEN_PART * spread
}

/// Returns the most unconfirmed messages.
pub(crate) fn most(unconfirmed: &Values<u32>) -> Option<u32> {
    unconfirmed.ranked().into_iter().map(|(count, _)| *count).max()
}

/// Returns whether an answer comes in nearly each pause, and at most one message is unconfirmed at its begin.
pub(crate) fn is_alternating(pauses: &[GapSample]) -> bool {
    let has_answer = |pause: &&GapSample| {
        pause.since_answer < pause.nanos && pause.unconfirmed.is_none_or(|count| count <= 1)
    };
    let count = pauses.iter().filter(has_answer).count();
    pauses.len() >= PAUSES_MIN && count as f64 >= ALTERNATE * pauses.len() as f64
}

/// Returns the pauses that count: all, or the longest tenth if they vary much. Those may lie between the writes of a
/// publisher that writes many messages at once. The longest ones of a client with one message at a time are its own, for
/// lack of CPU time.
fn pauses(samples: &GapSamples, gaps: &Buckets) -> Vec<GapSample> {
    let mut pauses = samples.samples().to_vec();
    let is_varied = variation(gaps).is_some_and(|variation| variation > VARIED);
    if is_varied && !is_alternating(&pauses) {
        pauses.sort_by_key(|pause| core::cmp::Reverse(pause.nanos));
        pauses.truncate((pauses.len() / 10).max(PAUSES_MIN));
    }
    pauses
}

fn driven_share(pauses: &[GapSample]) -> Option<f64> {
    let is_sooner = |pause: &&GapSample| pause.since_answer < pause.since_answer_at_random;
    let sooner = pauses.iter().filter(is_sooner).count();
    (pauses.len() >= PAUSES_MIN).then(|| sooner as f64 / pauses.len() as f64)
}

/// Returns the coefficient of variation, from the buckets.
fn variation(gaps: &Buckets) -> Option<f64> {
    let mean = gaps.mean()?;
    let squares: f64 = gaps
        .filled()
        .map(|(first, last, count)| {
            let distance = first.midpoint(last) as f64 - mean;
            distance * distance * count as f64
        })
        .sum();
    (gaps.total() > 1 && mean > 0.0).then(|| (squares / gaps.total() as f64).sqrt() / mean)
}

/// The arrivals of an open loop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Arrival {
    /// Equal distances.
    Constant,
    /// Independent arrivals.
    Poisson,
    /// Bursts of so many messages, with a period in seconds.
    Bursts { messages: u32, period: f64 },
    /// Too few messages to tell.
    Unknown,
    /// The times of messages were not seen.
    Unseen,
    /// More varied than independent arrivals, without a period: with the index of dispersion at one second.
    Irregular(f64),
}

impl Arrival {
    pub(crate) fn new(gaps: &Buckets, counts: &[&CountsOverTime], messages: u64) -> Self {
        if messages < 30 {
            return Self::Unknown;
        }
        if let Some(bursts) = bursts(gaps, messages) {
            return bursts;
        }
        let at = |width: usize| median(counts.iter().filter_map(|of| of.dispersion()[width]));
        // The longest windows of which there are enough see timers through the noise of their wake-ups.
        let Some(dispersion) = at(2).or_else(|| at(1)).or_else(|| at(0)) else {
            return Self::Unknown;
        };
        match dispersion {
            ..0.4 => Self::Constant,
            0.4..3.0 => Self::Poisson,
            _ => Self::Irregular(dispersion),
        }
    }
}

fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

/// Finds bursts: gaps within bursts and pauses between them lie apart by an octave or more, and pauses are alike.
fn bursts(gaps: &Buckets, messages: u64) -> Option<Arrival> {
    let filled: Vec<_> = gaps.filled().collect();
    let apart = |pair: &[(u64, u64, u64)]| (pair[1].0 + 1) as f64 / (pair[0].1 + 1) as f64;
    let (place, ratio) = filled
        .windows(2)
        .map(apart)
        .enumerate()
        .filter(|(place, _)| filled[place + 1].0 as f64 > PERIOD_MIN / 2.0)
        .max_by(|one, other| one.1.total_cmp(&other.1))?;
    let pauses = &filled[place + 1..];
    let count: u64 = pauses.iter().map(|(.., count)| count).sum();
    let (shortest, longest) = (pauses.first()?.0 as f64, pauses.last()?.1 as f64);
    let burst = messages as f64 / (count + 1) as f64;
    let silence: f64 = pauses
        .iter()
        .map(|(first, last, count)| first.midpoint(*last) as f64 * *count as f64)
        .sum();
    let all = gaps.mean()? * gaps.total() as f64;
    // A timer that the machine stops now and then is active most of the time.
    let is_silent = silence > SILENT_SHARE * all;
    if ratio < 2.0 || count < 5 || burst < 3.0 || longest > 2.0 * shortest || !is_silent {
        return None;
    }
    let period = all / count as f64;
    (period >= PERIOD_MIN).then(|| Arrival::Bursts { messages: whole(burst), period: period / 1e9 })
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "rounded, and not negative"
)]
fn whole(value: f64) -> u32 {
    value.round() as u32
}

/// The limit of unconfirmed messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Window {
    /// So many, and the publishers were held up by it.
    Limit(u32),
    /// No limit was reached; at most so many were unconfirmed.
    Unreached(u32),
    /// At least so many: the numbers of publishes are unknown.
    AtLeast(u32),
}

impl Window {
    pub(super) fn new(most: Option<u32>, looped: &Loop, at_least: u32) -> Self {
        match most {
            None => Self::AtLeast(at_least),
            Some(most) if looped.is_full() => Self::Limit(most),
            Some(most) => Self::Unreached(most),
        }
    }
}

#[cfg(test)]
mod tests {
    use rabbitscope_runs::Random;

    use super::*;

    fn gaps(nanos: impl Iterator<Item = u64>) -> Buckets {
        let mut buckets = Buckets::default();
        nanos.for_each(|nanos| buckets.add(nanos));
        buckets
    }

    #[test]
    fn publishers_that_wait_are_closed() {
        let mut random = Random::new(7);
        let mut both = [GapSamples::default(), GapSamples::default()];
        for _ in 0..200 {
            let nanos = 1_000_000 + random.below(100_000);
            let moment = random.below(nanos);
            // An answer came at 95 % of the pause, and before that one just before the pause.
            let answered = nanos * 95 / 100;
            let since = if moment > answered { moment - answered } else { moment + 50_000 };
            let closed = GapSample {
                nanos,
                since_answer: nanos - answered,
                since_answer_at_random: since,
                unconfirmed: Some(1),
            };
            // A timer: the answer came early in the pause.
            let answered = nanos / 10;
            let since = if moment > answered { moment - answered } else { moment + nanos };
            let open = GapSample {
                since_answer: nanos - answered,
                since_answer_at_random: since,
                ..closed
            };
            both[0].add(closed, &mut random);
            both[1].add(open, &mut random);
        }
        let even = gaps([1_000_000; 200].into_iter());
        let [closed, open] =
            both.map(|samples| Loop::new((&samples, &even), &Values::default(), Arrival::Unknown));
        assert!(closed.is_closed, "{closed:?}");
        assert!(!open.is_closed, "{open:?}");
        assert_eq!(
            Loop::new((&GapSamples::default(), &even), &Values::default(), Arrival::Unknown)
                .driven_share,
            None
        );
    }

    #[test]
    fn bursts_have_size_and_period() {
        let nanos =
            (0..50 * 40).map(|number| if number % 50 == 49 { 495_000_000 } else { 100_000 });
        let found = Arrival::new(&gaps(nanos), &[], 50 * 40);
        let Arrival::Bursts { messages, period } = found else { panic!("{found:?}") };
        assert!((49..=51).contains(&messages) && (period - 0.5).abs() < 0.02, "{found:?}");
        // Some stalls of a timer are no bursts.
        let stalls =
            (0..1_200).map(|number| if number % 110 == 0 { 40_000_000 } else { 16_000_000 });
        assert_eq!(Arrival::new(&gaps(stalls), &[], 1_201), Arrival::Unknown);
        // Equal gaps are no bursts.
        assert_eq!(Arrival::new(&gaps([100_000_000; 50].into_iter()), &[], 51), Arrival::Unknown);
    }
}
