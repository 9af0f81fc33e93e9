//! A running throwaway node: its place, its evaluation of expressions, and its end.

use std::{
    net::{Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};

use crate::{
    BrokerError, Installation,
    asking::{self, Asked},
    before_load::user::ENSURE_LOGIN,
    description::{Listener, NodeDescription, QUESTION},
    directory::Ports,
    exposure, guard,
    login::Login,
    processes::BrokerProcesses,
};

/// Longest life of a port that a booting node opens to detect the machine's IP versions. The node closes it in the same
/// function (`rabbit_networking:ipv4/ipv6_status`), but on a busy machine more than 100 ms later.
const PROBE_OF_PORTS: Duration = Duration::from_secs(2);

/// Interval between two looks at such a port.
const LOOK_INTERVAL: Duration = Duration::from_millis(50);

/// A running node that this or another process started. Its directory has it as `node.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Node {
    /// The name of its broker, for `broker stop`.
    pub name: String,
    /// Its number in a cluster, from 1; absent for the only node of a broker.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<u32>,
    /// Pid of its `beam.smp`.
    pub pid: u32,
    /// The directory of its broker, which is removed with the broker.
    pub directory: PathBuf,
    /// Its log file.
    pub log: PathBuf,
    /// True if it outlives the command that started it.
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
    /// The URI with the password, for users who may start and stop the broker. Keep it out of logs and of command
    /// lines, which every user of the machine can read.
    pub fn uri(&self) -> String {
        format!("amqp://{}@{}/%2f", self.login.encoded(), self.address())
    }

    /// The URI with the password, and the ports of the protocols that the node serves.
    pub(crate) fn uri_with_ports(&self) -> String {
        let served = |protocol: &str| {
            let listener = self.listeners.iter().find(|listener| listener.protocol == protocol)?;
            Some(format!("{protocol}_port={}", listener.port))
        };
        let ports: Vec<_> = ["stream", "mqtt"].into_iter().filter_map(served).collect();
        let query = if ports.is_empty() { String::new() } else { format!("?{}", ports.join("&")) };
        self.uri() + &query
    }

    /// User and password of [`Node::uri`], which plugins accept as well.
    pub fn login(&self) -> (&str, &str) {
        (&self.login.user, &self.login.password)
    }

    /// Address and port of AMQP.
    pub fn address(&self) -> SocketAddr {
        SocketAddr::from((Ipv4Addr::LOCALHOST, self.ports.amqp))
    }

    /// Port of the HTTP interface, if the management plugin is enabled.
    pub fn management_port(&self) -> Option<u16> {
        let port = self.ports.management();
        let is_management =
            |listener: &Listener| listener.port == port && listener.protocol == "http";
        self.listeners.iter().any(is_management).then_some(port)
    }

    /// The Erlang node name, `rabbitscope-1a2b@localhost`, in a cluster `rabbitscope-1a2b-1@localhost`.
    pub fn node_name(&self) -> String {
        node_name(&self.name, self.number)
    }

    /// The directory of this node's own configuration, logs and data.
    pub fn files(&self) -> PathBuf {
        files(&self.directory, self.number)
    }

    /// Returns whether the node's process exists.
    pub fn is_running(&self) -> bool {
        BrokerProcesses::new(&self.directory).has_eventually(self.pid)
    }

    /// The home directory with the node's cookie, and the address of its distribution. Another Erlang node needs both
    /// to connect.
    pub fn distribution(&self) -> (PathBuf, SocketAddr) {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, self.ports.distribution));
        (self.directory.join("home"), address)
    }

    /// The port of its port mapper, for tools that know no other way to the node. Any user of the machine may register
    /// names there.
    pub fn port_mapper(&self) -> u16 {
        self.ports.epmd
    }

    /// Returns the value of Erlang expressions as the node itself prints it: `rabbit:is_running().` gives `true`,
    /// `self()` gives `<0.1234.0>`.
    pub fn eval(&self, expression: &str) -> Result<String, BrokerError> {
        self.eval_by(&Installation::find()?, expression)
    }

    /// Evaluates like [`Node::eval`], with a known installation.
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

    /// Ends the broker with all its nodes, also if another process started it, and removes the directory.
    pub fn end(&self) -> Result<(), BrokerError> {
        guard::end_by_force(&self.directory)
    }

    /// Refuses a node that other machines can reach.
    pub(crate) fn require_loopback(&self) -> Result<(), BrokerError> {
        let look = || exposure::beyond_loopback(&BrokerProcesses::new(&self.directory).members());
        let (mut exposed, deadline) = (look(), Instant::now() + PROBE_OF_PORTS);
        while !exposed.is_empty() && Instant::now() < deadline {
            thread::sleep(LOOK_INTERVAL);
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
        let answer = self.eval_by(installation, ENSURE_LOGIN)?;
        if answer != "ok" {
            return Err(BrokerError::User { reason: answer });
        }
        let answer = self.eval_by(installation, QUESTION)?;
        let NodeDescription { login, listeners } =
            NodeDescription::parse(&answer).ok_or_else(|| {
                // The answer may hold the password.
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
