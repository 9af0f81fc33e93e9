//! An event of a connection.

use core::net::SocketAddr;

use super::action::Action;
use crate::{
    packet::Timestamp,
    protocols::{Frame, Protocol},
    report::Side,
};

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

/// A method, a packet, or a whole message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Event<'a> {
    /// The sender.
    pub sender: Side,
    /// The protocol.
    pub protocol: Protocol,
    /// The channel; 0 with MQTT. With AMQP 1.0 and streams the number of a link, a publisher or a reader.
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

impl<'a> Event<'a> {
    /// Creates the event of a publisher or a reader with a number of its own.
    pub(super) const fn of_link(frame: &Frame<'_>, link: u16, action: Action<'a>) -> Self {
        Self { channel: link, is_frame_by_frame: false, ..Self::new(frame, action) }
    }

    /// Creates the event of a single frame.
    pub(super) const fn new(frame: &Frame<'_>, action: Action<'a>) -> Self {
        Self {
            sender: frame.sender,
            protocol: frame.protocol,
            channel: frame.channel,
            time: frame.place.time,
            first_packet: frame.place.first_packet,
            last_packet: frame.place.last_packet,
            frames: 1,
            is_frame_by_frame: frame.place.begins_segment,
            action,
        }
    }
}
