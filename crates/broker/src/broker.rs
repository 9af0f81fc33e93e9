//! A node that this process starts, and that ends with the value that stands for it.

use std::{
    fs,
    net::TcpStream,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use rabbitscope_runs::{record::PatchedModule, scenario::ThrowawayBroker};

use crate::{
    BrokerError, Installation, Node,
    asking::tls_arguments,
    before_load::{patches, policies},
    directory,
    guard::{Guard, Lifetime},
    listeners::Ports,
    login::Login,
    processes::{self, BrokerProcesses},
    registry::{NAME_PREFIX, Registry},
};

/// Timeout of the boot, which takes seconds on an idle machine.
const BOOT_TIMEOUT: Duration = Duration::from_secs(90);
/// How often a condition of the node is checked.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// Last lines of a log in an error message: about a screen.
const LOG_LINES: usize = 20;

/// Log handlers write with a delay of seconds, and the node is killed.
const FLUSH_LOGS: &str = "[catch Module:filesync(Id) || \
     #{id := Id, module := Module} <- logger:get_handler_config(), \
     erlang:function_exported(Module, filesync, 1)]";

/// A node that ends with this value.
#[derive(Debug)]
pub struct Broker {
    node: Node,
    installation: Installation,
    guard: Guard,
    patched: Vec<PatchedModule>,
}

impl Broker {
    /// Refuses what can be refused before anything is started: a root without RabbitMQ, patches that cannot be read.
    pub fn check(spec: &ThrowawayBroker) -> Result<(), BrokerError> {
        if !spec.root.is_empty() {
            Installation::find_in(&spec.root)?;
        }
        patches::check(spec)
    }

    /// What of its code is not that of the installation. A node that is started again has lost it.
    pub fn patched(&self) -> &[PatchedModule] {
        &self.patched
    }

    /// Makes the patches and modules of several specs, which [`Self::switch_code`] loads. Returns what each spec changes.
    pub fn prepare_code(
        &self,
        specs: &[&ThrowawayBroker],
    ) -> Result<Vec<Vec<PatchedModule>>, BrokerError> {
        patches::prepare(&self.node, &self.installation, specs)
    }

    /// Loads the prepared code of one spec in the running node, and the installed code of what the others change.
    /// Fails, and loads nothing, where processes still run code that would have to go.
    pub fn switch_code(&self, which: usize) -> Result<(), BrokerError> {
        patches::switch(&self.node, &self.installation, which)
    }

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
        Self::launch(spec, Some(log), Lifetime::Attached)
    }

    /// The same, and it logs into its own directory, so that the log goes with the node.
    pub fn start_with_own_log(spec: &ThrowawayBroker) -> Result<Self, BrokerError> {
        Self::launch(spec, None, Lifetime::Attached)
    }

    /// Starts a node that goes on running until [`Node::end`]. It logs into its own directory.
    pub fn start_detached(spec: &ThrowawayBroker) -> Result<Node, BrokerError> {
        Self::launch(spec, None, Lifetime::Detached).map(|broker| broker.node.clone())
    }

    fn launch(
        spec: &ThrowawayBroker,
        log: Option<PathBuf>,
        life: Lifetime,
    ) -> Result<Self, BrokerError> {
        let installation = Installation::find_in(&spec.root)?;
        let registry = Registry::open()?;
        let name = format!("{NAME_PREFIX}{}", &directory::random_hex()?[..16]);
        let own = registry.directory_of(&name);
        let log = log.unwrap_or_else(|| own.join("broker.log"));
        let ports = Ports::free().map_err(BrokerError::io("find free ports for", &own))?;
        let node_name = format!("{name}@localhost");
        let environment =
            directory::environment(&installation, &own, &node_name, spec, &ports, &log)?;
        directory::prepare(&installation, &own, spec, &ports)?;
        let guard = Guard::start(&installation, &own, ports.epmd, &environment, life)?;
        let node = Node {
            name,
            pid: guard.node_pid,
            directory: own,
            log,
            detached: life == Lifetime::Detached,
            listeners: Vec::new(),
            login: Login::guest(String::new()),
            ports,
            tls: tls_arguments(&spec.erl_args),
        };
        let mut broker = Self { node, installation, guard, patched: Vec::new() };
        let ready = broker.become_ready(&registry);
        let ready = ready.and_then(|()| {
            broker.patched = patches::apply(&broker.node, &broker.installation, spec)?;
            policies::set(&broker.node, &broker.installation, &spec.policies)?;
            broker.stay()
        });
        match ready {
            Ok(()) => Ok(broker),
            Err(error) => {
                broker.stop_now();
                Err(error)
            }
        }
    }

    fn become_ready(&mut self, registry: &Registry) -> Result<(), BrokerError> {
        self.wait_until_ready()?;
        self.node.introduce(&self.installation)?;
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
        BrokerProcesses::of(&self.node.directory).kill(self.node.pid);
        while self.node.is_running() {
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// Starts a node that was killed again: same name, same ports, same data. Returns when it
    /// serves clients.
    pub fn start_again(&mut self) -> Result<(), BrokerError> {
        self.node.pid = self.guard.start_again()?;
        self.become_ready(&Registry::open()?)
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

    fn wait_until_ready(&self) -> Result<(), BrokerError> {
        let started = Instant::now();
        while !self.is_ready() {
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
    fn is_ready(&self) -> bool {
        if TcpStream::connect(self.node.address()).is_err() {
            return false;
        }
        // It cannot be asked yet, or says that it is not there yet.
        self.node.eval_by(&self.installation, "rabbit:await_startup()").is_ok_and(|it| it == "ok")
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
