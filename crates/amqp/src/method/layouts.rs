//! Test of the methods that are written: their bytes have the layout of `protocol/methods.rs`.

use super::{Handshake, Request, write_handshake, write_publish, write_request};
use crate::{
    frame::Frames,
    protocol::methods::{Field, Method},
    table::Table,
    wire::Reader,
};

/// Every method is written as its line in the table says.
#[test]
fn bytes_have_the_layout_of_the_table() {
    let (none, mut written) = (Table::default(), Vec::new());
    let (queue, exchange, routing_key, consumer_tag) = ("q", "e", "k", "t");
    let (destination, source, arguments) = ("d", "s", &none);
    let [passive, durable, exclusive, auto_delete, internal, if_unused, if_empty] = [true; 7];
    let requests = [
        Request::ExchangeDeclare {
            exchange,
            kind: "fanout",
            passive,
            durable,
            auto_delete,
            internal,
            arguments,
        },
        Request::ExchangeDelete { exchange, if_unused },
        Request::ExchangeBind { destination, source, routing_key, arguments },
        Request::ExchangeUnbind { destination, source, routing_key, arguments },
        Request::QueueDeclare { queue, passive, durable, exclusive, auto_delete, arguments },
        Request::QueueBind { queue, exchange, routing_key, arguments },
        Request::QueueUnbind { queue, exchange, routing_key, arguments },
        Request::QueuePurge { queue },
        Request::QueueDelete { queue, if_unused, if_empty },
        Request::Qos { prefetch: 1, global: true },
        Request::Consume {
            queue,
            consumer_tag,
            no_local: true,
            auto_ack: true,
            exclusive,
            arguments,
        },
        Request::Cancel { consumer_tag },
        Request::Get { queue, auto_ack: true },
        Request::Ack { delivery_tag: 1, multiple: true },
        Request::Nack { delivery_tag: 1, multiple: true, requeue: true },
        Request::Reject { delivery_tag: 1, requeue: true },
        Request::Recover { requeue: true },
        Request::Flow { active: true },
        Request::ConfirmSelect,
        Request::TxSelect,
        Request::TxCommit,
        Request::TxRollback,
    ];
    let handshakes = [
        Handshake::StartOk { properties: &none, mechanism: "PLAIN", response: b"r" },
        Handshake::TuneOk { channel_max: 1, frame_max: 1, heartbeat: 1 },
        Handshake::Open { vhost: "/" },
        Handshake::Close { code: 200, text: "t" },
        Handshake::CloseOk,
        Handshake::ChannelOpen,
        Handshake::ChannelFlowOk { active: true },
        Handshake::ChannelClose { code: 200, text: "t" },
        Handshake::ChannelCloseOk,
    ];
    requests.iter().for_each(|request| write_request(&mut written, 1, request));
    handshakes.iter().for_each(|method| write_handshake(&mut written, 1, method));
    write_publish(&mut written, 1, exchange, routing_key, true);
    let mut frames = Frames::new(&written);
    let mut read = 0;
    while let Some(frame) = frames.next(4096).unwrap() {
        let mut reader = Reader::new(frame.payload);
        let id = (reader.u16().unwrap(), reader.u16().unwrap());
        let method = Method::find(id).unwrap();
        for field in method.fields {
            let bytes = match field {
                Field::Octet | Field::Flags | Field::FlagsWithNoWait(_) => 1,
                Field::Short => 2,
                Field::Long => 4,
                Field::LongLong => 8,
                Field::ShortString => usize::from(reader.u8().unwrap()),
                Field::LongString | Field::Table => reader.u32().unwrap() as usize,
            };
            reader.bytes(bytes).unwrap();
        }
        assert!(reader.is_empty(), "{}", method.name);
        read += 1;
    }
    assert_eq!(read, requests.len() + handshakes.len() + 1);
}
