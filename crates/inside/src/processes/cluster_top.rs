//! The first rows of all nodes of a cluster in one table.

use std::{cmp::Reverse, fmt, thread, time::Duration};

use rabbitscope_text::{Align, table_of_rows};
use serde::Serialize;

use super::top::{Top, TopKind, TopReader, TopRow, TopSortKey};
use crate::cluster::{MissingNode, missing_lines};

/// The first rows of several nodes.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct ClusterTop {
    /// Nodes with their own first rows.
    pub nodes: Vec<Top>,
    /// Nodes that could not be read.
    pub missing: Vec<MissingNode>,
    /// Maximum number of rows in the table.
    #[serde(skip)]
    limit: usize,
}

impl ClusterTop {
    /// Reads all nodes at the same time. The failure of one node does not end the others.
    pub fn read(
        readers: &mut [TopReader<'_>],
        (kind, key): (TopKind, TopSortKey),
        interval: Duration,
        rows: u32,
        missing: &[MissingNode],
    ) -> Self {
        let limit = usize::try_from(rows).unwrap_or(usize::MAX);
        let mut all = Self { nodes: Vec::new(), missing: missing.to_vec(), limit };
        thread::scope(|scope| {
            let begin = |reader: &'_ mut TopReader<'_>| {
                (reader.node().to_owned(), reader.read(kind, key, interval, rows))
            };
            let threads: Vec<_> =
                readers.iter_mut().map(|reader| scope.spawn(move || begin(reader))).collect();
            for read in threads {
                match read.join().expect("reading panicked") {
                    (_, Ok(top)) => all.nodes.push(top),
                    (node, Err(error)) => {
                        all.missing.push(MissingNode { node, reason: error.to_string() });
                    }
                }
            }
        });
        all
    }

    /// Returns the heaviest rows over all nodes, each with its node.
    fn rows(&self) -> Vec<(&str, &TopRow)> {
        let Some(key) = self.nodes.first().map(|top| top.sorted_by) else { return Vec::new() };
        let rows = self.nodes.iter().flat_map(|top| top.rows.iter().map(|row| (&*top.node, row)));
        let mut rows: Vec<_> = rows.collect();
        rows.sort_by_key(|(_, row)| Reverse(row.rank(key)));
        rows.truncate(self.limit);
        if key == TopSortKey::Node {
            rows.sort_by_key(|(node, _)| *node);
        } else {
            rows.sort_by(|(_, left), (_, right)| key.order(left, right));
        }
        rows
    }

    fn table(&self) -> String {
        let kind = self.nodes.first().map_or(TopKind::Processes, |top| top.kind);
        let columns = [vec![("node", Align::Left)], kind.columns()].concat();
        let cells =
            |(node, row): (&str, &TopRow)| [vec![node.to_owned()], row.cells(kind)].concat();
        table_of_rows(&columns, &self.rows().into_iter().map(cells).collect::<Vec<_>>())
    }
}

impl fmt::Display for ClusterTop {
    /// Writes lines about each node, one table, and the unknown data.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for top in &self.nodes {
            writeln!(f, "{}", top.head())?;
            for note in top.notes() {
                writeln!(f, "{note}")?;
            }
            writeln!(f)?;
        }
        let coverage = self.nodes.first().map(Top::interval).unwrap_or_default();
        write!(f, "{}\n\n{coverage}{}", self.table(), missing_lines(&self.missing))
    }
}
