//! Requests and messages to the output.

use super::{
    lane::{HANDLE, Lane, Link, Stage},
    receiver::{Receiver, ReceiverLink, low},
    sender::{FIRST, Sender, SenderLink},
    state::Connection,
    window::{FIRST_OUTGOING, INCOMING_WINDOW},
};
#[cfg(doc)]
use crate::event::{Delivery, Event};
use crate::{
    codec::{List, Write, end_frame, write_frame},
    message::{Content, Framing, Parts, Properties, append_parts},
    outcome::Outcome,
    protocol::{
        codes::{AMQP_FRAME, ATTACH, BEGIN, DETACH, DISPOSITION, END, FLOW, SOURCE, TARGET},
        constructors::{LIST_8, TRUE, UINT},
    },
};

/// `snd-settle-mode`: each message gets an outcome, or none.
const UNSETTLED: u8 = 0;
const SETTLED: u8 = 1;

/// `rcv-settle-mode`: the receiver settles with its first word.
const FIRST_WORD: u8 = 0;

/// Name of the link's property with the priority of a reader.
const PRIORITY: &str = "rabbitmq:priority";

/// Links for each session, less one.
const HANDLE_MAX: u32 = 255;

impl Connection {
    /// Begins a session and attaches a sender to it. [`Event::Attached`] or [`Event::Ended`] follows, and then
    /// [`Event::Room`].
    pub fn attach_sender(&mut self, lane: u16, sender: &Sender) {
        let address = sender.address.as_deref().unwrap_or_default();
        self.begin(lane, Lane::new(Link::Sender(SenderLink::new(sender)), address));
        write_frame(self.output.end(), AMQP_FRAME, lane, Some(ATTACH), |list| {
            begin_attach(list, (&sender.name, HANDLE), false, UNSETTLED);
            list.put(|out| put_terminus(out, SOURCE, Some(&sender.name), |_| {}));
            list.put(|out| put_terminus(out, TARGET, sender.address.as_deref(), |_| {}));
            // `unsettled`, `incomplete-unsettled`
            list.nulls(2);
            list.put(|out| out.put_uint(FIRST.0));
        });
    }

    /// Begins a session and attaches a receiver to it. [`Event::Attached`] or [`Event::Ended`] follows. The broker gets
    /// the credit once the receiver is attached.
    pub fn attach_receiver(&mut self, lane: u16, receiver: &Receiver) {
        let link = Link::Receiver(ReceiverLink::new(receiver));
        self.begin(lane, Lane::new(link, &receiver.address));
        let mode = if receiver.settled { SETTLED } else { UNSETTLED };
        write_frame(self.output.end(), AMQP_FRAME, lane, Some(ATTACH), |list| {
            begin_attach(list, (&receiver.name, HANDLE), true, mode);
            list.put(|out| {
                put_terminus(out, SOURCE, Some(&receiver.address), |list| {
                    // `durable`, `expiry-policy`, `timeout`, `dynamic`, its properties, `distribution-mode`
                    list.nulls(6);
                    if !receiver.filters.is_empty() {
                        list.put(|out| {
                            out.put_map(|map| {
                                receiver.filters.iter().for_each(|filter| filter.write(map));
                            });
                        });
                    }
                });
            });
            list.put(|out| put_terminus(out, TARGET, Some(&receiver.name), |_| {}));
            // `unsettled`, `incomplete-unsettled`, `initial-delivery-count`, `max-message-size`, capabilities
            list.nulls(6);
            if let Some(priority) = receiver.priority {
                list.put(|out| {
                    out.put_map(|map| {
                        map.put(|out| out.put_symbol(PRIORITY));
                        map.put(|out| out.put_int(priority));
                    });
                });
            }
        });
    }

    pub(super) fn begin(&mut self, lane: u16, state: Lane) {
        let index = usize::from(lane);
        if self.lanes.len() <= index {
            self.lanes.resize_with(index + 1, || None);
        }
        self.lanes[index] = Some(state);
        write_frame(self.output.end(), AMQP_FRAME, lane, Some(BEGIN), |list| {
            // `remote-channel`
            list.nulls(1);
            list.put(|out| out.put_uint(FIRST_OUTGOING.0));
            list.put(|out| out.put_uint(INCOMING_WINDOW));
            list.put(|out| out.put_uint(INCOMING_WINDOW));
            list.put(|out| out.put_uint(HANDLE_MAX));
        });
    }

    /// Detaches a link and ends its session. [`Event::Detached`] follows.
    pub fn detach(&mut self, lane: u16) {
        let Some(state) = self.lane_mut(lane) else { return };
        if state.stage < Stage::Detaching {
            state.stage = Stage::Detaching;
            self.write_detach(lane);
        }
    }

    pub(super) fn write_detach(&mut self, lane: u16) {
        write_frame(self.output.end(), AMQP_FRAME, lane, Some(DETACH), |list| {
            list.put(|out| out.put_uint(HANDLE));
            // `closed`
            list.put(|out| out.put_boolean(true));
        });
    }

    pub(super) fn write_end(&mut self, lane: u16) {
        write_frame(self.output.end(), AMQP_FRAME, lane, Some(END), |_| {});
    }

    /// Returns the messages that a sender may send: its credit, and the frames that its session's window takes.
    #[inline]
    pub fn room(&self, lane: u16) -> u64 {
        let Some(state) = self.lane(lane).filter(|state| state.stage == Stage::Attached) else {
            return 0;
        };
        state.sender().map_or(0, |link| link.fitting(state.window.room()).into())
    }

