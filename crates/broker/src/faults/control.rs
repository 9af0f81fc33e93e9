//! Harms single nodes and undoes the harm, from any thread.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use rabbitscope_runs::scenario::FaultKind;

use super::{
    expressions::{self, Resource},
    harm::Harm,
};
use crate::{
    BrokerError, Installation, Node, boot,
    guard::Guard,
    processes::{self, BrokerProcesses},
    registry,
};

/// Timeout of operations that the kernel or a healthy node does at once.
const SHORT_TIMEOUT: Duration = Duration::from_secs(30);

/// Timeout of an orderly stop, in which queues write their messages to disk. Chosen: RabbitMQ's own tool waits for
/// ever.
const STOP_TIMEOUT: Duration = Duration::from_secs(120);

/// Time between two checks of the kernel, and of the node, which costs a connection.
const KERNEL_POLL_INTERVAL: Duration = Duration::from_millis(1);
const NODE_POLL_INTERVAL: Duration = Duration::from_millis(200);

/// The nodes of a running broker. Clones control the same nodes, and do nothing after the broker's end.
#[derive(Clone, Debug)]
pub struct NodeControl {
    /// The current nodes: a restarted node has another pid.
    nodes: Arc<Mutex<Vec<Node>>>,
    guard: Arc<Mutex<Guard>>,
    installation: Arc<Installation>,
}

impl NodeControl {
    pub(crate) fn new(nodes: Vec<Node>, guard: Guard, installation: Installation) -> Self {
        Self {
            nodes: Arc::new(Mutex::new(nodes)),
            guard: Arc::new(Mutex::new(guard)),
            installation: Arc::new(installation),
        }
    }

    /// The current nodes, in order of their numbers.
    pub fn nodes(&self) -> Vec<Node> {
        lock(&self.nodes).clone()
    }

    /// The node at this index of [`Self::nodes`].
    pub fn node(&self, node: usize) -> Node {
        lock(&self.nodes)[node].clone()
    }

    pub(crate) fn replace(&self, nodes: Vec<Node>) {
        *lock(&self.nodes) = nodes;
    }

