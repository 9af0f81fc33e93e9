//! The CPU cost of unhindered publishing: 12-byte messages into a byte sink on loopback. The real publishing path and a
//! bare writer of the same bytes send them in turn. Costs come from the CPU clock of the sending thread: `sink [ROUNDS]
//! [SECONDS]`, one line of JSON per round.
//!
//! Not here: the sink itself ([`byte_sink`]), which exists to measure the load generator and stands for no broker
//! anywhere else.
#![expect(clippy::print_stdout, reason = "an example talks to its user")]

mod byte_sink;

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

fn main() -> Result<(), Failure> {
    let mut arguments = env::args().skip(1);
    let rounds: u32 = arguments.next().map_or(Ok(5), |text| text.parse())?;
    let seconds: u64 = arguments.next().map_or(Ok(5), |text| text.parse())?;
    let length = Duration::from_secs(seconds);
    keep_to(1);
    let sink = byte_sink::start()?;
    keep_to(0);
    for round in 0..rounds {
        let (published, bare) = if round % 2 == 0 {
            let published = publish(sink, length)?;
            (published, write_bare(sink, length)?)
        } else {
            let bare = write_bare(sink, length)?;
            (publish(sink, length)?, bare)
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
fn publish(sink: SocketAddr, length: Duration) -> Result<Cost, Failure> {
    let text = format!(
        "name = \"sink\"\nrun = {{ duration = \"{}ms\" }}\nqueues = [{{ name = \"{QUEUE}\" }}]\n\
         publishers = [{{ queue = \"{QUEUE}\", persistent = true }}]\n",
        length.as_millis()
    );
    let scenario = scenario::parse(&text, "sink", &[])?;
    let uri = Uri::parse(&format!("amqp://guest:guest@{sink}/%2f?heartbeat=0"))?;
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
fn write_bare(sink: SocketAddr, length: Duration) -> Result<Cost, Failure> {
    let target = PublishTarget {
        channel: 1,
        exchange: "",
        routing_key: QUEUE,
        mandatory: false,
        properties: &Properties::with_delivery_mode(true),
    };
    let template = PublishTemplate::new(&target, BODY.len(), 131_072);
    let count = CHUNK_BYTES / template.wire_size();
    let bytes = vec![0; count * template.wire_size()];
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
