//! A node or a cluster that this process starts and that ends with its [`Broker`].

use std::path::{Path, PathBuf};

use rabbitscope_runs::{record::PatchedModule, scenario::ThrowawayBroker};

use crate::{
    BrokerError, Installation, Node,
    before_load::{parameters, patches, policies},
    boot,
    directory::{self, Held, PlannedNode, Ports},
    distribution_tls,
    faults::NodeControl,
    guard::{Guard, Lifetime},
    login::Login,
    node,
    registry::{self, NAME_PREFIX, Registry},
};

/// Writes buffered log lines to the files. Handlers delay their writes by seconds, and the node is killed.
const FLUSH_LOGS: &str = "[catch Module:filesync(Id) || \
     #{id := Id, module := Module} <- logger:get_handler_config(), \
     erlang:function_exported(Module, filesync, 1)]";

/// Attempts to start a broker whose port mapper finds its port taken.
const MAPPER_ATTEMPTS: u32 = 5;

/// A node, a cluster, or several independent nodes, which end with this value. It dereferences to the first node.
#[derive(Debug)]
pub struct Broker {
    /// Has at least one node.
    nodes: Vec<Node>,
    installation: Installation,
    /// Also knows nodes that copies of it have started again.
    control: NodeControl,
    patched: Vec<PatchedModule>,
}

impl Broker {
    /// Refuses impossible specs before anything is started: a root without RabbitMQ, unknown plugins, or unreadable
    /// patches.
    pub fn check(spec: &ThrowawayBroker) -> Result<(), BrokerError> {
        match Installation::find_in(&spec.root) {
            Ok(installation) => directory::require_plugins(&installation, spec)?,
            Err(error) if !spec.root.is_empty() => return Err(error),
            // The start says what is not installed.
            Err(_) => {}
        }
        patches::check(spec)
    }

    /// Modules whose code differs from the installation's. A node that is started again has lost these changes.
    pub fn patched(&self) -> &[PatchedModule] {
        &self.patched
    }

    /// Makes the patches and modules of several specs, for [`Self::switch_code`] to load. Returns the changes of each
    /// spec.
    pub fn prepare_code(
        &self,
        specs: &[&ThrowawayBroker],
    ) -> Result<Vec<Vec<PatchedModule>>, BrokerError> {
        let mut prepared = Vec::new();
        for node in &self.nodes {
            prepared = patches::prepare(node, &self.installation, specs)?;
        }
        Ok(prepared)
    }

    /// Loads the prepared code of one spec into the running nodes, and the installed code of modules that only other
    /// specs change. Fails, and leaves the node unchanged, where processes still run code that would have to go.
    /// Earlier nodes of a cluster have loaded the new code by then.
    pub fn switch_code(&self, which: usize) -> Result<(), BrokerError> {
        self.nodes.iter().try_for_each(|node| patches::switch(node, &self.installation, which))
    }

