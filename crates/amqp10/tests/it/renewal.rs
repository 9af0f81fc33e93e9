//! New tokens on open connections.

use rabbitscope_amqp10::{
    Connection,
    protocol::codes::{ATTACH, BEGIN, END, ERROR, SOURCE, TARGET, TRANSFER},
};
use rabbitscope_protocol::{Renewals, Wire as _};

use crate::broker::{
    FALSE, NULL, TRUE, described, events, frame, opened_by, output, performative, symbol, text,
    uint,
};

const NONE: [&str; 0] = [];

/// The session behind those of the members.
const LANE: u16 = 4;

/// Gives a token to a connection with a broker of this version. Returns its output, too.
fn renewed(version: &str) -> (Connection, Vec<u8>) {
    let mut connection = opened_by(version, 512);
    connection.renew("token");
    let written = output(&mut connection);
    (connection, written)
}

/// Encodes the broker's answers to `begin` and both `attach`.
fn attached() -> Vec<u8> {
    let fields = [&uint(LANE.into())[..], &uint(u32::MAX), &uint(400), &uint(400)];
    let (source, target) = (described(SOURCE, &[]), described(TARGET, &[]));
    let link = |handle: u32, role: &[u8]| {
        let fields = [&text("token")[..], &uint(handle), role, NULL, NULL, &source, &target];
        performative(3, ATTACH, &fields)
    };
    [performative(3, BEGIN, &fields), link(0, TRUE), link(1, FALSE)].concat()
}

/// Encodes an answer of the broker's management.
fn answer(status: &str, content: &[u8]) -> Vec<u8> {
    let properties = described(0x73, &[NULL, NULL, NULL, &text(status), NULL, &text("0")]);
    let transfer = described(TRANSFER, &[&uint(1), &uint(0), b"\xa0\0", &uint(0), TRUE, FALSE]);
    frame(0, 3, &[&transfer, &properties, &b"\0\x53\x77"[..], content].concat())
}

fn refused(reason: &str) -> Renewals {
    Renewals { taken: 0, refusal: Some(reason.to_owned()) }
}

#[test]
fn a_new_token_is_for_brokers_that_take_it() {
    assert_eq!(renewed("4.0.5").1, b"");
    let (mut connection, written) = renewed("4.1.0");
    let begin = b"\0\0\0\x1c\x02\0\0\x04\0\x53\x11\xc0\x0f\x05\x40\x43\x70\x7f\xff\xff\xff\x70\x7f\xff\xff\xff\x52\xff";
    let expected = [
        &begin[..],
        b"\0\0\0\x4d\x02\0\0\x04\0\x53\x12\xc0\x40\x0e\xa1\x05token\x43\x42\x50\x01\x50\0",
        b"\0\x53\x28\xc0\x08\x01\xa1\x05token\0\x53\x29\xc0\x0e\x01\xa1\x0b/management",
        b"\x40\x40\x43\x40\x40\x40\xc1\x0a\x02\xa3\x06paired\x41",
        b"\0\0\0\x4e\x02\0\0\x04\0\x53\x12\xc0\x41\x0e\xa1\x05token\x52\x01\x41\x50\x01\x50\0",
        b"\0\x53\x28\xc0\x0e\x01\xa1\x0b/management\0\x53\x29\xc0\x08\x01\xa1\x05token",
        b"\x40\x40\x40\x40\x40\x40\xc1\x0a\x02\xa3\x06paired\x41",
    ];
    assert_eq!(written, expected.concat());
    assert_eq!(events(&mut connection, &attached()), NONE);
    let written = output(&mut connection);
    // The credit for the answer, and the request: settled, in one frame.
    let flow =
        b"\0\0\0\x23\x02\0\0\x04\0\x53\x13\xc0\x16\x07\x70\xff\xff\xff\xff\x70\x7f\xff\xff\xff\x43\
                 \x70\x7f\xff\xff\xff\x52\x01\x43\x52\x08";
    assert_eq!(written[..flow.len()], flow[..]);
    let request = [
        &b"\0\0\0\x44\x02\0\0\x04\0\x53\x14\xc0\x0b\x05\x43\x43\xa0\x04\0\0\0\0\x43\x41"[..],
        b"\0\x53\x73\xc0\x1d\x05\xa1\x010\x40\xa1\x0c/auth/tokens\xa1\x03PUT\xa1\x03$me",
        b"\0\x53\x77\xa0\x05token",
    ]
    .concat();
    assert_eq!(written[flow.len()..], request);
    assert_eq!(events(&mut connection, &answer("204", NULL)), NONE);
    assert_eq!(connection.take_renewals(), Renewals { taken: 1, refusal: None });
    assert_eq!(
        output(&mut connection),
        b"\0\0\0\x0c\x02\0\0\x04\0\x53\x17\x45",
        "its session ends"
    );
    assert_eq!(events(&mut connection, &performative(3, END, &[])), NONE);
    assert_eq!(output(&mut connection), b"");
    // The next token has another session.
    connection.renew("second");
    assert_eq!(events(&mut connection, &attached()), NONE);
    assert!(output(&mut connection).ends_with(b"\xa0\x06second"));
}

#[test]
fn a_token_that_comes_early_follows_the_earlier_one() {
    let (mut connection, _) = renewed("4.3.6");
    connection.renew("second");
    events(&mut connection, &attached());
    assert!(output(&mut connection).ends_with(b"\xa0\x06second"), "only the later one is sent");
    connection.renew("third");
    assert_eq!(output(&mut connection), b"");
    events(&mut connection, &answer("204", NULL));
    assert!(output(&mut connection).ends_with(b"\xa0\x05third"));
    connection.renew("fourth");
    events(&mut connection, &answer("204", NULL));
    assert!(output(&mut connection).ends_with(b"\xa0\x06fourth"));
    events(&mut connection, &answer("204", NULL));
    connection.renew("fifth");
    output(&mut connection);
    events(&mut connection, &performative(3, END, &[]));
    assert_ne!(output(&mut connection), b"", "a session for the last one begins");
    assert_eq!(connection.take_renewals().taken, 3);
}

#[test]
fn a_refused_token_leaves_the_connection() {
    let (mut connection, _) = renewed("4.1.0");
    let error = described(ERROR, &[&symbol("amqp:not-allowed"), &text("no management")]);
    let told = [&attached()[..], &performative(3, END, &[&error])].concat();
    assert_eq!(events(&mut connection, &told), NONE);
    assert_eq!(connection.take_renewals(), refused("amqp:not-allowed, no management"));
    let (mut connection, _) = renewed("4.1.0");
    let told = [&attached()[..], &answer("400", &text("bad"))].concat();
    assert_eq!(events(&mut connection, &told), NONE);
    assert_eq!(connection.take_renewals(), refused("400 bad"));
    let mut connection = opened_by("4.1.0", 512);
    connection.renew(&"t".repeat(600));
    assert_eq!(events(&mut connection, &attached()), NONE);
    assert_eq!(connection.take_renewals(), refused("it is larger than a frame of the broker"));
    assert!(output(&mut connection).ends_with(b"\0\x53\x17\x45"), "its session ends");
}
