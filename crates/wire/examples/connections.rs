//! Prints the connections of a capture file, or measures how fast they are read.
//!
//! ```text
//! connections FILE        figures of each connection, as JSON-like text
//! connections FILE bench  nanoseconds per packet: reading, decoding, connections; peak memory
//! ```
#![expect(clippy::print_stdout, reason = "an example talks to its user")]

use std::{env, error::Error, fs, hint::black_box, time::Instant};

use rabbitscope_wire::{
    capture::PacketReader,
    decode::decode,
    stream::Chunk,
    tcp::{ConnectionId, ConnectionSummary, Connections, Direction, TcpObserver},
};

/// Repeats of the file; the fastest counts.
const REPEATS: usize = 7;

#[derive(Default)]
struct Printer {
    prints: bool,
    bytes: u64,
}

impl TcpObserver for Printer {
    fn chunk(&mut self, _: ConnectionId, _: Direction, chunk: Chunk<'_>) {
        self.bytes += black_box(chunk.bytes).len() as u64;
    }

    fn ended(&mut self, connection: ConnectionId, summary: &ConnectionSummary) {
        if self.prints {
            println!("{connection:?} {summary:#?}");
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let file = fs::read(arguments.first().ok_or("usage: connections FILE [bench]")?)?;
    if arguments.len() == 1 {
        analyze(&file, 2, true)?;
        return Ok(());
    }
    for (steps, name) in ["reading", "and decoding", "and connections"].iter().enumerate() {
        let mut best = f64::MAX;
        for _ in 0..REPEATS {
            let start = Instant::now();
            let packets = analyze(&file, steps, false)?;
            best = best.min(start.elapsed().as_nanos() as f64 / packets as f64);
        }
        println!("{name}: {best:.0} ns a packet");
    }
    let status = fs::read_to_string("/proc/self/status")?;
    let peak = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default();
    println!("file {} bytes, {peak}", file.len());
    Ok(())
}

/// Reads a file, up to the given step. Returns the number of packets.
fn analyze(file: &[u8], steps: usize, prints: bool) -> Result<u64, Box<dyn Error>> {
    let mut reader = PacketReader::new(file)?;
    let mut connections = Connections::default();
    let mut printer = Printer { prints, bytes: 0 };
    let mut packets = 0;
    while let Some(packet) = reader.next()? {
        packets += 1;
        if steps > 0
            && let Ok(segment) = black_box(decode(&packet))
            && steps > 1
        {
            connections.segment(&segment, &mut printer);
        }
    }
    connections.finish(&mut printer);
    Ok(packets)
}
