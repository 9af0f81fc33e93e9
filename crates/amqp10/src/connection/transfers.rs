//! Messages, their outcomes, and flow control, as the broker tells them.

use std::borrow::Cow;

use super::{
    lane::{Lane, Link, Stage},
    receiver::Arriving,
    state::Connection,
};
use rabbitscope_protocol::Malformed;

use crate::{
    codec::{Descriptor, Fields, Value},
    error::ConnectionError,
    event::{Delivery, Event},
    outcome::Outcome,
    protocol::codes::{DISPOSITION, FLOW, TRANSFER},
};

/// Largest message of several frames that is kept until it is complete, in bytes: RabbitMQ's own limit.
const MESSAGE_MAX: usize = 512 * 1024 * 1024;

const TRANSFER_PARTS: Malformed = Malformed { what: "the frames of a message" };

impl Connection {
    /// Handles a frame of a message.
    #[inline]
    pub(super) fn on_transfer<'a>(
        &mut self,
        channel: u16,
        mut fields: Fields<'a>,
        payload: &'a [u8],
    ) -> Result<Option<Event<'a>>, ConnectionError> {
        let lane = self.lane_of(channel, TRANSFER)?;
        let Some(Lane { window, link: Link::Receiver(link), .. }) = self.lane_mut(lane) else {
            return self.on_answer(lane, payload).map(|()| None);
        };
        window.received();
        // `handle`
        fields.skip(1)?;
        let delivery_id = fields.uint()?;
        // `delivery-tag`, `message-format`
        fields.skip(2)?;
        let (settled, more) = (fields.boolean()?, fields.boolean()?);
        // `rcv-settle-mode`, `state`, `resume`
        fields.skip(3)?;
        let aborted = fields.boolean()?;
        let Some(arriving) = &mut link.arriving else {
            let number = link.number(delivery_id.ok_or(TRANSFER_PARTS)?);
            if more && !aborted {
                link.arriving = Some(Arriving { number, settled, bytes: payload.to_vec() });
                return Ok(None);
            }
            link.received();
            let bytes = Cow::Borrowed(payload);
            let delivery = Delivery { lane, number, settled, bytes };
            return Ok((!aborted).then_some(Event::Delivery(delivery)));
        };
        if arriving.bytes.len() + payload.len() > MESSAGE_MAX {
            return Err(ConnectionError::MessageTooLarge { limit: MESSAGE_MAX });
        }
        arriving.bytes.extend_from_slice(payload);
        // The message may be settled by any of its frames.
        arriving.settled |= settled;
        if more && !aborted {
            return Ok(None);
        }
        let whole = link.arriving.take().filter(|_| !aborted);
        link.received();
        Ok(whole.map(|Arriving { number, settled, bytes }| {
            Event::Delivery(Delivery { lane, number, settled, bytes: Cow::Owned(bytes) })
        }))
    }

    /// Handles outcomes of sent messages.
    #[inline]
    pub(super) fn on_disposition(
        &mut self,
        channel: u16,
        mut fields: Fields<'_>,
    ) -> Result<Option<Event<'static>>, ConnectionError> {
        let lane = self.lane_of(channel, DISPOSITION)?;
        let is_of_receiver = fields.boolean()?;
        let first = fields.required_uint()?;
        let last = fields.uint()?.unwrap_or(first);
        let settled = fields.boolean()?;
        let state = fields.value()?;
        let Some(link) = self.lane(lane).and_then(Lane::sender).filter(|_| is_of_receiver) else {
            return Ok(None);
        };
        let Some(outcome) = outcome(state).filter(|_| settled) else { return Ok(None) };
        let position = |delivery_id| {
            link.position(delivery_id).ok_or(ConnectionError::UnknownMessage { lane, delivery_id })
        };
        let (first, last) = (position(first)?, position(last)?);
        if last < first {
            return Err(Malformed { what: "outcomes" }.into());
        }
        Ok(Some(Event::Settled { lane, first, last, outcome }))
    }

    /// Handles the window of a session and the credit of its sender.
    pub(super) fn on_flow(
        &mut self,
        channel: u16,
        mut fields: Fields<'_>,
    ) -> Result<Option<Event<'static>>, ConnectionError> {
        let lane = self.lane_of(channel, FLOW)?;
        let Some(state) = self.lane_mut(lane) else { return Ok(None) };
        let (next_incoming_id, incoming_window) = (fields.uint()?, fields.required_uint()?);
        let has_turned = state.window.flow(next_incoming_id, incoming_window);
        let is_blocked = state.window.is_blocked;
        // `next-outgoing-id`, `outgoing-window`
        fields.skip(2)?;
        let (handle, count, credit) = (fields.uint()?, fields.uint()?, fields.uint()?);
        // `available`, `drain`
        fields.skip(2)?;
        let echo = fields.boolean()?;
        if let (Link::Sender(link), Some(_)) = (&mut state.link, handle) {
            link.flow(count, credit.unwrap_or(0));
        }
        let is_sending = matches!(state.link, Link::Sender(_)) && state.stage == Stage::Attached;
        if echo {
            self.write_flow(lane);
        }
        Ok(is_sending.then_some(match (has_turned, is_blocked) {
            (true, true) => Event::Blocked { lane },
            (true, false) => Event::Unblocked { lane },
            (false, _) => Event::Room { lane },
        }))
    }
}

/// Returns the outcome that the state of a delivery is. A settled message without a state was accepted.
#[inline]
fn outcome(state: Value<'_>) -> Option<Outcome> {
    match state {
        Value::Null => Some(Outcome::Accepted),
        Value::Described(Descriptor::Code(code), _) => Outcome::from_code(code),
        _ => None,
    }
}
