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
    let rows: Vec<&[String]> = rows.iter().map(<[String; N]>::as_slice).collect();
    table_of_rows(&columns, &rows)
}

/// The same, where the number of columns is known when the program runs. Each row has as many cells as there are columns.
pub fn table_of_rows<R: AsRef<[String]>>(columns: &[Column], rows: &[R]) -> String {
    let escaped = |row: &R| {
        row.as_ref().iter().map(|cell| escapes::value(cell).into_owned()).collect::<Vec<_>>()
    };
    let titles = columns.iter().map(|(title, _)| (*title).to_owned()).collect();
    let lines: Vec<Vec<String>> = std::iter::once(titles).chain(rows.iter().map(escaped)).collect();
    let width = |column: usize| {
        lines.iter().map(|cells| cells[column].chars().count()).max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..columns.len()).map(width).collect();
    let line = |cells: &Vec<String>| {
        let sides = cells.iter().zip(&widths).zip(columns);
        let padded = sides.map(|((cell, width), (_, align))| padded(cell, *width, *align));
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    lines.iter().map(line).collect::<Vec<_>>().join("\n")
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
