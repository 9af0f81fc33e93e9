//! The connection and channel of each member of a group.

/// The channel of one member of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Placement {
    /// Number within the group, from 0.
    pub(crate) member: u32,
    /// For publishers: the number among all publishers of the scenario, from 0.
    pub(crate) number: u32,
    /// Channel number, from 1.
    pub(crate) channel: u16,
}

/// Distributes members over connections in turn, and those of each connection over its channels.
pub(super) fn spread(
    count: u32,
    connections: u32,
    channels: u32,
) -> impl Iterator<Item = Vec<Placement>> {
    (0..connections).map(move |connection| {
        let members = (connection..count).step_by(connections.max(1) as usize);
        let placements = members.zip(0_u32..).map(|(member, position)| {
            let channel = 1 + u16::try_from(position % channels.max(1)).unwrap_or(0);
            Placement { member, number: member, channel }
        });
        placements.collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_spread_in_turn() {
        fn check(count: u32, connections: u32, channels: u32, expected: &[&[(u32, u16)]]) {
            let placements: Vec<Vec<_>> = spread(count, connections, channels)
                .map(|placements| {
                    placements
                        .iter()
                        .map(|placement| (placement.member, placement.channel))
                        .collect()
                })
                .collect();
            assert_eq!(placements, expected);
        }
        check(1, 1, 1, &[&[(0, 1)]]);
        check(5, 2, 2, &[&[(0, 1), (2, 2), (4, 1)], &[(1, 1), (3, 2)]]);
        check(3, 1, 3, &[&[(0, 1), (1, 2), (2, 3)]]);
    }
}
