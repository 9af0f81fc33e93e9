//! Flows of deliveries by MQTT ─► groups of consumers.

use std::collections::BTreeSet;

use super::readers::{self, ReaderGroup, Source};
use crate::observe::ReadFlow;

/// Maximum of different subscriptions. Each needs a group, because a scenario gives all members the same filters.
const SUBSCRIPTIONS_MAX: usize = 100;

/// Groups the readers of MQTT. Those without a filter, and those of too many different subscriptions, are left out.
pub(super) fn groups(flows: &[&ReadFlow], missing: &mut Vec<String>) -> Vec<ReaderGroup> {
    let mut known: BTreeSet<Vec<String>> = BTreeSet::new();
    let (mut placed, mut without, mut rare) = (Vec::new(), 0, 0);
    for flow in flows {
        let is_assumed = flow.subscription.is_assumed;
        let mut filters = flow.subscription.filters.clone();
        filters.sort();
        if filters.is_empty() {
            without += 1;
        } else if known.len() >= SUBSCRIPTIONS_MAX && !known.contains(&filters) {
            rare += 1;
        } else {
            known.insert(filters.clone());
            let source = Source::Topics { filters, is_assumed };
            placed.push((readers::settings(flow, source), *flow, ""));
        }
    }
    if without > 0 {
        missing.push(format!("{without} consumers by MQTT of unknown topics are left out"));
    }
    if rare > 0 {
        missing.push(format!(
            "{rare} consumers by MQTT are left out: there are more than {SUBSCRIPTIONS_MAX} different subscriptions"
        ));
    }
    readers::groups(placed, |_| 0)
}
