//! Credit and windows: never exceeded, in any order of the broker's words.

use rabbitscope_amqp10::{Connection, Content, Sections, Sender};

use crate::broker::{attached, begun, events, flow, opened, output, receiving, sending, transfer};

fn content(size: usize) -> Content {
    Content::new(2, &Sections::default(), &vec![0; size], 512)
}

#[test]
fn room_is_the_smaller_of_credit_and_window() {
    assert_eq!(sending(400, 170).room(2), 170);
    assert_eq!(sending(100, 170).room(2), 100);
    assert_eq!(sending(400, 0).room(2), 0);
    assert_eq!((sending(400, 170).room(1), sending(400, 170).room(3)), (0, 0));
}

/// A broker that gives room at random, and fails if it is exceeded.
struct Strict {
    taken: u32,
    window_end: u32,
    count: u32,
    credit_end: u32,
}

impl Strict {
    fn take(&mut self, connection: &mut Connection) {
        let mut output = &output(connection)[..];
        while let Some((size, _)) = output.split_first_chunk() {
            let (frame, behind) = output.split_at(u32::from_be_bytes(*size) as usize);
            output = behind;
            self.taken += 1;
            // A first frame has a fourth field, the format.
            self.count += u32::from(frame[14] == 0x43 && frame[15] == 0x70);
            assert!(self.taken <= self.window_end, "window-violation");
            assert!(self.count <= self.credit_end, "transfer-limit-exceeded");
        }
    }
}

#[test]
fn a_strict_broker_never_objects() {
    let mut random = 11_u64;
    let mut below = move |limit: u32| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        u32::try_from(random >> 33).unwrap() % limit
    };
    for (size, frames) in [(12, 1), (1000, 3)] {
        let mut connection = opened(512);
        connection.attach_sender(2, &Sender { frames, ..Sender::default() });
        output(&mut connection);
        let answer = [begun(2, 0, 9), attached(false, 0)].concat();
        events(&mut connection, &answer);
        let content = content(size);
        assert_eq!(content.frames(), frames);
        let mut broker = Strict { taken: 0, window_end: 9, count: 0, credit_end: 0 };
        let mut sent = 0;
        for _ in 0..2_000 {
            let (window, credit) = (below(50), below(50));
            broker.window_end = broker.window_end.max(broker.taken + window);
            broker.credit_end = broker.credit_end.max(broker.count + credit);
            let (window, credit) =
                (broker.window_end - broker.taken, broker.credit_end - broker.count);
            events(&mut connection, &flow(broker.taken, window, broker.count, credit));
            let room = usize::try_from(connection.room(2)).unwrap();
            let count = room - below(u32::try_from(room + 1).unwrap()) as usize;
            sent += connection.publish(&content, count).count();
            broker.take(&mut connection);
        }
        assert!(sent > 1_000, "{sent}");
    }
}

#[test]
fn the_brokers_numbers_begin_below_zero() {
    // 4.0.5 begins with 2^32 − 4.
    let first = u32::MAX - 3;
    let mut connection = receiving(first);
    let answer = output(&mut connection);
    let told = &answer[answer.len() - 38..];
    let expected = [
        &b"\0\0\0\x26\x02\0\0\x02\0\x53\x13\xc0\x19\x07"[..],
        b"\x70\xff\xff\xff\xfc\x70\x7f\xff\xff\xff\x43\x70\x7f\xff\xff\xff\x43",
        b"\x70\xff\xff\xff\xfc\x52\x0a",
    ];
    assert_eq!(told, expected.concat());
    let frames = (0..6).map(|at| transfer(Some(first.wrapping_add(at)), false, b""));
    assert_eq!(events(&mut connection, &frames.collect::<Vec<_>>().concat()).len(), 6);
    connection.processed(2, 6);
    let told = output(&mut connection);
    assert_eq!(told[14..16], [0x52, 2], "`next-incoming-id`");
    assert!(told.ends_with(b"\x43\x52\x02\x52\x0a"), "`delivery-count`");
}
