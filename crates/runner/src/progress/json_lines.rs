//! Every second as a line of JSON on standard output, as in `series.jsonl`.

use rabbitscope_runs::record::SecondRow;
use rabbitscope_terminal::output;

use super::Watcher;

/// The watcher that writes the lines.
#[derive(Debug, Default)]
pub struct JsonLines;

impl Watcher for JsonLines {
    fn second(&mut self, row: &SecondRow) -> anyhow::Result<()> {
        output::json_line(row)?;
        Ok(())
    }
}
