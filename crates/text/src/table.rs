//! Tables for people.

use crate::escapes;

/// Alignment of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Left, for names and sentences.
    Left,
    /// Right, for numbers.
    Right,
}

/// A column: its title and its alignment.
pub type Column = (&'static str, Align);

/// Formats a title line and a line for each row. Columns are as wide as their widest cell. Control characters are
/// escaped, so a value stays on its line.
pub fn table<const N: usize>(columns: [Column; N], rows: &[[String; N]]) -> String {
    let rows: Vec<[String; N]> = rows
        .iter()
        .map(|row| row.each_ref().map(|cell| escapes::value(cell).into_owned()))
        .collect();
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.chain([columns[column].0.chars().count()]).max().unwrap_or_default()
    };
    let widths: [usize; N] = std::array::from_fn(width);
    let titles = columns.map(|(title, _)| title.to_owned());
    let line = |cells: &[String; N]| {
        let padded = (0..N).map(|column| padded(&cells[column], widths[column], columns[column].1));
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    std::iter::once(&titles).chain(&rows).map(line).collect::<Vec<_>>().join("\n")
}

fn padded(text: &str, width: usize, align: Align) -> String {
    match align {
        Align::Left => format!("{text:<width$}"),
        Align::Right => format!("{text:>width$}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_fit() {
        let rows = [["a".to_owned(), "1".to_owned()], ["bcd".to_owned(), "22".to_owned()]];
        let text = table([("name", Align::Left), ("n", Align::Right)], &rows);
        assert_eq!(text, "name   n\na      1\nbcd   22");
    }
}
