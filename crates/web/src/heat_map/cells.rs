//! Conversion of windows to cells: the CPU use of a node in each part of an hour.

use std::{collections::BTreeMap, time::Duration};

/// Possible lengths of a cell, in seconds; each divides an hour.
const CELL_SECONDS: [u64; 6] = [10, 30, 60, 120, 300, 600];

/// Maximum number of cells of a page, so that a browser opens it at once.
const MAX_CELLS: u64 = 20_000;

pub(super) const HOUR: u64 = 3600;

/// CPU use of a node in one window.
#[derive(Clone, Debug, PartialEq)]
pub struct BusyWindow {
    /// Name of the node.
    pub node: String,
    /// Start, since 1970-01-01 UTC.
    pub started: Duration,
    /// Length of the window.
    pub length: Duration,
    /// CPU time of the node in the window.
    pub cpu: Duration,
}

/// The cells of all nodes.
#[derive(Debug, Default)]
pub(super) struct Cells {
    pub(super) seconds: u64,
    pub(super) nodes: BTreeMap<String, NodeCells>,
    /// Largest number of cores of any cell.
    pub(super) most_cores: f64,
}

/// The cells of one node by their start in seconds.
#[derive(Debug, Default)]
pub(super) struct NodeCells {
    cells: BTreeMap<u64, Cell>,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cell {
    length: Duration,
    cpu: Duration,
}

impl Cell {
    /// Returns the mean number of cores that the node kept busy while it was recorded.
    pub(super) fn cores(self) -> f64 {
        if self.length.is_zero() { 0.0 } else { self.cpu.as_secs_f64() / self.length.as_secs_f64() }
    }
}

impl Cells {
    /// Puts windows into cells that are short enough to show events and long enough for a page.
    pub(super) fn from_windows(windows: &[BusyWindow]) -> Self {
        let mut hours: Vec<(&str, u64)> = windows
            .iter()
            .map(|window| (window.node.as_str(), window.started.as_secs() / HOUR))
            .collect();
        hours.sort_unstable();
        hours.dedup();
        let fits = |seconds: &&u64| hours.len() as u64 * (HOUR / **seconds) <= MAX_CELLS;
        let longest = windows.iter().map(|window| window.length.as_secs()).max().unwrap_or(0);
        let shows = |seconds: &&u64| **seconds >= longest.min(600);
        let seconds = CELL_SECONDS.iter().filter(shows).find(fits).copied().unwrap_or(600);
        let mut all = Self { seconds, ..Self::default() };
        for window in windows {
            let node = all.nodes.entry(window.node.clone()).or_default();
            let cell = node.cells.entry(window.started.as_secs() / seconds * seconds).or_default();
            cell.length += window.length;
            cell.cpu += window.cpu;
        }
        let cores =
            all.nodes.values().flat_map(|node| node.cells.values()).map(|cell| cell.cores());
        all.most_cores = cores.fold(0.0, f64::max);
        all
    }
}

impl NodeCells {
    /// Returns the hours since 1970 in order, from the first to the last. Hours without a cell are left out.
    pub(super) fn hours(&self) -> Vec<u64> {
        let mut hours: Vec<u64> = self.cells.keys().map(|start| start / HOUR).collect();
        hours.dedup();
        hours
    }

    /// Returns the cells of an hour with their starts in seconds.
    pub(super) fn of_hour(&self, hour: u64) -> impl Iterator<Item = (u64, Cell)> {
        self.cells.range(hour * HOUR..(hour + 1) * HOUR).map(|(&start, &cell)| (start, cell))
    }

    /// Returns the mean number of cores while the node was recorded.
    pub(super) fn mean_cores(&self) -> f64 {
        let add = |sum: Cell, cell: &Cell| Cell {
            length: sum.length + cell.length,
            cpu: sum.cpu + cell.cpu,
        };
        self.cells.values().fold(Cell::default(), add).cores()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(node: &str, started: u64, length: u64, cpu: u64) -> BusyWindow {
        let [started, length, cpu] = [started, length, cpu].map(Duration::from_secs);
        BusyWindow { node: node.to_owned(), started, length, cpu }
    }

    #[test]
    fn windows_become_cells() {
        let cells = Cells::from_windows(&[
            window("a", 7200, 10, 5),
            window("a", 7205, 10, 15),
            window("b", 0, 10, 0),
        ]);
        assert_eq!((cells.seconds, cells.most_cores.to_bits()), (10, 1.0_f64.to_bits()));
        assert_eq!(cells.nodes["a"].hours(), [2]);
        let found: Vec<u64> = cells.nodes["a"].of_hour(2).map(|(start, _)| start).collect();
        assert_eq!(found, [7200]);
        assert_eq!(cells.nodes["b"].mean_cores().to_bits(), 0.0_f64.to_bits());
    }

    #[test]
    fn a_long_time_has_longer_cells() {
        let hours: Vec<BusyWindow> =
            (0..24 * 31).map(|hour| window("a", hour * HOUR, 10, 1)).collect();
        assert_eq!(Cells::from_windows(&hours).seconds, 300);
        assert_eq!(Cells::from_windows(&[window("a", 0, 60, 1)]).seconds, 60);
        assert_eq!(Cells::from_windows(&[]).seconds, 10);
    }
}
