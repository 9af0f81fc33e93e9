//! The node that a command looks into, and how to reach it: arguments of several commands.

use std::{path::PathBuf, sync::Arc, time::Duration};

use anyhow::Context;
use rabbitscope_broker::{Node, Registry};
use rabbitscope_erlang::{ConnectOptions, Connection, CookieSource, NodeName, Port, TlsFiles};
use rabbitscope_probe::Node as Local;

use crate::commands::arguments::{dead_man, within};
use rabbitscope_inside::{expected_node, in_container};

/// The port mapper's default port.
const EPMD_PORT: u16 = 4369;

/// The default name of RabbitMQ's node.
const USUAL_NAME: &str = "rabbit";

#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Node")]
pub(in crate::commands) struct NodeArguments {
    /// Name of the node
    ///
    /// The default is the only throwaway broker, else rabbit on this machine, else the only node of this machine.
    #[arg(long, value_name = "NAME[@HOST]")]
    node: Option<String>,
    /// File with the Erlang cookie
    ///
    /// By default, the cookie comes from the variable `RABBITSCOPE_COOKIE`, ~/.erlang.cookie or
    /// /var/lib/rabbitmq/.erlang.cookie.
    #[arg(long, value_name = "FILE")]
    cookie_file: Option<PathBuf>,
    /// Port of the node's port mapper [default: 4369]
    #[arg(long, value_name = "PORT", env = "ERL_EPMD_PORT", conflicts_with = "dist_port", value_parser = within(1..=u16::MAX))]
    epmd_port: Option<u16>,
    /// Distribution port of the node, to connect without a port mapper
    #[arg(long, value_name = "PORT", value_parser = within(1..=u16::MAX))]
    dist_port: Option<u16>,
    /// Connect with TLS, and verify the node's certificate with the authorities in this file
    #[arg(long, value_name = "FILE")]
    tls_ca: Option<PathBuf>,
    /// Client certificate, if the node requires one
    #[arg(long, value_name = "FILE", requires_all = ["tls_ca", "tls_key"])]
    tls_cert: Option<PathBuf>,
    /// Private key of the client certificate
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Silence after which the node removes the loaded code, 3s to 10m [default: 15s]
    #[arg(long, value_name = "DURATION", value_parser = dead_man)]
    dead_man: Option<Duration>,
}

impl NodeArguments {
    /// Returns whether the user says which node is meant, or where it is. It may run on another machine.
    pub(in crate::commands) fn is_elsewhere(&self) -> bool {
        self.is_named() || self.epmd_port.is_some() || self.dist_port.is_some()
    }

    /// Returns the name that the user gave.
    pub(in crate::commands) fn name(&self) -> Option<&str> {
        self.node.as_deref()
    }

    /// Returns whether the user named a node.
    pub(in crate::commands) fn is_named(&self) -> bool {
        self.node.is_some()
    }

    /// Returns the node's process on this machine. The name of a throwaway cluster stands for its first running node.
    pub(in crate::commands) fn process(&self) -> anyhow::Result<Local> {
        let nodes = || rabbitscope_probe::list_nodes();
        if let Some(Node { pid, .. }) = self.throwaway() {
            let found = nodes()?.into_iter().find(|node| node.pid == pid);
            return Ok(found.unwrap_or(Local { pid, name: None }));
        }
        match &self.node {
            Some(name) => Ok(rabbitscope_probe::find_node(name)?),
            None => Ok(rabbitscope_probe::default_node(nodes()?, USUAL_NAME)?),
        }
    }

    /// Returns the running nodes of the throwaway cluster that the user named, or that is the default, the one that stands
    /// for it first. Empty if one node was named.
    pub(in crate::commands) fn nodes_of_cluster(&self) -> Vec<String> {
        let running = Registry::open().and_then(|registry| registry.running()).unwrap_or_default();
        nodes_of_cluster(&running, self.node.as_deref())
    }

    /// Returns the node's name if the user gives none and no throwaway broker runs.
    fn default_name(&self) -> String {
        let is_elsewhere = self.epmd_port.is_some() || self.dist_port.is_some();
        let usual = || USUAL_NAME.to_owned();
        if is_elsewhere {
            return usual();
        }
        let found = rabbitscope_probe::list_nodes()
            .and_then(|nodes| rabbitscope_probe::default_node(nodes, USUAL_NAME));
        // With no node or several, the default name lets the error say which node does not answer.
        found.ok().and_then(|node| node.name).unwrap_or_else(usual)
    }

