//! The nodes of this machine and their recording. A node that cannot be recorded is reported once, with the reason. The
//! pauses between attempts grow: a starting node is ready soon, and a node that never becomes ready must cost nothing.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::Arc,
    time::{Duration, Instant},
};

use rabbitscope_export::NodeLabels;
use rabbitscope_probe::{ContinuousRecorder, NodeOrigin, NodeScan, ProbeError, origin_of};
use rabbitscope_terminal::output;

use super::config::WatchOptions;

/// Interval between searches for nodes.
pub(super) const SCAN_INTERVAL: Duration = Duration::from_secs(5);

/// Number of attempts after which a node is reported. A starting node is ready before that.
const QUIET_ATTEMPTS: u32 = 3;

/// Longest time between two attempts.
const LONGEST_PAUSE: Duration = Duration::from_secs(600);

/// Name of the service if neither the configuration nor the node gives one.
const USUAL_SERVICE: &str = "rabbitmq";

/// The nodes of this machine, by pid.
#[derive(Debug, Default)]
pub(super) struct Nodes {
    scan: NodeScan,
    recorded: HashMap<u32, Arc<NodeLabels>>,
    refused: HashMap<u32, Refused>,
    /// Other VMs, and nodes that the configuration excludes.
    unwanted: HashSet<u32>,
}

#[derive(Debug)]
struct Refused {
    attempts: u32,
    next: Instant,
}

impl Nodes {
    /// Looks for new nodes and passes them to `recorder`.
    pub(super) fn look(&mut self, options: &WatchOptions, recorder: &mut ContinuousRecorder) {
        let pids = match self.scan.scan() {
            Ok(pids) => pids,
            Err(error) => return output::note(&format!("cannot look for nodes: {error}")),
        };
        let is_there = |pid: &u32| pids.binary_search(pid).is_ok();
        self.refused.retain(|pid, _| is_there(pid));
        self.unwanted.retain(is_there);
        for pid in pids {
            if self.is_due(pid) {
                self.meet(pid, options, recorder);
            }
        }
    }

    fn is_due(&self, pid: u32) -> bool {
        !self.recorded.contains_key(&pid)
            && !self.unwanted.contains(&pid)
            && self.refused.get(&pid).is_none_or(|refused| refused.next <= Instant::now())
    }

    fn meet(&mut self, pid: u32, options: &WatchOptions, recorder: &mut ContinuousRecorder) {
        match origin_of(pid) {
            Ok(origin) if options.nodes.has(&origin) => match recorder.add(pid) {
                Ok(()) => self.welcome(pid, &origin, options),
                Err(error) => self.refuse(pid, origin.name.as_deref(), &error),
            },
            Ok(_) | Err(ProbeError::NotABeam { .. } | ProbeError::NoSuchProcess { .. }) => {
                self.unwanted.insert(pid);
            }
            Err(error) => self.refuse(pid, None, &error),
        }
    }

    fn welcome(&mut self, pid: u32, origin: &NodeOrigin, options: &WatchOptions) {
        self.refused.remove(&pid);
        let labels = labels_of(origin, options);
        output::note(&format!("recording {}", described(pid, &labels)));
        self.recorded.insert(pid, Arc::new(labels));
    }

    fn refuse(&mut self, pid: u32, name: Option<&str>, error: &ProbeError) {
        let refused = self
            .refused
            .entry(pid)
            .or_insert_with(|| Refused { attempts: 0, next: Instant::now() });
        refused.attempts += 1;
        let pause = SCAN_INTERVAL.saturating_mul(1 << refused.attempts.min(10)).min(LONGEST_PAUSE);
        refused.next = Instant::now() + pause;
        if refused.attempts == QUIET_ATTEMPTS {
            let name = name.unwrap_or("a node without a name");
            output::note(&format!("{name} (pid {pid}) is not recorded: {error}"));
        }
    }

    /// Returns the labels of a recorded node.
    pub(super) fn labels(&self, pid: u32) -> Option<&Arc<NodeLabels>> {
        self.recorded.get(&pid)
    }

    /// Returns the recorded nodes by pid.
    pub(super) fn recorded(&self) -> &HashMap<u32, Arc<NodeLabels>> {
        &self.recorded
    }

    /// Returns the pids by labels. If nodes share their labels, the highest pid represents them. A series has one value
    /// at a time, and Prometheus refuses a whole request that has two.
    pub(super) fn by_labels(&self) -> BTreeMap<&Arc<NodeLabels>, u32> {
        let mut pids = BTreeMap::new();
        for (&pid, labels) in &self.recorded {
            let highest = pids.entry(labels).or_insert(pid);
            *highest = pid.max(*highest);
        }
        pids
    }

    /// Forgets a node that has ended.
    pub(super) fn ended(&mut self, pid: u32) {
        if let Some(labels) = self.recorded.remove(&pid) {
            output::note(&format!("{} has ended", described(pid, &labels)));
        }
    }