    /// Returns the frames of messages that the window of a session takes.
    pub fn window(&self, lane: u16) -> u32 {
        self.lane(lane).map_or(0, |state| state.window.room())
    }

    /// Returns the messages that a sender's credit permits.
    pub fn credit(&self, lane: u16) -> u32 {
        self.lane(lane).and_then(Lane::sender).map_or(0, SenderLink::credit)
    }

    /// Appends `count` messages, for which [`Connection::room`] must have room. Returns the part of each body that may
    /// differ, for the caller to fill.
    #[inline]
    pub fn publish(&mut self, content: &Content, count: usize) -> impl Iterator<Item = &mut [u8]> {
        let number = u32::try_from(count).unwrap_or(u32::MAX);
        let first = match self.lanes.get_mut(usize::from(content.lane())) {
            Some(Some(Lane { window, link: Link::Sender(link), .. })) => {
                debug_assert!(link.fitting(window.room()) >= number, "the sender has no room");
                window.sent(number.saturating_mul(content.frames()));
                link.send(number)
            }
            _ => FIRST.0,
        };
        content.append(&mut self.output, count, first)
    }

    /// Appends a message of a sender, for which [`Connection::room`] must have room, with `head` at the start of its
    /// body.
    #[inline]
    pub fn publish_parts(
        &mut self,
        lane: u16,
        properties: &Properties,
        parts: &Parts,
        head: &[u8],
    ) {
        let Some(Some(Lane { window, link: Link::Sender(link), .. })) =
            self.lanes.get_mut(usize::from(lane))
        else {
            return;
        };
        let framing = Framing { lane, frame_max: self.frame_max };
        let message = (properties, parts);
        let frames = append_parts(self.output.end(), framing, message, link.send(1), head);
        window.sent(frames);
    }

    /// Says the fate of received messages, from the first number to the last one.
    #[inline]
    pub fn settle(&mut self, lane: u16, first: u64, last: u64, outcome: Outcome) {
        let out = self.output.end();
        let at = out.len();
        out.extend_from_slice(&[0, 0, 0, 0, 2, AMQP_FRAME]);
        out.extend_from_slice(&lane.to_be_bytes());
        out.put_code(DISPOSITION);
        let state = outcome.encoded();
        // Its bytes are at most 20.
        let size = u8::try_from(1 + 1 + 5 + 5 + 1 + state.len()).unwrap_or(u8::MAX);
        // The role is that of the receiver.
        out.extend_from_slice(&[LIST_8, size, 5, TRUE]);
        for number in [first, last] {
            out.push(UINT);
            out.extend_from_slice(&low(number).0.to_be_bytes());
        }
        out.push(TRUE);
        out.extend_from_slice(state);
        end_frame(out, at);
    }

    /// Notes that `count` messages of a receiver were processed, so that the broker may send others.
    #[inline]
    pub fn processed(&mut self, lane: u16, count: u32) {
        let link = self.lane_mut(lane).and_then(Lane::receiver_mut);
        if link.is_some_and(|link| link.processed(count)) {
            self.write_flow(lane);
        }
    }

    /// Sets the messages that the broker may send ahead to a receiver.
    pub fn set_credit(&mut self, lane: u16, credit: u32) {
        let Some(state) = self.lane_mut(lane) else { return };
        let is_attached = state.stage == Stage::Attached;
        if let Some(link) = state.receiver_mut() {
            link.set_credit(credit);
            if is_attached {
                self.write_flow(lane);
            }
        }
    }

    /// Returns the names of the filters that the broker does not have in place.
    pub fn missing_filters(&self, lane: u16) -> &[&'static str] {
        match self.lane(lane).map(|state| &state.link) {
            Some(Link::Receiver(link)) => &link.filters,
            _ => &[],
        }
    }

    /// Tells the state of the session, and the credit of a receiver.
    pub(super) fn write_flow(&mut self, lane: u16) {
        let Some(Some(state)) = self.lanes.get_mut(usize::from(lane)) else { return };
        let window = state.window;
        let credit = state.receiver_mut().map(ReceiverLink::tell_credit);
        write_frame(self.output.end(), AMQP_FRAME, lane, Some(FLOW), |list| {
            list.put(|out| out.put_uint(window.next_incoming.0));
            list.put(|out| out.put_uint(INCOMING_WINDOW));
            list.put(|out| out.put_uint(window.next_outgoing.0));
            list.put(|out| out.put_uint(INCOMING_WINDOW));
            if let Some((count, credit)) = credit {
                list.put(|out| out.put_uint(HANDLE));
                list.put(|out| out.put_uint(count));
                list.put(|out| out.put_uint(credit));
            }
        });
    }
}

/// Appends the fields of `attach` up to the termini.
pub(super) fn begin_attach(
    list: &mut List,
    (name, handle): (&str, u32),
    is_receiver: bool,
    mode: u8,
) {
    list.put(|out| out.put_text(name));
    list.put(|out| out.put_uint(handle));
    list.put(|out| out.put_boolean(is_receiver));
    list.put(|out| out.put_ubyte(mode));
    list.put(|out| out.put_ubyte(FIRST_WORD));
}

pub(super) fn put_terminus(
    out: &mut Vec<u8>,
    code: u8,
    address: Option<&str>,
    write: impl FnOnce(&mut List),
) {
    out.put_code(code);
    out.put_list(|list| {
        list.put_some(address, Vec::put_text);
        write(list);
    });
}
