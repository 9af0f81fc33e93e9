//! CPU time by thread, Erlang process and function, from samples.

/// CPU time of a node, from samples.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cpu {
    /// Number of samples.
    pub samples: u64,
    /// Samples that were lost.
    pub lost: u64,
    /// Length of the recording in seconds.
    pub seconds: f64,
    /// CPU time of the node, in cores.
    pub cores: f64,
    /// Part of it in which schedulers looked for work, busy waiting included, in cores.
    pub busy_wait_cores: f64,
    /// Part of it in the kernel, in cores.
    pub kernel_cores: f64,
    /// Part of it in which locks of the VM were taken, in cores. Those that schedulers take to look for work are left
    /// out.
    pub lock_cores: f64,
    /// Callers of these locks, the largest part first, at most 10.
    pub lock_takers: Vec<FunctionCpu>,
    /// Part of it in garbage collection, in cores.
    pub collection_cores: f64,
    /// The threads of the VM by kind, the busiest kind first.
    pub threads: Vec<ThreadCpu>,
    /// Erlang processes, the busiest first, at most 50.
    pub processes: Vec<ProcessCpu>,
    /// Queues and clients with the CPU time of all their processes, the most expensive first.
    pub owners: Vec<OwnerCpu>,
    /// Functions by self time, the most expensive first, at most 50.
    pub functions: Vec<FunctionCpu>,
}

/// A kind of thread.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ThreadCpu {
    /// Kind: `scheduler`, `dirty_cpu_scheduler`, `dirty_io_scheduler`, `aux` …
    pub kind: String,
    /// CPU time in cores.
    pub cores: f64,
}

/// An Erlang process.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProcessCpu {
    /// Pid, as the node prints it.
    pub pid: String,
    /// Role; empty if the node was not asked.
    pub role: String,
    /// Is true if it serves one queue alone.
    pub is_of_queue: bool,
    /// Name; empty if the node was not asked.
    pub name: String,
    /// Virtual host; empty for processes without one.
    pub vhost: String,
    /// CPU time in cores. 1 is the most that an Erlang process can use.
    pub cores: f64,
    /// Number of samples.
    pub samples: u64,
    /// Its functions by total time, callees included, the most expensive first, at most 60. Functions
    /// with less than 1 % of its time are left out.
    pub functions: Vec<FunctionCpu>,
}

/// A kind of owner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OwnerKind {
    /// A queue.
    #[default]
    Queue,
    /// A client: its connections and channels.
    Client,
}

/// A queue or a client, with all of its processes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OwnerCpu {
    /// Kind.
    pub kind: OwnerKind,
    /// Name of the queue, or the name that the client gave itself. A client without one has the name of its connection;
    /// empty if that is unknown too.
    pub name: String,
    /// Virtual host of the queue; empty for clients.
    pub vhost: String,
    /// CPU time in cores.
    pub cores: f64,
}

/// A function.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FunctionCpu {
    /// Name, `module:function/arity` for Erlang.
    pub name: String,
    /// CPU time in cores.
    pub cores: f64,
}
