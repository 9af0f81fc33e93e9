//! Clients of the stream protocol.

use rabbitscope_runs::scenario::{Algorithm, Protocol};
use rabbitscope_wire::{
    activity::{
        Action, Attach, Chunk, Content, OfStream, Place, Properties, Published, Settlement, Start,
        StoredOffset,
    },
    protocols::{self, ContentHeader},
    report::Side,
};

use super::{
    super::talk::{MILLIS, SECOND},
    talk::{Links, begin, one_line, text_of, written},
};
use crate::{Measurements, Topology, anonymous, compare, model};

/// Channel of the reader with number 0.
const READERS: u16 = 256;

fn links() -> Links {
    Links::new(protocols::Protocol::RabbitmqStream)
}

fn message(number: u64, body_bytes: u64, stream: OfStream) -> Action<'static> {
    let header = ContentHeader { body_bytes, ..ContentHeader::default() };
    let (properties, stream) = (Some(Properties::default()), Some(stream));
    let content = Content { header, properties, stream, ..Content::default() };
    let (exchange, routing_key, mandatory) = (&b""[..], &b""[..], false);
    Action::Publish(Published { exchange, routing_key, mandatory, number: Some(number), content })
}

const PLAIN: OfStream = OfStream { of_entry: None, codec: 0, has_filter: false, is_data: true };

