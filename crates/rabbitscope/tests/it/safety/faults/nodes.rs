//! Nodes that die during a command that uses them, in any phase.

use std::{thread, time::Duration};

use rabbitscope_testing::kernel_programs_of;

use super::{campaign::Extent, random::Random, table::Table, world::World};
use crate::inside::remains;

pub(super) fn run(extent: Extent, random: &mut Random, table: &mut Table) {
    let mut world = World::new();
    world.bench.file("run.toml", super::kills::scenario());
    for round in 0..extent.count(30, 10) {
        let (uri, pid, node) = (world.broker.uri(), world.broker.pid, world.node());
        let all = [
            ("run", format!("run run.toml --set run.duration=10s --uri {uri} --out out/run")),
            ("profile", format!("profile {node} --duration 3s -o out/result.pb.gz")),
            (
                "profile --pid",
                format!("profile --pid {pid} --no-names --duration 3s -o out/result.html"),
            ),
            (
                "trace",
                format!("trace timer:sleep/1 --process busy --limit 100000 --duration 5s {node}"),
            ),
            (
                "calltree",
                format!("calltree lists:reverse/1 --duration 5s {node} -o out/result.html"),
            ),
            ("top", format!("top --once --interval 4s {node}")),
        ];
        let (name, command) = &all[round as usize % all.len()];
        let child = world.start(command);
        thread::sleep(random.instant(Duration::from_secs(4)));
        let programs = kernel_programs_of(child.id());
        world.broker.kill();
        // The search for remains starts once the node is back.
        thread::sleep(Duration::from_millis(300));
        world.broker.start_again().unwrap();
        remains::start_busy(&world.bench, &world.broker);
        table.add(&format!("the node dies: {name}"), world.outcome(child, &programs));
    }
}
