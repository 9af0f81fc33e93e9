//! One line on standard error that is rewritten every second, when that is a terminal.

use rabbitscope_data::run::SecondRow;

use super::Watcher;
use crate::{experiment, output::ProgressLine};

/// The line.
#[derive(Debug, Default)]
pub struct Line(ProgressLine);

impl Watcher for Line {
    fn connecting(&mut self, done: usize, of: usize) {
        self.0.show(&format!("connecting: {done} of {of} connections"));
    }

    fn second(&mut self, row: &SecondRow) -> anyhow::Result<()> {
        self.0.show(&experiment::second(row));
        Ok(())
    }
}
