//! Speed of the codec without a socket, per second of CPU time: messages encoded, deliveries parsed, and a bare copy
//! of the same bytes.
#![expect(clippy::print_stdout, reason = "an example talks to its user")]

use std::{
    error::Error,
    hint::black_box,
    time::{Duration, Instant},
};

use rabbitscope_amqp::{Connection, Event, Properties, PublishTarget, PublishTemplate, Uri};
use rabbitscope_protocol::{Encoded as _, Input, OutputBuffer, Wire as _};
use rustix::time::{ClockId, clock_gettime};

/// Recorded output of RabbitMQ 3.10.8 to a consumer: handshake, channel, five deliveries, close.
const RECORDED: &[u8] = include_bytes!("../tests/it/recorded/consumer.bin");

/// Bytes of `connection.close-ok` at the end of the recording.
const GOODBYE: usize = 12;

/// Bytes of one delivery in the recording.
const DELIVERY: usize = 69;

/// Messages per read or write.
const BATCH: usize = 949;

fn main() -> Result<(), Box<dyn Error>> {
    let uri = Uri::parse("amqp://localhost")?;
    let mut connection = Connection::new(&uri, "codec", Instant::now());
    let template = PublishTemplate::new(
        &PublishTarget {
            channel: 1,
            exchange: "",
            routing_key: "nine-char",
            mandatory: false,
            properties: &Properties::with_delivery_mode(true),
        },
        12,
        131_072,
    );
    report("encoded", || {
        for head in connection.publish(&template, BATCH) {
            head.copy_from_slice(black_box(&[7; 12]));
        }
        drain(connection.output());
        BATCH
    });
    let bytes = vec![0; template.wire_size() * BATCH];
    let mut target = Vec::with_capacity(bytes.len());
    report("copied", || {
        target.clear();
        target.extend_from_slice(black_box(&bytes));
        BATCH
    });
    let mut connection = opened(&uri)?;
    let delivery = &RECORDED[RECORDED.len() - GOODBYE - DELIVERY..RECORDED.len() - GOODBYE];
    let input = delivery.repeat(BATCH);
    report("parsed", || {
        let mut frames = Input::new(black_box(&input));
        let mut count = 0;
        while let Ok(Some(Event::Delivery(delivery))) = connection.next_event(&mut frames) {
            black_box(&delivery);
            count += 1;
        }
        count
    });
    Ok(())
}

/// A connection with channel 1 open.
fn opened(uri: &Uri) -> Result<Connection, Box<dyn Error>> {
    let mut connection = Connection::new(uri, "codec", Instant::now());
    let mut frames = Input::new(RECORDED);
    while let Some(event) = connection.next_event(&mut frames)? {
        match event {
            Event::Opened => {
                connection.open_channel()?;
            }
            Event::ChannelOpened { .. } => break,
            _ => {}
        }
    }
    Ok(connection)
}

fn drain(output: &mut OutputBuffer) {
    let length = black_box(output.pending()).len();
    output.advance(length);
}

/// Calls `batch`, which returns its number of messages, for a second and prints the rate.
fn report(name: &str, mut batch: impl FnMut() -> usize) {
    let (start, cpu) = (Instant::now(), thread_cpu());
    let mut messages = 0;
    while start.elapsed() < Duration::from_secs(1) {
        messages += batch();
    }
    let nanos = thread_cpu().saturating_sub(cpu).as_nanos() as f64 / messages.max(1) as f64;
    println!("{name}: {:.1} million messages/s, {nanos:.1} ns each", 1000.0 / nanos);
}

fn thread_cpu() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}
