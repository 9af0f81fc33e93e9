//! Removal of the messages that a run left in its own queues: each is read, recognized by its stamp and acknowledged. A
//! message without the run's stamp returns to its queue.

use std::time::{Duration, Instant};

use rabbitscope_amqp::{Delivery, Event, Refusal, Request, blocking::ClientError};
use rabbitscope_timing::{Nanos, RunInstant, Stamp};

use super::connection::Topology;
use crate::{dial::request_error, error::TopologyError};

/// Number of messages requested at a time. Chosen.
const BATCH: usize = 256;

/// Recognizes the messages of one run, by the 12-bit tag in their stamps and by a send time within the run.
#[derive(Clone, Copy, Debug)]
pub struct OwnMessages {
    tag: u16,
    end: RunInstant,
    /// The user has ended the run, and workers that could not be told go on with it.
    pub(super) has_left_workers: bool,
}

impl OwnMessages {
    /// Recognizes the messages of a load with this tag that has ended after `duration`.
    pub fn new(tag: u16, duration: Duration, has_left_workers: bool) -> Self {
        let end = RunInstant::from_nanos(Nanos::from(duration).get());
        Self { tag, end, has_left_workers }
    }

    fn include(self, delivery: &Delivery<'_>) -> bool {
        let is_own = |stamp: Stamp| stamp.is_of(self.tag) && stamp.sent_at(self.end).is_some();
        Stamp::decode(&delivery.body).is_some_and(is_own)
            || Stamp::find(&delivery.properties).is_some_and(is_own)
    }
}

/// State of a queue after the removal of the run's own messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Drained {
    /// The queue is empty.
    Empty,
    /// The queue has a message that cannot be recognized as the run's.
    OfOthers,
    /// The queue has more messages than could be read in time.
    TooMany,
    /// The broker refused; its text.
    Refused(String),
}

/// The answers to one batch of requests.
#[derive(Default)]
struct Batch {
    answered: usize,
    last_tag: Option<u64>,
    is_empty: bool,
    has_others: bool,
}

impl Topology {
    /// Takes the run's own messages out of `queue`, until `deadline`.
    pub(super) fn drain(
        &mut self,
        queue: &str,
        own: OwnMessages,
        deadline: Instant,
    ) -> Result<Drained, TopologyError> {
        let drained = self.try_drain(queue, own, deadline);
        drained.map_err(|error| request_error(&self.uri, "reading left messages", error))
    }

    fn try_drain(
        &mut self,
        queue: &str,
        own: OwnMessages,
        deadline: Instant,
    ) -> Result<Drained, ClientError> {
        let channel = self.client.open_channel()?;
        let drained = loop {
            let batch = match self.get_batch(channel, queue, own)? {
                Ok(batch) => batch,
                // The broker has closed the channel.
                Err(refusal) => return Ok(Drained::Refused(refusal.text)),
            };
            if let Some(delivery_tag) = batch.last_tag {
                let multiple = true;
                let request = if batch.has_others {
                    Request::Nack { delivery_tag, multiple, requeue: true }
                } else {
                    Request::Ack { delivery_tag, multiple }
                };
                self.client.send(channel, &request);
            }
            match batch {
                Batch { has_others: true, .. } => break Drained::OfOthers,
                Batch { is_empty: true, .. } => break Drained::Empty,
                _ if Instant::now() >= deadline => break Drained::TooMany,
                _ => {}
            }
        };
        self.client.end_channel(channel);
        self.client.wait(|event| match event {
            Event::ChannelClosed { channel: closed, .. } if closed == channel => Some(Ok(())),
            _ => None,
        })?;
        Ok(drained)
    }

    fn get_batch(
        &mut self,
        channel: u16,
        queue: &str,
        own: OwnMessages,
    ) -> Result<Result<Batch, Refusal>, ClientError> {
        for _ in 0..BATCH {
            self.client.send(channel, &Request::Get { queue, auto_ack: false });
        }
        let mut batch = Batch::default();
        self.client.wait(|event| {
            match event {
                Event::Got { delivery, .. } if delivery.channel == channel => {
                    batch.last_tag = Some(delivery.delivery_tag);
                    batch.has_others |= !own.include(&delivery);
                }
                Event::GetEmpty { channel: answered } if answered == channel => {
                    batch.is_empty = true;
                }
                Event::ChannelClosed { channel: closed, refusal: Some(refusal) }
                    if closed == channel =>
                {
                    return Some(Ok(Err(refusal)));
                }
                _ => return None,
            }
            batch.answered += 1;
            (batch.answered == BATCH).then(|| Ok(Ok(std::mem::take(&mut batch))))
        })
    }
}
