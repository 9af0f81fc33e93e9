//! Schedulers and distribution of the Erlang VM.

/// Schedulers and distribution of an Erlang VM.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Vm {
    /// Number of looks at the run queues (20 a second).
    pub looks: u64,
    /// Number of online schedulers.
    pub schedulers_online: u64,
    /// Share of the time in which the online schedulers worked, 0 to 1. Busy waiting counts as no work.
    pub scheduler_use: Option<f64>,
    /// Use of the busiest scheduler, 0 to 1.
    pub busiest_scheduler: Option<f64>,
    /// Mean number of processes and ports that wait for a scheduler.
    pub run_queue: f64,
    /// Share of the looks in which at least as many processes waited as there are schedulers, 0 to 1.
    pub crowded_share: f64,
    /// Share of the schedulers' time in each microstate, 0 to 1: `emulator`, `port`, `gc`, `check_io`, `other`, `aux`,
    /// `sleep`. Empty if the accounting was on before, or is unavailable.
    pub microstates: Vec<(String, f64)>,
    /// Share of the time in which the dirty I/O schedulers worked, in schedulers: 2.0 means two were always busy.
    pub dirty_io_cores: Option<f64>,
    /// Number of dirty I/O schedulers.
    pub dirty_io_schedulers: u64,
    /// Flags of the VM that rules consult, such as `+sbwt`, `+stbt`, `+zdbbl`, with their values.
    pub flags: Vec<(String, String)>,
    /// Other nodes that this one is connected to; tools and hidden nodes are excluded.
    pub peers: Vec<PeerNode>,
}

impl Vm {
    /// Returns the other node at the end of a TCP connection, both ends as `address:port`.
    pub(crate) fn peer_between(&self, own: &str, other: &str) -> Option<&PeerNode> {
        let port = |address: &str| address.rsplit_once(':')?.1.parse::<u16>().ok();
        let ends = (port(own)?, port(other)?);
        self.peers.iter().find(|peer| peer.tcp_ports == Some(ends))
    }
}

/// Another node, and the distribution port to it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PeerNode {
    /// Erlang name.
    pub node: String,
    /// Mean number of bytes that wait in the port.
    pub queued_bytes: f64,
    /// Limit of the bytes that wait (`+zdbbl`). Senders are suspended above it.
    pub limit_bytes: u64,
    /// Share of the looks in which the port was at its limit, 0 to 1.
    pub busy_share: f64,
    /// Sent bytes per second.
    pub sent_bytes_per_second: f64,
    /// Received bytes per second.
    pub received_bytes_per_second: f64,
    /// TCP ports of the connection, this node's first; absent behind TLS.
    pub tcp_ports: Option<(u16, u16)>,
}
