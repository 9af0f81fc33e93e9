//! The part of a run that one of several processes executes.
//!
//! A run is split by connection: the members of a connection (publishers, consumers, callers …) go with it. A member's
//! actions depend only on its number in the scenario, never on the process. Several processes together therefore do the
//! same as one.

/// One of several equal parts of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Index of the part, from 0.
    pub number: u32,
    /// Number of parts of the run; at least 1.
    pub of: u32,
}

impl Share {
    /// The whole run.
    pub const WHOLE: Self = Self { number: 0, of: 1 };

    /// Returns whether the connection belongs to this part. Connections go to the parts in turn, so that each part has
    /// some of every group.
    pub(crate) fn has(self, connection: usize) -> bool {
        connection % self.of.max(1) as usize == self.number as usize
    }

    /// Returns the members of a group of `count` that need no planned connection.
    pub(crate) fn of_members(self, count: u32) -> impl Iterator<Item = u32> {
        (self.number..count).step_by(self.of.max(1) as usize)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use rabbitscope_runs::scenario;

    use super::*;
    use crate::{
        message::BodyFiles,
        plan::{LinkPlan, Members, plan_links},
    };

    const TEXT: &str = r#"
        name = "split"
        run = { duration = "1s", latency-by-queue = true }
        queues = [{ name = "q-{}", from = 1, to = 7 }]
        publishers = [
            { name = "a", queue = "q-{}", count = 9, connections = 5, rate = 10, random-start-delay = "1s" },
            { name = "b", queue = "q-3", count = 4 },
        ]
        consumers = [{ queue = "q-{}", count = 8, connections = 3 }]
        requests = [{ queue = "q-1", count = 3 }]
        responders = [{ queue = "q-1", count = 2 }]
        churn = [
            { kind = "queues", concurrency = 5, connections = 3 },
            { name = "c", kind = "connections", concurrency = 7 },
        ]
    "#;

    /// Describes everything that determines the actions of a connection.
    fn described(links: Vec<LinkPlan<'_>>) -> BTreeMap<usize, String> {
        let text = |link: &LinkPlan<'_>| {
            let frame_max = 4096;
            let publishers = match &link.members {
                Members::Publishers { messages, placements, .. } => placements
                    .iter()
                    .map(|placement| {
                        let (start, seed) =
                            (messages.start(placement.member), messages.seed(placement.member));
                        let payload =
                            messages.payload(placement.member, placement.channel, frame_max);
                        format!("{placement:?} {start:?} {seed} {payload:?}")
                    })
                    .collect(),
                _ => Vec::new(),
            };
            format!("{link:?} {publishers:?}")
        };
        links.into_iter().map(|link| (link.number, text(&link))).collect()
    }

    #[test]
    fn several_do_exactly_what_one_would() {
        let scenario = scenario::parse(TEXT, "test", &[]).unwrap();
        let all =
            described(plan_links(&scenario, "run", Share::WHOLE, &BodyFiles::anywhere()).unwrap());
        assert_eq!(all.len(), 14);
        for of in [1, 2, 3, 4, 16] {
            let mut joined = BTreeMap::new();
            for number in 0..of {
                let part =
                    plan_links(&scenario, "run", Share { number, of }, &BodyFiles::anywhere())
                        .unwrap();
                let longest = all.len().div_ceil(of as usize);
                assert!(part.len() <= longest && part.len() + 1 >= longest, "{}", part.len());
                for (link, text) in described(part) {
                    assert!(joined.insert(link, text).is_none(), "{link} is in two parts");
                }
            }
            assert_eq!(joined, all, "{of} parts");
            let mut members: Vec<_> =
                (0..of).flat_map(|number| Share { number, of }.of_members(7)).collect();
            members.sort_unstable();
            assert_eq!(members, (0..7).collect::<Vec<_>>());
        }
    }
}
