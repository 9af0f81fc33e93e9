//! `rabbitscope top`: the processes, queues, connections or channels with the most work or memory on a node.

use std::{
    fmt::Display,
    io::IsTerminal,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use clap::{ValueEnum, builder::PossibleValue};
use rabbitscope_terminal::{UsageError, output};
use serde::Serialize;

use super::{
    cluster::{ClusterArgument, ClusterConnections, exit_without, nobody},
    node::NodeArguments,
};
use crate::commands::arguments::{duration, positive};
use rabbitscope_inside::{ClusterTop, MissingNode, TopKind, TopReader, TopSortKey};

use crate::{exit::Exit, interrupt};

/// Show the busiest and largest processes, queues, connections or channels of a node
#[derive(Debug, clap::Args)]
pub(in crate::commands) struct Args {
    /// Kind of the rows
    #[arg(value_enum, default_value = "processes")]
    kind: TopKind,
    /// Sort column; each heading of the table is one
    #[arg(long, value_enum, default_value = "cpu")]
    sort: TopSortKey,
    /// Interval between the two snapshots
    #[arg(long, value_parser = duration, default_value = "1s")]
    interval: Duration,
    /// Maximum number of rows
    #[arg(long, value_name = "N", value_parser = positive, default_value = "20")]
    limit: u32,
    /// Print once, also on a terminal
    #[arg(long)]
    once: bool,
    /// Print once, as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    node: NodeArguments,
    #[command(flatten)]
    cluster: ClusterArgument,
}

/// Limit of rows, because the node itself keeps the table.
const MAX_ROWS: u32 = 1_000;

impl Args {
    pub(in crate::commands) fn execute(self) -> anyhow::Result<Exit> {
        if self.limit > MAX_ROWS {
            return Err(UsageError(format!("--limit is at most {MAX_ROWS}")).into());
        }
        self.check_order()?;
        let stop = interrupt::watch()?;
        if self.cluster.is_wanted {
            return self.show_cluster(&self.node.connect_all()?, &stop);
        }
        let connection = self.node.connect()?;
        let mut reader = TopReader::new(&connection)?;
        self.repeat(&stop, || Ok(reader.read(self.kind, self.sort, self.interval, self.limit)?))?;
        reader.end()?;
        Ok(Exit::Done)
    }

    /// Checks that the table has the column of the sort order.
    fn check_order(&self) -> Result<(), UsageError> {
        if self.sort.is_of(self.kind) {
            return Ok(());
        }
        let name = |value: Option<PossibleValue>| {
            value.map_or_else(String::new, |value| value.get_name().to_owned())
        };
        let of_kind = TopSortKey::value_variants().iter().filter(|key| key.is_of(self.kind));
        let allowed: Vec<String> = of_kind.map(|key| name(key.to_possible_value())).collect();
        Err(UsageError(format!(
            "the table of {} has no column for --sort {}; allowed are {}",
            name(self.kind.to_possible_value()),
            name(self.sort.to_possible_value()),
            allowed.join(", ")
        )))
    }

    fn show_cluster(
        &self,
        cluster: &ClusterConnections,
        stop: &AtomicBool,
    ) -> anyhow::Result<Exit> {
        let (mut readers, mut missing) = (Vec::new(), cluster.missing.clone());
        for connection in &cluster.nodes {
            match TopReader::new(connection) {
                Ok(reader) => readers.push(reader),
                Err(error) => missing.push(MissingNode {
                    node: connection.node().to_owned(),
                    reason: error.to_string(),
                }),
            }
        }
        let order = (self.kind, self.sort);
        let top = self.repeat(stop, || {
            let top = ClusterTop::read(&mut readers, order, self.interval, self.limit, &missing);
            if top.nodes.is_empty() { Err(nobody(&top.missing)) } else { Ok(top) }
        })?;
        // A node that is gone has no agent left.
        for reader in readers {
            drop(reader.end());
        }
        Ok(exit_without(&top.missing))
    }

    /// Repeats on a terminal until stopped; elsewhere, reads once. Returns the last output.
    fn repeat<T: Serialize + Display>(
        &self,
        stop: &AtomicBool,
        mut read: impl FnMut() -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        let live = std::io::stdout().is_terminal() && !self.once && !self.json;
        loop {
            let top = read()?;
            if self.json {
                output::json(&top)?;
            } else if live {
                output::screen(&top.to_string());
            } else {
                output::result(&top.to_string());
            }
            if !live || stop.load(Ordering::Relaxed) {
                return Ok(top);
            }
        }
    }
}