    /// Connects to the node.
    pub(in crate::commands) fn connect(&self) -> anyhow::Result<Connection> {
        Ok(Connection::open(&self.options()?)?)
    }

    /// Returns the options for the node of a process that was found by other means. The node may have a name.
    pub(in crate::commands) fn options_of(
        &self,
        pid: u32,
        name: Option<String>,
    ) -> anyhow::Result<ConnectOptions> {
        let name = name.or_else(|| self.node.clone());
        let name = name.context("the node's name is unknown from outside; give --node")?;
        let args = Self { node: Some(name), ..self.clone() };
        let expected = expected_node(Some(pid), self.cookie_file.is_some());
        let options =
            ConnectOptions { verify: Some(Arc::new(expected)), ..args.options_by_name()? };
        Ok(in_container(pid, options))
    }

    /// Returns the same arguments for another node of the cluster.
    pub(in crate::commands) fn of_member(&self, name: &str) -> Self {
        Self { node: Some(name.to_owned()), ..self.clone() }
    }

    /// Returns the options of the connection.
    pub(in crate::commands) fn options(&self) -> anyhow::Result<ConnectOptions> {
        let options = self.options_by_name()?;
        // The ports of a throwaway broker are known, and a user's port may lead into a container already.
        if self.throwaway().is_some() || self.dist_port.is_some() {
            return Ok(options);
        }
        // A node that is not seen is elsewhere, or the connection says why it fails.
        let Ok(process) = self.process() else { return Ok(options) };
        Ok(in_container(process.pid, options))
    }

    /// Returns the options for a node in the network of this program.
    fn options_by_name(&self) -> anyhow::Result<ConnectOptions> {
        let throwaway = self.throwaway();
        let name = match (&throwaway, &self.node) {
            (Some(node), _) => node.node_name(),
            (None, Some(name)) => name.clone(),
            (None, None) => self.default_name(),
        };
        let known = throwaway.map(|node| node.distribution());
        let cookie = match (&self.cookie_file, &known) {
            (Some(file), _) => CookieSource::File(file.clone()),
            (None, Some((home, _))) => CookieSource::File(home.join(".erlang.cookie")),
            (None, None) => CookieSource::UsualPlaces,
        };
        let port = match (self.dist_port, &known) {
            (Some(port), _) => Port::Fixed(port),
            (None, Some((_, address))) => Port::At(*address),
            (None, None) => Port::Mapped(self.epmd_port.unwrap_or(EPMD_PORT)),
        };
        let tls = self.tls_ca.clone().map(|authorities| TlsFiles {
            authorities: Some(authorities),
            own: self.tls_cert.clone().zip(self.tls_key.clone()),
        });
        let usual = ConnectOptions::new(NodeName::parse(&name)?);
        Ok(ConnectOptions {
            cookie,
            port,
            tls,
            dead_man: self.dead_man.unwrap_or(usual.dead_man),
            verify: Some(Arc::new(expected_node(None, self.cookie_file.is_some()))),
            ..usual
        })
    }

    /// Returns the throwaway broker, which has its own cookie and a known port.
    fn throwaway(&self) -> Option<Node> {
        // If the registry is unreadable, there is none.
        let running = Registry::open().and_then(|registry| registry.running()).ok()?;
        chosen(running, self.node.as_deref())
    }
}

fn chosen(running: Vec<Node>, name: Option<&str>) -> Option<Node> {
    if let Some(name) = name {
        running.into_iter().find(|node| node.name == name || node.node_name() == name)
    } else {
        let mut stays = running.into_iter().filter(|node| node.detached);
        // The first node represents its cluster.
        let first = stays.next()?;
        stays.all(|node| node.name == first.name).then_some(first)
    }
}

/// Returns the nodes of a cluster of several that is meant as a whole.
fn nodes_of_cluster(running: &[Node], name: Option<&str>) -> Vec<String> {
    let Some(meant) = chosen(running.to_vec(), name) else { return Vec::new() };
    let is_named = name.is_some_and(|name| name != meant.name);
    let members = running.iter().filter(|node| !is_named && node.name == meant.name);
    let names: Vec<String> = members.map(Node::node_name).collect();
    if names.len() > 1 { names } else { Vec::new() }
}
