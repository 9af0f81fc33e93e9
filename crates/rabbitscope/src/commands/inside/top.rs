//! `rabbitscope top`: who does or holds most on a node.

use std::{io::IsTerminal, sync::atomic::Ordering, time::Duration};

use super::node::NodeArguments;
use crate::commands::arguments::{duration, positive};
use rabbitscope_inside::{TopKind, TopReader, TopSortKey};

use crate::{
    exit::{Exit, UsageError},
    interrupt, output,
};

/// Show which processes, queues, connections or channels of a node do or hold most
#[derive(Debug, clap::Args)]
pub(in crate::commands) struct Args {
    #[command(flatten)]
    node: NodeArguments,
    /// What is listed
    #[arg(value_enum, default_value = "processes")]
    kind: TopKind,
    /// The figure that decides the order
    #[arg(long, value_enum, default_value = "cpu")]
    sort: TopSortKey,
    /// Time between the two snapshots that are compared
    #[arg(long, value_parser = duration, default_value = "1s")]
    interval: Duration,
    /// So many rows
    #[arg(long, value_name = "N", value_parser = positive, default_value = "20")]
    limit: u32,
    /// Once, also on a terminal
    #[arg(long)]
    once: bool,
    /// Print as JSON, once
    #[arg(long)]
    json: bool,
}

/// The table of the best is kept on the node.
const MAX_ROWS: u32 = 1_000;

impl Args {
    pub(in crate::commands) fn execute(self) -> anyhow::Result<Exit> {
        if self.limit > MAX_ROWS {
            return Err(UsageError(format!("--limit is at most {MAX_ROWS}")).into());
        }
        if self.kind == TopKind::Processes && matches!(self.sort, TopSortKey::In | TopSortKey::Out)
        {
            let wrong = "--sort in and out are for queues, connections and channels";
            return Err(UsageError(wrong.to_owned()).into());
        }
        let stop = interrupt::watch()?;
        let connection = self.node.connect()?;
        let mut reader = TopReader::new(&connection)?;
        let live = std::io::stdout().is_terminal() && !self.once && !self.json;
        loop {
            let top = reader.read(self.kind, self.sort, self.interval, self.limit)?;
            if self.json {
                output::json(&top)?;
            } else if live {
                output::screen(&top.to_string());
            } else {
                output::result(&top.to_string());
            }
            if !live || stop.load(Ordering::Relaxed) {
                break;
            }
        }
        reader.end()?;
        Ok(Exit::Done)
    }
}
