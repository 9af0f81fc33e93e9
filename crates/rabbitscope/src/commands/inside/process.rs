//! `rabbitscope process`: one process of a node, or the processes that wait for others.

use rabbitscope_inside::ProcessReader;
use rabbitscope_terminal::{UsageError, output};

use super::node::NodeArguments;
use crate::{commands::arguments::positive, exit::Exit};

/// Show one process of a node: its relations and waits, its messages by kind, its stack
#[derive(Debug, clap::Args)]
pub(in crate::commands) struct Args {
    /// Process identifier as the node prints it, or registered name
    ///
    /// By default, the command lists the processes that wait for others.
    #[arg(value_name = "PROCESS")]
    process: Option<String>,
    /// Maximum number of waiting processes
    #[arg(long, value_name = "N", value_parser = positive, default_value = "20")]
    limit: u32,
    /// Print as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    node: NodeArguments,
}

/// The node sends all rows in one message.
const MAX_ROWS: u32 = 1_000;

impl Args {
    pub(in crate::commands) fn execute(self) -> anyhow::Result<Exit> {
        if self.limit > MAX_ROWS {
            return Err(UsageError(format!("--limit is at most {MAX_ROWS}")).into());
        }
        let connection = self.node.connect()?;
        let mut reader = ProcessReader::new(&connection)?;
        if let Some(process) = &self.process {
            let report = reader.process(process)?;
            if self.json { output::json(&report)? } else { output::result(&report.to_string()) }
        } else {
            let report = reader.waiting(self.limit)?;
            if self.json { output::json(&report)? } else { output::result(&report.to_string()) }
        }
        reader.end()?;
        Ok(Exit::Done)
    }
}
