//! All exported metrics. The dashboards in `deploy/grafana` query exactly these; a test compares them.

use super::{
    MetricDescription,
    MetricKind::{Counter, Gauge},
};

macro_rules! catalog {
    ($($constant:ident = $name:literal, $kind:expr, $unit:literal, $help:literal;)*) => {
        $(
            #[doc = $help]
            pub static $constant: MetricDescription =
                MetricDescription { name: $name, kind: $kind, unit: $unit, help: $help };
        )*

        /// All metrics.
        pub static ALL: &[&MetricDescription] = &[$(&$constant),*];
    };
}

// Metrics of nodes, with the node's labels, up to NODE_FINDINGS. The others are of rabbitscope itself.
catalog! {
    NODE_UP = "node_up", Gauge, "", "1 while the node runs and its figures can be read, 0 if they cannot be read.";
    NODE_PUBLISHED = "node_messages_published_total", Counter, "", "Messages that clients have published.";
    NODE_CONFIRMED = "node_messages_confirmed_total", Counter, "", "Messages that were confirmed to publishers.";
    NODE_DELIVERED = "node_messages_delivered_total", Counter, "", "Messages delivered to consumers, redeliveries included.";
    NODE_ACKNOWLEDGED = "node_messages_acknowledged_total", Counter, "", "Messages that consumers have acknowledged.";
    NODE_REDELIVERED = "node_messages_redelivered_total", Counter, "", "Messages delivered again.";
    NODE_UNROUTABLE = "node_messages_unroutable_total", Counter, "", "Messages that no queue accepted: dropped or \
                                                                      returned.";
    NODE_QUEUES = "node_queues", Gauge, "", "Queues whose leader is on the node.";
    NODE_MESSAGES_READY = "node_messages_ready", Gauge, "", "Messages ready for delivery in all queues of the node.";
    NODE_MESSAGES_UNACKNOWLEDGED = "node_messages_unacknowledged", Gauge, "", "Messages delivered and not yet acknowledged in all queues of the node.";
    NODE_QUEUE_MESSAGES = "node_queue_messages", Gauge, "", "Messages in one of the 20 longest queues; queue=\"other\" has those of the others.";
    NODE_CONNECTIONS = "node_connections", Gauge, "", "Connections of clients.";
    NODE_CHANNELS = "node_channels", Gauge, "", "Channels.";
    NODE_CONSUMERS = "node_consumers", Gauge, "", "Consumers.";
    NODE_FLOW = "node_connections_in_flow", Gauge, "", "Connections that the node slows down (credit flow) or blocks.";
    NODE_MEMORY = "node_memory_bytes", Gauge, "bytes", "Memory of the VM by kind: processes, binary, ets, code, atom, other; their sum is the total.";
    NODE_MEMORY_LIMIT = "node_memory_limit_bytes", Gauge, "bytes", "Memory at which the node raises its alarm.";
    NODE_RESIDENT = "node_resident_memory_bytes", Gauge, "bytes", "Resident memory of the node's process, as the kernel counts it.";
    NODE_DISK_FREE = "node_disk_free_bytes", Gauge, "bytes", "Free space on the disk of the node's data.";
    NODE_ALARM = "node_alarm", Gauge, "", "1 while this alarm (memory, disk) is raised on the node.";
    NODE_PROCESSES = "node_erlang_processes", Gauge, "", "Erlang processes.";
    NODE_RUN_QUEUE = "node_run_queue_length", Gauge, "", "Erlang processes and ports that wait for a scheduler.";
    NODE_THREAD_CPU = "node_thread_cpu_seconds_total", Counter, "seconds", "CPU time of the node's threads by kind, busy waiting included.";
    NODE_ROLE_CPU = "node_role_cpu_seconds_total", Counter, "seconds", "CPU time by the role of the Erlang process, from samples.";
    NODE_QUEUE_CPU = "node_queue_cpu_seconds_total", Counter, "seconds", "CPU time of processes of one of the 20 heaviest queues, from samples; queue=\"other\" has those of the others.";
    NODE_LIMIT = "limit", Gauge, "", "Share of the time in which the node was at its limit in the latest window, by kind and certainty; 0 for nothing and unknown.";
    NODE_FINDINGS = "findings", Gauge, "", "Findings in the latest window of the node, by rule and severity.";
    SELF_CPU = "watch_cpu_seconds_total", Counter, "seconds", "CPU time of rabbitscope.";
    SELF_RESIDENT = "watch_resident_memory_bytes", Gauge, "bytes", "Resident memory of rabbitscope.";
    SELF_NODES = "watch_nodes", Gauge, "", "Nodes that are recorded.";
    SELF_WINDOWS = "watch_windows_total", Counter, "", "Windows that were recorded.";
    SELF_SAMPLES = "watch_samples_total", Counter, "", "Samples that were recorded.";
    SELF_LOST = "watch_samples_lost_total", Counter, "", "Samples that fell on a node and could not be recorded.";
    SELF_INCOMPLETE = "watch_stacks_incomplete_total", Counter, "", "Samples on an Erlang process whose stack is neither complete nor marked as truncated.";
    SELF_UNREADABLE = "watch_node_readings_failed_total", Counter, "", "Readings of a node's figures that failed.";
    SELF_POINTS_DROPPED = "watch_metric_values_dropped", Gauge, "", "Values of metrics that did not fit into the last snapshot.";
    EXPORT_SENT = "export_requests_sent_total", Counter, "", "Requests that a backend has accepted, by exporter.";
    EXPORT_SENT_BYTES = "export_sent_bytes_total", Counter, "bytes", "Bytes of bodies that a backend has accepted, by exporter.";
    EXPORT_ERRORS = "export_errors_total", Counter, "", "Attempts to send that failed, by exporter and reason.";
    EXPORT_DROPPED = "export_dropped_total", Counter, "", "Windows and snapshots that were never sent, by exporter and reason.";
    EXPORT_SPOOLED = "export_spool_entries", Gauge, "", "Requests that wait to be sent, by exporter.";
    EXPORT_SPOOL_BYTES = "export_spool_bytes", Gauge, "bytes", "Bytes that wait to be sent, by exporter.";
}
