//! Tables for people.

use crate::escapes;

/// On which side a column has its edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// For names and sentences.
    Left,
    /// For numbers.
    Right,
}

/// A column: its title and its side.
pub type Column = (&'static str, Align);

/// A title line and a line for each row; columns are as wide as what is in them. A value stays on its line,
/// whatever it is.
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

/// `12 MiB`: three digits and a unit.
pub fn human_bytes(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 1000.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    let decimals = usize::from(unit > 0 && value < 10.0);
    format!("{value:.decimals$} {}", UNITS[unit])
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

    #[test]
    fn sizes() {
        fn check(bytes: u64, expected: &str) {
            assert_eq!(human_bytes(bytes), expected);
        }
        check(0, "0 B");
        check(999, "999 B");
        check(1024, "1.0 KiB");
        check(15 << 20, "15 MiB");
        check(u64::MAX, "16777216 TiB");
    }
}
