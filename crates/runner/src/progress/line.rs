//! One line on standard error that is rewritten every second, if standard error is a terminal.

use rabbitscope_runs::record::SecondRow;
use rabbitscope_terminal::{ProgressLine, output};

use super::Watcher;
use crate::run;

/// The watcher that shows the line.
#[derive(Debug, Default)]
pub struct Line(ProgressLine);

impl Watcher for Line {
    fn connecting(&mut self, done: usize, of: usize) {
        self.0.show(&format!("connecting: {done} of {of} connections"));
    }

    fn notice(&mut self, text: &str) {
        output::note(text);
    }

    fn second(&mut self, row: &SecondRow) -> anyhow::Result<()> {
        self.0.show(&run::second(row));
        Ok(())
    }
}