    pub(crate) fn guard(&self) -> MutexGuard<'_, Guard> {
        lock(&self.guard)
    }

    /// Harms the node at this index and proves the effect. The caller must undo the harm even after an error.
    pub fn harm(&self, kind: FaultKind, node: usize) -> (Harm, Result<(), BrokerError>) {
        let mut harm = Harm { kind, node, former: None };
        let done = match kind {
            FaultKind::Kill => self.kill(node),
            FaultKind::Stop => self.stop(node),
            FaultKind::Pause => self.halt(node, true),
            FaultKind::Partition => self.cut_off(node),
            FaultKind::MemoryAlarm => self.exhaust(Resource::Memory, &mut harm),
            FaultKind::DiskAlarm => self.exhaust(Resource::Disk, &mut harm),
        };
        (harm, done)
    }

    /// Undoes the harm. Returns when the node serves clients as before.
    pub fn undo(&self, harm: &Harm) -> Result<(), BrokerError> {
        match harm.kind {
            FaultKind::Kill | FaultKind::Stop => self.start_again(harm.node),
            FaultKind::Pause => self.halt(harm.node, false),
            FaultKind::Partition => self.heal(harm.node),
            FaultKind::MemoryAlarm => self.restore(Resource::Memory, harm),
            FaultKind::DiskAlarm => self.restore(Resource::Disk, harm),
        }
    }

    /// Kills the virtual machine, as a crash would. Returns when it is gone; its data stay.
    pub(crate) fn kill(&self, node: usize) -> Result<(), BrokerError> {
        let node = self.node(node);
        BrokerProcesses::new(&node.directory).kill(node.pid);
        until(KERNEL_POLL_INTERVAL, SHORT_TIMEOUT, || Ok(!node.is_running()))?
            .then_some(())
            .ok_or_else(|| failed(&node, "was still there 30 s after it was killed"))
    }

    fn stop(&self, node: usize) -> Result<(), BrokerError> {
        let node = self.node(node);
        node.eval_by(&self.installation, expressions::STOP)?;
        until(NODE_POLL_INTERVAL, STOP_TIMEOUT, || Ok(!node.is_running()))?
            .then_some(())
            .ok_or_else(|| failed(&node, "did not stop within 120 s"))
    }

    /// Restarts a node that has ended, with the same name, ports and data. Returns when it serves clients.
    pub(crate) fn start_again(&self, node: usize) -> Result<(), BrokerError> {
        // The guard waits for the node's end before it starts the next.
        self.kill(node)?;
        let number = self.node(node).number;
        let pid = self.guard().start_again(number)?;
        let count = {
            let mut nodes = lock(&self.nodes);
            nodes[node].pid = pid;
            nodes.len()
        };
        let mut started = self.node(node);
        boot::wait_until_ready(&started, &self.installation, count)?;
        started.introduce(&self.installation)?;
        registry::save(&started)?;
        lock(&self.nodes)[node] = started;
        Ok(())
    }

    fn halt(&self, node: usize, is_halted: bool) -> Result<(), BrokerError> {
        let node = self.node(node);
        BrokerProcesses::new(&node.directory).halt(node.pid, is_halted);
        let is_so = || Ok(node.is_running() && processes::is_halted(node.pid) == is_halted);
        let what = if is_halted { "was not halted" } else { "did not resume" };
        until(KERNEL_POLL_INTERVAL, SHORT_TIMEOUT, is_so)?
            .then_some(())
            .ok_or_else(|| failed(&node, what))
    }

    fn cut_off(&self, node: usize) -> Result<(), BrokerError> {
        let (node, peers) = self.with_peers(node, |_| true);
        let reached = node.eval_by(&self.installation, &expressions::cut_off(&peers))?;
        if reached == "[]" {
            return Ok(());
        }
        Err(failed(&node, &format!("is still connected to {reached}")))
    }

    /// Reconnects the node and waits until it serves clients: it may have stopped its service while it was alone.
    fn heal(&self, node: usize) -> Result<(), BrokerError> {
        let (this, all) = self.with_peers(node, |_| true);
        this.eval_by(&self.installation, &expressions::permit(&all))?;
        let (_, running) = self.with_peers(node, Node::is_running);
        let connect = expressions::connect(&running);
        let is_whole = || Ok(this.eval_by(&self.installation, &connect)? == "[]");
        if !until(NODE_POLL_INTERVAL, SHORT_TIMEOUT, is_whole)? {
            return Err(failed(&this, "did not reconnect to the other nodes"));
        }
        boot::wait_until_ready(&this, &self.installation, all.len() + 1)
    }

    fn exhaust(&self, resource: Resource, harm: &mut Harm) -> Result<(), BrokerError> {
        let node = self.node(harm.node);
        harm.former = Some(node.eval_by(&self.installation, &resource.exhaust())?);
        self.await_alarm(&node, resource, true)
    }

    fn restore(&self, resource: Resource, harm: &Harm) -> Result<(), BrokerError> {
        let Some(former) = &harm.former else { return Ok(()) };
        let node = self.node(harm.node);
        node.eval_by(&self.installation, &resource.restore(former))?;
        self.await_alarm(&node, resource, false)
    }

    fn await_alarm(
        &self,
        node: &Node,
        resource: Resource,
        is_raised: bool,
    ) -> Result<(), BrokerError> {
        let asked = resource.is_exhausted();
        let expected = is_raised.to_string();
        let is_so = || Ok(node.eval_by(&self.installation, &asked)? == expected);
        let what = if is_raised { "raised no alarm" } else { "did not clear its alarm" };
        until(NODE_POLL_INTERVAL, SHORT_TIMEOUT, is_so)?
            .then_some(())
            .ok_or_else(|| failed(node, what))
    }

    /// Returns the node at this index, and the names of those other nodes that are `wanted`.
    fn with_peers(&self, node: usize, wanted: fn(&Node) -> bool) -> (Node, Vec<String>) {
        let mut nodes = self.nodes();
        let this = nodes.remove(node);
        (this, nodes.iter().filter(|node| wanted(node)).map(Node::node_name).collect())
    }
}

/// Locks despite a poisoned mutex: a panicking thread leaves the guarded value intact.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn failed(node: &Node, what: &str) -> BrokerError {
    BrokerError::Fault { node: node.node_name(), what: what.to_owned() }
}

/// Waits for a condition. Returns false if it does not come true in time.
fn until(
    interval: Duration,
    timeout: Duration,
    mut condition: impl FnMut() -> Result<bool, BrokerError>,
) -> Result<bool, BrokerError> {
    let began = Instant::now();
    while !condition()? {
        if began.elapsed() > timeout {
            return Ok(false);
        }
        thread::sleep(interval);
    }
    Ok(true)
}
