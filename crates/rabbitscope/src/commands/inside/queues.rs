//! `rabbitscope queues`: the queues of a node, read from the node itself.

use std::{
    net::SocketAddr,
    path::PathBuf,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use rabbitscope_erlang::{Connection, ErlangError};
use rabbitscope_terminal::output;

use super::{
    cluster::{ClusterArgument, ClusterConnections, exit_without},
    node::NodeArguments,
    queue_nodes::{QueueNodes, ReadQueues},
};
use crate::commands::arguments::{duration, positive};
use rabbitscope_http::{Host, ListenOptions, Listener, parse_address};
use rabbitscope_inside::{ListingView, Page, QueueFilter, SortKey, prometheus, serve};

use crate::{exit::Exit, interrupt};

/// Interval between two attempts to reach a node that is gone.
const RECONNECT_INTERVAL: Duration = Duration::from_secs(1);

/// List queues from the node's tables, or from the queues themselves
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(in crate::commands) struct Args {
    /// Only queues in this virtual host
    #[arg(long)]
    vhost: Option<String>,
    /// Only queues whose name contains this text
    #[arg(long, value_name = "TEXT")]
    name: Option<String>,
    /// Sort order; the largest numbers come first
    #[arg(long, value_enum, default_value = "name")]
    sort: SortKey,
    /// Maximum number of queues
    #[arg(long, value_name = "N", value_parser = positive)]
    limit: Option<u32>,
    /// Page number, with `--limit` queues per page
    #[arg(long, value_name = "N", value_parser = positive, default_value = "1", requires = "limit")]
    page: u32,
    /// Ask each queue, on any node, instead of reading the node's tables
    #[arg(long, conflicts_with = "is_wanted")]
    exact: bool,
    /// Time limit for the answers of queues
    #[arg(long, value_parser = duration, default_value = "5s")]
    within: Duration,
    /// Print as JSON
    #[arg(long, conflicts_with = "prometheus")]
    json: bool,
    /// Print in Prometheus text format
    #[arg(long)]
    prometheus: bool,
    /// Repeat until Ctrl-C
    #[arg(long)]
    watch: bool,
    /// Interval between readings with `--watch`
    #[arg(long, value_parser = duration, default_value = "2s", requires = "watch")]
    interval: Duration,
    /// Serve `/queues` (JSON) and `/metrics` (Prometheus) over HTTP, until Ctrl-C
    ///
    /// An address that other machines can reach requires `--auth-file`.
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = parse_address,
          conflicts_with_all = ["watch", "json", "prometheus", "exact", "vhost", "name", "limit",
                                "is_wanted"])]
    listen: Option<SocketAddr>,
    /// With `--listen`: file with `user:password` or a token that requests must send
    ///
    /// Only its owner and group may have permission to read the file.
    #[arg(long, value_name = "FILE", requires = "listen")]
    auth_file: Option<PathBuf>,
    /// With `--listen`: additional name or address, without a port, to accept in `Host`
    #[arg(long = "allow-host", value_name = "NAME", requires = "listen")]
    allow_hosts: Vec<Host>,
    #[command(flatten)]
    node: NodeArguments,
    #[command(flatten)]
    cluster: ClusterArgument,
}

impl Args {
    pub(in crate::commands) fn execute(self) -> anyhow::Result<Exit> {
        let stop = interrupt::watch()?;
        if let Some(address) = self.listen {
            return self.serve(address, &stop);
        }
        if self.watch {
            return self.watch(&stop);
        }
        let connections = self.connect()?;
        let mut nodes = QueueNodes::start(&connections)?;
        let shown = self.show(&mut nodes)?;
        nodes.end()?;
        Ok(shown.exit)
    }

    fn connect(&self) -> anyhow::Result<ClusterConnections> {
        if self.cluster.is_wanted {
            return self.node.connect_all();
        }
        Ok(ClusterConnections { nodes: vec![self.node.connect()?], missing: Vec::new() })
    }

