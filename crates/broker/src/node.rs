//! One throwaway node: starts, evaluates, stops.

use std::{
    fs,
    net::{Ipv4Addr, SocketAddr, TcpStream},
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use rabbitscope_runs::scenario::ThrowawayBroker;
use serde::{Deserialize, Serialize};

use crate::{
    BrokerError, Installation,
    asking::{Asked, tls_arguments},
    directory, exposure,
    guard::{self, Guard, Life},
    introduction::{self, Introduction, Listener, QUESTION},
    listeners::Ports,
    login::Login,
    processes::{self, Family},
    registry::{NAME_PREFIX, Registry},
};

/// Timeout of the boot, which takes seconds on an idle machine.
const BOOT_TIMEOUT: Duration = Duration::from_secs(90);
/// How often a condition of the node is checked.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// Last lines of a log in an error message: about a screen.
const LOG_LINES: usize = 20;

/// A node that boots listens for a moment on a port that it does not use, to see which IP versions there
/// are; it closes it in the same function (`rabbit_networking:ipv4/ipv6_status`).
const PROBE_OF_PORTS: Duration = Duration::from_millis(100);

/// Log handlers write with a delay of seconds, and the node is killed.
const FLUSH_LOGS: &str = "[catch Module:filesync(Id) || \
     #{id := Id, module := Module} <- logger:get_handler_config(), \
     erlang:function_exported(Module, filesync, 1)]";

/// A running node, started by this or another process. Written as `node.json` into its directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Node {
    /// Its name for `broker stop`.
    pub name: String,
    /// Pid of its `beam.smp`.
    pub pid: u32,
    /// The directory of its configuration and data, removed with the node.
    pub directory: PathBuf,
    /// Its log file.
    pub log: PathBuf,
    /// Whether it runs on after the command that started it.
    pub detached: bool,
    /// Its protocols and ports.
    pub listeners: Vec<Listener>,
    login: Login,
    ports: Ports,
    /// Arguments of the VM that make its distribution use TLS.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tls: Vec<String>,
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

    /// The Erlang node name, `rabbitscope-1a2b@localhost`.
    pub fn node_name(&self) -> String {
        format!("{}@localhost", self.name)
    }

    /// True while the node's process exists.
    pub fn is_running(&self) -> bool {
        Family::of(&self.directory).has_eventually(self.pid)
    }

    /// The home directory with the node's cookie, and the port of its port mapper: what another
    /// Erlang node needs to talk to it.
    pub fn distribution(&self) -> (PathBuf, u16) {
        (self.directory.join("home"), self.ports.epmd)
    }

    /// The value of Erlang expressions, as the node itself prints it: `rabbit:is_running().` gives
    /// `true`, `self()` gives `<0.1234.0>`.
    /// Expressions are ASCII; values have at most 32 KiB of text.
    pub fn eval(&self, expression: &str) -> Result<String, BrokerError> {
        self.eval_by(&Installation::find()?, expression)
    }

    /// `erl_call` has its own way of printing; hexadecimal digits come through unchanged.
    fn eval_by(
        &self,
        installation: &Installation,
        expression: &str,
    ) -> Result<String, BrokerError> {
        let own = expression.trim().trim_end_matches('.');
        let printed = format!(
            "binary_to_list(binary:encode_hex(unicode:characters_to_binary(\
             io_lib:format(\"~0tp\", [begin {own} end]))))."
        );
        let (home, epmd_port) = self.distribution();
        let asked = Asked { node: &self.node_name(), home: &home, epmd_port, tls: &self.tls };
        let answer = asked.value(installation, &printed)?;
        let hex = answer.trim().strip_prefix("{ok, \"").and_then(|rest| rest.strip_suffix("\"}"));
        hex.and_then(introduction::text).ok_or_else(|| BrokerError::Eval {
            expression: expression.to_owned(),
            answer: answer.trim().to_owned(),
        })
    }

    /// Ends the node, whoever started it, and removes its directory.
    pub fn end(&self) -> Result<(), BrokerError> {
        guard::end_by_force(&self.directory)
    }

    /// Refuses a node that other machines can reach.
    fn require_loopback(&self) -> Result<(), BrokerError> {
        let look = || exposure::beyond_loopback(&Family::of(&self.directory).members());
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
    fn introduce(&mut self, installation: &Installation) -> Result<(), BrokerError> {
        let answer = self.eval_by(installation, QUESTION)?;
        let Introduction { login, listeners } = Introduction::parse(&answer).ok_or_else(|| {
            // What came back may hold the password.
            let answer = "something else than user and listeners".to_owned();
            BrokerError::Eval { expression: QUESTION.to_owned(), answer }
        })?;
        (self.login, self.listeners) = (login, listeners);
        Ok(())
    }
}

/// A node that ends with this value.
#[derive(Debug)]
pub struct Broker {
    node: Node,
    guard: Guard,
}

impl Broker {
    /// Starts a node and returns when it serves clients. It logs to `log`.
    ///
    /// # Example
    /// ```no_run
    /// # use rabbitscope_broker::Broker;
    /// let broker = Broker::start(&Default::default(), "broker.log".as_ref())?;
    /// assert_eq!(broker.eval("rabbit:is_running()")?, "true");
    /// # Ok::<(), rabbitscope_broker::BrokerError>(())
    /// ```
    pub fn start(spec: &ThrowawayBroker, log: &Path) -> Result<Self, BrokerError> {
        let log = std::path::absolute(log).map_err(BrokerError::io("resolve", log))?;
        Self::launch(spec, Some(log), Life::Attached)
    }

    /// The same, and it logs into its own directory, so that the log goes with the node.
    pub fn start_with_own_log(spec: &ThrowawayBroker) -> Result<Self, BrokerError> {
        Self::launch(spec, None, Life::Attached)
    }

    /// Starts a node that goes on running until [`Node::end`]. It logs into its own directory.
    pub fn start_detached(spec: &ThrowawayBroker) -> Result<Node, BrokerError> {
        Self::launch(spec, None, Life::Detached).map(|broker| broker.node.clone())
    }

    fn launch(
        spec: &ThrowawayBroker,
        log: Option<PathBuf>,
        life: Life,
    ) -> Result<Self, BrokerError> {
        let installation = Installation::find()?;
        let registry = Registry::open()?;
        let name = format!("{NAME_PREFIX}{}", &directory::random_hex()?[..16]);
        let own = registry.directory_of(&name);
        let log = log.unwrap_or_else(|| own.join("broker.log"));
        let ports = Ports::free().map_err(BrokerError::io("find free ports for", &own))?;
        let node_name = format!("{name}@localhost");
        directory::prepare(&installation, &own, spec, &ports)?;
        let environment =
            directory::environment(&installation, &own, &node_name, spec, &ports, &log);
        let guard = Guard::start(&installation, &own, ports.epmd, &environment, life)?;
        let node = Node {
            name,
            pid: guard.node_pid,
            directory: own,
            log,
            detached: life == Life::Detached,
            listeners: Vec::new(),
            login: Login::guest(String::new()),
            ports,
            tls: tls_arguments(&spec.erl_args),
        };
        let mut broker = Self { node, guard };
        let ready = broker.become_ready(&installation, &registry);
        match ready.and_then(|()| broker.stay()) {
            Ok(()) => Ok(broker),
            Err(error) => {
                broker.stop_now();
                Err(error)
            }
        }
    }

    fn become_ready(
        &mut self,
        installation: &Installation,
        registry: &Registry,
    ) -> Result<(), BrokerError> {
        self.wait_until_ready(installation)?;
        self.node.introduce(installation)?;
        registry.save(&self.node)
    }

    /// A detached broker that is registered needs nobody any more.
    fn stay(&mut self) -> Result<(), BrokerError> {
        if !self.node.detached {
            return Ok(());
        }
        let directory = &self.node.directory;
        self.guard.stay().map_err(BrokerError::io("hand over to the guard of", directory))
    }

    /// Kills the node's virtual machine, as a crash would; returns when it is gone. Its data stay.
    pub fn kill(&self) {
        Family::of(&self.node.directory).kill(self.node.pid);
        while self.node.is_running() {
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// Starts a node that was killed again: same name, same ports, same data. Returns when it
    /// serves clients.
    pub fn start_again(&mut self) -> Result<(), BrokerError> {
        self.node.pid = self.guard.start_again()?;
        self.become_ready(&Installation::find()?, &Registry::open()?)
    }

    /// Ends node, port mapper and directory. The same as dropping it.
    pub fn stop(self) {
        drop(self);
    }

    fn stop_now(&mut self) {
        if self.node.detached {
            // The next start speaks of what is left.
            let _ = self.node.end();
        } else if self.node.is_running() {
            // A node that cannot do this any more is ended all the same.
            let _ = self.node.eval(FLUSH_LOGS);
        }
        self.guard.stop(&self.node.directory);
    }

    fn wait_until_ready(&self, installation: &Installation) -> Result<(), BrokerError> {
        let started = Instant::now();
        while !self.is_ready(installation) {
            // Also while it boots: what listens too widely does so for as short as possible.
            self.node.require_loopback()?;
            if !self.node.is_running() {
                return Err(BrokerError::Died { log: self.last_words() });
            }
            if started.elapsed() > BOOT_TIMEOUT {
                let waited = started.elapsed();
                return Err(BrokerError::NotReady { waited, log: self.last_words() });
            }
            thread::sleep(POLL_INTERVAL);
        }
        self.node.require_loopback()
    }

    /// Whether all boot steps are done, and the AMQP port accepts connections.
    fn is_ready(&self, installation: &Installation) -> bool {
        if TcpStream::connect(self.node.address()).is_err() {
            return false;
        }
        // It cannot be asked yet, or says that it is not there yet.
        self.node.eval_by(installation, "rabbit:await_startup()").is_ok_and(|it| it == "ok")
    }

    /// The first errors in the node's log or on its console, or the last lines of both.
    fn last_words(&self) -> String {
        let text = [&self.node.log, &self.node.directory.join("console.log")]
            .map(|file| lossy_text(file))
            .concat();
        let errors: Vec<&str> =
            text.lines().filter(|line| line.contains("[error]")).take(LOG_LINES).collect();
        let all: Vec<&str> = text.lines().collect();
        let said =
            if errors.is_empty() { &all[all.len().saturating_sub(LOG_LINES)..] } else { &errors };
        if said.is_empty() {
            let pid = self.node.pid;
            return format!("(it logged nothing, process {pid} {})", processes::fate(pid));
        }
        said.join("\n")
    }
}

fn lossy_text(file: &Path) -> String {
    fs::read(file)
        .map_or_else(|_| String::new(), |text| String::from_utf8_lossy(&text).into_owned())
}

impl std::ops::Deref for Broker {
    type Target = Node;

    fn deref(&self) -> &Node {
        &self.node
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        if !self.node.detached {
            self.stop_now();
        }
    }
}
