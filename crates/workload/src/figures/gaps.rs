//! A sample of the pauses between publishes, each with the time since the broker's last answer.

use rabbitscope_runs::Random;

/// Number of pauses that are kept of a flow.
const ROOM: usize = 512;

/// A pause between two publishes of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GapSample {
    /// Its length in nanoseconds.
    pub(crate) nanos: u64,
    /// Time at its end since the last answer, in nanoseconds.
    pub(crate) since_answer: u64,
    /// The same at a random moment of the pause.
    pub(crate) since_answer_at_random: u64,
    /// Unconfirmed messages at its beginning, if their number is known.
    pub(crate) unconfirmed: Option<u32>,
}

/// A random sample of pauses (Vitter's *algorithm R*).
#[derive(Clone, Debug, Default)]
pub(crate) struct GapSamples {
    samples: Vec<GapSample>,
    seen: u64,
}

impl GapSamples {
    pub(crate) fn add(&mut self, sample: GapSample, random: &mut Random) {
        self.seen += 1;
        if self.samples.len() < ROOM {
            return self.samples.push(sample);
        }
        let place = usize::try_from(random.below(self.seen)).unwrap_or(usize::MAX);
        if let Some(kept) = self.samples.get_mut(place) {
            *kept = sample;
        }
    }

    /// Adds the samples of another flow, all of them.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.samples.extend_from_slice(&other.samples);
        self.seen += other.seen;
    }

    pub(crate) fn samples(&self) -> &[GapSample] {
        &self.samples
    }
}
