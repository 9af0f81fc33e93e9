//! `rabbitscope broker`: throwaway brokers that run until they are stopped.

use std::{fmt::Write, path::PathBuf};

use rabbitscope_broker::{Broker, Listener, Node, Registry};
use rabbitscope_files::{MAX_TEXT_BYTES, input};
use rabbitscope_runner::run;
use rabbitscope_runs::scenario::{MAX_NODES, ThrowawayBroker};
use rabbitscope_terminal::{UsageError, output};
use serde::Serialize;

use rabbitscope_text::escapes;

use super::arguments::within;
use crate::exit::Exit;

const NONE: &str = "no throwaway broker runs";

/// Start, list and stop throwaway brokers
///
/// A throwaway broker is the installed RabbitMQ on free ports that only this machine can reach. Its files are in a
/// temporary directory: TMPDIR, or /tmp for a program with capabilities that root does not start.
///
/// The printed URI contains the broker's password. Other users can see it on a command line, but not in the
/// environment variable `RABBITSCOPE_URI`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Start a broker and leave it running
    Start(Start),
    /// List the running brokers
    Status {
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Stop a broker and remove its directory
    Stop(Stop),
}

#[derive(Debug, clap::Args)]
struct Start {
    /// Number of nodes, 1 to 7; several form a cluster
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = within(1..=MAX_NODES))]
    nodes: u32,
    /// Plugins to enable, for example `rabbitmq_management,rabbitmq_stream`
    #[arg(long, value_delimiter = ',', value_name = "NAME,…")]
    plugins: Vec<String>,
    /// Directory with additional plugins (.ez)
    #[arg(long, value_name = "DIR")]
    plugins_directory: Option<PathBuf>,
    /// File with lines for rabbitmq.conf
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// File to use as advanced.config
    #[arg(long, value_name = "FILE")]
    advanced_config: Option<PathBuf>,
    /// Additional arguments for the Erlang VM, for example `+S 2`
    #[arg(long, value_name = "ARGS", allow_hyphen_values = true, default_value = "")]
    erl_args: String,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
struct Stop {
    /// Name of the broker [default: the only running one]
    #[arg(conflicts_with = "all")]
    name: Option<String>,
    /// Stop all brokers that `broker start` started
    #[arg(long)]
    all: bool,
}

/// A broker in the list.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct ListedEntry<'a> {
    name: &'a str,
    uri: String,
    node_name: String,
    pid: u32,
    directory: &'a PathBuf,
    log: &'a PathBuf,
    management_url: Option<String>,
    listeners: &'a [Listener],
}

impl Args {
    pub(super) fn execute(self) -> anyhow::Result<Exit> {
        for out_of_sight in run::sweep_dead_brokers()? {
            output::note(&out_of_sight.to_string());
        }
        let registry = Registry::open()?;
        match self.command {
            Command::Start(start) => start.execute(),
            Command::Status { json } => list(&registry.running()?, json),
            Command::Stop(stop) => stop.execute(&registry),
        }
    }
}

impl Start {
    fn validate(self) -> anyhow::Result<(ThrowawayBroker, bool)> {
        let read = |file: Option<PathBuf>| {
            file.map_or(Ok(String::new()), |file| input::read_text(&file, MAX_TEXT_BYTES))
        };
        let spec = ThrowawayBroker {
            nodes: self.nodes,
            plugins: self.plugins,
            plugins_directory: directory(self.plugins_directory)?,
            config: read(self.config)?,
            advanced_config: read(self.advanced_config)?,
            erl_args: self.erl_args,
            ..ThrowawayBroker::default()
        };
        Ok((spec, self.json))
    }

    fn execute(self) -> anyhow::Result<Exit> {
        let (spec, json) = self.validate()?;
        let nodes = Broker::start_detached(&spec)?;
        match &nodes[..] {
            [node] if json => output::json(&ListedEntry::from(node))?,
            nodes => print(nodes, json)?,
        }
        Ok(Exit::Done)
    }
}

fn directory(path: Option<PathBuf>) -> Result<String, UsageError> {
    let path = path.unwrap_or_default().into_os_string();
    path.into_string().map_err(|_| UsageError("--plugins-directory must be UTF-8".to_owned()))
}

fn list(nodes: &[Node], json: bool) -> anyhow::Result<Exit> {
    if nodes.is_empty() && !json {
        output::result(NONE);
    } else {
        print(nodes, json)?;
    }
    Ok(Exit::Done)
}

/// Prints each node with its listeners.
fn print(nodes: &[Node], json: bool) -> anyhow::Result<()> {
    let listed: Vec<ListedEntry<'_>> = nodes.iter().map(ListedEntry::from).collect();
    if json {
        output::json(&listed)?;
    } else {
        let texts: Vec<String> = listed.iter().map(ListedEntry::to_text).collect();
        output::result(&texts.join("\n"));
    }
    Ok(())
}

impl Stop {
    fn execute(&self, registry: &Registry) -> anyhow::Result<Exit> {
        let chosen = self.chosen(registry)?;
        if chosen.is_empty() {
            output::result(NONE);
        }
        for node in chosen {
            node.end()?;
            output::result(&format!("stopped {}", node.name));
        }
        Ok(Exit::Done)
    }

    /// Returns the brokers to stop. `--all` selects those that were started to stay; a run's broker is stopped only
    /// by its name.
    fn chosen(&self, registry: &Registry) -> anyhow::Result<Vec<Node>> {
        if let Some(name) = &self.name {
            return Ok(vec![registry.find(name)?]);
        }
        let mut stays: Vec<Node> =
            registry.running()?.into_iter().filter(|node| node.detached).collect();
        // One node represents its whole cluster.
        stays.dedup_by(|one, other| one.name == other.name);
        if stays.len() > 1 && !self.all {
            let names: Vec<&str> = stays.iter().map(|node| node.name.as_str()).collect();
            let question =
                format!("several brokers run, name one or give --all: {}", names.join(" "));
            return Err(UsageError(question).into());
        }
        Ok(stays)
    }
}

impl<'a> From<&'a Node> for ListedEntry<'a> {
    fn from(node: &'a Node) -> Self {
        Self {
            name: &node.name,
            uri: node.uri(),
            node_name: node.node_name(),
            pid: node.pid,
            directory: &node.directory,
            log: &node.log,
            management_url: node.management_port().map(|port| format!("http://127.0.0.1:{port}/")),
            listeners: &node.listeners,
        }
    }
}

impl ListedEntry<'_> {
    fn to_text(&self) -> String {
        let mut text = format!(
            "{}\n  uri         {}\n  node        {}\n  pid         {}\n  directory   {}\n",
            self.name,
            self.uri,
            self.node_name,
            self.pid,
            escapes::value(&self.directory.to_string_lossy())
        );
        if let Some(url) = &self.management_url {
            let _ = writeln!(text, "  management  {url}");
        }
        for Listener { protocol, port } in self.listeners {
            let _ = writeln!(text, "  listens     127.0.0.1:{port} {protocol}");
        }
        text
    }
}
