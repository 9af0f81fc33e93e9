//! The colours of frames: the same one in every picture of a page.

use std::collections::HashMap;

use rabbitscope_wire::report::PacketReport;

/// Colours for the most frequent frames, the most distinguishable first; `c0` is for the rest.
const CLASSES: [&str; 6] = ["c1", "c2", "c3", "c6", "c5", "c4"];

/// Class of frames without their own colour.
pub(super) const REST: &str = "c0";

/// Colours of frames.
pub(super) struct Hues<'a>(Vec<&'a str>);

impl<'a> Hues<'a> {
    /// Gives the colours to the most frequent frames of all pictures.
    pub(super) fn from_report(report: &'a PacketReport) -> Self {
        let segments = report.time_sequences.iter().flat_map(|sequence| &sequence.segments);
        let rungs = report.ladders.iter().flat_map(|ladder| &ladder.frames);
        let names = segments
            .map(|segment| segment.frame.as_str())
            .chain(rungs.map(|rung| rung.label.as_str()));
        let mut counts: HashMap<&str, u64> = HashMap::new();
        for name in names.filter(|name| !name.is_empty()) {
            *counts.entry(name).or_default() += 1;
        }
        let mut frames: Vec<_> = counts.into_iter().collect();
        frames.sort_unstable_by_key(|&(name, count)| (std::cmp::Reverse(count), name));
        Self(frames.into_iter().take(CLASSES.len()).map(|(name, _)| name).collect())
    }

    /// Returns the class of a frame.
    pub(super) fn class(&self, frame: &str) -> &'static str {
        let index = self.0.iter().position(|name| *name == frame);
        index.map_or(REST, |index| CLASSES[index])
    }

    /// Returns the frames with their own colour, most frequent first.
    pub(super) fn named(&self) -> impl Iterator<Item = (&'a str, &'static str)> {
        self.0.iter().copied().zip(CLASSES)
    }
}
