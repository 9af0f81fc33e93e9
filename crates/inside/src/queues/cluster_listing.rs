//! The queues of all nodes of a cluster, as one listing.

use std::{collections::BTreeMap, sync::Arc};

use super::{AgeLimits, Listing, MissingReason, QueueRow};
use crate::cluster::MissingNode;

impl Listing {
    /// Joins several listings, each of which has the figures of the queues that its own node leads. `None` without
    /// listings.
    pub fn joined(listings: Vec<Self>, missing: Vec<MissingNode>) -> Option<Self> {
        let nodes: Vec<String> = listings.iter().map(|listing| listing.node.clone()).collect();
        let mut listings = listings.into_iter();
        let mut joined = listings.next()?;
        let mut rows = Rows::default();
        rows.add(&joined.node, std::mem::take(&mut joined.rows));
        for listing in listings {
            joined.ages = joined.ages.longer(listing.ages);
            joined.statistics &= listing.statistics;
            joined.took = joined.took.max(listing.took);
            joined.took_on_node = joined.took_on_node.max(listing.took_on_node);
            joined.began = joined.began.min(listing.began);
            rows.add(&listing.node, listing.rows);
        }
        let rows = rows.0.into_values().collect();
        Some(Self { nodes, missing, rows, ..joined })
    }
}

/// Rows per virtual host and name.
#[derive(Default)]
struct Rows(BTreeMap<(Arc<str>, Arc<str>), QueueRow>);

impl Rows {
    /// Adds the rows of a node. For each queue the row of the leader's node wins. Otherwise a row with more information
    /// wins over "not here".
    fn add(&mut self, node: &str, rows: Vec<QueueRow>) {
        let is_elsewhere = |row: &QueueRow| row.missing == Some(MissingReason::NotHere);
        for row in rows {
            let key = (Arc::clone(&row.vhost), Arc::clone(&row.name));
            let known = self.0.get(&key);
            let is_better = *row.node == *node
                || known.is_none_or(|known| is_elsewhere(known) && !is_elsewhere(&row));
            if is_better {
                self.0.insert(key, row);
            }
        }
    }
}

impl AgeLimits {
    fn longer(self, other: Self) -> Self {
        Self {
            classic: self.classic.max(other.classic),
            quorum: self.quorum.max(other.quorum),
            stream: self.stream.max(other.stream),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;
    use crate::queues::{Page, QueueFilter, QueueSource, SortKey};

    fn listing(node: &str, rows: &[(&str, &str, Option<u64>, Option<MissingReason>)]) -> Listing {
        let row = |(name, leader, ready, missing): &(&str, &str, Option<u64>, _)| QueueRow {
            name: (*name).into(),
            vhost: "/".into(),
            kind: "quorum".into(),
            node: (*leader).into(),
            state: None,
            ready: *ready,
            unacknowledged: None,
            consumers: None,
            memory_bytes: None,
            missing: *missing,
        };
        let second = Duration::from_secs(1);
        Listing {
            node: node.to_owned(),
            nodes: Vec::new(),
            missing: Vec::new(),
            source: QueueSource::Tables,
            ages: AgeLimits { classic: second, quorum: second, stream: second },
            statistics: true,
            began: Instant::now(),
            took: second,
            took_on_node: second,
            rows: rows.iter().map(row).collect(),
        }
    }

    #[test]
    fn each_queue_has_the_figures_of_its_leader() {
        use MissingReason::{Down, NotHere};
        let one = listing(
            "a@h",
            &[
                ("q1", "a@h", Some(5), None),
                ("q2", "b@h", Some(1), None),
                ("q3", "c@h", None, Some(NotHere)),
                ("q4", "d@h", None, Some(NotHere)),
            ],
        );
        let two = listing(
            "b@h",
            &[
                ("q1", "a@h", None, Some(NotHere)),
                ("q2", "b@h", Some(7), None),
                ("q3", "c@h", None, Some(NotHere)),
                ("q4", "d@h", None, Some(Down)),
            ],
        );
        let lost = MissingNode { node: "c@h".to_owned(), reason: "it is cut off".to_owned() };
        let all = Listing::joined(vec![one, two], vec![lost]).unwrap();
        let found = all.rows.iter().map(|row| (row.ready, row.missing));
        let expected =
            [(Some(5), None), (Some(7), None), (None, Some(NotHere)), (None, Some(Down))];
        assert_eq!(found.collect::<Vec<_>>(), expected);
        let page = Page { number: 1, size: None };
        let view = all.view(&QueueFilter::default(), SortKey::Name, page);
        let text = view.to_text();
        assert!(text.starts_with("node  queue"), "{text}");
        assert!(text.contains("\nb@h   q2") && text.contains("on c@h"), "{text}");
        assert!(text.ends_with("\nnot shown: c@h, it is cut off"), "{text}");
        let json = serde_json::to_value(&view).unwrap();
        assert_eq!(json["nodes"], serde_json::json!(["a@h", "b@h"]));
        assert_eq!(json["missing"][0]["node"], "c@h");
        assert!(Listing::joined(Vec::new(), Vec::new()).is_none());
    }
}
