//! Entry points for the fuzz targets, which cannot call private functions. Compiled for fuzzing only.

use std::{
    collections::VecDeque,
    io::Write,
    sync::{OnceLock, atomic::AtomicBool},
    time::Duration,
};

use flate2::{Compression, write::DeflateEncoder};
use rabbitscope_amqp::Uri;
use rabbitscope_measurements::{
    PartSize, PartWishes, RemoteEvent, RemoteStart, RemoteWorkers, RunAge,
};
use rabbitscope_runs::scenario::{self, Scenario};
use rabbitscope_topology::Dialer;

use crate::{Share, context::RunContext, run::run_remote};

const SCENARIO: &str = r#"
    name = "fuzz"
    run = { duration = "4s", until = "idle", warm-up = "auto", latency-by-queue = true }
    queues = [{ name = "q-{}", from = 1, to = 3 }]
    publishers = [{ queue = "q-{}", count = 3, messages = 1000 }]
    consumers = [{ queue = "q-{}", count = 3 }]
    churn = [{ name = "c", kind = "channels", cycles = 5 }]
"#;

/// Merges updates of two processes with a load thread and a churn group each. The processes send updates in turn: every
/// line is the text of one update, and all bytes together are the last one. Both processes are dropped at the end.
pub fn worker_updates(bytes: &[u8]) {
    static RUN: OnceLock<(Scenario, Dialer)> = OnceLock::new();
    let (scenario, dialer) = RUN.get_or_init(|| {
        let scenario = scenario::parse(SCENARIO, "fuzz", &[]).expect("it is a scenario");
        (scenario, Dialer::to(Uri::parse("amqp://h").expect("it is an address")))
    });
    let context = RunContext { scenario, plans: &[], dialer, restorer: None, share: Share::WHOLE };
    let size = PartSize { load_threads: 1, churn_groups: 1, connections: 3 };
    // The age does not limit the seconds of the run.
    let age = RunAge { at_least: Duration::ZERO, at_most: Duration::MAX };
    let begun = RemoteStart { unix_nanos: 1_000_000_000, parts: vec![size; 2], age };
    let lines = bytes.split(|byte| *byte == b'\n').enumerate();
    let updates = lines.map(|(number, text)| (number % 2, compressed(text)));
    let updates = updates.chain([(0, bytes.to_vec())]);
    let events = updates.map(|(worker, update)| RemoteEvent::Update { worker, update });
    let lost = [0, 1].map(|worker| RemoteEvent::Lost { worker, reason: "gone".to_owned() });
    let mut remote = Recorded(events.chain(lost).collect());
    let outcome = run_remote(&context, &begun, &mut remote, &mut |_| {}, &AtomicBool::new(false));
    assert!(outcome.measured.load.counts.published <= outcome.totals.counts.published);
}

fn compressed(text: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text).expect("writing to memory does not fail");
    encoder.finish().expect("writing to memory does not fail")
}

/// A queue of events without delay.
struct Recorded(VecDeque<RemoteEvent>);

impl RemoteWorkers for Recorded {
    fn next(&mut self, _: Duration, _: &AtomicBool) -> Option<RemoteEvent> {
        self.0.pop_front()
    }

    fn wish(&mut self, _: PartWishes) {}

    fn is_behind(&self) -> bool {
        false
    }

    fn give_up(&mut self, worker: usize) -> String {
        format!("worker {worker}")
    }
}
