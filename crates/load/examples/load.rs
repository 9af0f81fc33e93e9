//! Runs the load of a scenario on an existing broker and prints the measurements: `load SCENARIO URI [KEY=VALUE]...`
#![expect(clippy::print_stdout, reason = "an example talks to its user")]

use std::{env, error::Error, fs, io, sync::atomic::AtomicBool};

use rabbitscope_amqp::Uri;
use rabbitscope_load::{BrokerOwner, CleanupJournal, Session};
use rabbitscope_measurements::Progress;
use rabbitscope_runs::scenario;
use rabbitscope_topology::{Dialer, OwnedTopology, Removal, TopologyError};

/// A journal on the terminal: the user remembers the declarations.
struct Terminal;

impl CleanupJournal for Terminal {
    fn remember(&self, declaring: &OwnedTopology) -> io::Result<()> {
        println!("creates {:?}", declaring.describe());
        Ok(())
    }

    fn undone(&self, declared: &OwnedTopology, removal: Result<Removal, TopologyError>) {
        println!("removed of {:?}: {removal:?}", declared.describe());
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let usage = "usage: load SCENARIO URI [KEY=VALUE]...";
    let (file, uri) = arguments.next().zip(arguments.next()).ok_or(usage)?;
    let overrides: Vec<_> = arguments.collect();
    let scenario = scenario::parse(&fs::read_to_string(&file)?, &file, &overrides)?;
    let dialer = Dialer::to(Uri::parse(&uri)?);
    let mut session = Session::open(&scenario, &dialer, BrokerOwner::SomebodyElse(&Terminal))?;
    println!("{:?}", session.broker());
    let outcome = session.run(&mut show, &AtomicBool::new(false))?;
    session.close()?;
    let (totals, measured) = (&outcome.totals, &outcome.measured);
    let seconds = measured.duration_nanos.max(1) as f64 / 1e9;
    let messages = totals.counts.published.max(totals.counts.consumed).max(1) as f64;
    println!("{totals:#?}");
    for latency in &outcome.latencies {
        println!("{:?}", latency.summary);
    }
    println!("{:?} {:?}", outcome.losses, outcome.verdict);
    println!(
        "{:.0} published/s, {:.0} consumed/s, {:.3} µs client CPU per message, {:.1} messages per \
         write, {:.4} reads per message",
        measured.load.counts.published as f64 / seconds,
        measured.load.counts.consumed as f64 / seconds,
        totals.counts.client_cpu_nanos as f64 / 1000.0 / messages,
        totals.counts.published as f64 / totals.counts.writes.max(1) as f64,
        totals.counts.reads as f64 / messages,
    );
    Ok(())
}

fn show(progress: Progress<'_>) {
    if let Progress::Second(row) = progress {
        println!(
            "{:3} {} published {} confirmed {} consumed {} stall {:.2} s cpu {:.2} confirm {:?} e2e {:?}",
            row.second,
            if row.draining { "drain" } else { "load " },
            row.counts.published,
            row.counts.confirmed,
            row.counts.consumed,
            row.counts.socket_stall_nanos as f64 / 1e9,
            row.client_cpu_cores.unwrap_or_default(),
            row.latencies.confirm_latency.map(|latency| (latency.p50, latency.max)),
            row.latencies.end_to_end_latency.map(|latency| (latency.p50, latency.max)),
        );
    }
}
