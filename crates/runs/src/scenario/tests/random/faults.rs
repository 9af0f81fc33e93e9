//! Random faults of throwaway brokers.

use std::time::Duration;

use super::{super::super::*, Random};

impl Random {
    pub(super) fn faults(&mut self, broker: &BrokerSpec, load: Duration) -> Vec<FaultSpec> {
        let BrokerSpec::Throwaway(broker) = broker else { return Vec::new() };
        let is_patched = broker.patches.len() + broker.modules.len() > 0;
        (0..self.below(3)).map(|_| self.fault((broker.nodes, is_patched), load)).collect()
    }

    /// Returns a random fault. A node that ends loses its patches.
    fn fault(&mut self, (nodes, is_patched): (u32, bool), load: Duration) -> FaultSpec {
        let kinds = [
            FaultKind::Pause,
            FaultKind::Partition,
            FaultKind::MemoryAlarm,
            FaultKind::DiskAlarm,
            FaultKind::Kill,
            FaultKind::Stop,
        ];
        let nodes = [FaultNode::Number(self.number(nodes)), FaultNode::Random];
        let is_repeated = self.chance();
        let every = Duration::from_millis(u64::from(self.number(9999)) + 50);
        let times = u64::from(self.number(100));
        FaultSpec {
            kind: kinds[self.below(if is_patched { 4 } else { 6 })],
            node: Some(nodes[self.below(2)]),
            queue: None,
            at: if self.chance() { load / 2 } else { Duration::ZERO },
            every: is_repeated.then_some(every),
            times: Some(times).filter(|_| is_repeated && self.chance()),
            until: Some(load).filter(|_| is_repeated && self.chance()),
            lasts: self.some(every / 2).or(is_repeated.then_some(every / 3)),
        }
    }
}
