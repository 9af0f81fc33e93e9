//! Tables of bounded length, and names of others in them.

use rabbitscope_text::{Unit, counted, escapes};

use crate::document::{Block, Cell, Column, Content, Sentence, Table, Tone};

/// Rows of a table.
pub(super) const MOST_ROWS: usize = 50;

/// A table, and the number of rows that exist.
pub(super) struct Rows {
    /// Id of the block with the table. The block below it has this id and `-more`.
    pub(super) id: &'static str,
    /// Noun for the rows, in the singular.
    pub(super) noun: &'static str,
    pub(super) columns: Vec<Column>,
}

impl Rows {
    /// Returns the empty table and the empty remark below it.
    pub(super) fn empty(&self, label: &'static str) -> [Block; 2] {
        self.filled(label, Vec::new(), 0)
    }

    /// Returns the table with its first rows, and a remark about further rows of all `count`.
    pub(super) fn filled(
        &self,
        label: &'static str,
        mut rows: Vec<Vec<Cell>>,
        count: u64,
    ) -> [Block; 2] {
        rows.truncate(MOST_ROWS);
        let more = count.saturating_sub(rows.len() as u64);
        let remark = match (more, rows.is_empty()) {
            (0, _) => None,
            (more, false) => {
                Some(format!("… and {}", counted(more, &format!("more {}", self.noun))))
            }
            (more, true) => Some(counted(more, self.noun)),
        };
        let remark = remark.map(|text| Sentence::new(text, Tone::Soft));
        let table = Table { label, columns: self.columns.clone(), rows, ..Table::default() };
        [
            Block::new(self.id, Content::Table(table)),
            Block::sentences(format!("{}-more", self.id), remark.into_iter().collect()),
        ]
    }
}

/// Returns a cell with a name of others, which stays on its line and keeps its direction.
pub(super) fn name(name: &str) -> Cell {
    Cell::text(single(name))
}

/// Escapes a text of others.
pub(super) fn single(text: &str) -> String {
    escapes::value(text).into_owned()
}

/// Returns a cell with a number of things.
pub(super) fn count(count: u64) -> Cell {
    Cell::figure(count as f64, Unit::Things)
}

/// Returns a cell with a rate that may be unknown.
pub(super) fn rate(rate: Option<f64>) -> Cell {
    Cell::known(rate, Unit::PerSecond)
}

/// Returns a cell with CPU time that may be unknown.
pub(super) fn cores(cores: Option<f64>) -> Cell {
    Cell::known(cores, Unit::Cores)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn further_rows_are_counted() {
        let rows = Rows { id: "queues", noun: "queue", columns: vec![Column::text("name")] };
        let table = |cells: usize, count: u64| {
            let cells = (0..cells).map(|_| vec![name("\u{202e}a\n<script>")]).collect();
            let [table, more] = rows.filled("Queues", cells, count);
            let [table, more] = [table, more].map(|block| serde_json::to_value(block).unwrap());
            let length = table["rows"].as_array().unwrap().len();
            (length, more["sentences"][0]["text"].as_str().unwrap_or_default().to_owned())
        };
        assert_eq!(table(2, 2), (2, String::new()));
        assert_eq!(table(80, 3_000), (50, "… and 2,950 more queues".to_owned()));
        assert_eq!(table(0, 1), (0, "1 queue".to_owned()));
        let cell = serde_json::to_value(name("\u{202e}a\n<script>")).unwrap();
        assert_eq!(cell["text"], "\\u{202e}a\\n<script>");
    }
}
