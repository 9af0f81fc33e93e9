//! A client of AMQP for single steps, and frames as bytes.

use std::time::Duration;

use rabbitscope_amqp::{Event, Properties, Request, Table, Uri, blocking::Client};

/// Connects, and opens a channel, which is the first.
pub fn connect(uri: &str) -> (Client, u16) {
    let uri = Uri::parse(uri).unwrap();
    let mut client = Client::connect(&uri, "an application", Duration::from_secs(60)).unwrap();
    let channel = client.open_channel().unwrap();
    (client, channel)
}

/// Declares a durable queue, or looks for one if `passive`.
pub fn durable_queue<'a>(queue: &'a str, passive: bool, arguments: &'a Table) -> Request<'a> {
    let (durable, exclusive, auto_delete) = (true, false, false);
    Request::QueueDeclare { queue, passive, durable, exclusive, auto_delete, arguments }
}

/// Consumes with acknowledgements.
pub fn consume<'a>(queue: &'a str, arguments: &'a Table) -> Request<'a> {
    let (no_local, auto_ack, exclusive) = (false, false, false);
    Request::Consume { queue, consumer_tag: "test", no_local, auto_ack, exclusive, arguments }
}

/// Takes the first message of a queue.
pub fn take(client: &mut Client, channel: u16, queue: &str) -> Option<(Properties, Vec<u8>)> {
    client.send(channel, &Request::Get { queue, auto_ack: true });
    let got = client.wait(|event| match event {
        Event::Got { delivery, .. } => {
            let properties = Properties::parse(&delivery.properties).unwrap();
            Some(Ok(Some((properties, delivery.body.into_owned()))))
        }
        Event::GetEmpty { .. } => Some(Ok(None)),
        _ => None,
    });
    got.unwrap()
}

/// Encodes a frame.
pub fn encode_frame(kind: u8, channel: u16, payload: &[u8]) -> Vec<u8> {
    [&[kind][..], &channel.to_be_bytes(), &with_length(payload), &[0xce]].concat()
}

/// Returns four bytes of length, and the bytes.
pub fn with_length(bytes: &[u8]) -> Vec<u8> {
    [&u32::try_from(bytes.len()).unwrap().to_be_bytes()[..], bytes].concat()
}
