//! Hours of watching, with a node that is killed and started again every minute. Nothing grows, and nothing is left.
//!
//! ```text
//! make soak-watch                    4 hours; a line for each restart
//! RABBITSCOPE_SOAK=20m make …        less
//! RABBITSCOPE_RESTARTS=20s make …    a restart more often than every minute
//! ```

use std::time::{Duration, Instant};

use rabbitscope_broker::Broker;
use rabbitscope_testing::{Stops, Workbench, eventually, own_broker, signal};
use rustix::process::Signal;

use super::watched::{Holdings, Watched};

const DURATION: Duration = Duration::from_secs(4 * 3600);
const RESTART_INTERVAL: Duration = Duration::from_secs(60);

/// Limit of the growth of the median resident memory from the second to the last quarter. In the first quarter, names
/// are learned. The maximum of a quarter varies more, even without growth. An hour has 18,000 windows.
const MAX_GROWTH_KIB: u64 = 1024;

/// The same limit for descriptors: a file is opened when its code runs for the first time.
const MAX_MORE_DESCRIPTORS: u64 = 4;

const CONFIGURATION: &str = "[record]\nfrequency = 99\nwindow = '200ms'\n\
                             [directory]\npath = 'windows'\nmax-size = '20MB'\n";

#[test]
#[ignore = "4 hours: make soak-watch"]
fn nothing_grows_in_hours_of_restarts() {
    let duration = asked_for("RABBITSCOPE_SOAK").unwrap_or(DURATION);
    let interval = asked_for("RABBITSCOPE_RESTARTS").unwrap_or(RESTART_INTERVAL);
    let bench = Workbench::new("soak");
    let (steady, mut restarted) = (own_broker().take(), own_broker().take());
    let nodes = format!("[nodes]\nonly = ['{}*', '{}*']\n", steady.name, restarted.name);
    bench.file("watch.toml", format!("{CONFIGURATION}{nodes}"));
    let load = format!("load -x 1 -y 1 -u soak -r 500 -h {}", steady.uri());
    let load = bench.start(&load);
    let watched = Watched::start(bench);
    watched.wait_for_windows(&steady.name, 1);
    watched.wait_for_windows(&restarted.name, 1);
    let until = Instant::now() + duration;
    let mut held = Vec::new();
    while Instant::now() < until {
        held.push(restart(&watched, &mut restarted, interval));
        say(held.len(), held.last().unwrap());
    }
    load.killed();
    watched.kill();
    assert_nothing_grew(&held);
}

fn asked_for(variable: &str) -> Option<Duration> {
    let text = std::env::var(variable).ok()?;
    Some(rabbitscope_text::parse_duration(&text).unwrap())
}

/// Ends a node, records the resources of `watch`, starts the node again, and waits for the end of the interval.
fn restart(watched: &Watched, node: &mut Broker, interval: Duration) -> Holdings {
    let next = Instant::now() + interval;
    let pid = node.nodes()[0].pid;
    node.kill();
    let has_ended = || {
        let said = watched.bench.read("said");
        said.lines().any(|line| line.contains(&format!("(pid {pid},")) && line.ends_with("ended"))
    };
    eventually("the end is noticed", has_ended);
    signal(&watched.watch, Signal::HUP);
    let held = Holdings::from_pid(watched.watch.id());
    node.start_again().unwrap();
    watched.wait_for_windows(&format!("~{}.pb.gz", node.nodes()[0].pid), 1);
    std::thread::sleep(next.saturating_duration_since(Instant::now()));
    held
}

fn assert_nothing_grew(held: &[Holdings]) {
    let counts: Vec<_> = held.iter().map(Holdings::counts).collect();
    assert!(counts.iter().all(|count| *count == counts[0]), "{counts:?}");
    assert_bounded(held, "KiB", MAX_GROWTH_KIB, |holdings| holdings.resident_kib);
    assert_bounded(held, "descriptors", MAX_MORE_DESCRIPTORS, |holdings| {
        holdings.descriptors as u64
    });
}

/// Asserts that the median of the last quarter exceeds that of the second by at most `limit`.
fn assert_bounded(held: &[Holdings], unit: &str, limit: u64, value: impl Fn(&Holdings) -> u64) {
    let quarter = held.len() / 4;
    let median = |part: &[Holdings]| {
        let mut values: Vec<u64> = part.iter().map(&value).collect();
        values.sort_unstable();
        values.get(values.len() / 2).copied().unwrap_or_default()
    };
    let (before, after) = (median(&held[quarter..2 * quarter]), median(&held[3 * quarter..]));
    assert!(quarter == 0 || after <= before + limit, "{before} {unit}, then {after}");
}

/// Prints the progress of the soak.
#[expect(clippy::print_stderr, reason = "the lines are what the soak is for")]
fn say(restarts: usize, held: &Holdings) {
    let [threads, programs, maps, links] = held.counts();
    eprintln!(
        "{restarts:>4} restarts: {:.1} MiB, {} descriptors, {threads} threads, {programs} programs, {maps} \
         maps, {links} links",
        held.resident_kib as f64 / 1024.0,
        held.descriptors,
    );
}
