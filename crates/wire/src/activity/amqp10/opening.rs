//! Fields of `open`, `attach` and `flow` (part 2, section 2.7).

use super::super::{
    action::Client,
    links::{Attach, Place, Start},
    method::group,
};
use crate::protocols::{Amqp10Content as Content, Amqp10Elements as Elements};

/// Beginning of the `hostname` by which a client chooses the virtual host.
const VHOST: &[u8] = b"vhost:";
/// Descriptor of the target of transactions.
const COORDINATOR: u64 = 0x30;
/// `snd-settle-mode` of a link whose messages are all settled when they are sent.
const SETTLED: u32 = 1;
/// Places of fields: the properties of `open`, the filter of a source.
const OPEN_PROPERTIES: usize = 9;
const FILTER: usize = 7;
/// Names by which RabbitMQ knows the begin in a stream, and the priority of a reader.
const OFFSET: &[u8] = b"rabbitmq:stream-offset-spec";
const PRIORITY: &[u8] = b"rabbitmq:priority";

/// Returns the client and the virtual host of an `open`. A virtual host that is not named is the default one.
pub(super) fn open(fields: &[u8]) -> (Client<'_>, Option<&[u8]>) {
    let mut elements = Elements::new(fields);
    let (container, host) = (elements.text().unwrap_or_default(), elements.text());
    let properties = elements.nth(OPEN_PROPERTIES - 2).map(|element| element.content);
    let mut client = Client::default();
    if let Some(Content::Map(mut pairs)) = properties {
        while let (Some(key), Some(value)) = (pairs.next(), pairs.next()) {
            let (Content::Text(key), Content::Text(value)) = (key.content, value.content) else {
                continue;
            };
            match key {
                b"product" => client.product = value,
                b"version" => client.version = value,
                b"platform" => client.platform = value,
                _ => {}
            }
        }
    }
    client.group = group(client.product, container);
    (client, host.and_then(|host| host.strip_prefix(VHOST)))
}

/// An `attach` of either side.
#[derive(Debug)]
pub(super) struct Link<'a> {
    pub(super) name: &'a [u8],
    pub(super) handle: u32,
    /// True if the sender of the `attach` receives messages.
    pub(super) is_receiver: bool,
    pub(super) attach: Attach<'a>,
}

pub(super) fn attach(fields: &[u8]) -> Option<Link<'_>> {
    let mut elements = Elements::new(fields);
    let (name, handle) = (elements.text()?, elements.unsigned()?);
    let is_receiver = matches!(elements.content(), Content::Bool(true));
    let is_settled = elements.unsigned() == Some(SETTLED);
    elements.next();
    let [source, target] = [elements.next(), elements.next()];
    let place = if is_receiver { source } else { target };
    let mut attach = Attach {
        is_reader: is_receiver,
        place: Place::PerMessage,
        is_settled,
        credit: None,
        has_reference: false,
        start: None,
        name: &[],
        is_single_active: false,
        filters: 0,
        priority: None,
    };
    match place.map(|element| (element.descriptor, element.content)) {
        Some((Some(COORDINATOR), _)) => attach.place = Place::Transactions,
        Some((_, Content::List(terminus))) => read_terminus(&mut attach, terminus),
        _ => {}
    }
    // Unsettled messages, the flag that they are incomplete, delivery count, largest message, capabilities.
    if let Some(Content::Map(mut pairs)) = elements.nth(6).map(|element| element.content) {
        while let (Some(key), Some(value)) = (pairs.next(), pairs.next()) {
            if let (Content::Text(PRIORITY), Content::Number(priority)) =
                (key.content, value.content)
            {
                attach.priority = i64::try_from(priority).ok();
            }
        }
    }
    Some(Link { name, handle, is_receiver, attach })
}

fn read_terminus<'a>(attach: &mut Attach<'a>, mut terminus: Elements<'a>) {
    if let Some(address) = terminus.text() {
        attach.place = Place::Address(address);
    }
    let filter = terminus.nth(FILTER - 1).map(|element| element.content);
    let Some(Content::Map(mut pairs)) = filter.filter(|_| attach.is_reader) else { return };
    while let (Some(key), Some(value)) = (pairs.next(), pairs.next()) {
        match (key.content, value.content) {
            (Content::Text(OFFSET), of) => {
                attach.start = Some(match of {
                    Content::Text(b"first") => Start::First,
                    Content::Text(b"last") => Start::Last,
                    Content::Text(b"next") => Start::Next,
                    _ => Start::Other,
                });
            }
            _ => attach.filters = attach.filters.saturating_add(1),
        }
    }
}

/// Returns handle and credit of a `flow`; none if it is that of a session only.
pub(super) fn flow(fields: &[u8]) -> Option<(u32, u32)> {
    let mut elements = Elements::new(fields);
    let handle = elements.nth(4)?;
    let Content::Number(handle) = handle.content else { return None };
    elements.next();
    Some((u32::try_from(handle).ok()?, elements.unsigned()?))
}

/// Returns whether a `disposition` with `modified` keeps messages from their queue: `undeliverable-here`.
pub(super) fn is_undeliverable(fields: &[u8]) -> bool {
    let state = Elements::new(fields).nth(4).map(|element| element.content);
    let Some(Content::List(mut modified)) = state else { return false };
    let field = modified.nth(1).map(|element| element.content);
    matches!(field, Some(Content::Bool(true)))
}

/// Returns the handle of a `detach`.
pub(super) fn detach(fields: &[u8]) -> Option<u32> {
    Elements::new(fields).unsigned()
}
