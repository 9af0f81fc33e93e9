//! The tables of functions and lines in the page's form, in columns.

use std::collections::HashMap;

use rabbitscope_analysis::{FunctionRow, LineRow};
use serde::Serialize;

use crate::page::stacks::FrameNumbers;

/// The rows of the table of functions, in the order of [`function_table`](rabbitscope_analysis::function_table).
#[derive(Default, Serialize)]
pub(crate) struct FunctionColumns {
    frame: Vec<u32>,
    own: Vec<u64>,
    #[serde(rename = "self")]
    self_weight: Vec<u64>,
    total: Vec<u64>,
}

impl FunctionColumns {
    pub(crate) fn new(rows: &[FunctionRow], numbers: &FrameNumbers) -> Self {
        Self {
            frame: rows.iter().map(|row| numbers.of(row.frame)).collect(),
            own: rows.iter().map(|row| row.own).collect(),
            self_weight: rows.iter().map(|row| row.self_weight).collect(),
            total: rows.iter().map(|row| row.total).collect(),
        }
    }
}

/// The rows of the table of lines, in the order of [`line_table`](rabbitscope_analysis::line_table).
#[derive(Default, Serialize)]
pub(crate) struct LineColumns<'a> {
    files: Vec<&'a str>,
    frame: Vec<u32>,
    /// Index into `files`; also 0 if the line is 0.
    file: Vec<usize>,
    /// Line number; 0 for no line.
    line: Vec<u32>,
    own: Vec<u64>,
    total: Vec<u64>,
}

impl<'a> LineColumns<'a> {
    pub(crate) fn new(rows: &[LineRow<'a>], numbers: &FrameNumbers) -> Self {
        let mut columns = Self::default();
        let mut known: HashMap<&str, usize> = HashMap::new();
        for row in rows {
            let file = row.place.map_or(0, |(file, _)| {
                *known.entry(file).or_insert_with(|| {
                    columns.files.push(file);
                    columns.files.len() - 1
                })
            });
            columns.frame.push(numbers.of(row.frame));
            columns.file.push(file);
            columns.line.push(row.place.map_or(0, |(_, line)| line));
            columns.own.push(row.own);
            columns.total.push(row.total);
        }
        columns
    }
}