    /// Starts a node that logs to `log`. Returns when it serves clients.
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
        Self::launch(spec, Some(&log), Lifetime::Attached)
    }

    /// Starts a node that logs into its own directory, so that the log goes with the node.
    pub fn start_with_own_log(spec: &ThrowawayBroker) -> Result<Self, BrokerError> {
        Self::launch(spec, None, Lifetime::Attached)
    }

    /// Starts nodes that run until [`Node::end`] of one of them. They log into their own directories.
    pub fn start_detached(spec: &ThrowawayBroker) -> Result<Vec<Node>, BrokerError> {
        Self::launch(spec, None, Lifetime::Detached).map(|broker| broker.nodes.clone())
    }

    fn launch(
        spec: &ThrowawayBroker,
        log: Option<&Path>,
        life: Lifetime,
    ) -> Result<Self, BrokerError> {
        let installation = Installation::find_in(&spec.root)?;
        directory::require_plugins(&installation, spec)?;
        let mut attempt = 1;
        loop {
            match Self::launch_once(spec, log, life, &installation) {
                // Another user may take the port mapper's port, which cannot be held.
                Err(BrokerError::NoMapper { .. }) if attempt < MAPPER_ATTEMPTS => attempt += 1,
                launched => return launched,
            }
        }
    }

    fn launch_once(
        spec: &ThrowawayBroker,
        log: Option<&Path>,
        life: Lifetime,
        installation: &Installation,
    ) -> Result<Self, BrokerError> {
        let registry = Registry::open()?;
        let name = format!("{NAME_PREFIX}{}", &directory::random_hex()?[..16]);
        let own = registry.directory_of(&name);
        let (ports, held) = Ports::draw(spec.nodes.max(1) as usize)?;
        let planned = planned(&name, &own, ports, log);
        let lock = directory::prepare(installation, &own, spec, &planned)?;
        let held = Held { lock, ports: held };
        let (guard, pids) = Guard::start(installation, &own, &planned, life, held)?;
        let node = |(planned, pid): (PlannedNode, u32)| Node {
            name: name.clone(),
            number: planned.number,
            pid,
            directory: own.clone(),
            log: planned.log,
            detached: life == Lifetime::Detached,
            listeners: Vec::new(),
            login: Login::guest(String::new()),
            ports: planned.ports,
            tls: distribution_tls::arguments(&spec.erl_args),
        };
        let nodes: Vec<Node> = planned.into_iter().zip(pids).map(node).collect();
        let control = NodeControl::new(nodes.clone(), guard, installation.clone());
        let installation = installation.clone();
        let mut broker = Self { nodes, installation, control, patched: Vec::new() };
        match broker.make_ready(spec) {
            Ok(()) => Ok(broker),
            Err(error) => {
                broker.stop_now();
                Err(error)
            }
        }
    }

    fn make_ready(&mut self, spec: &ThrowawayBroker) -> Result<(), BrokerError> {
        for node in 0..self.nodes.len() {
            self.become_ready(node)?;
        }
        self.control.replace(self.nodes.clone());
        if self.nodes.len() > 1 && spec.is_cluster {
            boot::wait_for_cluster(&self.nodes, &self.installation)?;
        }
        for node in &self.nodes {
            self.patched = patches::apply(node, &self.installation, spec)?;
        }
        let brokers = if spec.is_cluster { &self.nodes[..1] } else { &self.nodes };
        for node in brokers {
            policies::set(node, &self.installation, &spec.policies)?;
        }
        parameters::set(&self.nodes, &self.installation, &spec.parameters)?;
        self.stay()
    }

    fn become_ready(&mut self, node: usize) -> Result<(), BrokerError> {
        let nodes = self.nodes.len();
        let node = &mut self.nodes[node];
        boot::wait_until_ready(node, &self.installation, nodes)?;
        node.introduce(&self.installation)?;
        registry::save(node)
    }

    /// Releases a registered detached broker, which then needs no other process.
    fn stay(&mut self) -> Result<(), BrokerError> {
        if !self.detached {
            return Ok(());
        }
        let directory = self.directory.clone();
        self.control.guard().stay().map_err(BrokerError::io("hand over to the guard of", directory))
    }

    /// All nodes, in a cluster in order of their numbers.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The URI of each node with the password ([`Node::uri`]), and the port of its streams if it serves them.
    pub fn uris(&self) -> Vec<String> {
        self.nodes.iter().map(Node::uri_with_ports).collect()
    }

    /// The handle that harms single nodes and undoes it, while others use the broker. It works until the broker ends.
    pub fn control(&self) -> NodeControl {
        self.control.clone()
    }

    /// Kills the first node's virtual machine, as a crash would. Returns when it is gone; its data stay.
    pub fn kill(&self) {
        self.kill_node(0);
    }

    /// Kills the node at this index of [`Self::nodes`], like [`Self::kill`].
    pub fn kill_node(&self, node: usize) {
        // The caller's next check sees a node that is still there.
        let _ = self.control.kill(node);
    }

    /// Restarts the killed first node with the same name, ports and data. Returns when it serves clients.
    pub fn start_again(&mut self) -> Result<(), BrokerError> {
        self.start_node_again(0)
    }

    /// Restarts the node at this index of [`Self::nodes`], like [`Self::start_again`].
    pub fn start_node_again(&mut self, node: usize) -> Result<(), BrokerError> {
        self.control.start_again(node)?;
        self.nodes[node] = self.control.node(node);
        Ok(())
    }

    /// Ends node and port mapper and removes the directory, as a drop does.
    pub fn stop(self) {
        drop(self);
    }

    fn stop_now(&mut self) {
        if self.detached {
            // The next start reports the remains.
            let _ = self.end();
        } else {
            for node in self.control.nodes().iter().filter(|node| node.is_running()) {
                // A node that cannot flush its logs is ended all the same.
                let _ = node.eval(FLUSH_LOGS);
            }
        }
        let directory = self.directory.clone();
        self.control.guard().stop(&directory);
    }
}

/// Plans the nodes of a broker with this name and directory. Without `log`, each node logs among its own files. With
/// `log`, the first node logs there and the others log beside it.
fn planned(name: &str, own: &Path, ports: Vec<Ports>, log: Option<&Path>) -> Vec<PlannedNode> {
    let count = ports.len();
    let node = |(number, ports): (u32, Ports)| {
        let number = (count > 1).then_some(number);
        let files = node::files(own, number);
        let log = log.map_or_else(|| files.join("broker.log"), |log| log_of(log, number));
        PlannedNode { number, node_name: node::node_name(name, number), files, log, ports }
    };
    (1..).zip(ports).map(node).collect()
}

/// The log file of a node: `broker.log`, `broker-2.log`, …
fn log_of(log: &Path, number: Option<u32>) -> PathBuf {
    let Some(number) = number.filter(|number| *number > 1) else { return log.to_owned() };
    let stem = log.file_stem().unwrap_or_default().to_string_lossy();
    log.with_file_name(format!("{stem}-{number}.log"))
}

impl std::ops::Deref for Broker {
    type Target = Node;

    /// The first node.
    fn deref(&self) -> &Node {
        &self.nodes[0]
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        if !self.detached {
            self.stop_now();
        }
    }
}
