//! The difference of two readings of the machine.

use std::time::Duration;

use rabbitscope_diagnosis::{Host, Use};
use rabbitscope_machine::host::{
    CpuLimit, DataDisk, HostReading, HostState, ThreadPlace, ThreadTimes,
};

use super::{binding::scheduler_count, disk::disk, neighbours::Used};

/// Both readings, and facts at the end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sides<'a> {
    pub(super) before: &'a HostReading,
    pub(super) after: &'a HostReading,
    pub(super) state: &'a HostState,
    pub(super) disk: Option<&'a DataDisk>,
    /// The node's pid.
    pub(super) node: u32,
    /// This program's pid.
    pub(super) own: Option<u32>,
}

/// Returns the figures of the machine. Neighbours are not judged: clients and bound schedulers are told apart elsewhere.
pub(super) fn difference(sides: &Sides<'_>) -> Host {
    let Sides { before, after, state, node, own, .. } = *sides;
    let seconds = (after.at - before.at).as_secs_f64().max(f64::MIN_POSITIVE);
    let cores = |time: Duration| time.as_secs_f64() / seconds;
    let used = Used::between(&before.processes, &after.processes);
    let threads = threads(&before.threads, &after.threads);
    let ran = used.of(node).or_else(|| threads.map(|(ran, _)| ran));
    let own_time = own.and_then(|own| used.of(own));
    let excluded: Vec<u32> = [Some(node), own].into_iter().flatten().collect();
    let (idle_share, steal_share) = cpu_shares(before, after);
    let host = Host {
        seconds,
        cpus: state.cpus,
        allowed_cpus: ThreadPlace::allowed(&state.threads).len() as u64,
        schedulers: scheduler_count(&state.threads),
        node_cores: ran.map_or(0.0, cores),
        waiting_cores: threads.map(|(_, waited)| cores(waited)),
        idle_share,
        steal_share,
        node_swap_bytes: state.swap_bytes,
        own_cores: own_time.map_or(0.0, cores),
        neighbours: used.neighbours(&excluded, seconds),
        io_limits: state.io_limits.clone(),
        descriptors: state
            .descriptors
            .zip(state.descriptor_limit)
            .map(|(used, limit)| Use { used, limit }),
        ..Host::default()
    };
    with_waits(with_limits(host, before, after), sides)
}

fn with_limits(host: Host, before: &HostReading, after: &HostReading) -> Host {
    let throttled = throttled(&before.cpu_limits, &after.cpu_limits, host.seconds);
    let quotas = after.cpu_limits.iter().map(|limit| limit.quota_cores);
    Host {
        quota_cores: quotas.min_by(f64::total_cmp),
        throttled_periods: throttled.map(|(periods, _)| periods),
        throttled_share: throttled.map(|(_, share)| share),
        ..host
    }
}

fn with_waits(host: Host, sides: &Sides<'_>) -> Host {
    let Sides { before, after, .. } = *sides;
    let share = |before: Option<Duration>, after: Option<Duration>| {
        let (before, after) = before.zip(after)?;
        Some((after.saturating_sub(before).as_secs_f64() / host.seconds).min(1.0))
    };
    let pages = before.swapped_in_pages.zip(after.swapped_in_pages);
    let counters = sides.disk.zip(before.disk.zip(after.disk));
    Host {
        cpu_pressure: share(before.pressures.cpu, after.pressures.cpu),
        io_pressure: share(before.pressures.io, after.pressures.io),
        memory_pressure: share(before.pressures.memory, after.pressures.memory),
        swapped_in_per_second: pages
            .map(|(before, after)| after.saturating_sub(before) as f64 / host.seconds),
        data_disk: counters
            .map(|(found, (before, after))| disk(found, &before, &after, host.seconds)),
        ..host
    }
}

/// Returns the idle and the stolen share of all CPUs. All are idle if the kernel does not tell.
fn cpu_shares(before: &HostReading, after: &HostReading) -> (f64, f64) {
    let Some((before, after)) = before.cpu.zip(after.cpu) else { return (1.0, 0.0) };
    let total = after.total - before.total;
    let share = |time: f64| if total > 0.0 { (time / total).clamp(0.0, 1.0) } else { 0.0 };
    (share(after.idle - before.idle), share(after.stolen - before.stolen))
}

/// Returns the time that threads ran, and the time that they waited for a CPU. Threads that ended are left out.
fn threads(before: &[ThreadTimes], after: &[ThreadTimes]) -> Option<(Duration, Duration)> {
    let change = |after: &ThreadTimes| {
        let before = before.iter().find(|before| before.id == after.id);
        let (ran, waited) = before.map_or((0, 0), |before| (before.ran_nanos, before.waited_nanos));
        (after.ran_nanos.saturating_sub(ran), after.waited_nanos.saturating_sub(waited))
    };
    let changes = after.iter().map(change);
    let sum = changes.reduce(|sum, one| (sum.0 + one.0, sum.1 + one.1));
    sum.map(|(ran, waited)| (Duration::from_nanos(ran), Duration::from_nanos(waited)))
}

