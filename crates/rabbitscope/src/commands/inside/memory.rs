//! `rabbitscope memory`: the parts and processes that hold a node's memory.

use rabbitscope_inside::MemoryReader;
use rabbitscope_terminal::{UsageError, output};

use super::node::NodeArguments;
use crate::{commands::arguments::positive, exit::Exit};

/// Show the memory of a node by holder: queues, processes, tables, sockets, and the VM itself
#[derive(Debug, clap::Args)]
pub(in crate::commands) struct Args {
    /// Maximum number of holders and of tables
    #[arg(long, value_name = "N", value_parser = positive, default_value = "10")]
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
        let mut reader = MemoryReader::new(&connection)?;
        let report = reader.read(self.limit)?;
        if self.json {
            output::json(&report)?;
        } else {
            output::result(&report.to_string());
        }
        reader.end()?;
        Ok(Exit::Done)
    }
}
