//! Which frame has which colour: the same one in every picture of a page.

use std::collections::HashMap;

use rabbitscope_wire::report::PacketReport;

/// Colours for the most frequent frames, in the order in which they are easiest to tell apart; `c0` is for the rest.
const CLASSES: [&str; 6] = ["c1", "c2", "c3", "c6", "c5", "c4"];

/// Of frames that have no colour of their own.
pub(super) const REST: &str = "c0";

/// Colours of frames.
pub(super) struct Hues<'a>(Vec<&'a str>);

impl<'a> Hues<'a> {
    /// The most frequent frames of all pictures get the colours.
    pub(super) fn of(report: &'a PacketReport) -> Self {
        let segments = report.time_sequences.iter().flat_map(|it| &it.segments);
        let rungs = report.ladders.iter().flat_map(|it| &it.frames);
        let names = segments.map(|it| it.frame.as_str()).chain(rungs.map(|it| it.label.as_str()));
        let mut counts: HashMap<&str, u64> = HashMap::new();
        for name in names.filter(|name| !name.is_empty()) {
            *counts.entry(name).or_default() += 1;
        }
        let mut frames: Vec<_> = counts.into_iter().collect();
        frames.sort_unstable_by_key(|&(name, count)| (std::cmp::Reverse(count), name));
        Self(frames.into_iter().take(CLASSES.len()).map(|(name, _)| name).collect())
    }

    /// The class of a frame.
    pub(super) fn class(&self, frame: &str) -> &'static str {
        let at = self.0.iter().position(|name| *name == frame);
        at.map_or(REST, |at| CLASSES[at])
    }

    /// Frames with a colour of their own, most frequent first.
    pub(super) fn named(&self) -> impl Iterator<Item = (&'a str, &'static str)> {
        self.0.iter().copied().zip(CLASSES)
    }
}
