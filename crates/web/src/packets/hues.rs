//! The colours of frames: the same one in every chart of a page.

use std::collections::HashMap;

use rabbitscope_wire::report::PacketReport;

use crate::document::Hue;

/// Number of frames with their own colour.
const NAMED: usize = 6;

/// Colours of frames.
pub(super) struct Hues<'a>(Vec<&'a str>);

impl<'a> Hues<'a> {
    /// Gives the colours to the most frequent frames of all charts.
    pub(super) fn from_report(report: &'a PacketReport) -> Self {
        let segments = report.time_sequences.iter().flat_map(|sequence| &sequence.segments);
        let names = segments.map(|segment| segment.frame.as_str());
        let mut counts: HashMap<&str, u64> = HashMap::new();
        for name in names.filter(|name| !name.is_empty()) {
            *counts.entry(name).or_default() += 1;
        }
        let mut frames: Vec<_> = counts.into_iter().collect();
        frames.sort_unstable_by_key(|&(name, count)| (std::cmp::Reverse(count), name));
        Self(frames.into_iter().take(NAMED).map(|(name, _)| name).collect())
    }

    /// Returns the colour of a frame; absent for the rest.
    pub(super) fn of(&self, frame: &str) -> Option<Hue> {
        self.0.iter().position(|name| *name == frame).map(Hue::series)
    }

    /// Returns the frames with their own colour, most frequent first.
    pub(super) fn named(&self) -> impl Iterator<Item = (&'a str, Hue)> {
        self.0.iter().enumerate().map(|(at, name)| (*name, Hue::series(at)))
    }
}
