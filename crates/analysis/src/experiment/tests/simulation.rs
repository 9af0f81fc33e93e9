//! Error rates on drifting noise, like that of a shared machine. It has a slow drift of 6 %, correlated over two
//! minutes, and neighbours that take 10 % now and then. Runs take 35 s.

use rabbitscope_runs::experiment::{ArmFacts, ExperimentResult, MetricFacts, RunOfArm, Verdict};

use crate::experiment::{SignedRank, alpha_of_each_look, conclude, equivalence_alpha, is_decided};

const SECONDS_OF_A_RUN: f64 = 35.0;
const DRIFT: f64 = 0.06;
const CORRELATION_SECONDS: f64 = 120.0;
const NEIGHBOUR: f64 = 0.10;
const SECONDS_UNTIL_NEIGHBOUR: f64 = 600.0;
/// Independent scatter from run to run.
const LUCK: f64 = 0.02;

pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        let mut random =
            Self(0x9E37_79B9_7F4A_7C15 ^ (seed + 1).wrapping_mul(0xD129_0D3B_9CB2_77F5));
        for _ in 0..8 {
            random.next();
        }
        random
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below `bound`")]
    pub(super) fn below(&mut self, bound: usize) -> usize {
        ((self.next() * bound as f64) as usize).min(bound - 1)
    }

    fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub(super) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.next()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.next()).cos()
    }
}

/// A machine whose speed changes by itself.
struct Machine {
    random: Random,
    drift: f64,
    has_neighbour: bool,
}

impl Machine {
    fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let drift = DRIFT * random.normal();
        Self { random, drift, has_neighbour: false }
    }

    /// Returns the measured value of one run.
    fn run(&mut self) -> f64 {
        let kept = (-SECONDS_OF_A_RUN / CORRELATION_SECONDS).exp();
        self.drift = kept * self.drift + (1.0 - kept * kept).sqrt() * DRIFT * self.random.normal();
        let changes = self.random.next() < SECONDS_OF_A_RUN / SECONDS_UNTIL_NEIGHBOUR;
        self.has_neighbour ^= changes;
        let neighbour = if self.has_neighbour { -NEIGHBOUR } else { 0.0 };
        (self.drift + neighbour + LUCK * self.random.normal()).exp()
    }

    /// Returns the logarithm of the ratio of two arms in a round with random order.
    fn round(&mut self, effect: f64) -> f64 {
        let (first, second) = (self.run(), self.run());
        let difference = second.ln() - first.ln();
        effect + if self.random.next() < 0.5 { difference } else { -difference }
    }
}

fn share(count: usize, whole: usize) -> f64 {
    count as f64 / whole as f64
}

fn standard_error(rate: f64, trials: usize) -> f64 {
    (rate * (1.0 - rate) / trials as f64).sqrt()
}

#[test]
fn a_thing_against_itself_differs_in_five_percent() {
    const EXPERIMENTS: usize = 1000;
    let (mut called, mut held) = (0, 0);
    for seed in 0..EXPERIMENTS {
        let mut machine = Machine::new(seed as u64);
        let differences: Vec<f64> = (0..20).map(|_| machine.round(0.0)).collect();
        let test = SignedRank::new(&differences);
        let (low, high) = test.interval(0.05).unwrap();
        called += usize::from(test.p_value().unwrap() <= 0.05);
        held += usize::from(low <= 0.0 && 0.0 <= high);
    }
    let limit = 0.05 + 2.0 * standard_error(0.05, EXPERIMENTS);
    assert!(share(called, EXPERIMENTS) <= limit, "{called}");
    assert!(share(held, EXPERIMENTS) >= 1.0 - limit, "{held}");
}

#[test]
fn five_percent_are_found_in_twenty_rounds() {
    const EXPERIMENTS: usize = 500;
    let (mut called, mut held) = (0, 0);
    let effect = 1.05_f64.ln();
    for seed in 0..EXPERIMENTS {
        let mut machine = Machine::new(seed as u64 + 10_000);
        let differences: Vec<f64> = (0..20).map(|_| machine.round(effect)).collect();
        let test = SignedRank::new(&differences);
        let (low, high) = test.interval(0.05).unwrap();
        called += usize::from(test.p_value().unwrap() <= 0.05 && test.estimate() > Some(0.0));
        held += usize::from(low <= effect && effect <= high);
    }
    assert!(share(called, EXPERIMENTS) >= 0.8, "{called}");
    let limit = 0.05 + 2.0 * standard_error(0.05, EXPERIMENTS);
    assert!(share(held, EXPERIMENTS) >= 1.0 - limit, "{held}");
}

/// Runs an experiment with looks, as the program does. Returns whether it found a difference, and the number of rounds.
fn with_looks(seed: u64, effect: f64, looks: &[u32], (alpha, same): (f64, f64)) -> (bool, u32) {
    let arm = |name: &str| ArmFacts { name: name.to_owned(), ..ArmFacts::default() };
    let mut result = ExperimentResult {
        alpha,
        equivalence_alpha: Some(same),
        looks: looks.to_vec(),
        arms: vec![arm("a"), arm("b")],
        metrics: vec![MetricFacts::default()],
        ..ExperimentResult::default()
    };
    let mut machine = Machine::new(seed);
    let mut round = 0;
    for &look in looks {
        while round < look {
            round += 1;
            let ratio = machine.round(effect).exp();
            let run = |arm, value| RunOfArm {
                round,
                arm,
                values: vec![Some(value)],
                ..RunOfArm::default()
            };
            result.runs.extend([run(0, 1.0), run(1, ratio)]);
        }
        conclude(&mut result, &[]);
        if is_decided(&result) {
            break;
        }
    }
    (result.comparisons[0].verdict == Verdict::Differs, round)
}

#[test]
fn looks_keep_the_error_rate_and_save_rounds() {
    const EXPERIMENTS: usize = 400;
    let looks = [10, 15, 20];
    // Computed once, because each rate takes time.
    let alpha = (alpha_of_each_look(&looks), equivalence_alpha(&looks));
    let called = |effect: f64| {
        let made =
            (0..EXPERIMENTS).map(|seed| with_looks(seed as u64 + 20_000, effect, &looks, alpha));
        let (mut called, mut rounds) = (0, 0);
        for (has_called, needed) in made {
            called += usize::from(has_called);
            rounds += needed;
        }
        (share(called, EXPERIMENTS), f64::from(rounds) / EXPERIMENTS as f64)
    };
    let (by_mistake, _) = called(0.0);
    assert!(by_mistake <= 0.05 + 2.0 * standard_error(0.05, EXPERIMENTS), "{by_mistake}");
    let (found, rounds) = called(1.05_f64.ln());
    assert!(found >= 0.75 && rounds < 18.0, "{found} {rounds}");
}
