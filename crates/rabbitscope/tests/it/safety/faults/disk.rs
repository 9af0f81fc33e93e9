//! A full disk: a small tmpfs.

use std::fs;

use rabbitscope_testing::SmallDisk;

use super::{campaign::Extent, random::Random, table::Table, world::World};

pub(super) fn run(world: &World, extent: Extent, random: &mut Random, table: &mut Table) {
    let (uri, pid) = (world.broker.uri(), world.broker.pid);
    let commands = [
        ("run", format!("run run.toml --set run.duration=3s --uri {uri} --out full/run")),
        (
            "run with profile",
            format!(
                "run profile.toml --set run.duration=4s --set profile.duration=2s --uri {uri} --out full/run"
            ),
        ),
        ("profile", format!("profile --pid {pid} --no-names --duration 1s -o full/result.html")),
        ("flamegraph", "flamegraph stacks.folded -o full/result.html".to_owned()),
    ];
    for _ in 0..extent.count(3, 3) {
        for (name, command) in &commands {
            // The disk has room for hardly anything at the least, and for everything except the page at the most.
            let kib = 8 + random.next() % 300;
            let disk = match SmallDisk::mount(world.bench.path("full"), kib) {
                Ok(disk) => disk,
                Err(reason) => {
                    return super::campaign::say(&format!("not run: full disk: {reason}"));
                }
            };
            let ended = World::end_of(world.start(command));
            // With less than 1 MiB, nothing is declared, so that nothing is left to be removed later.
            let entries = world.entries();
            let mut outcome = world.look_around(ended, &[]);
            outcome
                .leftovers
                .extend(entries.iter().map(|entry| format!("declared: {}", entry.display())));
            let files = fs::read_dir(&disk.directory).unwrap().flatten();
            let names = files.map(|file| file.file_name().to_string_lossy().into_owned());
            let unfinished: Vec<_> = names.filter(|name| name.starts_with('.')).collect();
            if !unfinished.is_empty() {
                outcome.leftovers.push(format!("on a full disk: {unfinished:?}"));
            }
            table.add(&format!("full disk: {name}"), outcome);
        }
    }
}
