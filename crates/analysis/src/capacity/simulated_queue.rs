//! Searches on a simulated queue with a known capacity. Steps are judged by their rows, like those of a broker.

use std::time::Duration;

use rabbitscope_runs::{
    capacity::{CapacityOutcome, StepVerdict},
    record::{Counters, LoadTotals, Measured, RunRecord, SecondRow},
};

use super::{CLEAR_STEP, Range, Search, StepTerms, judge};

/// Messages per second that the consumer takes.
const CAPACITY: f64 = 400.0;

/// Ticks of the simulation per second.
const TICKS: u32 = 200;

/// Number of stalls of the consumer or the machine per second, and their mean length in seconds.
const STALLS: f64 = 0.3;
const STALL_SECONDS: f64 = 0.04;

/// The largest deviation of a row's length from a second, which shifts messages between rows.
const ROW_JITTER_TICKS: f64 = 2.0;

/// Random numbers from 0 to 1, the same for a seed (xorshift64*).
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.next()).ln()
    }
}

/// A queue with one consumer.
#[derive(Default)]
struct Queue {
    waiting: f64,
    consumed: f64,
    /// Ticks for which the consumer stands still.
    stalled: f64,
}

impl Queue {
    fn tick(&mut self, arriving: f64, random: &mut Random) {
        if random.next() < STALLS / f64::from(TICKS) {
            self.stalled += random.exponential(STALL_SECONDS) * f64::from(TICKS);
        }
        let share = (1.0 - self.stalled).clamp(0.0, 1.0);
        self.stalled = (self.stalled - 1.0).max(0.0);
        self.waiting += arriving;
        let taken = self.waiting.min(share * CAPACITY / f64::from(TICKS));
        self.waiting -= taken;
        self.consumed += taken;
    }
}

/// Returns the rows of a step: `warm_up` seconds, then the measured ones.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts of a second")]
fn rows(rate: f64, warm_up: u32, seconds: u32, random: &mut Random) -> Vec<SecondRow> {
    let (mut queue, mut ticks, mut rows) = (Queue::default(), 0_u32, Vec::new());
    let (mut published, mut consumed) = (0, 0);
    for second in 0..warm_up + seconds {
        let jitter = (2.0 * random.next() - 1.0) * ROW_JITTER_TICKS;
        let end = (f64::from((second + 1) * TICKS) + jitter).round() as u32;
        while ticks < end {
            queue.tick(rate / f64::from(TICKS), random);
            ticks += 1;
        }
        // Publishers and consumers run on separate threads, whose rows end at different instants.
        let of_publishers = f64::from(ticks) + (2.0 * random.next() - 1.0) * ROW_JITTER_TICKS;
        let all = ((of_publishers * rate / f64::from(TICKS)) as u64, queue.consumed as u64);
        let counts = Counters {
            published: all.0.saturating_sub(published),
            accepted: all.0.saturating_sub(published).into(),
            consumed: all.1.saturating_sub(consumed),
            ..Counters::default()
        };
        (published, consumed) = all;
        rows.push(SecondRow {
            second,
            interval_nanos: 1_000_000_000,
            warming: second < warm_up,
            counts,
            ..SecondRow::default()
        });
    }
    rows
}

fn verdict(rate: f64, seconds: u32, is_near_limit: bool, random: &mut Random) -> StepVerdict {
    let series = rows(rate, 1, seconds, random);
    let measured = series.iter().filter(|row| !row.warming);
    let published: u64 = measured.map(|row| row.counts.published).sum();
    let counts = Counters { published, accepted: published.into(), ..Counters::default() };
    let record = RunRecord {
        measured: Measured {
            duration_nanos: u64::from(seconds) * 1_000_000_000,
            load: LoadTotals { counts, ..LoadTotals::default() },
            ..Measured::default()
        },
        ..RunRecord::default()
    };
    let terms =
        StepTerms { offered: rate, limits: &[], has_consumers: true, stolen: None, is_near_limit };
    judge(&terms, &record, &series).verdict
}

fn search(step: Duration, range: Range, random: &mut Random) -> Search {
    let mut search = Search::new(range);
    while let Some(rate) = search.next_rate() {
        let length = if search.needs_clear_step() { step.max(CLEAR_STEP) } else { step };
        let seconds = u32::try_from(length.as_secs()).unwrap();
        search.record(verdict(rate, seconds, search.is_near_limit(), random));
    }
    search
}

/// Runs 100 searches. Returns how many spreads contain the capacity, and the mean of the rates.
fn hundred(seconds: u64, range: Range) -> (u32, f64) {
    let (mut random, mut covered, mut sum) = (Random(0x9e37_79b9_7f4a_7c15 ^ seconds), 0, 0.0);
    for _ in 0..100 {
        let found = search(Duration::from_secs(seconds), range, &mut random);
        assert_eq!(found.outcome(), CapacityOutcome::Found);
        let spread = found.spread().unwrap();
        covered += u32::from(spread.low <= CAPACITY && CAPACITY <= spread.high);
        sum += found.rate().unwrap();
    }
    (covered, sum / 100.0)
}

#[test]
fn short_steps_do_not_bias_the_limit() {
    for (tolerance, crossings) in [(0.05, 7), (0.02, 5), (0.05, 3)] {
        for seconds in [3, 5, 8, 13] {
            let range = Range { min: 100.0, max: 2000.0, tolerance, crossings };
            let (covered, mean) = hundred(seconds, range);
            println!("{tolerance} {crossings} {seconds} s: {covered} of 100, mean {mean:.1}");
            assert!(covered >= 95, "{seconds} s, tolerance {tolerance}: {covered} of 100");
            assert!((mean / CAPACITY - 1.0).abs() < 0.02, "{seconds} s, {tolerance}: {mean}");
        }
    }
}

#[test]
fn a_rate_above_the_capacity_is_no_rate_without_a_limit() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for _ in 0..20 {
        let range = Range { min: 107.5, max: 430.0, tolerance: 0.05, crossings: 3 };
        let found = search(Duration::from_secs(3), range, &mut random);
        assert_ne!(found.outcome(), CapacityOutcome::Unlimited, "{:?}", found.rate());
    }
}