    /// Notes that a node can no longer be recorded.
    pub(super) fn failed(&mut self, pid: u32, error: &ProbeError) {
        let labels = self.recorded.remove(&pid);
        let name = labels.as_ref().map_or("a node", |labels| labels.node.as_str());
        output::note(&format!("{name} (pid {pid}) is no longer recorded: {error}"));
        let next = Instant::now() + LONGEST_PAUSE;
        self.refused.insert(pid, Refused { attempts: QUIET_ATTEMPTS, next });
    }

    /// Applies new options. Drops nodes that are now excluded, and looks at all others again.
    pub(super) fn choose_again(
        &mut self,
        options: &WatchOptions,
        recorder: &mut ContinuousRecorder,
    ) {
        self.unwanted.clear();
        self.refused.clear();
        for pid in self.recorded.keys().copied().collect::<Vec<_>>() {
            match origin_of(pid) {
                Ok(origin) if options.nodes.has(&origin) => {
                    self.recorded.insert(pid, Arc::new(labels_of(&origin, options)));
                }
                Ok(_) => {
                    recorder.remove(pid);
                    self.recorded.remove(&pid);
                }
                // The node has ended, which the recorder reports too.
                Err(_) => {}
            }
        }
    }

    /// Forgets all nodes, because there is a new recorder.
    pub(super) fn start_again(&mut self) {
        *self = Self { scan: std::mem::take(&mut self.scan), ..Self::default() };
    }
}

/// Returns the labels of a node. The configuration takes precedence.
pub(super) fn labels_of(origin: &NodeOrigin, options: &WatchOptions) -> NodeLabels {
    let known = |text: &Option<String>| text.clone().unwrap_or_default();
    let service = options.service.as_ref().or(origin.service.as_ref());
    NodeLabels {
        service: service.map_or(USUAL_SERVICE, String::as_str).to_owned(),
        cluster: options.cluster.clone(),
        namespace: known(&origin.namespace),
        pod: origin.pod.clone().or_else(|| short(origin.container.as_ref())).unwrap_or_default(),
        node: known(&origin.name),
        version: known(&origin.version),
    }
}

/// Shortens an id to the length that container tools show.
fn short(id: Option<&String>) -> Option<String> {
    id.map(|id| id.chars().take(12).collect())
}

/// Describes a node for a person.
pub(super) fn described(pid: u32, labels: &NodeLabels) -> String {
    let name = if labels.node.is_empty() { "a node without a name" } else { &labels.node };
    let version = if labels.version.is_empty() {
        String::new()
    } else {
        format!(", RabbitMQ {}", labels.version)
    };
    let place = match (labels.namespace.as_str(), labels.pod.as_str()) {
        ("", "") => String::new(),
        ("", pod) => format!(", in {pod}"),
        (namespace, pod) => format!(", in {namespace}/{pod}"),
    };
    format!("{name} (pid {pid}{version}{place})")
}

#[cfg(test)]
mod tests {
    use rabbitscope_probe::NodeOrigin;

    use super::*;

    #[test]
    fn nodes_with_the_same_labels_are_one_series() {
        let mut nodes = Nodes::default();
        let labels = |node: &str| NodeLabels { node: node.to_owned(), ..NodeLabels::default() };
        for (pid, node) in [(7, ""), (9, ""), (8, ""), (5, "rabbit@a")] {
            nodes.recorded.insert(pid, Arc::new(labels(node)));
        }
        let pids: Vec<u32> = nodes.by_labels().into_values().collect();
        assert_eq!(pids, [9, 5]);
    }

    #[test]
    fn labels_of_a_pod_and_of_a_plain_node() {
        let mut origin = NodeOrigin { name: Some("rabbit@a".to_owned()), ..NodeOrigin::default() };
        let source = super::super::config::ConfigSource {
            file: None,
            typed: super::super::config::TypedOptions {
                directory: Some("d".into()),
                ..Default::default()
            },
        };
        let mut options = source.read().unwrap();
        let plain = labels_of(&origin, &options);
        assert_eq!((plain.service.as_str(), plain.node.as_str()), ("rabbitmq", "rabbit@a"));
        assert_eq!(described(7, &plain), "rabbit@a (pid 7)");
        origin.container = Some("0123456789abcdef".to_owned());
        assert_eq!(labels_of(&origin, &options).pod, "0123456789ab");
        origin.pod = Some("hare-0".to_owned());
        origin.namespace = Some("mq".to_owned());
        origin.service = Some("hare".to_owned());
        origin.version = Some("4.0.5".to_owned());
        let pod = labels_of(&origin, &options);
        assert_eq!((pod.service.as_str(), pod.pod.as_str()), ("hare", "hare-0"));
        assert_eq!(described(7, &pod), "rabbit@a (pid 7, RabbitMQ 4.0.5, in mq/hare-0)");
        options.service = Some("ours".to_owned());
        assert_eq!(labels_of(&origin, &options).service, "ours");
    }
}
