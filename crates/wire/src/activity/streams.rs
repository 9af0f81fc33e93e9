//! Commands of streams, as events. A publisher's events have its number as their channel; those of a reader its number
//! behind all publishers. Publishing ids become numbers that count up.

use rustc_hash::FxHashMap;

use super::{
    action::{Action, Client, Published, SettledRange, Settlement},
    event::Event,
    links::{Attach, Chunk, OfStream, Place, Start, StoredOffset},
    method::group,
    properties::{Content, Properties},
};
use crate::protocols::{
    ArgumentBytes, ContentHeader, Details, Frame, StreamChunk, StreamPublish, stream_entries,
};
use crate::report::Side;

/// Channel of the reader with number 0.
const READERS: u16 = 256;
/// Code of an answer that is no refusal, and the maximum of requests that wait for one.
const ACCEPTED: u32 = 1;
const ASKED_MAX: usize = 1024;
/// Maximum of unconfirmed entries of a connection that are followed.
const OPEN_MAX: usize = 65_536;
/// Maximum of messages of a frame, of which a hostile one may claim any number.
const MESSAGES_MAX: u64 = 262_144;
/// Bytes of a message in an entry of several, beside its body: its length, and the head of a short or long section.
const SHORT_HEAD: u32 = 4 + 5;
const LONG_HEAD: u32 = 4 + 8;
/// Length of a text that is absent.
const NO_TEXT: u16 = 0xffff;

/// State of a connection.
#[derive(Debug, Default)]
pub(super) struct Publishers {
    /// Number of the last message of each publisher.
    last: FxHashMap<u8, u64>,
    /// First number and count of the messages of unconfirmed entries, by publisher and publishing id.
    open: FxHashMap<(u8, u64), (u64, u16)>,
    /// Publishers and readers that the broker has not answered, by the number of the request.
    asked: FxHashMap<u32, u16>,
}

