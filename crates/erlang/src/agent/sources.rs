//! The Erlang modules that the program sends to nodes, as `build.rs` assembles them from `agent/`.

/// The source of a module.
#[derive(Clone, Copy, Debug)]
pub struct ModuleSource {
    /// The name in the source. On the node a random number follows it.
    pub name: &'static str,
    /// The source in Erlang.
    pub text: &'static str,
}

macro_rules! source {
    ($name:literal) => {
        ModuleSource {
            name: $name,
            text: include_str!(concat!(env!("OUT_DIR"), "/", $name, ".erl")),
        }
    };
}

impl ModuleSource {
    /// Requests about functions: single calls, call trees, counters, samples.
    pub(crate) const FUNCTIONS: Self = source!("rabbitscope_agent");
    /// Requests about queues.
    pub const QUEUES: Self = source!("rabbitscope_queues");
    /// Requests for the processes with the highest use of a resource, and for the use of the schedulers.
    pub const TOP: Self = source!("rabbitscope_top");
    /// Requests for what holds the memory of the node.
    pub const MEMORY: Self = source!("rabbitscope_memory");
    /// Requests for one process, and for processes that wait.
    pub const PROCESS: Self = source!("rabbitscope_process");
    /// One request for all that a diagnosis of the node needs.
    pub const CHECK: Self = source!("rabbitscope_check");
    /// Figures of the whole node.
    pub const FIGURES: Self = source!("rabbitscope_figures");
    /// Exchanges, queues, bindings, policies and consumers.
    pub const WORKLOAD: Self = source!("rabbitscope_workload");
    /// Roles and names of processes.
    pub const OWNERS: Self = source!("rabbitscope_who");
}
