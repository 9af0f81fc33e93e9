//! The CPU cost of unhindered publishing: 12-byte messages into a byte sink on loopback. The real publishing path and a
//! bare writer of the same bytes send them in turn. Costs come from the CPU clock of the sending thread: `sink [ROUNDS]
//! [SECONDS] [PROTOCOL]`, one line of JSON per round. The protocols are those of a scenario. By AMQP 1.0 and over streams,
//! messages have confirms, whose reading is a part of the publishing path alone.
//!
//! Not here: the sink itself ([`byte_sink`]), which exists to measure the load generator and stands for no broker
//! anywhere else.
#![expect(clippy::print_stdout, reason = "an example talks to its user")]

mod amqp10;
mod byte_sink;
mod stream;

use std::{
    env,
    error::Error,
    io::Write,
    net::{SocketAddr, TcpStream},
    sync::atomic::AtomicBool,
    time::{Duration, Instant},
};

use rabbitscope_amqp::{Properties, PublishTarget, PublishTemplate, Uri};
use rabbitscope_load::{BrokerOwner, Session};
use rabbitscope_protocol::Encoded as _;
use rabbitscope_runs::scenario;
use rabbitscope_topology::Dialer;
use rustix::{
    thread::{CpuSet, sched_setaffinity},
    time::{ClockId, clock_gettime},
};

type Failure = Box<dyn Error>;

/// Name of the queue, as long as the one in the bare writer's messages.
const QUEUE: &str = "nine-char";
const BODY: [u8; 12] = [7; 12];

/// A message of MQTT without a confirm: two bytes, the topic behind its size, the body.
const MQTT_BYTES: usize = 2 + 2 + QUEUE.len() + BODY.len();

/// Size of a write of the publishing path.
const CHUNK_BYTES: usize = 65_483;

/// The messages of a sender and the CPU time of its thread.
struct Cost {
    messages: u64,
    cpu: Duration,
}

impl Cost {
    fn millions_per_core(&self) -> f64 {
        self.messages as f64 / self.cpu.as_secs_f64().max(1e-9) / 1e6
    }
}

/// A protocol of the load.
#[derive(Clone, Copy)]
enum Protocol {
    Amqp091,
    Amqp10,
    Stream,
    Mqtt,
}

impl Protocol {
    /// Returns the protocol of this name; AMQP 0-9-1 without one.
    fn find(name: Option<&str>) -> Result<Self, Failure> {
        match name {
            None | Some("amqp-0-9-1") => Ok(Self::Amqp091),
            Some("amqp-1.0") => Ok(Self::Amqp10),
            Some("stream") => Ok(Self::Stream),
            Some("mqtt") => Ok(Self::Mqtt),
            Some(other) => {
                Err(format!("`{other}` is not amqp-0-9-1, amqp-1.0, stream or mqtt").into())
            }
        }
    }

    /// Returns the sections of the scenario with its only publisher.
    fn publisher(self) -> String {
        match self {
            Self::Amqp091 => format!(
                "queues = [{{ name = \"{QUEUE}\" }}]\n\
                 publishers = [{{ queue = \"{QUEUE}\", persistent = true }}]\n"
            ),
            Self::Amqp10 => format!(
                "queues = [{{ name = \"{QUEUE}\" }}]\n\
                 publishers = [{{ queue = \"{QUEUE}\", protocol = \"amqp-1.0\", persistent = true }}]\n"
            ),
            Self::Stream => format!(
                "queues = [{{ name = \"{QUEUE}\", type = \"stream\" }}]\n\
                 publishers = [{{ queue = \"{QUEUE}\", protocol = \"stream\" }}]\n"
            ),
            Self::Mqtt => {
                format!("publishers = [{{ topic = \"{QUEUE}\", protocol = \"mqtt\", qos = 0 }}]\n")
            }
        }
    }

    /// Returns the bytes of a message on the wire.
    fn wire_size(self) -> usize {
        match self {
            Self::Amqp091 => {
                let target = PublishTarget {
                    channel: 1,
                    exchange: "",
                    routing_key: QUEUE,
                    mandatory: false,
                    properties: &Properties::with_delivery_mode(true),
                };
                PublishTemplate::new(&target, BODY.len(), 131_072).wire_size()
            }
            Self::Amqp10 => amqp10::MESSAGE_BYTES,
            // Frames have 13 bytes more.
            Self::Stream => stream::MESSAGE_BYTES,
            Self::Mqtt => MQTT_BYTES,
        }
    }
}

fn main() -> Result<(), Failure> {
    let mut arguments = env::args().skip(1);
    let rounds: u32 = arguments.next().map_or(Ok(5), |text| text.parse())?;
    let seconds: u64 = arguments.next().map_or(Ok(5), |text| text.parse())?;
    let protocol = Protocol::find(arguments.next().as_deref())?;
    let length = Duration::from_secs(seconds);
    keep_to(1);
    let sink = byte_sink::start()?;
    keep_to(0);
    for round in 0..rounds {
        let (published, bare) = if round % 2 == 0 {
            let published = publish(protocol, sink, length)?;
            (published, write_bare(protocol, sink, length)?)
        } else {
            let bare = write_bare(protocol, sink, length)?;
            (publish(protocol, sink, length)?, bare)
        };
        println!(
            "{{\"published-millions-per-core\": {:.3}, \"bare-millions-per-core\": {:.3}, \"ratio\": {:.3}}}",
            published.millions_per_core(),
            bare.millions_per_core(),
            published.millions_per_core() / bare.millions_per_core(),
        );
    }
    Ok(())
}

/// Runs the load of a scenario without confirms at full speed.
fn publish(protocol: Protocol, sink: SocketAddr, length: Duration) -> Result<Cost, Failure> {
    let text = format!(
        "name = \"sink\"\nrun = {{ duration = \"{}ms\" }}\n{}",
        length.as_millis(),
        protocol.publisher()
    );
    let scenario = scenario::parse(&text, "sink", &[])?;
    let uri = Uri::parse(&format!(
        "amqp://guest:guest@{sink}/%2f?heartbeat=0&mqtt_port={0}&stream_port={0}",
        sink.port()
    ))?;
    let mut session = Session::open(&scenario, &Dialer::to(uri), BrokerOwner::Caller)?;
    let outcome = session.run(&mut |_| {}, &AtomicBool::new(false))?;
    session.close()?;
    let during = outcome.measured.load;
    Ok(Cost {
        messages: during.counts.published,
        cpu: Duration::from_nanos(during.counts.client_cpu_nanos),
    })
}

/// Writes the bytes of the same messages repeatedly, encoded once.
fn write_bare(protocol: Protocol, sink: SocketAddr, length: Duration) -> Result<Cost, Failure> {
    let count = CHUNK_BYTES / protocol.wire_size();
    let bytes = vec![0; count * protocol.wire_size()];
    let mut socket = TcpStream::connect(sink)?;
    socket.set_nodelay(true)?;
    byte_sink::skip_handshake(&mut socket)?;
    let (start, cpu) = (Instant::now(), thread_cpu());
    let mut writes = 0;
    while start.elapsed() < length {
        socket.write_all(&bytes)?;
        writes += 1;
    }
    Ok(Cost { messages: writes * count as u64, cpu: thread_cpu().saturating_sub(cpu) })
}

fn thread_cpu() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}

/// Pins this thread, and those that it starts later, to one CPU. The kernel chooses if there is no second CPU or
/// pinning is forbidden.
fn keep_to(cpu: usize) {
    let mut set = CpuSet::new();
    set.set(cpu);
    let _ = sched_setaffinity(None, &set);
}
