//! Publishers of AMQP 0-9-1: confirms, transactions, and barriers behind messages without confirms.

use rabbitscope_amqp::{Connection, Event, Reply, Request};
use rabbitscope_measurements::Failure;
use rabbitscope_timing::RunInstant;

use super::{
    answers::{Answer, Settled},
    role::Publishing,
    sends::Sends,
};
use crate::link::{
    acceptance::BARRIER_BYTES,
    amqp091::{self, Amqp091Role},
    role::EventHandler,
    serve_context::ServeContext,
    socket::Socket,
};

impl Sends for Connection {
    #[inline]
    fn sent_unconfirmed(
        socket: &mut Socket<Self>,
        channel: u16,
        count: u64,
        context: &ServeContext<'_>,
    ) -> usize {
        if socket.sent(channel, count, context) { BARRIER_BYTES } else { 0 }
    }

    fn commit(&mut self, channel: u16) {
        self.request(channel, &Request::TxCommit);
    }
}

impl EventHandler for Publishing<Connection> {
    #[inline]
    fn on_event(
        &mut self,
        event: Event<'_>,
        socket: &mut Socket<Connection>,
        context: &mut ServeContext<'_>,
    ) -> Result<(), Failure> {
        amqp091::on_event(self, event, socket, context)
    }

    fn ask(&mut self, socket: &mut Socket<Connection>, now: RunInstant) -> bool {
        amqp091::ask(self, socket, now)
    }
}

impl Amqp091Role for Publishing<Connection> {
    #[inline]
    fn on_confirm(
        &mut self,
        channel: u16,
        tag: u64,
        multiple: bool,
        accepted: bool,
        context: &mut ServeContext<'_>,
    ) -> Result<(), Failure> {
        let settled = if multiple { Settled::UpTo(tag) } else { Settled::One(tag) };
        let answer = if accepted { Answer::Accepted } else { Answer::Refused };
        self.on_settled(channel, settled, answer, context)
    }

    /// Handles the commit of a transaction: all messages of the channel count as confirmed.
    fn on_reply(
        &mut self,
        channel: u16,
        reply: Reply,
        _connection: &mut Connection,
        context: &mut ServeContext<'_>,
    ) -> Result<(), Failure> {
        match reply {
            Reply::TxCommitted => {
                self.on_settled(channel, Settled::UpTo(0), Answer::Accepted, context)
            }
            _ => Ok(()),
        }
    }

    fn on_barrier(&mut self, channel: u16) {
        self.note_barrier(channel);
    }

    fn on_accepted(&mut self, channel: u16, context: &mut ServeContext<'_>) {
        self.each_on(channel, |publisher| publisher.on_accepted(context));
    }
}
