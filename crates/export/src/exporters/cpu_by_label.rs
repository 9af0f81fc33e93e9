//! CPU time of a node by role and by queue, summed over its windows.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
    time::Duration,
};

use rabbitscope_profiles::Event;

use crate::{
    MetricsSnapshot, NodeLabels, Window, catalog,
    encode::{QueueRanking, SeriesProfile},
};

/// Limit of remembered nodes; the oldest is forgotten first. A pod that is recreated may have another name.
const MAX_NODES: usize = 64;

/// Limit of a node's queues that have had a name. The counter of a queue that gets its name back continues.
const MAX_QUEUES: usize = 200;

/// Time without windows after which a node's figures are no longer sent; two windows if these are longer.
const GONE_AFTER: Duration = Duration::from_secs(300);

/// CPU time of all nodes.
#[derive(Debug, Default)]
pub(super) struct CpuByLabel {
    nodes: HashMap<Arc<NodeLabels>, NodeCpu>,
}

#[derive(Debug, Default)]
struct NodeCpu {
    /// Time, since 1970-01-01, at which the node counts as gone unless a window arrives.
    there_until_nanos: u64,
    /// Rankings by event: each event has weights of its own unit.
    rankings: HashMap<Event, QueueRanking>,
    roles: BTreeMap<Arc<str>, f64>,
    /// Seconds by queue and virtual host.
    queues: BTreeMap<(Arc<str>, Arc<str>), f64>,
}

impl CpuByLabel {
    /// Returns the profile with the labels of a series, and adds its CPU time.
    pub(super) fn add_window<'a>(&mut self, window: &'a Window) -> SeriesProfile<'a> {
        self.forget_oldest(&window.labels);
        let node = self.nodes.entry(Arc::clone(&window.labels)).or_default();
        node.there_until_nanos = there_until_nanos(window);
        let profile = &window.profile;
        let ranking = node.rankings.entry(profile.event).or_default();
        let series = SeriesProfile::from_profile(profile, ranking);
        let period = profile.capture.period_nanos;
        if profile.event == Event::Cpu && period > 0 {
            node.add(&series, period as f64 / 1e9);
        }
        series
    }

    fn forget_oldest(&mut self, coming: &Arc<NodeLabels>) {
        if self.nodes.len() < MAX_NODES || self.nodes.contains_key(coming) {
            return;
        }
        let oldest = self.nodes.iter().min_by_key(|(_, node)| node.there_until_nanos);
        if let Some(oldest) = oldest.map(|(labels, _)| Arc::clone(labels)) {
            self.nodes.remove(&oldest);
        }
    }

    /// Adds the figures of all present nodes.
    pub(super) fn write(&self, snapshot: &mut MetricsSnapshot) {
        let now = snapshot.unix_millis.saturating_mul(1_000_000);
        for (labels, node) in &self.nodes {
            if now > node.there_until_nanos {
                continue;
            }
            for (role, seconds) in &node.roles {
                let role = vec![("role", Arc::clone(role))];
                snapshot.add(&catalog::NODE_ROLE_CPU, Some(labels), role, *seconds);
            }
            for ((queue, vhost), seconds) in &node.queues {
                let queue = vec![("queue", Arc::clone(queue)), ("vhost", Arc::clone(vhost))];
                snapshot.add(&catalog::NODE_QUEUE_CPU, Some(labels), queue, *seconds);
            }
        }
    }
}

/// Time at which the node counts as gone: a window arrives after its end, and the next one is as long.
fn there_until_nanos(window: &Window) -> u64 {
    let after_start = window.duration + GONE_AFTER.max(2 * window.duration);
    let nanos = u64::try_from(after_start.as_nanos()).unwrap_or(u64::MAX);
    window.started_unix_nanos.saturating_add(nanos)
}

impl NodeCpu {
    fn add(&mut self, series: &SeriesProfile<'_>, seconds_of_tick: f64) {
        // All series of a counter may reset; backends treat that like a restart. The reset precedes the window:
        // otherwise no exported value would contain the window's time.
        if self.queues.len() > MAX_QUEUES {
            self.queues.clear();
        }
        for (labels, weight) in series.weights() {
            let seconds = weight as f64 * seconds_of_tick;
            *self.roles.entry(Arc::from(labels.role)).or_default() += seconds;
            if let Some((vhost, name)) = labels.queue {
                let queue = (Arc::from(name), Arc::from(vhost));
                *self.queues.entry(queue).or_default() += seconds;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rabbitscope_profiles::Profile;

    use super::*;
    use crate::encode::test_profile;

    fn window(node: &str, profile: Profile) -> Window {
        let labels = NodeLabels { node: node.to_owned(), ..NodeLabels::default() };
        Window {
            labels: Arc::new(labels),
            started_unix_nanos: profile.capture.started_unix_nanos,
            duration: Duration::from_secs(10),
            profile: Arc::new(profile),
        }
    }

    #[test]
    fn time_adds_up_and_a_node_that_is_gone_is_silent() {
        let mut cpu = CpuByLabel::default();
        for _ in 0..3 {
            cpu.add_window(&window("a@b", test_profile(&[("q", 100), ("r", 50)])));
        }
        let figures = |unix_millis| {
            let mut snapshot = MetricsSnapshot::new(unix_millis);
            cpu.write(&mut snapshot);
            let points = snapshot.points().iter();
            points
                .map(|point| (point.labels[0].1.to_string(), (point.value * 1e6).round()))
                .collect::<Vec<_>>()
        };
        let start = 1_700_000_000_000;
        let expected = [("no-process", 0.21e6), ("queue", 4.5e6), ("q", 3e6), ("r", 1.5e6)];
        let expected = expected.map(|(label, micros)| (label.to_owned(), micros));
        assert_eq!(figures(start + 10_000), expected);
        assert_eq!(figures(start + 311_000), []);
    }

    #[test]
    fn a_node_is_there_between_two_long_windows() {
        let (mut cpu, length) = (CpuByLabel::default(), Duration::from_secs(600));
        let long = Window { duration: length, ..window("a@b", test_profile(&[("q", 1)])) };
        cpu.add_window(&long);
        let start = Duration::from_nanos(long.started_unix_nanos);
        for since in [length, 2 * length] {
            let unix_millis = u64::try_from((start + since).as_millis()).unwrap();
            let mut snapshot = MetricsSnapshot::new(unix_millis);
            cpu.write(&mut snapshot);
            assert_eq!(snapshot.points().len(), 3, "{since:?}");
        }
    }

    #[test]
    fn the_window_with_which_queues_start_anew_counts() {
        let labels = |number: usize| (Arc::from(format!("old{number}")), Arc::from("/"));
        let queues = (0..=MAX_QUEUES).map(|number| (labels(number), 1.0)).collect();
        let mut node = NodeCpu { queues, ..NodeCpu::default() };
        let profile = test_profile(&[("q", 100)]);
        node.add(&SeriesProfile::from_profile(&profile, &mut QueueRanking::default()), 0.01);
        let left: Vec<_> = node.queues.into_iter().collect();
        assert_eq!(left, [((Arc::from("q"), Arc::from("/")), 1.0)]);
    }

    #[test]
    fn nodes_are_bounded() {
        let mut cpu = CpuByLabel::default();
        for node in 0..200 {
            cpu.add_window(&window(&format!("{node}@b"), test_profile(&[("q", 1)])));
        }
        assert_eq!(cpu.nodes.len(), MAX_NODES);
    }
}
