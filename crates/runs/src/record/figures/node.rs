//! Figures from inside the broker's node. Each is defined once, in the list at the end of this file. The keys of
//! `series.jsonl`, the CSV columns, the Prometheus metrics, charts, `[expect]` and the metrics of experiments follow
//! from it.

use rabbitscope_text::{MetricId, Unit};
use serde::{Deserialize, Serialize};

use super::field_id::{spelled, text};

/// A figure from inside the node: its identity, and its value.
#[derive(Clone, Copy, Debug)]
pub struct NodeFigure {
    /// Name as a metric, `node.run-queue`; title for people; unit.
    pub id: MetricId,
    /// Name of the CSV column.
    pub column: &'static str,
    /// Name of the Prometheus metric, without `rabbitscope_`.
    pub metric: &'static str,
    /// Description in one sentence.
    pub help: &'static str,
    /// Title of the chart that draws it, with its neighbours of the same chart.
    pub chart: &'static str,
    /// Reads the value.
    pub value: fn(&NodeFigures) -> Option<u64>,
}

macro_rules! node_figures {
    ($($name:ident: $unit:ident, $title:literal, $chart:expr, $path:literal, $metric:literal, $help:literal;)*) => {
        /// Figures from inside the node; absent if the release or the node's settings lack them.
        #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case", default)]
        pub struct NodeFigures {
            $(#[doc = $help] #[serde(skip_serializing_if = "Option::is_none")] pub $name: Option<u64>,)*
        }

        impl NodeFigures {
            /// Every figure, in the order of all lists.
            pub const ALL: &[NodeFigure] = &[
                $(NodeFigure {
                    id: {
                        const FIELD: &str = concat!("node.", stringify!($name));
                        const NAME: [u8; FIELD.len()] = spelled(FIELD, b'-');
                        MetricId { name: text(&NAME), title: $title, unit: Unit::$unit }
                    },
                    column: concat!("node_", stringify!($name)),
                    metric: $metric,
                    help: $help,
                    chart: $chart,
                    value: |figures| figures.$name,
                },)*
            ];

            /// Takes each figure from the node's answer, by its path there.
            pub fn from_answer(number: impl Fn(&str) -> Option<u64>) -> Self {
                Self { $($name: number($path),)* }
            }
        }
    };
}

const CLIENTS: &str = "Node: connections, channels, consumers";
const MESSAGES: &str = "Node: messages in queues";
const MEMORY: &str = "Node: memory by kind";

node_figures! {
    run_queue: Things, "run queue", "Node: run queue", "run_queue", "node_run_queue_length", "Erlang processes and ports that wait for a scheduler.";
    processes: Things, "Erlang processes", "Node: Erlang processes", "processes", "node_erlang_processes", "Erlang processes.";
    connections: Things, "connections", CLIENTS, "connections", "node_connections", "Connections of clients.";
    channels: Things, "channels", CLIENTS, "channels", "node_channels", "Channels.";
    consumers: Things, "consumers", CLIENTS, "consumers", "node_consumers", "Consumers.";
    in_flow: Things, "in flow", CLIENTS, "flow", "node_connections_in_flow", "Connections that the node slows down (credit flow) or blocks.";
    queues: Things, "queues", "Node: queues", "queues.count", "node_queues", "Queues whose leader is on the node.";
    ready: Things, "ready", MESSAGES, "queues.ready", "node_messages_ready", "Messages ready for delivery in all queues of the node.";
    unacknowledged: Things, "unacknowledged", MESSAGES, "queues.unacknowledged", "node_messages_unacknowledged", "Messages delivered and not yet acknowledged in all queues of the node.";
    memory: Bytes, "all", MEMORY, "memory.total", "node_memory_allocated_bytes", "Memory that the VM has allocated.";
    memory_processes: Bytes, "processes", MEMORY, "memory.processes", "node_memory_processes_bytes", "Memory of Erlang processes.";
    memory_binary: Bytes, "binary", MEMORY, "memory.binary", "node_memory_binary_bytes", "Memory of binaries: bodies of messages.";
    memory_ets: Bytes, "ets", MEMORY, "memory.ets", "node_memory_ets_bytes", "Memory of tables.";
    memory_code: Bytes, "code", MEMORY, "memory.code", "node_memory_code_bytes", "Memory of code.";
    memory_atom: Bytes, "atom", MEMORY, "memory.atom", "node_memory_atom_bytes", "Memory of atoms.";
    alarms: Things, "alarms", "Node: raised alarms", "alarms", "node_alarms", "Raised alarms of the node: memory, disk.";
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn lists_forget_none() {
        let figures = NodeFigures::from_answer(|_| Some(7));
        assert!(NodeFigures::ALL.iter().all(|figure| (figure.value)(&figures) == Some(7)));
        let written = serde_json::to_value(&figures).unwrap();
        let keys: BTreeSet<String> =
            written.as_object().unwrap().keys().map(|key| format!("node.{key}")).collect();
        let names: BTreeSet<String> =
            NodeFigures::ALL.iter().map(|figure| figure.id.name.to_owned()).collect();
        assert_eq!(keys, names);
        assert_eq!(serde_json::from_value::<NodeFigures>(written).unwrap(), figures);
        assert_eq!(serde_json::to_string(&NodeFigures::default()).unwrap(), "{}");
    }
}
