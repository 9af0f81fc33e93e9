//! A throwaway node that runs: where it is, what it is asked, and how it is ended.

use std::{
    net::{Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use serde::{Deserialize, Serialize};

use crate::{
    BrokerError, Installation,
    asking::{self, Asked},
    description::{Listener, NodeDescription, QUESTION},
    directory::Ports,
    exposure, guard,
    login::Login,
    processes::BrokerProcesses,
};

/// A node that boots listens for a moment on a port that it does not use, to see which IP versions there
/// are; it closes it in the same function (`rabbit_networking:ipv4/ipv6_status`).
const PROBE_OF_PORTS: Duration = Duration::from_millis(100);

/// A running node, started by this or another process. Written as `node.json` into its directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Node {
    /// The name of its broker, for `broker stop`.
    pub name: String,
    /// Its number in a cluster, from 1. Absent: it is the only node of its broker.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<u32>,
    /// Pid of its `beam.smp`.
    pub pid: u32,
    /// The directory of its broker, removed with it.
    pub directory: PathBuf,
    /// Its log file.
    pub log: PathBuf,
    /// Whether it runs on after the command that started it.
    pub detached: bool,
    /// Its protocols and ports.
    pub listeners: Vec<Listener>,
    pub(crate) login: Login,
    pub(crate) ports: Ports,
    /// Arguments of the VM that make its distribution use TLS.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) tls: Vec<String>,
}

impl Node {
    /// The URI with the password. It is only for users who may start and stop the broker: not for a log, nor for a
    /// command line, which every user of the machine can read.
    pub fn uri(&self) -> String {
        format!("amqp://{}@{}/%2f", self.login.encoded(), self.address())
    }

    /// User and password of [`Node::uri`], for plugins as well.
    pub fn login(&self) -> (&str, &str) {
        (&self.login.user, &self.login.password)
    }

    /// Address and port of AMQP.
    pub fn address(&self) -> SocketAddr {
        SocketAddr::from((Ipv4Addr::LOCALHOST, self.ports.amqp))
    }

    /// Port of the HTTP interface, when the management plugin is on.
    pub fn management_port(&self) -> Option<u16> {
        let port = self.ports.management();
        let is_it = |it: &Listener| it.port == port && it.protocol == "http";
        self.listeners.iter().any(is_it).then_some(port)
    }

    /// The Erlang node name, `rabbitscope-1a2b@localhost`, in a cluster `rabbitscope-1a2b-1@localhost`.
    pub fn node_name(&self) -> String {
        node_name(&self.name, self.number)
    }

    /// The directory of its own configuration, logs and data.
    pub fn files(&self) -> PathBuf {
        files(&self.directory, self.number)
    }

    /// True while the node's process exists.
    pub fn is_running(&self) -> bool {
        BrokerProcesses::of(&self.directory).has_eventually(self.pid)
    }

    /// The home directory with the node's cookie, and the address of its distribution: what another
    /// Erlang node needs to talk to it.
    pub fn distribution(&self) -> (PathBuf, SocketAddr) {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, self.ports.distribution));
        (self.directory.join("home"), address)
    }

    /// The port of its port mapper, for tools that know no other way to the node. Any user of the machine may register
    /// names there.
    pub fn port_mapper(&self) -> u16 {
        self.ports.epmd
    }

    /// The value of Erlang expressions, as the node itself prints it: `rabbit:is_running().` gives
    /// `true`, `self()` gives `<0.1234.0>`.
    pub fn eval(&self, expression: &str) -> Result<String, BrokerError> {
        self.eval_by(&Installation::find()?, expression)
    }

    /// The same, where the installation is known.
    pub(crate) fn eval_by(
        &self,
        installation: &Installation,
        expression: &str,
    ) -> Result<String, BrokerError> {
        let (home, address) = self.distribution();
        let name = self.node_name();
        let asked = Asked { name: &name, pid: self.pid, home: &home, address, tls: &self.tls };
        asking::evaluate(&asked, installation, expression.trim().trim_end_matches('.'))
    }

    /// Ends its broker, with all nodes of a cluster, whoever started it, and removes the directory.
    pub fn end(&self) -> Result<(), BrokerError> {
        guard::end_by_force(&self.directory)
    }

    /// Refuses a node that other machines can reach.
    pub(crate) fn require_loopback(&self) -> Result<(), BrokerError> {
        let look = || exposure::beyond_loopback(&BrokerProcesses::of(&self.directory).members());
        let mut exposed = look();
        if !exposed.is_empty() {
            thread::sleep(PROBE_OF_PORTS);
            let again = look();
            exposed.retain(|address| again.contains(address));
        }
        if exposed.is_empty() {
            return Ok(());
        }
        let addresses: Vec<String> = exposed.iter().map(ToString::to_string).collect();
        Err(BrokerError::Exposed { addresses: addresses.join(", ") })
    }

    /// Asks the node for its users and listeners.
    pub(crate) fn introduce(&mut self, installation: &Installation) -> Result<(), BrokerError> {
        let answer = self.eval_by(installation, QUESTION)?;
        let NodeDescription { login, listeners } =
            NodeDescription::parse(&answer).ok_or_else(|| {
                // What came back may hold the password.
                let answer = "something else than user and listeners".to_owned();
                BrokerError::Eval { expression: QUESTION.to_owned(), answer }
            })?;
        (self.login, self.listeners) = (login, listeners);
        Ok(())
    }
}

pub(crate) fn node_name(broker: &str, number: Option<u32>) -> String {
    number.map_or_else(
        || format!("{broker}@localhost"),
        |number| format!("{broker}-{number}@localhost"),
    )
}

pub(crate) fn files(directory: &Path, number: Option<u32>) -> PathBuf {
    number.map_or_else(|| directory.to_owned(), |number| directory.join(format!("node-{number}")))
}
