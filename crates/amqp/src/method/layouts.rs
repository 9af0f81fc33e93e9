//! Test of the methods that are written: their bytes have the layout of `protocol/methods.rs`.

use rabbitscope_protocol::Input;

use super::{Handshake, Request, write_handshake, write_publish, write_request};
use crate::{
    frame::next_frame,
    protocol::methods::{Field, Method},
    table::Table,
    wire::Reader,
};

fn write_requests(out: &mut Vec<u8>) -> usize {
    let arguments = &Table::default();
    let (queue, exchange, routing_key, consumer_tag) = ("q", "e", "k", "t");
    let (destination, source) = ("d", "s");
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
    for request in &requests {
        write_request(out, 1, request);
    }
    requests.len()
}

fn write_handshakes(out: &mut Vec<u8>) -> usize {
    let handshakes = [
        Handshake::StartOk { properties: &Table::default(), mechanism: "PLAIN", response: b"r" },
        Handshake::TuneOk { channel_max: 1, frame_max: 1, heartbeat: 1 },
        Handshake::Open { vhost: "/" },
        Handshake::Close { code: 200, text: "t" },
        Handshake::CloseOk,
        Handshake::ChannelOpen,
        Handshake::ChannelFlowOk { active: true },
        Handshake::ChannelClose { code: 200, text: "t" },
        Handshake::ChannelCloseOk,
    ];
    for method in &handshakes {
        write_handshake(out, 1, method);
    }
    handshakes.len()
}

fn bytes_of(field: Field, reader: &mut Reader<'_>) -> usize {
    match field {
        Field::Octet | Field::Flags | Field::FlagsWithNoWait(_) => 1,
        Field::Short => 2,
        Field::Long => 4,
        Field::LongLong => 8,
        Field::ShortString => usize::from(reader.u8().unwrap()),
        Field::LongString | Field::Table => reader.u32().unwrap() as usize,
    }
}

/// Every method is written as its line in the table says.
#[test]
fn bytes_have_the_layout_of_the_table() {
    let mut written = Vec::new();
    let count = write_requests(&mut written) + write_handshakes(&mut written) + 1;
    write_publish(&mut written, 1, "e", "k", true);
    let (mut frames, mut read) = (Input::new(&written), 0);
    while let Some(frame) = next_frame(&mut frames, 4096).unwrap() {
        let mut reader = Reader::new(frame.payload);
        let id = (reader.u16().unwrap(), reader.u16().unwrap());
        let method = Method::find(id).unwrap();
        for field in method.fields {
            let bytes = bytes_of(*field, &mut reader);
            reader.bytes(bytes).unwrap();
        }
        assert!(reader.is_empty(), "{}", method.name);
        read += 1;
    }
    assert_eq!(read, count);
}
