//! The state of the observation, in sentences.

use crate::live::rows::single;
use crate::{
    document::{Block, Sentence, Tone},
    live::tick::Tick,
};

/// Sentences about the observation: what is shown, as of when, and what went wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeState {
    /// The time of the tables, and the next look.
    pub looks: String,
    /// Obstacles that may pass, such as a node that does not answer.
    pub obstacles: Vec<String>,
}

impl NodeState {
    /// Puts these sentences in the place of earlier ones.
    pub fn write(&self, tick: &mut Tick) {
        tick.replace(self.block());
    }

    pub(super) fn block(&self) -> Block {
        let looks = (!self.looks.is_empty()).then_some((self.looks.as_str(), Tone::Soft));
        let obstacles = self.obstacles.iter().map(|text| (text.as_str(), Tone::Warning));
        let sentence = |(text, tone): (&str, Tone)| Sentence::new(single(text), tone);
        Block::sentences("state", obstacles.chain(looks).map(sentence).collect())
    }
}
