//! The fault campaign. Every command is killed at random instants, stopped, and hung up on. It gets a full disk,
//! broken sockets, peers that answer garbage or nothing, and nodes that die. After each fault, only the named results
//! may be left on the node, in the kernel and on the disk. All recorded data must be readable.
//!
//! ```text
//! make test-faults                        all of it, at most 20 minutes; ends with a table
//! RABBITSCOPE_FAULT_SEED=7 make …         other instants; the table says which seed it was
//! ```
//!
//! `make test` runs a small part of it.

mod disk;
mod kills;
mod nodes;
mod peers;
mod random;
mod stops;
mod table;
mod world;

use random::Random;
use table::Table;
use world::World;

/// The extent of the campaign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extent {
    /// A fault of each kind, for every change.
    Sample,
    /// All faults.
    Whole,
}

impl Extent {
    /// Returns `whole`, or its share for a sample, rounded up.
    fn count(self, whole: u32, share: u32) -> u32 {
        match self {
            Self::Sample => whole.div_ceil(share),
            Self::Whole => whole,
        }
    }
}

fn campaign(extent: Extent) {
    let (mut random, mut table) = (Random::from_environment(), Table::default());
    say(&format!("seed {}", random.seed()));
    let world = World::new();
    kills::run(&world, extent, &mut random, &mut table);
    stops::run(&world, extent, &mut random, &mut table);
    peers::run(&world, extent, &mut random, &mut table);
    disk::run(&world, extent, &mut random, &mut table);
    nodes::run(extent, &mut random, &mut table);
    say(&table.to_string());
    table.assert_clean(random.seed());
}

/// Prints the progress of a campaign.
#[expect(clippy::print_stderr, reason = "the table is what the campaign is for")]
fn say(text: &str) {
    eprintln!("{text}");
}

#[test]
fn a_sample_of_every_fault_leaves_nothing() {
    campaign(Extent::Sample);
}

#[test]
#[ignore = "20 minutes: make test-faults"]
fn the_whole_campaign_leaves_nothing() {
    campaign(Extent::Whole);
}