impl Publishers {
    /// Processes the next command.
    pub(super) fn frame(&mut self, frame: &Frame<'_>, each: &mut impl FnMut(&Event<'_>)) {
        let found = match (frame.sender, frame.kind, &frame.details) {
            (Side::Client, "publish", Details::StreamPublish(publish)) => {
                return self.publish(frame, *publish, each);
            }
            (Side::Broker, "publish-confirm", Details::StreamPublish(answer)) => {
                return self.settle(frame, (answer.publisher, Settlement::Ack), each);
            }
            (Side::Broker, "publish-error", Details::StreamPublish(answer)) => {
                let refused = Settlement::Nack { requeue: false };
                return self.settle(frame, (answer.publisher, refused), each);
            }
            (Side::Broker, "deliver", Details::StreamChunk(chunk)) => Some(deliver(*chunk)),
            (Side::Client, "peer-properties", _) => Some((0, introduction(frame.arguments))),
            (Side::Client, "open", _) => vhost(frame.arguments),
            (Side::Client, "declare-publisher", _) => self.declare(frame.arguments),
            (Side::Client, "subscribe", _) => subscribe(frame.arguments),
            (Side::Client, "delete-publisher", _) => {
                let publisher = frame.arguments.first();
                publisher.map(|publisher| (u16::from(*publisher), Action::Detach))
            }
            (Side::Client, "unsubscribe", _) => {
                let reader = frame.arguments.first();
                reader.map(|reader| (READERS + u16::from(*reader), Action::Detach))
            }
            (Side::Client, "credit", _) => credit(frame.arguments),
            (Side::Client, "store-offset", _) => stored(frame.arguments),
            (Side::Broker, "declare-publisher-response" | "subscribe-response", _) => {
                self.refused(frame)
            }
            (_, "heartbeat", _) => Some((0, Action::Ping)),
            _ => None,
        };
        if let Some((link, action)) = found {
            if let Action::Attach(_) = action {
                self.ask(frame, link);
            }
            each(&Event::of_link(frame, link, action));
        }
    }

    fn ask(&mut self, frame: &Frame<'_>, link: u16) {
        let Details::StreamCommand(command) = frame.details else { return };
        if let Some(request) = command.correlation.filter(|_| self.asked.len() < ASKED_MAX) {
            self.asked.insert(request, link);
        }
    }

    /// Returns the publisher or reader that the broker refuses.
    fn refused(&mut self, frame: &Frame<'_>) -> Option<(u16, Action<'static>)> {
        let Details::StreamCommand(command) = frame.details else { return None };
        let link = self.asked.remove(&command.correlation?)?;
        (frame.reply?.code? != ACCEPTED).then_some((link, Action::Detach))
    }

    /// Records that frames were missed. Confirms of messages of before are ignored.
    pub(super) fn forget(&mut self) {
        self.asked.clear();
        self.open.clear();
    }

    fn declare<'a>(&mut self, arguments: &'a [u8]) -> Option<(u16, Action<'a>)> {
        let mut rest = ArgumentBytes::new(arguments);
        let publisher = rest.u8()?;
        let (reference, stream) = (text(&mut rest)?, text(&mut rest)?);
        self.last.insert(publisher, 0);
        self.open.retain(|(of, _), _| *of != publisher);
        let has_reference = !reference.is_empty();
        let attach = Attach { has_reference, ..of_stream(stream, false) };
        Some((u16::from(publisher), Action::Attach(attach)))
    }

    fn publish(
        &mut self,
        frame: &Frame<'_>,
        publish: StreamPublish,
        each: &mut impl FnMut(&Event<'_>),
    ) {
        let publisher = publish.publisher;
        let mut ids = frame
            .identifiers
            .iter()
            .flat_map(|run| (run.first..=run.first.saturating_add(run.count - 1)).map(Some));
        let mut left = MESSAGES_MAX;
        for entry in stream_entries(frame.arguments) {
            let messages = entry.messages.unwrap_or(1).max(1);
            let of_stream = OfStream {
                of_entry: entry.messages,
                codec: entry.codec,
                has_filter: publish.has_filters,
                is_data: entry.is_data,
            };
            let content = content(body_bytes(entry.messages, entry.bytes), of_stream);
            for _ in 0..entry.count {
                let id = ids.next().flatten();
                let Some(rest) = left.checked_sub(u64::from(messages)) else { return };
                left = rest;
                let first = self.number(publisher, id, messages);
                for place in 0..u64::from(messages) {
                    let number = Some(first + place);
                    let (exchange, routing_key, mandatory) = (&[][..], &[][..], false);
                    let action = Action::Publish(Published {
                        exchange,
                        routing_key,
                        mandatory,
                        number,
                        content,
                    });
                    each(&Event::of_link(frame, u16::from(publisher), action));
                }
            }
        }
    }

    /// Returns the number of the first message of an entry.
    fn number(&mut self, publisher: u8, id: Option<u64>, messages: u16) -> u64 {
        let last = self.last.entry(publisher).or_default();
        let first = *last + 1;
        *last += u64::from(messages);
        if let Some(id) = id {
            if self.open.len() >= OPEN_MAX {
                self.open.clear();
            }
            self.open.insert((publisher, id), (first, messages));
        }
        first
    }

    fn settle(
        &mut self,
        frame: &Frame<'_>,
        (publisher, settlement): (u8, Settlement),
        each: &mut impl FnMut(&Event<'_>),
    ) {
        let mut run: Option<(u64, u64)> = None;
        let mut tell = |(first, last): (u64, u64)| {
            let action = Action::SettleRange(SettledRange { first, last, settlement });
            each(&Event::of_link(frame, u16::from(publisher), action));
        };
        let ids = frame
            .identifiers
            .iter()
            .flat_map(|of| of.first..=of.first.saturating_add(of.count - 1));
        for id in ids {
            let Some((first, messages)) = self.open.remove(&(publisher, id)) else { continue };
            let last = first + u64::from(messages) - 1;
            run = match run {
                Some((begin, end)) if end + 1 == first => Some((begin, last)),
                Some(ended) => {
                    tell(ended);
                    Some((first, last))
                }
                None => Some((first, last)),
            };
        }
        run.into_iter().for_each(tell);
    }
}

fn content(body_bytes: u32, stream: OfStream) -> Content {
    let header = ContentHeader {
        body_bytes: u64::from(body_bytes),
        is_read: true,
        ..ContentHeader::default()
    };
    let properties = Some(Properties::default());
    Content { header, properties, stream: Some(stream), ..Content::default() }
}

/// Returns the bytes of a body. Of an entry of several messages it is the mean.
fn body_bytes(messages: Option<u16>, bytes: u32) -> u32 {
    let Some(messages) = messages else { return bytes };
    let mean = bytes / u32::from(messages.max(1));
    let head = if mean > SHORT_HEAD + 255 { LONG_HEAD } else { SHORT_HEAD };
    mean.saturating_sub(head)
}

fn deliver(chunk: StreamChunk) -> (u16, Action<'static>) {
    let StreamChunk { subscription, messages, data_bytes: bytes, .. } = chunk;
    (READERS + u16::from(subscription), Action::Chunk(Chunk { messages, bytes }))
}

const fn of_stream(stream: &[u8], is_reader: bool) -> Attach<'_> {
    Attach {
        is_reader,
        place: Place::Stream(stream),
        is_settled: false,
        credit: None,
        has_reference: false,
        start: None,
        name: &[],
        is_single_active: false,
        filters: 0,
        priority: None,
    }
}

