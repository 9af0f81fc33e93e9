//! Exchanges and queues to declare: what a scenario needs on the broker.

use std::collections::HashSet;

use rabbitscope_runs::scenario::{ExchangeSpec, QueueSpec};

/// Exchanges and queues to declare.
#[derive(Clone, Debug, Default)]
pub(crate) struct Declarations {
    pub(crate) exchanges: Vec<ExchangeSpec>,
    pub(crate) queues: Vec<QueueSet>,
}

/// Queues that differ by name only.
#[derive(Clone, Debug)]
pub(crate) struct QueueSet {
    pub(crate) spec: QueueSpec,
    pub(crate) names: Vec<String>,
    /// Routing keys of each binding of `spec`, in the order of `names`.
    pub(crate) keys: Vec<Vec<String>>,
}

impl QueueSet {
    /// Those queues of `spec` whose name is wanted.
    pub(crate) fn of(spec: &QueueSpec, wanted: impl Fn(usize, &str) -> bool) -> Self {
        let names = spec.queue_names();
        let is_wanted: Vec<_> =
            names.iter().enumerate().map(|(at, name)| wanted(at, name)).collect();
        let select = |all: Vec<String>| -> Vec<String> {
            let pairs = all.into_iter().zip(&is_wanted);
            pairs.filter(|(_, wanted)| **wanted).map(|(one, _)| one).collect()
        };
        let keys = spec.bindings.iter().map(|binding| select(spec.binding_keys(binding)));
        Self { keys: keys.collect(), names: select(names), spec: spec.clone() }
    }

    /// One queue that the broker names. Later requests on the same channel call it by an empty name,
    /// which stands for the last queue that was declared there (AMQP 0-9-1, rule `default-queue`).
    pub(crate) fn named_by_broker(spec: &QueueSpec) -> Self {
        let keys = spec.bindings.iter().map(|binding| spec.binding_keys(binding));
        Self { keys: keys.collect(), names: vec![String::new()], spec: spec.clone() }
    }
}

/// Everything that a scenario needs on the broker.
#[derive(Debug, Default)]
pub(crate) struct Needs {
    /// To be created.
    pub(crate) missing: Declarations,
    /// There already, to be checked.
    pub(crate) present: Declarations,
    /// Queues that are there already and get bindings.
    pub(crate) to_bind: Declarations,
}

/// Names of queues and exchanges that a connection has declared.
#[derive(Debug, Default)]
pub(crate) struct CreatedObjects {
    pub(crate) queues: HashSet<String>,
    pub(crate) exchanges: HashSet<String>,
}

/// Names of queues and exchanges that a broker has lost.
#[derive(Debug, Default)]
pub(crate) struct MissingTopology {
    pub(crate) queues: Vec<String>,
    pub(crate) exchanges: Vec<String>,
}
