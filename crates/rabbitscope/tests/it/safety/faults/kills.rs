//! `kill -9` at random instants of every command.

use std::{thread, time::Duration};

use rustix::process::Signal;

use super::{campaign::Extent, random::Random, table::Table, world::World};
use rabbitscope_testing::{
    kernel_programs_of,
    scenario::{Churn, Consumers, Exchange, Profile, Publishers, Queue, Scenario},
    signal,
};

/// A command to kill.
struct Victim {
    name: &'static str,
    arguments: String,
    /// The latest instant of the kill, in milliseconds after the start.
    latest: u64,
    /// Required number of kills that hit the running command.
    kills: u32,
}

/// A run with everything that can be declared, churned and recorded.
pub(super) fn scenario() -> Scenario {
    let queue = "fault.classic";
    Scenario::new("fault")
        .exchanges(Exchange::new("fault.exchange"))
        .queues(Queue::new(queue).bound("fault.exchange", "k"))
        .queues(Queue::new("fault.quorum").of_type("quorum"))
        .publishers(Publishers::through("fault.exchange", "k").rate(500).confirm_window(50))
        .publishers(Publishers::new("fault.quorum").rate(100).confirm_window(10))
        .consumers(Consumers::new(queue).prefetch(50))
        .churn(Churn::new("queues").rate(20))
        .churn(Churn::new("bindings").queue(queue).exchange("amq.topic").rate(20))
        .duration("20s")
}

/// A run that starts its own throwaway broker.
fn small() -> Scenario {
    Scenario::with_queue("q")
        .publishers(Publishers::new("q").rate(500))
        .consumers(Consumers::new("q"))
        .duration("20s")
}

const FIND_RATE: &str = "find-rate run.toml --slo confirm.p99<1s --step-time 3s --warm-up 500ms --max 2000 \
     --remove-leftovers";

const REMOVE: &str = "leftovers --remove --assume-unbound";

fn victims(world: &World) -> Vec<Victim> {
    let (uri, pid, node) = (world.broker.uri(), world.broker.pid, world.node());
    let of = |name, arguments: String, latest, kills| Victim { name, arguments, latest, kills };
    vec![
        of("run, broker of others", format!("run run.toml --uri {uri} --out out/run"), 3000, 30),
        of("run with profile", format!("run profile.toml --uri {uri} --out out/run"), 4000, 16),
        of("run, throwaway broker", "run small.toml --out out/run".to_owned(), 8000, 12),
        of("find-rate", format!("{FIND_RATE} --uri {uri} --out out/run"), 5000, 8),
        of(
            "profile",
            format!("profile --pid {pid} --no-names --duration 2s -o out/result.pb.gz"),
            2500,
            16,
        ),
        of(
            "profile, five events",
            format!(
                "profile --pid {pid} --no-names --event cpu,off-cpu,mmap,brk,page-faults \
                 --duration 2s -o out/result.html"
            ),
            3500,
            10,
        ),
        of(
            "profile with names",
            format!("profile {node} --duration 2s -o out/result.svg"),
            3500,
            14,
        ),
        of(
            "profile --from-inside",
            format!("profile --from-inside {node} --duration 2s -o out/result.folded"),
            3000,
            12,
        ),
        of(
            "trace",
            format!("trace timer:sleep/1 --process busy --args --return --limit 100000 {node}"),
            2500,
            14,
        ),
        of(
            "calltree",
            format!("calltree lists:reverse/1 --follow --duration 60s {node} -o out/result.folded"),
            2500,
            14,
        ),
        of("functions", format!("functions --process busy --duration 60s {node}"), 2500, 14),
        of("top", format!("top --interval 60s {node}"), 2500, 10),
        of("queues --watch", format!("queues --watch {node}"), 2000, 8),
        of("queues --listen", format!("queues --listen 127.0.0.1:0 {node}"), 2000, 8),
        of("flamegraph", "flamegraph stacks.folded -o out/result.html".to_owned(), 1500, 8),
        of("diff", "diff stacks.folded stacks.folded -o out/result.html".to_owned(), 1500, 6),
        of("report", "report recorded -o out/result.html".to_owned(), 300, 6),
        of("leftovers --remove", format!("{REMOVE} --uri {uri}"), 100, 6),
        of("broker start", "broker start".to_owned(), 5000, 8),
    ]
}

pub(super) fn run(world: &World, extent: Extent, random: &mut Random, table: &mut Table) {
    world.bench.file("run.toml", scenario());
    world.bench.file("profile.toml", scenario().profile(Profile::new("15s").delay("200ms")));
    world.bench.file("small.toml", small());
    world.bench.file("stacks.folded", stacks());
    world.bench.file("recorded.toml", scenario().duration("2s"));
    let uri = world.broker.uri();
    world.bench.rabbitscope(&format!("run recorded.toml --uri {uri} --out recorded")).code(0);
    for victim in victims(world) {
        kill(world, &victim, extent.count(victim.kills, 30), random, table);
    }
}

fn kill(world: &World, victim: &Victim, kills: u32, random: &mut Random, table: &mut Table) {
    let what = format!("kill -9: {}", victim.name);
    let (mut hits, mut tries) = (0, 0);
    // A command that ended before its kill does not count.
    while hits < kills && tries < 4 * kills + 4 {
        tries += 1;
        let child = world.start(&victim.arguments);
        thread::sleep(random.instant(Duration::from_millis(victim.latest)));
        let programs = kernel_programs_of(child.id());
        signal(&child, Signal::KILL);
        if victim.name == "broker start" {
            // A broker that already has a name is a result, and the user has to stop it.
            world.bench.rabbitscope("broker stop --all");
        }
        let outcome = world.outcome(child, &programs);
        if outcome.code == "killed" || !outcome.leftovers.is_empty() {
            hits += 1;
            table.add(&what, outcome);
        }
    }
}

/// Makes enough stacks for half a second of work.
fn stacks() -> String {
    let line = |at: u32| {
        format!("scheduler;a:f{}/1;b:g{}/2;c:h{at}/3;d:i{}/4 {at}\n", at % 7, at % 101, at % 1009)
    };
    (1..60_000).map(line).collect()
}
