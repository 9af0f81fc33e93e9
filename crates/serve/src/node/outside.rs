//! What `/proc` shows of the node, without a cookie.

use std::time::{Duration, Instant};

use rabbitscope_diagnosis::Use;
use rabbitscope_machine::{
    ProcessUsage,
    host::{HostReading, HostState, ThreadPlace},
};
use rabbitscope_probe::NodeHost;
use rabbitscope_web::NodeSecond;

/// Reads the process of a node.
pub(super) struct Outside {
    pid: u32,
    /// Absent if the machine may not be read.
    host: Option<NodeHost>,
    quota_cores: Option<f64>,
    last: Option<(Instant, Duration)>,
}

impl Outside {
    /// Reads the first counters.
    pub(super) fn new(pid: u32) -> Self {
        let host = NodeHost::open(pid).ok();
        let reading = host.as_ref().and_then(|host| host.read().ok());
        let quota_cores = reading.as_ref().and_then(quota);
        let last = ProcessUsage::from_pid(pid).map(|usage| (Instant::now(), usage.cpu));
        Self { pid, host, quota_cores, last }
    }

    /// Returns the figures since the last call.
    pub(super) fn lap(&mut self) -> NodeSecond {
        let usage = ProcessUsage::from_pid(self.pid);
        let now = Instant::now();
        let after = usage.map(|usage| (now, usage.cpu));
        let before = std::mem::replace(&mut self.last, after);
        let state = self.host.as_ref().and_then(|host| host.state().ok());
        NodeSecond {
            cpu_cores: before.zip(after).map(|(before, after)| cores(before, after)),
            allowed_cores: state.as_ref().and_then(|state| self.allowed(state)),
            resident_bytes: usage.map(|usage| usage.rss_bytes),
            descriptors: state.as_ref().and_then(descriptors),
            ..NodeSecond::default()
        }
    }

    fn allowed(&self, state: &HostState) -> Option<f64> {
        let cpus = ThreadPlace::allowed(&state.threads).len() as f64;
        let allowed = self.quota_cores.map_or(cpus, |quota| quota.min(cpus));
        (allowed > 0.0).then_some(allowed)
    }
}

fn cores(before: (Instant, Duration), after: (Instant, Duration)) -> f64 {
    let elapsed = after.0.duration_since(before.0).as_secs_f64().max(f64::MIN_POSITIVE);
    after.1.saturating_sub(before.1).as_secs_f64() / elapsed
}

fn quota(reading: &HostReading) -> Option<f64> {
    reading.cpu_limits.iter().map(|limit| limit.quota_cores).min_by(f64::total_cmp)
}

fn descriptors(state: &HostState) -> Option<Use> {
    Some(Use { used: state.descriptors?, limit: state.descriptor_limit.unwrap_or(0) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_is_no_node_still_has_cpu_and_memory() {
        let mut outside = Outside::new(std::process::id());
        let until = Instant::now() + Duration::from_millis(200);
        while Instant::now() < until {
            std::hint::spin_loop();
        }
        let second = outside.lap();
        assert!(second.cpu_cores.unwrap() > 0.1, "{second:?}");
        assert!(second.resident_bytes.unwrap() > 100_000, "{second:?}");
        assert_eq!(second.descriptors, None, "it is no Erlang VM");
        assert_eq!(Outside::new(u32::MAX).lap(), NodeSecond::default());
    }
}
