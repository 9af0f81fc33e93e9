//! A connection as the owner of its socket knows it.

use std::{error::Error, time::Instant};

use crate::{Input, OutputBuffer};

/// Answers of the broker to new tokens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Renewals {
    /// Tokens that the broker has taken.
    pub taken: u64,
    /// The reason for which the broker has not taken the last one, although the connection stays.
    pub refusal: Option<String>,
}

/// A connection of any protocol, without its socket.
pub trait Wire {
    /// Something that the broker said.
    type Event<'a>;
    /// An error that ends the connection.
    type Error: Error;

    /// Processes received bytes up to the next event. Returns `None` if more bytes are needed; these belong behind
    /// [`Input::rest`]. An error ends the connection. The output may still be written, to tell the broker the reason.
    fn next_event<'a>(
        &mut self,
        input: &mut Input<'a>,
    ) -> Result<Option<Self::Event<'a>>, Self::Error>;

    /// Returns the bytes for the socket.
    fn output(&mut self) -> &mut OutputBuffer;

    /// Largest frame that client and broker agreed on, in bytes.
    fn frame_max(&self) -> u32;

    /// Notes that bytes were read.
    fn has_read(&mut self, now: Instant);

    /// Notes that bytes were written.
    fn has_written(&mut self, now: Instant);

    /// Appends a heartbeat if one is due. Fails if the broker is silent for too long.
    fn tick(&mut self, now: Instant) -> Result<(), Self::Error>;

    /// Returns the time of the next work for [`Wire::tick`]; `None` without heartbeats.
    fn next_tick(&self) -> Option<Instant>;

    /// Gives the broker a new token in place of the one that logged in. Protocols and brokers without that keep the old
    /// one.
    fn renew(&mut self, _token: &str) {}

    /// Takes the answers of the broker to new tokens since the last call.
    fn take_renewals(&mut self) -> Renewals {
        Renewals::default()
    }

    /// Asks the broker to close the connection.
    fn close(&mut self);

    /// Frees the memory that only the setup needs.
    fn shrink(&mut self);

    /// Returns whether the connection is closed, by either side.
    fn is_closed(&self) -> bool;
}
