//! The parts of a load that do not fit this machine, by the scenario's own figures. Broker and load share it.
//!
//! These are estimates before a run. The run itself refuses connections beyond the limit of open files, and says
//! afterwards whether the load generator was the limit.

use rabbitscope_load::planned_connections;
use rabbitscope_machine::{Hardware, descriptor_limit, local_ports};
use rabbitscope_runs::scenario::{BrokerSpec, Phase, PublisherGroup, Scenario};
use rabbitscope_text::{grouped, human_bytes};

/// CPU time of broker and client for a message, in seconds: `docs/measurements/performance.md` has 67 µs at 20,000 a
/// second.
const CPU_SECONDS: f64 = 67e-6;
/// Memory of the broker for a connection with a channel, in bytes. RabbitMQ's documentation says 100 kB at least.
const CONNECTION_BYTES: u64 = 100_000;
/// Share of the memory up to which RabbitMQ accepts messages by default.
const HIGH_WATERMARK: f64 = 0.4;
/// Open files of the load and of the broker other than connections.
const OTHER_DESCRIPTORS: u64 = 256;

/// Limits of a machine. Unknown ones are absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Limits {
    cpus: u32,
    memory_bytes: u64,
    descriptors: Option<u64>,
    ports: Option<u64>,
}

/// Returns a sentence for each part of the load that does not fit this machine.
pub fn misfits(scenario: &Scenario) -> Vec<String> {
    let hardware = Hardware::read();
    let limits = Limits {
        cpus: hardware.cpus,
        memory_bytes: hardware.memory_bytes,
        descriptors: descriptor_limit(),
        ports: local_ports(),
    };
    let is_here = matches!(scenario.broker.spec, BrokerSpec::Throwaway(_));
    judge(planned_connections(scenario) as u64, rate(scenario), (&limits, is_here))
}

/// Returns the messages a second of all open loops. Closed ones take whatever they get.
fn rate(scenario: &Scenario) -> f64 {
    let publishers =
        scenario.publishers.iter().map(|group| f64::from(group.count) * of_each(group));
    let requests = scenario.requests.iter();
    // A request and its reply are two messages.
    let requests = requests.map(|group| 2.0 * f64::from(group.count) * group.rate.unwrap_or(0.0));
    publishers.chain(requests).sum()
}

fn of_each(group: &PublisherGroup) -> f64 {
    let phases = group.phases.iter().map(of_phase).fold(0.0, f64::max);
    group.rate.unwrap_or(phases)
}

fn of_phase(phase: &Phase) -> f64 {
    let burst = phase.burst.zip(phase.every);
    let bursts = burst.map(|(messages, every)| f64::from(messages) / every.as_secs_f64());
    bursts.or(phase.rate).unwrap_or(0.0)
}

fn judge(connections: u64, rate: f64, (limits, is_here): (&Limits, bool)) -> Vec<String> {
    let mut misfits = Vec::new();
    let needed = connections + OTHER_DESCRIPTORS;
    if let Some(limit) = limits.descriptors.filter(|limit| *limit < needed) {
        misfits.push(format!(
            "{} connections need as many open files, but the limit is {}: raise it (`ulimit -Hn`)",
            grouped(connections),
            grouped(limit)
        ));
    }
    if let Some(ports) = limits.ports.filter(|ports| *ports < connections) {
        misfits.push(format!(
            "{} connections to one address need as many ports, but there are {}: widen \
             net.ipv4.ip_local_port_range",
            grouped(connections),
            grouped(ports)
        ));
    }
    if !is_here {
        return misfits;
    }
    let bytes = connections * CONNECTION_BYTES;
    if limits.memory_bytes > 0 && bytes as f64 > HIGH_WATERMARK * limits.memory_bytes as f64 {
        misfits.push(format!(
            "{} connections need about {} of the broker's memory, of which it uses {} at most: it will block publishers",
            grouped(connections),
            human_bytes(bytes),
            human_bytes(limits.memory_bytes / 10 * 4)
        ));
    }
    let cores = rate * CPU_SECONDS;
    if limits.cpus > 0 && cores > f64::from(limits.cpus) {
        misfits.push(format!(
            "{rate:.0} messages a second need about {cores:.1} cores for broker and load, but there are {}",
            limits.cpus
        ));
    }
    misfits
}

#[cfg(test)]
mod tests {
    use rabbitscope_runs::scenario;

    use super::*;

    const LIMITS: Limits =
        Limits { cpus: 2, memory_bytes: 1 << 30, descriptors: Some(20_000), ports: Some(28_232) };

    #[test]
    fn each_limit_is_named() {
        fn check(connections: u64, rate: f64, is_here: bool, expected: &[&str]) {
            let found = judge(connections, rate, (&LIMITS, is_here));
            assert_eq!(found.len(), expected.len(), "{found:#?}");
            for (sentence, part) in found.iter().zip(expected) {
                assert!(sentence.contains(part), "{sentence}");
            }
        }
        check(1_000, 1_000.0, true, &[]);
        check(30_000, 1_000.0, false, &["open files", "ports"]);
        check(30_000, 1_000.0, true, &["open files", "ports", "memory"]);
        check(10, 50_000.0, true, &["need about 3.4 cores"]);
        check(10, 50_000.0, false, &[]);
    }

    #[test]
    fn rates_are_those_of_all_members() {
        let text = r#"
            name = "x"
            run.duration = "1s"
            [[queues]]
            name = "q"
            [[publishers]]
            queue = "q"
            count = 3
            rate = 10
            [[publishers]]
            queue = "q"
            phases = [{ for = "1h", burst = 20, every = "500ms" }]
            [[requests]]
            queue = "q"
            rate = 5
            [[publishers]]
            queue = "q"
            confirm-window = 10
        "#;
        let scenario = scenario::parse(text, "test", &[]).unwrap();
        assert!((rate(&scenario) - 80.0).abs() < 1e-9, "{}", rate(&scenario));
    }
}
