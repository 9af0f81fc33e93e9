//! The charts of a live page: those of the report of the same seconds. A tick has only their new points, as long as the
//! charts and their marks stay the same.

use rabbitscope_runs::record::SecondRow;

use super::Tick;
use crate::{
    document::{Block, Chart, Charts, Content},
    page::series::charts_of_run,
};

/// Id of the block.
const BLOCK: &str = "charts";

/// Number of seconds after which the block is sent whole, for viewers that have missed points.
const WHOLE_EVERY: usize = 300;

/// Limit of the points in all charts, so that the whole block stays within two megabytes and a half.
const MAX_POINTS: usize = 100_000;

/// Limit of the points of a mark: half an hour.
const MAX_SECONDS: usize = 1800;

/// The charts as the page has them.
#[derive(Default)]
pub(super) struct LiveCharts {
    /// Titles of the charts, each with the names of its marks.
    shape: Vec<(String, Vec<String>)>,
    /// The latest second on the page.
    last: Option<u32>,
    /// Seconds since the block was sent whole.
    since_whole: usize,
}

impl LiveCharts {
    /// Returns the block without charts.
    pub(super) fn empty() -> Block {
        whole(Charts::default())
    }

    /// Adds the seconds to a tick that are not on the page yet.
    pub(super) fn add(&mut self, tick: &mut Tick, rows: &[SecondRow]) {
        let most = longest(&self.shape);
        let rows = &rows[rows.len().saturating_sub(most)..];
        let charts = open_ended(charts_of_run(None, rows));
        let shape = shape_of(&charts);
        // The charts leave out the drain.
        let mut drawn = rows.iter().filter(|row| !row.draining);
        let first = drawn.clone().position(|row| self.last.is_none_or(|last| row.second > last));
        let last = drawn.next_back().map(|row| row.second);
        if shape != self.shape || self.since_whole >= WHOLE_EVERY.min(most) {
            tick.replace(whole(charts));
            (self.shape, self.since_whole) = (shape, 0);
        } else if let Some(first) = first {
            for (number, chart) in charts.charts.iter().enumerate() {
                for (place, mark) in chart.marks.iter().enumerate() {
                    tick.append(BLOCK, (number, place), mark, first);
                }
            }
            self.since_whole += 1;
        }
        self.last = last.or(self.last);
    }
}

fn whole(charts: Charts) -> Block {
    Block::new(BLOCK, Content::Charts(charts))
}

/// Lets the time go on at the end of the axes.
fn open_ended(mut charts: Charts) -> Charts {
    for chart in &mut charts.charts {
        chart.x = chart.x.clone().open();
    }
    charts
}

fn shape_of(charts: &Charts) -> Vec<(String, Vec<String>)> {
    let names = |chart: &Chart| chart.marks.iter().map(|mark| mark.name.clone()).collect();
    charts.charts.iter().map(|chart| (chart.title.clone(), names(chart))).collect()
}

/// Returns the number of seconds for which all marks together stay within the limit.
fn longest(shape: &[(String, Vec<String>)]) -> usize {
    let marks = shape.iter().map(|(_, marks)| marks.len()).sum::<usize>();
    (MAX_POINTS / marks.max(1)).clamp(1, MAX_SECONDS)
}
