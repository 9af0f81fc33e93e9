//! The kernel's description of a TCP socket.

use std::net::SocketAddr;

use super::tcp_info::TcpInfo;

/// State of an open connection or of one that is being opened or closed (RFC 9293, section 3.3.2), with the
/// kernel's number (`<net/tcp_states.h>`). The kernel has no figures for other states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TcpState {
    /// Data flows both ways.
    Established = 1,
    /// The peer has not answered yet.
    SynSent = 2,
    /// Closed here; the peer has not acknowledged it.
    FinWait1 = 4,
    /// Closed here; the peer has acknowledged it and may still send.
    FinWait2 = 5,
    /// Closed by the peer; this end may still send.
    CloseWait = 8,
    /// Closed by the peer, then here; the peer has not acknowledged it.
    LastAck = 9,
    /// Closed at both ends at once.
    Closing = 11,
}

impl TcpState {
    /// All states.
    pub const ALL: [Self; 7] = [
        Self::Established,
        Self::SynSent,
        Self::FinWait1,
        Self::FinWait2,
        Self::CloseWait,
        Self::LastAck,
        Self::Closing,
    ];

    pub(super) fn from_number(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|&state| state as u8 == number)
    }
}

/// Memory of a socket in bytes (`sk_meminfo`): the kernel's memory for packets, more than their payload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SocketMemory {
    /// Bytes of received, unread packets.
    pub receive_used: u32,
    /// Limit for the received packets.
    pub receive_limit: u32,
    /// Limit for the written, unacknowledged packets.
    pub send_limit: u32,
    /// Bytes of written, unacknowledged packets.
    pub send_used: u32,
    /// Bytes of packets that wait because a reader holds the socket.
    pub backlog: u32,
    /// Packets dropped for lack of room.
    pub drops: u32,
}

/// A TCP socket of a network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TcpSocket {
    /// Number that is unique until the machine restarts.
    pub cookie: u64,
    /// Address of this end. IPv4 on a socket for IPv6 is given as IPv4.
    pub local: SocketAddr,
    /// Address of the other end.
    pub remote: SocketAddr,
    /// State of the connection.
    pub state: TcpState,
    /// Inode, by which descriptors of processes name the socket; 0 if no process holds it.
    pub inode: u64,
    /// Id of its user.
    pub user: u32,
    /// Bytes received and not read.
    pub receive_queue: u32,
    /// Bytes written and not acknowledged.
    pub send_queue: u32,
    /// Name of the congestion control (`cubic`, `bbr`).
    pub congestion_control: Option<String>,
    /// Memory of the socket.
    pub memory: Option<SocketMemory>,
    /// Figures of the connection.
    pub info: TcpInfo,
}
