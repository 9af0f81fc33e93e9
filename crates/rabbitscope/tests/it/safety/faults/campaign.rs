//! The order of the campaign, and its extent.

use super::{disk, kills, nodes, peers, random::Random, stops, table::Table, world::World};

/// The extent of the campaign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// A fault of each kind, for every change.
    Sample,
    /// All faults.
    Whole,
}

impl Extent {
    /// Returns `whole`, or its share for a sample, rounded up.
    pub(super) fn count(self, whole: u32, share: u32) -> u32 {
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
pub(super) fn say(text: &str) {
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
