//! The curves of two runs in the same charts.

use rabbitscope_runs::record::{RunRecord, SecondRow};

use crate::{
    document::{Chart, Charts, Hue, Mark},
    page::series::charts_of_run,
};

/// Names of both sides.
pub(super) const SIDES: [&str; 2] = ["before", "after"];

/// A run of a pair.
#[derive(Clone, Copy, Debug)]
pub struct ComparedRun<'a> {
    /// The record.
    pub record: &'a RunRecord,
    /// The seconds.
    pub series: &'a [SecondRow],
    /// Path of the report below the page; absent if the run has none.
    pub report: Option<&'a str>,
}

/// Returns the charts of both runs. A chart that both have is one.
pub(super) fn curves(runs: [ComparedRun<'_>; 2]) -> Charts {
    let mut charts: Vec<Chart> = Vec::new();
    let mut shared = Vec::new();
    for (side, run) in runs.into_iter().enumerate() {
        let of_run = charts_of_run(Some(run.record), run.series);
        shared.extend(of_run.shared.into_iter().map(|mark| sided(mark, side)));
        for mut chart in of_run.charts {
            chart.marks = chart.marks.into_iter().map(|mark| sided(mark, side)).collect();
            match charts.iter_mut().find(|known| known.title == chart.title) {
                Some(known) => known.join(chart),
                None => charts.push(chart),
            }
        }
    }
    Charts { charts, shared }
}

/// Names the side of a mark. Both sides of a series have neighbouring colours.
fn sided(mark: Mark, side: usize) -> Mark {
    let hue = match mark.hue {
        Hue::Series(number) => Hue::series(2 * number + side),
        named @ Hue::Named(_) => named,
    };
    let name = if mark.name.is_empty() {
        SIDES[side].to_owned()
    } else {
        format!("{}: {}", SIDES[side], mark.name)
    };
    Mark { name, hue, ..mark }
}
