//! A planted load, and the scenario that comes back.

use rabbitscope_runs::scenario::{self, ConsumerGroup, PublisherGroup, Scenario};
use rabbitscope_testing::Workbench;
use serde_json::Value;

/// The scenario that came back.
pub(super) struct Back {
    pub(super) text: String,
    pub(super) scenario: Scenario,
    bench: Workbench,
}

impl Back {
    /// Runs groups and objects for ten seconds on a throwaway broker, with a capture, and reads it back. Returns none
    /// without root.
    pub(super) fn from_load(name: &str, tables: &str) -> Option<Self> {
        let bench = Workbench::for_root(name)?;
        let head = "name = \"planted\"\nrun.duration = \"10s\"\n";
        let packets = "packets = { duration = \"10s\", save = true }\n";
        bench.file("planted.toml", format!("{head}{packets}{tables}"));
        let ended = bench.rabbitscope("run planted.toml --out out");
        assert!(matches!(ended.code, Some(0 | 4)), "{ended:#?}");
        Some(Self::from_capture(bench, "--pcap out/packets.pcapng"))
    }

    /// Reads a load back.
    pub(super) fn from_capture(bench: Workbench, arguments: &str) -> Self {
        bench.rabbitscope(&format!("workload {arguments} -o mine.toml")).code(0);
        let text = bench.read("mine.toml");
        let scenario = scenario::parse(&text, "mine.toml", &[]);
        let scenario = scenario.unwrap_or_else(|error| panic!("{error}\n{text}"));
        Self { text, scenario, bench }
    }

    /// Returns the only group of publishers to a queue or an exchange.
    #[track_caller]
    pub(super) fn publishers(&self, target: &str) -> &PublisherGroup {
        let groups = self.all_publishers(target);
        let [group] = groups[..] else {
            panic!("{} groups for {target}\n{}", groups.len(), self.text)
        };
        group
    }

    pub(super) fn all_publishers(&self, target: &str) -> Vec<&PublisherGroup> {
        let groups = self.scenario.publishers.iter();
        let busy = groups.filter(|group| group.rate != Some(0.0));
        busy.filter(|group| group.queue.as_deref() == Some(target) || group.exchange() == target)
            .collect()
    }

    /// Returns the only group of consumers of a queue.
    #[track_caller]
    pub(super) fn consumers(&self, queue: &str) -> &ConsumerGroup {
        let groups = self.scenario.consumers.iter().filter(|group| group.queue == queue);
        let groups: Vec<_> = groups.collect();
        let [group] = groups[..] else {
            panic!("{} groups for {queue}\n{}", groups.len(), self.text)
        };
        group
    }

    #[track_caller]
    pub(super) fn check_rate(&self, target: &str, expected: f64, tolerance: f64) {
        let rate = self.publishers(target).rate.unwrap_or_default();
        assert!((rate / expected - 1.0).abs() < tolerance, "{rate}, not {expected}\n{}", self.text);
    }

    #[track_caller]
    pub(super) fn check_processing(&self, queue: &str, millis: f64, tolerance: f64) {
        let group = self.consumers(queue);
        // A machine with other work has a long tail, which the scenario expresses by shares.
        let median = || {
            let shares = group.processing_time_shares.as_deref()?;
            let all: f64 = shares.iter().map(|one| one.share).sum();
            let mut sum = 0.0;
            let reached = shares.iter().find(|one| {
                sum += one.share;
                sum >= all / 2.0
            });
            reached.map(|one| one.time)
        };
        let time = group.processing_time.or_else(median).unwrap_or_default().as_secs_f64() * 1e3;
        assert!((time / millis - 1.0).abs() < tolerance, "{time} ms, not {millis}\n{}", self.text);
    }

    /// Compares the scenario that came back with its source.
    #[track_caller]
    pub(super) fn compared(&self) -> Value {
        let ended = self.bench.rabbitscope("workload --compare mine.toml --json --out compared");
        let likeness = serde_json::from_str(&ended.stdout);
        likeness.unwrap_or_else(|error| panic!("{error}\n{ended:#?}"))
    }

    /// Returns the figures of the source, for a comparison.
    pub(super) fn figures(&self) -> Value {
        self.bench.json("mine.likeness.json")
    }

    /// Runs the scenario that came back, for three seconds.
    #[track_caller]
    pub(super) fn runs(&self) {
        let ended = self.bench.rabbitscope("run mine.toml --set run.duration=3s --out again");
        assert!(matches!(ended.code, Some(0 | 4)), "{ended:#?}\n{}", self.text);
        let run = self.bench.json("again/run.json");
        assert!(rabbitscope_testing::count(&run, "published") > 0, "{run:#}");
    }
}