/// Returns the shares of periods and of time in which the group that was throttled most was throttled.
fn throttled(before: &[CpuLimit], after: &[CpuLimit], seconds: f64) -> Option<(f64, f64)> {
    let change = |after: &CpuLimit| {
        let before = before.iter().find(|before| before.directory == after.directory)?;
        let periods = after.periods.saturating_sub(before.periods);
        let throttled = after.throttled_periods.saturating_sub(before.throttled_periods);
        let share = if periods == 0 { 0.0 } else { throttled as f64 / periods as f64 };
        let time = after.throttled.saturating_sub(before.throttled).as_secs_f64();
        Some((share, time / seconds))
    };
    after.iter().filter_map(change).max_by(|left, right| left.0.total_cmp(&right.0))
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use rabbitscope_machine::{
        CpuTimes,
        host::{CpuList, Pressures, ProcessTime, ThreadPlace},
    };

    use super::*;

    const NODE: u32 = 7;

    /// A reading after this time in seconds, in which everything that grows grew with it.
    fn reading(start: Instant, seconds: u64) -> HostReading {
        let process = |pid: u32, command: &str, cpu: u64| ProcessTime {
            pid,
            start_ticks: 1,
            command: command.to_owned(),
            cpu: Duration::from_millis(cpu),
        };
        let limit = |directory: &str, quota_cores, throttled_periods| CpuLimit {
            directory: directory.into(),
            quota_cores,
            periods: 10 * seconds,
            throttled_periods,
            throttled: Duration::from_millis(900 * seconds),
        };
        let time = seconds as f64;
        HostReading {
            at: start + Duration::from_secs(seconds),
            cpu: Some(CpuTimes {
                busy: 1.2 * time,
                idle: 0.6 * time,
                stolen: 0.2 * time,
                total: 2.0 * time,
            }),
            processes: vec![
                process(NODE, "beam.smp", 900 * seconds),
                process(8, "stress", 200 * seconds),
                process(9, "rabbitscope", 30 * seconds),
            ],
            threads: vec![
                ThreadTimes {
                    id: 70,
                    ran_nanos: 800_000_000 * seconds,
                    waited_nanos: 400_000_000 * seconds,
                },
                ThreadTimes {
                    id: 71,
                    ran_nanos: 100_000_000 * seconds,
                    waited_nanos: 100_000_000 * seconds,
                },
            ],
            cpu_limits: vec![limit("/inner", 2.0, 0), limit("/outer", 1.0, 8 * seconds)],
            pressures: Pressures {
                cpu: Some(Duration::from_millis(500 * seconds)),
                io: Some(Duration::from_millis(1_100 * seconds)),
                memory: None,
            },
            swapped_in_pages: Some(3 * seconds),
            disk: None,
        }
    }

    fn state() -> HostState {
        let cpus = CpuList::parse("0-1").unwrap();
        HostState {
            cpus: 4,
            threads: vec![ThreadPlace { name: "beam.smp".to_owned(), cpus }],
            descriptors: Some(90),
            descriptor_limit: Some(100),
            swap_bytes: Some(0),
            io_limits: "254:0 wbps=1".to_owned(),
        }
    }

    fn host(change: impl Fn(&mut HostReading, &mut HostReading)) -> Host {
        let start = Instant::now();
        let (mut before, mut after) = (reading(start, 10), reading(start, 20));
        change(&mut before, &mut after);
        let state = state();
        let sides = Sides {
            before: &before,
            after: &after,
            state: &state,
            disk: None,
            node: NODE,
            own: Some(9),
        };
        difference(&sides)
    }

    #[track_caller]
    fn close(found: impl Into<Option<f64>>, expected: f64) {
        let found = found.into().unwrap();
        assert!((found - expected).abs() < 1e-9, "{found} is not {expected}");
    }

    #[test]
    fn cpu_time() {
        let found = host(|_, _| ());
        close(found.seconds, 10.0);
        close(found.node_cores, 0.9);
        close(found.own_cores, 0.03);
        close(found.waiting_cores, 0.5);
        close(found.idle_share, 0.3);
        close(found.steal_share, 0.1);
        assert_eq!((found.cpus, found.allowed_cpus), (4, 2));
        let names: Vec<&str> = found.neighbours.iter().map(|row| row.command.as_str()).collect();
        assert_eq!(names, ["stress"]);
    }

    #[test]
    fn limits() {
        let found = host(|_, _| ());
        close(found.quota_cores, 1.0);
        close(found.throttled_periods, 0.8);
        close(found.throttled_share, 0.9);
        assert_eq!(found.descriptors, Some(Use { used: 90, limit: 100 }));
        assert_eq!(found.io_limits, "254:0 wbps=1");
        let without = host(|_, after| after.cpu_limits.clear());
        assert_eq!((without.quota_cores, without.throttled_periods), (None, None));
    }

    #[test]
    fn pressures_and_swap() {
        let found = host(|_, _| ());
        close(found.cpu_pressure, 0.5);
        close(found.io_pressure, 1.0);
        assert_eq!(found.memory_pressure, None);
        close(found.swapped_in_per_second, 3.0);
        assert_eq!((found.node_swap_bytes, found.data_disk), (Some(0), None));
    }

    #[test]
    fn figures_that_the_kernel_does_not_show_are_absent() {
        let found = host(|before, after| {
            for reading in [before, after] {
                reading.threads.clear();
                reading.cpu = None;
                reading.swapped_in_pages = None;
            }
        });
        assert_eq!((found.waiting_cores, found.swapped_in_per_second), (None, None));
        close(found.idle_share, 1.0);
        // A node that /proc hides has the time of its threads.
        close(host(|_, after| after.processes.clear()).node_cores, 0.9);
    }
}
