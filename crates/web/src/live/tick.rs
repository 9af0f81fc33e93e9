//! A change of a live page.

use serde::Serialize;

use super::profile::ProfileSpan;
use crate::document::{Block, Mark};

/// Least time between two ticks in nanoseconds. Times of today differ by 256 or more as a browser's numbers.
const LEAST_STEP: u64 = 1000;

/// A change of a page: items at the end of marks, and blocks in place of those with the same id.
#[derive(Default, Serialize)]
pub struct Tick {
    /// Its time in nanoseconds since 1970.
    at: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    append: Vec<Append>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    replace: Vec<Block>,
    #[serde(skip_serializing_if = "Option::is_none")]
    profile: Option<ProfileSpan>,
}

/// Items for a mark of a chart.
#[derive(Serialize)]
struct Append {
    /// Id of the block.
    block: &'static str,
    /// Number of the chart in the block.
    chart: usize,
    /// Number of the mark in the chart.
    mark: usize,
    columns: Items,
}

/// Items as columns of equal length.
#[derive(Serialize)]
struct Items {
    x: Vec<Option<f64>>,
    y: Vec<Option<f64>>,
}

impl Tick {
    /// Creates a tick without a change.
    pub fn new(at_unix_nanos: u64) -> Self {
        Self { at: at_unix_nanos, ..Self::default() }
    }

    /// Returns whether the tick changes nothing.
    pub fn is_empty(&self) -> bool {
        self.append.is_empty() && self.replace.is_empty() && self.profile.is_none()
    }

    /// Names the window of the profile that has just ended.
    #[must_use]
    pub fn with_window(self, window: Option<ProfileSpan>) -> Self {
        Self { profile: window, ..self }
    }

    /// Returns its time in nanoseconds since 1970.
    pub fn at(&self) -> u64 {
        self.at
    }

    /// Moves the time after that of another tick. Viewers take a tick that is not later for a repetition, also if the
    /// clock of the day was set back.
    #[must_use]
    pub fn after(self, other_unix_nanos: u64) -> Self {
        Self { at: self.at.max(other_unix_nanos.saturating_add(LEAST_STEP)), ..self }
    }

    /// Puts a block in the place of the one with the same id.
    pub(crate) fn replace(&mut self, block: Block) {
        self.replace.push(block);
    }

    /// Adds the items of a mark of lines from number `first` on to the mark on the page.
    pub(crate) fn append(
        &mut self,
        block: &'static str,
        (chart, number): (usize, usize),
        mark: &Mark,
        first: usize,
    ) {
        let [x, y] = [&mark.x, &mark.y].map(|column| column.get(first..).unwrap_or(&[]).to_vec());
        if !x.is_empty() {
            self.append.push(Append { block, chart, mark: number, columns: Items { x, y } });
        }
    }

    /// Returns the event's data.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("blocks have only texts, numbers and lists")
    }
}