    /// Repeats until stopped, and waits for a node that is gone. The last output decides the exit code.
    fn watch(&self, stop: &AtomicBool) -> anyhow::Result<Exit> {
        let mut exit = None;
        let mut said = String::new();
        loop {
            let connected = self.connect();
            let watched =
                connected.and_then(|connections| self.watch_these(&connections, stop, &mut exit));
            let lost = match (watched, exit) {
                (Ok(()), exit) => return Ok(exit.unwrap_or(Exit::Done)),
                (Err(error), Some(_)) if error.is::<ErlangError>() => error.to_string(),
                (Err(error), _) => return Err(error),
            };
            if lost != said {
                output::note(&format!("{lost}; retrying"));
                said = lost;
            }
            if waited(RECONNECT_INTERVAL, stop) {
                return Ok(exit.unwrap_or(Exit::Done));
            }
        }
    }

    /// Repeats until stopped, or until a node is gone.
    fn watch_these(
        &self,
        connections: &ClusterConnections,
        stop: &AtomicBool,
        last_exit: &mut Option<Exit>,
    ) -> anyhow::Result<()> {
        let mut nodes = QueueNodes::start(connections)?;
        loop {
            let Shown { lost, exit } = self.show(&mut nodes)?;
            *last_exit = Some(exit);
            if waited(self.interval, stop) {
                return Ok(nodes.end()?);
            }
            // The other nodes were shown; the error makes the caller reconnect.
            if let Some(error) = lost {
                return Err(error.into());
            }
        }
    }

    fn show(&self, nodes: &mut QueueNodes<'_>) -> anyhow::Result<Shown> {
        let filter = QueueFilter { vhost: self.vhost.clone(), name: self.name.clone() };
        let ReadQueues { listing, without_statistics, lost } = if self.exact {
            nodes.ask_queues(&filter, self.within)?
        } else {
            nodes.read_tables(&filter, self.within)?
        };
        if without_statistics && !self.watch {
            output::note(
                "the node keeps no statistics (collect_statistics is none); asking each queue",
            );
        }
        if self.prometheus {
            // Metrics cannot express missing nodes.
            for node in &listing.missing {
                output::note(&format!("not shown: {}, {}", node.node, node.reason));
            }
        }
        let page = Page { number: self.page, size: self.limit };
        self.print(&listing.view(&filter, self.sort, page))?;
        Ok(Shown { lost, exit: exit_without(&listing.missing) })
    }

    fn print(&self, shown: &ListingView<'_>) -> anyhow::Result<()> {
        if self.json && self.watch {
            output::json_line(shown)?;
        } else if self.json {
            output::json(shown)?;
        } else if self.prometheus {
            output::metrics(&prometheus(&shown.queues, shown.unanswered.len()));
        } else if self.watch {
            output::screen(&shown.to_text());
        } else {
            output::result(&shown.to_text());
        }
        Ok(())
    }

    fn serve(&self, address: SocketAddr, stop: &AtomicBool) -> anyhow::Result<Exit> {
        let listener = Listener::bind(ListenOptions {
            address,
            auth_file: self.auth_file.as_deref(),
            auth_option: "--auth-file",
            hosts: self.allow_hosts.clone(),
        })?;
        let options = self.node.options()?;
        let connection = Connection::open(&options)?;
        let (node, address) = (connection.node().to_owned(), listener.address()?);
        output::note(&format!("queues of {node} at http://{address}/queues and /metrics"));
        serve(listener, connection, options, stop)?;
        Ok(Exit::Done)
    }
}

/// The outcome of one reading.
struct Shown {
    /// The reason why some queues could not be read.
    lost: Option<ErlangError>,
    exit: Exit,
}

/// Waits, and returns whether the wait was cut short.
fn waited(interval: Duration, stop: &AtomicBool) -> bool {
    const STEP: Duration = Duration::from_millis(50);
    let end = Instant::now() + interval;
    while Instant::now() < end && !stop.load(Ordering::Relaxed) {
        thread::sleep(STEP.min(end.saturating_duration_since(Instant::now())));
    }
    stop.load(Ordering::Relaxed)
}
