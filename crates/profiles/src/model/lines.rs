//! Weights of source lines. They stand beside the stacks and not in them, so that lines do not multiply the stacks. The
//! search for lines is elsewhere.

use std::{collections::BTreeMap, sync::Arc};

use super::FrameId;

/// The weight of one source line of a function, in the unit of the profile's event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineWeight {
    /// The function.
    pub frame: FrameId,
    /// The path of the line's file, as the compiler received it.
    pub file: Arc<str>,
    /// The line, counted from 1.
    pub line: u32,
    /// Weight of the stacks with this line as innermost Erlang line, including the native code that ran for it.
    pub own: u64,
    /// Weight of the stacks that contain the function, with its innermost activation on this line. Each stack counts
    /// once for a function, so that the lines add up to its total.
    pub total: u64,
}

/// Weights of the distinct lines of several recordings.
#[derive(Debug, Default)]
pub(super) struct LineSum(BTreeMap<(FrameId, Arc<str>, u32), (u64, u64)>);

impl LineSum {
    /// Adds lines. `ids` has the ids of their frames in the sum, in the order of the old ids.
    pub(super) fn add(&mut self, lines: &[LineWeight], ids: &[FrameId]) {
        for line in lines {
            let key = (ids[line.frame.0 as usize], Arc::clone(&line.file), line.line);
            let (own, total) = self.0.entry(key).or_default();
            *own += line.own;
            *total += line.total;
        }
    }

    /// Returns the lines by function, file and number.
    pub(super) fn into_lines(self) -> Vec<LineWeight> {
        let line =
            |((frame, file, line), (own, total))| LineWeight { frame, file, line, own, total };
        self.0.into_iter().map(line).collect()
    }
}
