//! Searches with simulated brokers: exact ones, noisy ones, and load generators that fail.

use rabbitscope_runs::capacity::{CapacityOutcome, RateSpread, StepVerdict};

use super::{Range, Search};
use StepVerdict::{ClientLimited, Failed, Passed, Stalled};

const RANGE: Range = Range { min: 1000.0, max: 1_000_000.0, tolerance: 0.05, crossings: 7 };

/// Searches with a broker that answers each rate; also returns the rates that were tried.
fn run(range: Range, broker: &mut dyn FnMut(f64) -> StepVerdict) -> (Search, Vec<f64>) {
    let (mut search, mut tried) = (Search::new(range), Vec::new());
    while let Some(rate) = search.next_rate() {
        assert!(tried.len() < 600, "no end: {tried:?}");
        tried.push(rate);
        search.record(broker(rate));
    }
    (search, tried)
}

fn limit(capacity: f64) -> impl FnMut(f64) -> StepVerdict {
    move |rate| if rate <= capacity { Passed } else { Failed }
}

#[test]
fn the_limit_is_found() {
    for capacity in [1100.0, 1901.0, 33_333.0, 47_123.0, 960_000.0] {
        let (search, tried) = run(RANGE, &mut limit(capacity));
        assert_eq!(search.outcome(), CapacityOutcome::Found, "{capacity}: {tried:?}");
        let (rate, spread) = (search.rate().unwrap(), search.spread().unwrap());
        assert!((rate / capacity - 1.0).abs() < 0.05, "{rate} for {capacity}");
        assert!(spread.low <= capacity && capacity < spread.high, "{spread:?} {capacity}");
        assert!(spread.share < 0.11 && spread.crossings == 7, "{spread:?}");
        assert!(tried.len() <= 32, "{tried:?}");
    }
}

#[test]
fn the_ends_of_the_range_are_told_apart() {
    fn check(capacity: f64, expected: (CapacityOutcome, Option<f64>, usize)) {
        let (search, tried) = run(RANGE, &mut limit(capacity));
        assert_eq!((search.outcome(), search.rate(), tried.len()), expected, "{tried:?}");
        assert_eq!(search.spread(), None);
    }
    check(999.0, (CapacityOutcome::Nothing, None, 2));
    check(1e9, (CapacityOutcome::Unlimited, Some(1_000_000.0), 12));
}

#[test]
fn whole_rates_are_told_apart() {
    let range = Range { min: 1.0, max: 100.0, tolerance: 0.001, crossings: 3 };
    let (search, _) = run(range, &mut limit(9.5));
    let spread = search.spread().unwrap();
    assert_eq!((spread.low, spread.high, search.outcome()), (8.91, 10.0, CapacityOutcome::Found));
}

#[test]
fn a_limit_of_the_client_is_no_limit_of_the_broker() {
    let (search, tried) = run(RANGE, &mut |rate| match rate {
        ..=40_000.0 => Passed,
        _ => ClientLimited,
    });
    assert_eq!(search.outcome(), CapacityOutcome::ClientLimited, "{tried:?}");
    assert!((search.rate().unwrap() / 40_000.0 - 1.0).abs() < 0.05);
    let (search, _) = run(RANGE, &mut |rate| match rate {
        ..=40_000.0 => Passed,
        ..=60_000.0 => Failed,
        _ => ClientLimited,
    });
    assert_eq!(search.outcome(), CapacityOutcome::Found, "the broker fails before the client");
    let (search, tried) = run(RANGE, &mut |_| ClientLimited);
    let outcome = (search.outcome(), search.rate(), tried.len());
    assert_eq!(outcome, (CapacityOutcome::ClientLimited, None, 6), "each rate has three attempts");
}

#[test]
fn no_single_step_ends_a_search_or_leads_it_astray() {
    for bad in 0..14 {
        for verdict in [Failed, Passed, ClientLimited, Stalled, StepVerdict::CutShort] {
            let mut number = 0;
            let (search, tried) = run(RANGE, &mut |rate| {
                number += 1;
                if number == bad + 1 { verdict } else { limit(29_000.0)(rate) }
            });
            assert_eq!(search.outcome(), CapacityOutcome::Found, "{verdict:?} {bad}: {tried:?}");
            let rate = search.rate().unwrap();
            assert!((rate / 29_000.0 - 1.0).abs() < 0.06, "{verdict:?} {bad}: {rate}: {tried:?}");
        }
    }
}

#[test]
fn a_broker_that_answers_at_random_has_no_limit() {
    let range = Range { crossings: 50, ..RANGE };
    // Far up, far down, and never back and forth.
    let mut number = 0_u32;
    let (search, tried) = run(range, &mut |_| {
        number += 1;
        if number % 12 < 6 { Passed } else { Failed }
    });
    assert_eq!(search.outcome(), CapacityOutcome::Unsettled, "{tried:?}");
}

/// Random numbers from 0 to 1, always the same ones.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Normally distributed, as nearly as the sum of twelve numbers is.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.next()).sum::<f64>() - 6.0
    }
}

/// Noise of the steps of a search. The capacity of each step varies by `deviation`, some steps fail for no reason of
/// the broker, and some are not valid.
struct Noise {
    deviation: f64,
    hiccups: f64,
    not_valid: f64,
}

impl Noise {
    fn verdict(&self, rate: f64, capacity: f64, random: &mut Random) -> StepVerdict {
        let of_step = capacity * (1.0 + self.deviation * random.normal());
        match random.next() {
            chance if chance < self.not_valid => Stalled,
            chance if chance < self.not_valid + self.hiccups => Failed,
            _ => limit(of_step)(rate),
        }
    }
}

/// Runs 100 groups of nine searches each. Returns the number of groups whose limits are all known and within 10 % of
/// each other, and the number of searches whose spread contains the true limit.
fn groups_of_nine(noise: &Noise) -> (u32, u32) {
    let (mut random, mut together, mut covered) = (Random(88_172_645_463_325_252), 0, 0);
    for group in 0..100 {
        let capacity = 5_000.0 + 700.0 * f64::from(group);
        let mut rates = Vec::new();
        for _ in 0..9 {
            let (search, _) = run(RANGE, &mut |rate| noise.verdict(rate, capacity, &mut random));
            if search.outcome() == CapacityOutcome::Found {
                rates.extend(search.rate());
            }
            let holds = |spread: RateSpread| spread.low <= capacity && capacity <= spread.high;
            covered += u32::from(search.spread().is_some_and(holds));
        }
        rates.sort_unstable_by(f64::total_cmp);
        let is_close = rates.len() == 9 && rates[8] <= 1.10 * rates[0];
        together += u32::from(is_close);
    }
    (together, covered)
}

#[test]
fn searches_on_a_noisy_broker_agree() {
    fn check(noise: &Noise, least_together: u32, least_covered: u32) {
        let (together, covered) = groups_of_nine(noise);
        assert!(together >= least_together && covered >= least_covered, "{together} {covered}");
    }
    check(&Noise { deviation: 0.0, hiccups: 0.0, not_valid: 0.3 }, 99, 895);
    check(&Noise { deviation: 0.02, hiccups: 0.0, not_valid: 0.2 }, 97, 870);
    check(&Noise { deviation: 0.03, hiccups: 0.03, not_valid: 0.2 }, 80, 850);
}
