//! The page: a heat map for each node, with a row for each hour.

use std::{
    io::{self, Write},
    time::Duration,
};

use rabbitscope_text::{Unit, display_utc};

use super::cells::{BusyWindow, Cells, HOUR, NodeCells};
use crate::{
    document::{Axis, Block, CellCommand, Chart, Document, Hue, Mark, MarkKind, Section},
    report::write_document,
};

const SECOND: f64 = 1e9;

/// Writes the heat map of these windows, which may be in any order. `command` returns the beginning of the command line
/// that makes the page of a node's windows, if there is one: the times follow it.
pub fn write_heat_map(
    out: impl Write,
    windows: &[BusyWindow],
    command: impl Fn(&str) -> Option<String>,
) -> io::Result<()> {
    write_document(out, &document(windows, &command))
}

fn document(windows: &[BusyWindow], command: &dyn Fn(&str) -> Option<String>) -> Document {
    let cells = Cells::from_windows(windows);
    let nodes = cells.nodes.iter().enumerate();
    Document {
        title: "CPU of nodes by time".to_owned(),
        facts: vec![
            "a row is an hour (UTC)".to_owned(),
            format!("a cell is {} s", cells.seconds),
            "without a cell, the node was not recorded".to_owned(),
            "choose a cell for the command that makes its flame graph".to_owned(),
        ],
        sections: nodes
            .map(|(at, (name, node))| section(at, name, node, &cells, command(name)))
            .collect(),
    }
}

fn section(
    at: usize,
    name: &str,
    node: &NodeCells,
    cells: &Cells,
    command: Option<String>,
) -> Section {
    let hours = node.hours();
    let rows = hours.iter().map(|hour| hour * HOUR).collect();
    let mut mark = Mark {
        most: Some(cells.most_cores),
        measure: Some(Unit::Cores.into()),
        command: command.map(|words| CellCommand { words, file: file_of(name), rows }),
        ..Mark::new(MarkKind::Cells, "CPU", Hue::Named("heat"))
    };
    for (row, &hour) in hours.iter().enumerate() {
        for (start, cell) in node.of_hour(hour) {
            let second = (start % HOUR) as f64;
            mark.x.push(Some(second * SECOND));
            mark.to.push((second + cells.seconds as f64) * SECOND);
            mark.y.push(Some(row as f64));
            mark.value.push(cell.cores());
        }
    }
    let chart = Chart {
        title: format!("{:.2} cores on average", node.mean_cores()),
        note: String::new(),
        x: Axis::linear(Unit::Nanos).label("minute of the hour").from(0.0).to(HOUR as f64 * SECOND),
        y: Axis::bands(hours.iter().map(|hour| hour_in_words(*hour))),
        marks: vec![mark],
    };
    let id = format!("node-{at}");
    let name = if name.is_empty() { "a node without a name" } else { name };
    Section::new(&id, name, vec![Block::chart(format!("{id}-cpu"), chart)])
}

/// Returns the beginning of a file name for a node; a shell takes it as it stands.
fn file_of(node: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "@._-".contains(c);
    let name: String = node.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
    format!("flamegraph-{name}")
}

/// Writes an hour since 1970 without the year: `11-25 04:00`.
fn hour_in_words(hour: u64) -> String {
    let time = display_utc(Duration::from_secs(hour * HOUR)).to_string();
    format!("{} {}", &time[5..10], &time[11..16])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_a_cell_for_a_window_and_no_markup_of_others() {
        let window = BusyWindow {
            node: "<b>@h".to_owned(),
            started: Duration::from_secs(1_795_580_310),
            length: Duration::from_secs(10),
            cpu: Duration::from_secs(15),
        };
        let mut page = Vec::new();
        let command = |node: &str| Some(format!("flamegraph '{node}'"));
        write_heat_map(&mut page, std::slice::from_ref(&window), command).unwrap();
        let page = String::from_utf8(page).unwrap();
        assert!(page.contains("\\u003cb>@h") && !page.contains("<b>@h"), "{page}");
        let data = serde_json::to_value(document(&[window], &command)).unwrap();
        let chart = &data["sections"][0]["blocks"][0]["charts"][0];
        assert_eq!(chart["y"]["names"], serde_json::json!([[0.0, "11-25 04:00"]]));
        assert_eq!(chart["marks"][0]["x"], serde_json::json!([1_110e9]), "04:18:30");
        assert_eq!(chart["marks"][0]["value"], serde_json::json!([1.5]));
        let expected = serde_json::json!({
            "words": "flamegraph '<b>@h'", "file": "flamegraph-_b_@h", "rows": [1_795_579_200],
        });
        assert_eq!(chart["marks"][0]["command"], expected);
    }

    /// The shades of all nodes have the same meaning.
    #[test]
    fn nodes_share_the_scale() {
        let window = |node: &str, cpu| BusyWindow {
            node: node.to_owned(),
            started: Duration::from_secs(3600),
            length: Duration::from_secs(10),
            cpu: Duration::from_secs(cpu),
        };
        let data =
            serde_json::to_value(document(&[window("a", 1), window("b", 40)], &|_| None)).unwrap();
        for section in 0..2 {
            let mark = &data["sections"][section]["blocks"][0]["charts"][0]["marks"][0];
            assert_eq!(mark["most"], 4.0, "{mark}");
        }
    }
}
