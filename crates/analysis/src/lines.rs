//! Weights of source lines within their functions.

use std::collections::HashMap;

use rabbitscope_profiles::{FrameId, LineWeight, Profile};

use crate::FunctionRow;

/// The weights of one line of a function, in the unit of the profile's event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineRow<'a> {
    /// The function.
    pub frame: FrameId,
    /// File and line, counted from 1; absent for the part of the function's weight without a line.
    pub place: Option<(&'a str, u32)>,
    /// Own weight; see [`LineWeight::own`].
    pub own: u64,
    /// Total weight; see [`LineWeight::total`].
    pub total: u64,
}

/// Returns the lines of all functions with a known line, function by function, in the order of the source. The weight
/// without a line comes last. The rows of a function add up to its own and total weight in `functions`, the table of
/// the same profile.
pub fn line_table<'a>(profile: &'a Profile, functions: &[FunctionRow]) -> Vec<LineRow<'a>> {
    let mut by_frame: HashMap<FrameId, Vec<&LineWeight>> = HashMap::new();
    for line in &profile.lines {
        by_frame.entry(line.frame).or_default().push(line);
    }
    let mut rows = Vec::new();
    for function in functions {
        let Some(mut lines) = by_frame.remove(&function.frame) else { continue };
        lines.sort_by(|left, right| (&left.file, left.line).cmp(&(&right.file, right.line)));
        rows.extend(lines.iter().map(|line| LineRow {
            frame: line.frame,
            place: Some((&*line.file, line.line)),
            own: line.own,
            total: line.total,
        }));
        rows.extend(rest_of(function, &lines));
    }
    rows
}

/// Returns the remaining weight of a function.
fn rest_of(function: &FunctionRow, lines: &[&LineWeight]) -> Option<LineRow<'static>> {
    let left = |whole: u64, part: fn(&LineWeight) -> u64| {
        lines.iter().fold(whole, |left, line| left.saturating_sub(part(line)))
    };
    let own = left(function.own, |line| line.own);
    let total = left(function.total, |line| line.total);
    (own > 0 || total > 0).then_some(LineRow { frame: function.frame, place: None, own, total })
}

#[cfg(test)]
mod tests {
    use rabbitscope_profiles::read_folded;

    use super::*;
    use crate::function_table;

    #[test]
    fn lines_stand_in_the_order_of_the_source_and_add_up() {
        let mut profile =
            read_folded("s;m:f/1;m:g/1 70\ns;m:f/1 30\ns;m:h/0 5".as_bytes()).unwrap();
        let frame =
            |name: &str| profile.frames.iter().find(|(_, frame)| frame.name == name).unwrap().0;
        let line =
            |frame, line, own, total| LineWeight { frame, file: "m.erl".into(), line, own, total };
        let (f, g) = (frame("m:f/1"), frame("m:g/1"));
        profile.lines = vec![line(f, 9, 0, 60), line(f, 7, 20, 25), line(g, 3, 70, 70)];
        let rows = line_table(&profile, &function_table(&profile));
        let row = |frame, line, own, total| LineRow {
            frame,
            place: (line > 0).then_some(("m.erl", line)),
            own,
            total,
        };
        let expected = [row(g, 3, 70, 70), row(f, 7, 20, 25), row(f, 9, 0, 60), row(f, 0, 10, 15)];
        assert_eq!(rows, expected);
    }
}
