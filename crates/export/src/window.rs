//! Windows of the recorder: a profile of one node over a short time.

use std::{sync::Arc, time::Duration};

use rabbitscope_profiles::Profile;

/// Labels of a node. Each is bounded: a process never becomes a label. Empty labels are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeLabels {
    /// The user's name for the broker; by default `rabbitmq`.
    pub service: String,
    /// Name of the cluster.
    pub cluster: String,
    /// Namespace of the pod.
    pub namespace: String,
    /// Name of the pod, or of the container.
    pub pod: String,
    /// Name of the node, such as `rabbit@host`.
    pub node: String,
    /// Version of RabbitMQ.
    pub version: String,
}

impl NodeLabels {
    /// Returns the names and values of known labels, sorted by name as remote write requires.
    pub fn pairs(&self) -> impl Iterator<Item = (&'static str, &str)> {
        [
            ("cluster", &self.cluster),
            ("namespace", &self.namespace),
            ("node", &self.node),
            ("pod", &self.pod),
            ("service", &self.service),
            ("version", &self.version),
        ]
        .into_iter()
        .map(|(name, value)| (name, value.as_str()))
        .filter(|(_, value)| !value.is_empty())
    }
}

/// A profile of one node over some seconds.
#[derive(Clone, Debug)]
pub struct Window {
    /// The node.
    pub labels: Arc<NodeLabels>,
    /// Start in nanoseconds since 1970-01-01.
    pub started_unix_nanos: u64,
    /// Length.
    pub duration: Duration,
    /// Stacks with the identities of their processes, which give roles and queue names.
    pub profile: Arc<Profile>,
}
