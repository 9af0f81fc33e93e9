//! The CPU cost of unhindered publishing: messages into a byte sink on loopback. The real publishing path and a bare
//! writer of the same bytes send them in turn. Costs come from the CPU clock of the sending thread: `sink [ROUNDS]
//! [SECONDS] [PROTOCOL] [BODY_BYTES]`, one line of JSON per round. The protocols are those of a scenario.
//!
//! By AMQP 1.0 and over streams, messages have confirms. There the bare writer reads the sink's answers too, and drops
//! them. A second bare writer, without answers, says what they cost.
//!
//! Not here: the sink itself ([`byte_sink`]), which exists to measure the load generator and stands for no broker
//! anywhere else.
#![expect(clippy::print_stdout, reason = "an example talks to its user")]

mod amqp10;
mod bare;
mod byte_sink;
mod protocol;
mod stream;

use std::{env, error::Error, net::SocketAddr, sync::atomic::AtomicBool, time::Duration};

use rabbitscope_amqp::Uri;
use rabbitscope_load::{BrokerOwner, Session};
use rabbitscope_runs::{record::Verdict, scenario};
use rabbitscope_topology::Dialer;
use rustix::{
    thread::{CpuSet, sched_setaffinity},
    time::{ClockId, clock_gettime},
};

use self::{
    bare::write_bare,
    byte_sink::Answers,
    protocol::{Chunk, Protocol},
};

type Failure = Box<dyn Error>;

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

/// The measurements of a round.
struct Round {
    protocol: Protocol,
    body_bytes: usize,
    chunk: Chunk,
    sink: SocketAddr,
    length: Duration,
}

fn main() -> Result<(), Failure> {
    let mut arguments = env::args().skip(1);
    let rounds: u32 = arguments.next().map_or(Ok(5), |text| text.parse())?;
    let seconds: f64 = arguments.next().map_or(Ok(5.0), |text| text.parse())?;
    let protocol = Protocol::find(arguments.next().as_deref())?;
    let body_bytes: usize = arguments.next().map_or(Ok(12), |text| text.parse())?;
    keep_to(1);
    let sink = byte_sink::start()?;
    keep_to(0);
    let chunk = protocol.chunk(body_bytes);
    let length = Duration::try_from_secs_f64(seconds)?;
    let round = Round { protocol, body_bytes, chunk, sink, length };
    for number in 0..rounds {
        round.measure(number % 2 == 0)?;
    }
    Ok(())
}

impl Round {
    /// Measures all senders, and prints a line.
    fn measure(&self, is_published_first: bool) -> Result<(), Failure> {
        let answers = self.protocol.answers();
        let (published, bare) = if is_published_first {
            let published = self.publish()?;
            (published, self.write_bare(answers)?)
        } else {
            let bare = self.write_bare(answers)?;
            (self.publish()?, bare)
        };
        let ratio = published.millions_per_core() / bare.millions_per_core();
        print!(
            "{{\"body-bytes\": {}, \"published-millions-per-core\": {:.3}, \
             \"bare-millions-per-core\": {:.3}, \"ratio\": {ratio:.3}",
            self.body_bytes,
            published.millions_per_core(),
            bare.millions_per_core(),
        );
        if answers != Answers::Nothing {
            let silent = self.write_bare(Answers::Nothing)?.millions_per_core();
            print!(", \"unanswered-millions-per-core\": {silent:.3}");
        }
        println!("}}");
        Ok(())
    }

    fn write_bare(&self, answers: Answers) -> Result<Cost, Failure> {
        Ok(write_bare(&self.chunk, answers, self.sink, self.length)?)
    }

    /// Runs the load of a scenario at full speed.
    fn publish(&self) -> Result<Cost, Failure> {
        let text = format!(
            "name = \"sink\"\nrun = {{ duration = \"{}ms\" }}\n{}",
            self.length.as_millis(),
            self.protocol.publisher(self.body_bytes)
        );
        let scenario = scenario::parse(&text, "sink", &[])?;
        let uri = Uri::parse(&format!(
            "amqp://guest:guest@{}/%2f?heartbeat=0&mqtt_port={1}&stream_port={1}",
            self.sink,
            self.sink.port()
        ))?;
        let mut session = Session::open(&scenario, &Dialer::to(uri), BrokerOwner::Caller)?;
        let outcome = session.run(&mut |_| {}, &AtomicBool::new(false))?;
        session.close()?;
        if let Verdict::Aborted { reason } = &outcome.verdict {
            return Err(format!("the load was aborted: {reason}").into());
        }
        let during = outcome.measured.load;
        if during.counts.reconnects > 0 {
            return Err("the load lost its connection to the sink".into());
        }
        Ok(Cost {
            messages: during.counts.published,
            cpu: Duration::from_nanos(during.counts.client_cpu_nanos),
        })
    }
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