fn text<'a>(rest: &mut ArgumentBytes<'a>) -> Option<&'a [u8]> {
    match rest.u16()? {
        NO_TEXT => Some(&[]),
        length => rest.bytes(usize::from(length)),
    }
}

fn pairs(mut rest: ArgumentBytes<'_>) -> impl Iterator<Item = (&[u8], &[u8])> {
    let mut left = rest.u32().unwrap_or(0);
    core::iter::from_fn(move || {
        left = left.checked_sub(1)?;
        Some((text(&mut rest)?, text(&mut rest)?))
    })
}

fn introduction(arguments: &[u8]) -> Action<'_> {
    let (mut client, mut name) = (Client::default(), &[][..]);
    for (key, value) in pairs(ArgumentBytes::new(arguments)) {
        match key {
            b"product" => client.product = value,
            b"version" => client.version = value,
            b"platform" => client.platform = value,
            b"connection_name" => name = value,
            _ => {}
        }
    }
    client.group = group(client.product, name);
    Action::Start(client)
}

fn vhost(arguments: &[u8]) -> Option<(u16, Action<'_>)> {
    Some((0, Action::Open(text(&mut ArgumentBytes::new(arguments))?)))
}

fn subscribe(arguments: &[u8]) -> Option<(u16, Action<'_>)> {
    let mut rest = ArgumentBytes::new(arguments);
    let (reader, stream, offset) = (rest.u8()?, text(&mut rest)?, rest.u16()?);
    let start = match offset {
        1 => Start::First,
        2 => Start::Last,
        3 => Start::Next,
        _ => {
            rest.u64()?;
            Start::Other
        }
    };
    let (credit, start) = (Some(rest.u16()?), Some(start));
    let mut attach = Attach { credit, start, ..of_stream(stream, true) };
    for (key, value) in pairs(rest) {
        match key {
            b"name" => attach.name = value,
            b"single-active-consumer" => attach.is_single_active = value == b"true",
            key if key.starts_with(b"filter.") => attach.filters = attach.filters.saturating_add(1),
            _ => {}
        }
    }
    Some((READERS + u16::from(reader), Action::Attach(attach)))
}

fn credit(arguments: &[u8]) -> Option<(u16, Action<'_>)> {
    let mut rest = ArgumentBytes::new(arguments);
    let reader = rest.u8()?;
    Some((READERS + u16::from(reader), Action::Credit(u32::from(rest.u16()?))))
}

fn stored(arguments: &[u8]) -> Option<(u16, Action<'_>)> {
    let mut rest = ArgumentBytes::new(arguments);
    let (name, stream) = (text(&mut rest)?, text(&mut rest)?);
    Some((0, Action::StoreOffset(StoredOffset { name, stream })))
}