fn stream(name: &'static [u8], is_reader: bool) -> Attach<'static> {
    begin(Place::Stream(name), is_reader)
}

impl Links {
    /// Publishes by a timer for 20 s, each message confirmed after a millisecond.
    fn publish(&mut self, link: (u64, u16), gap: u64, of: OfStream) {
        let each = u64::from(of.of_entry.unwrap_or(1));
        for round in 1..20 * SECOND / gap {
            let (at, first) = (round * gap + link.0 * 777_777, (round - 1) * each + 1);
            for number in first..first + each {
                self.step(at, link, Side::Client, message(number, 200, of));
            }
            let range = (first, first + each - 1);
            self.settle(at + MILLIS, link, Side::Broker, range, Settlement::Ack);
        }
    }

    /// Delivers chunks of four messages each 100 ms, whose credit comes back after a time.
    fn read(&mut self, link: (u64, u16), after: u64) {
        for number in 1..190 {
            let at = number * 100 * MILLIS;
            let chunk = Chunk { messages: 4, bytes: 4 * 209 };
            self.step(at, link, Side::Broker, Action::Chunk(chunk));
            self.step(at + after, link, Side::Client, Action::Credit(1));
        }
    }
}

#[test]
fn publishers_and_readers_come_back_with_their_streams() {
    let mut links = links();
    let connection = links.client("rstream", None);
    for number in 0..2 {
        let name = if number == 0 { &b"invoices-0"[..] } else { b"invoices-1" };
        links.attach((connection, number), Attach { has_reference: true, ..stream(name, false) });
        links.publish((connection, number), 20 * MILLIS, PLAIN);
    }
    let reader = links.client("rstream", None);
    for number in 0..2 {
        let name = if number == 0 { &b"invoices-0"[..] } else { b"invoices-1" };
        let link = (reader, READERS + number);
        let (credit, start) = (Some(5), Some(Start::First));
        links.attach(link, Attach { credit, start, ..stream(name, true) });
        links.read(link, 40 * MILLIS);
    }
    let (text, scenario) = links.scenario(Topology::default());
    let [publishers] = &scenario.publishers[..] else { panic!("{text}") };
    assert_eq!((publishers.protocol, publishers.reference), (Protocol::Stream, true), "{text}");
    assert_eq!((publishers.count, publishers.connections), (2, 1), "{text}");
    assert_eq!(
        (publishers.size, publishers.queue.as_deref()),
        (Some(200), Some("invoices-{}")),
        "{text}"
    );
    assert!(
        (publishers.rate.unwrap() / 50.0 - 1.0).abs() < 0.03 && publishers.has_confirms(),
        "{text}"
    );
    let [readers] = &scenario.consumers[..] else { panic!("{text}") };
    assert_eq!(
        (readers.protocol, readers.credit, readers.count),
        (Protocol::Stream, Some(5), 2),
        "{text}"
    );
    assert!(text.contains("offset = \"first\""), "{text}");
    // Four messages take 40 ms.
    let time = readers.processing_time.unwrap().as_secs_f64();
    assert!((time / 0.01 - 1.0).abs() < 0.05, "{text}");
    let queues: Vec<_> = scenario.queues.iter().map(|queue| &queue.name[..]).collect();
    assert_eq!(queues, ["invoices-{}"], "{text}");
    assert!(
        text.contains("2 publishers by the stream protocol on 1 connection of rstream"),
        "{text}"
    );
    assert!(!text.contains("Not expressed"), "{text}");
}

#[test]
fn entries_of_several_messages_come_back_with_their_compression() {
    for (codec, expected) in [(0, None), (1, Some(Algorithm::Gzip)), (4, Some(Algorithm::Zstd))] {
        let mut links = links();
        let connection = links.client("java", None);
        links.attach((connection, 0), stream(b"s", false));
        let of = OfStream { of_entry: Some(10), codec, ..PLAIN };
        links.publish((connection, 0), 100 * MILLIS, of);
        let (text, scenario) = links.scenario(Topology::default());
        let group = &scenario.publishers[0];
        assert_eq!((group.sub_entry_size, group.size), (Some(10), Some(200)), "{text}");
        assert_eq!(group.packing().compression.map(|of| of.algorithm), expected, "{text}");
        let [phase] = group.phases[..] else { panic!("{text}") };
        assert_eq!(phase.burst, Some(10), "{text}");
    }
}

#[test]
fn readers_store_offsets_and_take_turns() {
    let mut links = links();
    for number in 0..3 {
        let reader = links.client("java", None);
        let is_single_active = number < 2;
        let name = if is_single_active { &b"billing"[..] } else { b"" };
        let credit = Some(10);
        let attach = Attach { credit, name, is_single_active, ..stream(b"s", true) };
        links.attach((reader, READERS), attach);
        if number != 1 {
            links.read((reader, READERS), MILLIS / 10);
        }
        if number == 2 {
            for round in 1..10 {
                let (name, stream) = (&b"audit"[..], &b"s"[..]);
                let stored = Action::StoreOffset(StoredOffset { name, stream });
                links.step(round * 2 * SECOND, (reader, 0), Side::Client, stored);
            }
        }
    }
    let (text, scenario) = links.scenario(Topology::default());
    let of = |name: &str| {
        let mut groups = scenario.consumers.iter();
        groups.find(|group| group.consumer_name.as_deref() == Some(name)).unwrap()
    };
    assert_eq!((of("billing").count, of("billing").single_active_consumer), (2, true), "{text}");
    let audit = of("audit");
    assert_eq!((audit.single_active_consumer, audit.store_every), (false, Some(84)), "{text}");
    let (mut flows, mut topology) = (links.flows(), Topology::default());
    assert_eq!(anonymous(&mut flows, &mut topology), 0);
    let (text, _) = written(&model(&mut flows, topology));
    assert!(!text.contains("billing") && !text.contains("audit"), "{text}");
}

/// A running node, with the publisher and the reader of the first connection.
const NODE: &str = r#"{
  "queues": [{"name":"known","vhost":"v","durable":true,"auto_delete":false,
    "arguments":{"x-queue-type":"stream","x-max-age":"1D"}}],
  "consumers": [
    {"vhost":"v","queue":"known","consumer_tag":"stream.subid-4","exclusive":false,"ack_required":false,
     "prefetch_count":0,"channel":0,"peer":"127.0.0.1:40000","protocol":"stream"}],
  "publishers": [{"vhost":"v","stream":"known","number":7,"has_reference":true,"peer":"127.0.0.1:40000"}]}"#;

#[test]
fn clients_joined_in_their_middle_have_the_streams_that_the_node_tells() {
    let mut links = links();
    let connection = links.connection(false);
    links.publish((connection, 7), 20 * MILLIS, PLAIN);
    links.read((connection, READERS + 4), 40 * MILLIS);
    let (text, scenario) = links.scenario(Topology::from_definitions(NODE).unwrap());
    let (publishers, readers) = (&scenario.publishers[0], &scenario.consumers[0]);
    assert_eq!(
        (publishers.queue.as_deref(), publishers.reference),
        (Some("known"), true),
        "{text}"
    );
    assert_eq!((&readers.queue[..], readers.credit), ("known", Some(1)), "{text}");
    assert!(text.contains("Assumed: the capture does not show the credit"), "{text}");
    assert!(text.contains("x-max-age"), "{text}");
    let model = model(&mut links.flows(), Topology::default());
    assert_eq!(model.groups(), 0);
    let text = one_line(&text_of(&model));
    assert!(text.contains("999 messages to queues of unknown names are left out"), "{text}");
    assert!(text.contains("1 readers of streams of unknown queues are left out"), "{text}");
}

