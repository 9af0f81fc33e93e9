//! An event of a connection.

use core::net::SocketAddr;

use super::action::Action;
use crate::{packet::Timestamp, report::Side};

/// The two ends of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ends {
    /// The client's address.
    pub client: SocketAddr,
    /// The broker's address.
    pub broker: SocketAddr,
    /// True if the capture has the connection's beginning.
    pub from_the_start: bool,
    /// Time of the first packet.
    pub time: Timestamp,
}

/// A method, or a whole message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Event<'a> {
    /// The sender.
    pub sender: Side,
    /// The channel.
    pub channel: u16,
    /// Time at which the last byte could be read.
    pub time: Timestamp,
    /// Number of the packet with the first byte.
    pub first_packet: u64,
    /// Number of the packet with the last byte.
    pub last_packet: u64,
    /// Number of frames.
    pub frames: u32,
    /// True if each frame began a segment.
    pub is_frame_by_frame: bool,
    /// The content.
    pub action: Action<'a>,
}
