//! All places of each protocol in which an application may have put private data.

use super::built::{BODY, SECRET, long, performative, short, text16};

/// Returns a key and a value of a table.
fn field(key: &[u8], kind: u8, value: &[u8]) -> Vec<u8> {
    [&short(key)[..], &[kind], value].concat()
}

/// Returns secrets in strings and bytes, in nested tables and lists, between values of all other kinds.
fn fields() -> Vec<u8> {
    let inner = field(b"deep", b'S', &long(SECRET));
    let list = [&b"S"[..], &long(SECRET), b"F", &long(&inner), b"V", b"t\x01"].concat();
    [
        field(b"x-token", b'S', &long(SECRET)),
        field(b"bytes", b'x', &long(SECRET)),
        field(b"table", b'F', &long(&inner)),
        field(b"list", b'A', &long(&list)),
        field(b"number", b'l', &7_u64.to_be_bytes()),
        field(b"short", b's', &[0, 7]),
        field(b"nothing", b'V', &[]),
        field(b"last", b'S', &long(&[b"Bearer ", SECRET].concat())),
    ]
    .concat()
}

/// Returns client properties of AMQP 0-9-1, of which a few are harmless.
pub(super) fn client_properties() -> Vec<u8> {
    let capability = field(b"basic.nack", b't', &[1]);
    let harmless = [
        field(b"product", b'S', &long(b"test")),
        field(b"capabilities", b'F', &long(&capability)),
        field(b"connection_name", b'S', &long(SECRET)),
    ];
    long(&[harmless.concat(), fields()].concat())
}

/// Returns arguments of `queue.declare`.
pub(super) fn queue_declare() -> Vec<u8> {
    let table = [field(b"x-queue-type", b'S', &long(b"quorum")), fields()].concat();
    [&[0, 0][..], &short(b"queue"), &[0b10], &long(&table)].concat()
}

/// Returns arguments of `queue.bind`.
pub(super) fn queue_bind() -> Vec<u8> {
    let names = [short(b"queue"), short(b"exchange"), short(b"key")].concat();
    [&[0, 0][..], &names, &[0], &long(&fields())].concat()
}

/// Returns arguments of `basic.consume`.
pub(super) fn consume() -> Vec<u8> {
    [&[0, 0][..], &short(b"queue"), &short(b"tag"), &[0], &long(&fields())].concat()
}

/// Returns flags and values of all properties of a message.
pub(super) fn message_properties() -> Vec<u8> {
    [
        &[0xff, 0xfc][..],
        &short(SECRET),
        &short(SECRET),
        &long(&fields()),
        &[2, 0],
        &short(SECRET),
        &short(b"replies"),
        &short(b"60000"),
        &short(SECRET),
        &7_u64.to_be_bytes(),
        &short(SECRET),
        &short(SECRET),
        &short(SECRET),
        &short(SECRET),
    ]
    .concat()
}

/// Returns a symbol of AMQP 1.0.
fn symbol(text: &[u8]) -> Vec<u8> {
    [&[0xa3][..], &short(text)].concat()
}

/// Returns a map of AMQP 1.0 with secrets, and its number of values.
pub(super) fn map() -> Vec<u8> {
    let list = [&[0xa1][..], &short(SECRET), &[0xa0], &short(SECRET)].concat();
    let list = [&[0xc0, u8::try_from(list.len() + 1).unwrap(), 2][..], &list].concat();
    let filter = [&[0][..], &symbol(b"filter"), &[0xb1], &long(SECRET)].concat();
    let array = [&[2, 0xa3][..], &short(SECRET), &short(SECRET)].concat();
    let array = [&[0xe0, u8::try_from(array.len()).unwrap()][..], &array].concat();
    let pairs = [
        [symbol(b"product"), symbol(b"test")].concat(),
        [symbol(b"token"), [&[0xa1][..], &short(SECRET)].concat()].concat(),
        [symbol(b"list"), list].concat(),
        [symbol(b"filter"), filter].concat(),
        [symbol(b"array"), array].concat(),
        [symbol(b"number"), vec![0x80, 0, 0, 0, 0, 0, 0, 0, 7]].concat(),
    ]
    .concat();
    let size = u32::try_from(pairs.len() + 4).unwrap().to_be_bytes();
    [&[0xd1][..], &size, &12_u32.to_be_bytes(), &pairs].concat()
}

/// Returns the sections of a message of AMQP 1.0 before its body. Only header and address are no secrets.
pub(super) fn sections() -> Vec<u8> {
    let string = |text: &[u8]| [&[0xa1][..], &short(text)].concat();
    let properties = [
        string(SECRET),
        [&[0xa0][..], &short(SECRET)].concat(),
        string(b"/queues/address"),
        string(SECRET),
        string(SECRET),
        [&[0xb1][..], &long(SECRET)].concat(),
        symbol(SECRET),
    ];
    [
        performative(0x70, &[0x41, 0x50, 4, 0x70, 0, 0, 0, 9], 3, false),
        [&[0, 0x53, 0x72][..], &map()].concat(),
        performative(0x73, &properties.concat(), 7, true),
        [&[0, 0x53, 0x74][..], &map()].concat(),
    ]
    .concat()
}

/// Returns a map of the stream protocol.
pub(super) fn stream_map() -> Vec<u8> {
    let pairs = [
        [text16(b"product"), text16(b"test")],
        [text16(b"token"), text16(SECRET)],
        [text16(b"filter.0"), text16(&[b"Bearer ", SECRET].concat())],
    ];
    [&3_u32.to_be_bytes()[..], &pairs.concat().concat()].concat()
}

/// Returns an entry of `publish` of version 2: id, filter value, message.
pub(super) fn filtered_entry() -> Vec<u8> {
    [&7_u64.to_be_bytes()[..], &text16(SECRET), &long(BODY)].concat()
}

/// Returns MQTT 5 properties after their length: one user property.
pub(super) fn mqtt_properties() -> Vec<u8> {
    let property = [&[0x26][..], &text16(b"key"), &text16(SECRET)].concat();
    short(&property)
}
