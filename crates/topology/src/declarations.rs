//! Exchanges and queues that a scenario needs on the broker.

use std::collections::{BTreeMap, HashSet};

use rabbitscope_amqp::{Request, Table};
use rabbitscope_runs::scenario::{Binding, ExchangeSpec, FieldValue, QueueSpec, QueueType};

use super::requests::{bind_request, field_table, queue_arguments, typed_queue_arguments};

/// Exchanges and queues to declare.
#[derive(Clone, Debug, Default)]
pub struct Declarations {
    pub(crate) exchanges: Vec<ExchangeSpec>,
    /// Queues to declare.
    pub queues: Vec<QueueSet>,
}

/// Queues that differ only by name.
#[derive(Clone, Debug)]
pub struct QueueSet {
    /// Their settings in the scenario.
    pub spec: QueueSpec,
    /// Names of the queues.
    pub names: Vec<String>,
    /// Routing keys of each binding of `spec`, in the order of `names`.
    pub keys: Vec<Vec<String>>,
    arguments: Arguments,
    /// Arguments of each binding of `spec`.
    binding_arguments: Vec<Arguments>,
}

/// Arguments of the queues of a set, or of their bindings.
#[derive(Clone, Debug)]
enum Arguments {
    Shared(Table),
    /// One table per name, in the order of the names.
    Each(Vec<Table>),
}

impl Arguments {
    fn for_queue(&self, queue: usize) -> &Table {
        match self {
            Self::Shared(table) => table,
            Self::Each(tables) => &tables[queue],
        }
    }
}

impl QueueSet {
    /// Selects the queues of `spec` whose names are wanted.
    pub fn select(spec: &QueueSpec, wanted: impl Fn(usize, &str) -> bool) -> Self {
        let names = spec.queue_names();
        let is_wanted: Vec<_> =
            names.iter().enumerate().map(|(index, name)| wanted(index, name)).collect();
        let select = |all: Vec<String>| selected(all, &is_wanted);
        let keys = spec.bindings.iter().map(|binding| select(spec.binding_keys(binding)));
        let arguments = |of: &BTreeMap<String, FieldValue>, queue_type| {
            let table = |of: &BTreeMap<_, _>| typed_queue_arguments(queue_type, of);
            let each = spec.arguments_of_each(of).map(|all| selected(all, &is_wanted));
            each.map_or_else(
                || Arguments::Shared(table(of)),
                |each| Arguments::Each(each.iter().map(table).collect()),
            )
        };
        // A classic queue adds no arguments of its own; neither does a binding.
        let of_binding = |binding: &Binding| arguments(&binding.arguments, QueueType::Classic);
        Self {
            keys: keys.collect(),
            arguments: arguments(&spec.arguments, spec.queue_type),
            binding_arguments: spec.bindings.iter().map(of_binding).collect(),
            names: select(names),
            spec: spec.clone(),
        }
    }

    /// Returns the arguments of the queue at this index of `names`.
    pub fn arguments(&self, queue: usize) -> &Table {
        self.arguments.for_queue(queue)
    }

    /// Returns the requests of each binding, one per queue.
    pub fn bind_requests(&self) -> Vec<Vec<Request<'_>>> {
        (0..self.spec.bindings.len()).map(|binding| self.requests_of(binding)).collect()
    }

    fn requests_of(&self, binding: usize) -> Vec<Request<'_>> {
        let exchange = &self.spec.bindings[binding].exchange;
        let arguments = &self.binding_arguments[binding];
        let queues = self.names.iter().zip(&self.keys[binding]).enumerate();
        queues
            .map(|(queue, (name, key))| {
                bind_request(name, exchange, key, arguments.for_queue(queue))
            })
            .collect()
    }

    /// A queue that the broker names. Later requests on the same channel use the empty name, which stands for the last
    /// queue declared there (AMQP 0-9-1, rule `default-queue`).
    pub fn named_by_broker(spec: &QueueSpec) -> Self {
        let keys = spec.bindings.iter().map(|binding| spec.binding_keys(binding));
        let of_binding = |binding: &Binding| Arguments::Shared(field_table(&binding.arguments));
        Self {
            keys: keys.collect(),
            names: vec![String::new()],
            arguments: Arguments::Shared(queue_arguments(spec)),
            binding_arguments: spec.bindings.iter().map(of_binding).collect(),
            spec: spec.clone(),
        }
    }
}

fn selected<T>(all: Vec<T>, is_wanted: &[bool]) -> Vec<T> {
    let pairs = all.into_iter().zip(is_wanted);
    pairs.filter(|(_, wanted)| **wanted).map(|(one, _)| one).collect()
}

/// Everything that a scenario needs on the broker.
#[derive(Debug, Default)]
pub struct Needs {
    /// Objects to create.
    pub missing: Declarations,
    /// Existing objects to check.
    pub present: Declarations,
    /// Existing queues that get bindings.
    pub to_bind: Declarations,
}

/// Names of queues and exchanges that a connection has declared.
#[derive(Debug, Default)]
pub struct CreatedObjects {
    pub(crate) queues: HashSet<String>,
    pub(crate) exchanges: HashSet<String>,
}

/// Names of queues and exchanges that a broker has lost.
#[derive(Debug, Default)]
pub(crate) struct MissingTopology {
    pub(crate) queues: Vec<String>,
    pub(crate) exchanges: Vec<String>,
}