#[test]
fn parts_that_a_scenario_lacks_are_listed() {
    let mut links = links();
    let connection = links.client("java", None);
    links.attach((connection, 0), stream(b"s", false));
    links.publish(
        (connection, 0),
        200 * MILLIS,
        OfStream { has_filter: true, is_data: false, ..PLAIN },
    );
    links.attach((connection, 1), stream(b"s", false));
    links.publish((connection, 1), 200 * MILLIS, OfStream { of_entry: Some(2), codec: 2, ..PLAIN });
    let refused = Settlement::Nack { requeue: false };
    links.settle(SECOND, (connection, 0), Side::Broker, (1, 2), refused);
    let attach =
        Attach { credit: Some(1), start: Some(Start::Other), filters: 1, ..stream(b"s", true) };
    links.attach((connection, READERS), attach);
    links.attach((connection, READERS + 1), stream(b"none", true));
    links.step(3, (connection, READERS + 1), Side::Broker, Action::Detach);
    let (text, _) = links.scenario(Topology::default());
    for part in [
        "99 messages of streams have values for filters",
        "99 messages of streams have more than a section of data",
        "198 messages of streams are compressed by snappy",
        "2 messages by AMQP 1.0 or of streams were refused",
        "1 readers by AMQP 1.0 or of streams were refused",
        "1 readers of streams began at a number or a time",
        "1 filters of readers",
    ] {
        assert!(one_line(&text).contains(part), "{part}\n{text}");
    }
    assert!(!text.contains("none"), "{text}");
}

/// A publisher and a reader of these groups.
fn two_clients(groups: [Option<&'static str>; 2], gap: u64) -> Links {
    let mut links = links();
    let publisher = links.client("rabbitscope", groups[0]);
    links.attach((publisher, 1), stream(b"s", false));
    links.publish((publisher, 1), gap, PLAIN);
    let reader = links.client("rabbitscope", groups[1]);
    links.attach((reader, READERS), Attach { credit: Some(10), ..stream(b"s", true) });
    links.read((reader, READERS), 20 * MILLIS);
    links
}

#[test]
fn clients_of_a_run_belong_to_the_groups_of_their_names() {
    let mut flows = two_clients([None, None], 20 * MILLIS).flows();
    let model = model(&mut flows, Topology::default());
    let source = Measurements::from_model(&model, &flows);
    let (_, scenario) = written(&model);
    let check = |groups, gap, expected: &[&str]| {
        let flows = two_clients(groups, gap).flows();
        let likeness = compare(&source, &Measurements::from_run(&flows, &source, &scenario));
        assert_eq!(likeness.different_groups(), expected, "{}", likeness.text());
    };
    let of_run = [Some("publishers-1"), Some("consumers-1")];
    check(of_run, 20 * MILLIS, &[]);
    check(of_run, 30 * MILLIS, &["publishers-1"]);
    check([None, Some("other")], 20 * MILLIS, &["consumers-1", "publishers-1"]);
}

/// The credit of each chunk comes 99 ms later, right before the next chunk. Or that of ten chunks comes with the last of them,
/// as from a client that works on none.
#[test]
fn a_reader_that_gives_credit_rarely_does_not_work_all_the_time() {
    let reader = |read: &dyn Fn(&mut Links, (u64, u16))| {
        let mut links = links();
        let link = (links.client("rstream", None), READERS);
        links.attach(link, Attach { credit: Some(20), ..stream(b"log", true) });
        read(&mut links, link);
        links.flows().turns(&|_| None).workers
    };
    let [busy] = &reader(&|links, link| links.read(link, 99 * MILLIS))[..] else { panic!() };
    assert_eq!((busy.queue.as_deref(), busy.reads_stream), (Some("log"), true));
    assert!(busy.working > 0.9, "{busy:?}");
    let rare = reader(&|links, link| {
        for number in 1..=190 {
            let at = number * 100 * MILLIS;
            links.step(at, link, Side::Broker, Action::Chunk(Chunk { messages: 4, bytes: 836 }));
            if number % 10 == 0 {
                links.step(at + MILLIS, link, Side::Client, Action::Credit(10));
            }
        }
    });
    assert_eq!(rare, []);
}
