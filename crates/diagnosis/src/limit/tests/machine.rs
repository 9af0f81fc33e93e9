//! Limits of the machine.

use rabbitscope_text::Percentiles;
use rabbitscope_wire::{
    packet::Timestamp,
    report::{ConnectionReport, LatencyKind, LatencyReport, MessageFigures, Unmatched},
};

use super::cases::{check, found, healthy, process};
use crate::{
    case::{Blocker, ChannelCase, Flow, FlowProcess, Neighbour, QueueCase, Source, Unread},
    limit::{Certainty, LimitKind},
};

#[test]
fn a_starved_node_is_limited_by_its_machine() {
    let mut case = healthy();
    case.cpu.as_mut().unwrap().processes = vec![process("<0.5.0>", "queue", 0.9)];
    // Schedulers that wait for a CPU are in use.
    case.vm.as_mut().unwrap().scheduler_use = Some(0.9);
    let host = case.host.as_mut().unwrap();
    (host.idle_share, host.waiting_cores) = (0.01, Some(2.5));
    host.neighbours =
        vec![Neighbour { command: "backup".to_owned(), cores: 4.0, ..Neighbour::default() }];
    check(&case, LimitKind::Host, "backup", Certainty::Likely);
    // A neighbour that leaves CPUs idle takes nothing away.
    case.vm.as_mut().unwrap().scheduler_use = Some(0.4);
    let host = case.host.as_mut().unwrap();
    (host.idle_share, host.waiting_cores) = (0.4, Some(0.1));
    case.cpu.as_mut().unwrap().processes = vec![process("<0.5.0>", "queue", 0.3)];
    check(&case, LimitKind::Nothing, "", Certainty::Certain);
    let host = case.host.as_mut().unwrap();
    (host.quota_cores, host.throttled_periods) = (Some(0.5), Some(0.7));
    host.waiting_cores = Some(2.5);
    check(&case, LimitKind::Host, "control group", Certainty::Certain);
}

/// Schedulers that work all the time by their own account, and that hardly have a CPU or wait for one.
#[test]
fn stopped_threads_are_no_busy_schedulers() {
    let with = |cores, waiting| {
        let mut case = healthy();
        case.cpu.as_mut().unwrap().processes.clear();
        let vm = case.vm.as_mut().unwrap();
        (vm.scheduler_use, vm.run_queue, vm.crowded_share) = (Some(1.0), 80.0, 1.0);
        let host = case.host.as_mut().unwrap();
        (host.node_cores, host.waiting_cores) = (cores, Some(waiting));
        case
    };
    check(&with(3.0, 1.2), LimitKind::Host, "stopped threads", Certainty::Uncertain);
    check(&with(7.0, 0.1), LimitKind::Schedulers, "", Certainty::Certain);
    let mut stolen = with(5.0, 0.1);
    stolen.host.as_mut().unwrap().steal_share = 0.3;
    assert_ne!(found(&stolen).subject, "stopped threads");
    let mut locked = with(5.0, 0.1);
    locked.waits.as_mut().unwrap().lock_cores = 2.5;
    assert_ne!(found(&locked).subject, "stopped threads");
}

/// Its threads wait for each other: their work is more than the CPUs.
#[test]
fn a_machine_that_the_node_fills_is_perhaps_its_limit() {
    let full = |idle| {
        let mut case = healthy();
        case.vm.as_mut().unwrap().scheduler_use = Some(0.79);
        let host = case.host.as_mut().unwrap();
        (host.node_cores, host.waiting_cores, host.idle_share) = (6.0, Some(10.0), idle);
        case
    };
    check(&full(0.01), LimitKind::Host, "CPUs", Certainty::Uncertain);
    check(&full(0.2), LimitKind::Nothing, "", Certainty::Uncertain);
}

/// Its schedulers wait for the only CPU that it may use, while others are idle.
#[test]
fn a_node_on_few_cpus_is_limited_by_them() {
    let on = |allowed, schedulers, waiting| {
        let mut case = healthy();
        case.cpu.as_mut().unwrap().processes.clear();
        case.vm = Err(Unread::new(Source::Node));
        let host = case.host.as_mut().unwrap();
        (host.allowed_cpus, host.schedulers) = (allowed, Some(schedulers));
        (host.node_cores, host.waiting_cores) = (0.99, Some(waiting));
        case
    };
    check(&on(1, 8, 1.4), LimitKind::Host, "CPU affinity", Certainty::Likely);
    // It was started with one scheduler for its CPU, may use all, or hardly waits.
    for case in [on(1, 1, 1.4), on(8, 8, 1.4), on(0, 8, 1.4), on(1, 8, 0.1)] {
        assert_ne!(found(&case).kind, LimitKind::Host);
    }
    // A container with one of eight CPUs, whose VM has eight scheduler threads and one online.
    let mut contained = on(1, 8, 1.4);
    contained.vm = healthy().vm;
    let vm = contained.vm.as_mut().unwrap();
    (vm.schedulers_online, vm.scheduler_use) = (1, Some(0.9));
    assert_ne!(found(&contained).kind, LimitKind::Host);
    contained.vm.as_mut().unwrap().schedulers_online = 8;
    check(&contained, LimitKind::Host, "CPU affinity", Certainty::Certain);
}

/// Consumers hold all messages that they may, but the node has not processed their acknowledgements yet.
#[test]
fn messages_that_wait_in_the_node_do_not_outweigh_its_lack_of_cpu_time() {
    let held = |nanos| {
        let mut case = healthy();
        case.cpu.as_mut().unwrap().processes.clear();
        case.vm.as_mut().unwrap().scheduler_use = Some(0.9);
        let host = case.host.as_mut().unwrap();
        (host.idle_share, host.waiting_cores) = (0.01, Some(4.0));
        host.neighbours =
            vec![Neighbour { command: "backup".to_owned(), cores: 4.0, ..Neighbour::default() }];
        let (name, ready, consumers) = ("orders".to_owned(), 5_000, 1);
        case.queues.as_mut().unwrap().rows =
            vec![QueueCase { name, ready, consumers, ..QueueCase::default() }];
        case.clients.as_mut().unwrap().channels = vec![ChannelCase {
            name: "10.0.0.7:4000 -> 10.0.0.1:5672 (1)".to_owned(),
            consumers: 1,
            prefetch: Some(200),
            unacknowledged: 200,
            consumed_queues: vec!["orders".to_owned()],
            ..ChannelCase::default()
        }];
        let percentiles = Percentiles { count: 10_000, ..Percentiles::default() };
        let mean = f64::from(nanos);
        let kind = LatencyKind::DeliverToAck;
        let unmatched = Unmatched::default();
        let times = LatencyReport { kind, mean, min: 1, percentiles, unmatched };
        case.packets.as_mut().unwrap().connections = vec![ConnectionReport {
            client: "10.0.0.7:4000".to_owned(),
            last: Timestamp::from_unix_nanos(10_000_000_000),
            messages: MessageFigures { delivered: 10_000, ..MessageFigures::default() },
            latencies: vec![times],
            ..ConnectionReport::default()
        }];
        case
    };
    // 1,000 messages a second, 5 ms each: 5 are at the client. Then 190 ms: 190 are.
    check(&held(5_000_000), LimitKind::Host, "backup", Certainty::Certain);
    check(&held(190_000_000), LimitKind::Consumers, "orders", Certainty::Likely);
    // Schedulers that are nearly full come first then, and consumers without anything else are uncertain.
    let mut busy = held(5_000_000);
    busy.host.as_mut().unwrap().waiting_cores = Some(0.1);
    busy.vm.as_mut().unwrap().scheduler_use = Some(0.5);
    check(&busy, LimitKind::Consumers, "orders", Certainty::Uncertain);
    let vm = busy.vm.as_mut().unwrap();
    (vm.scheduler_use, vm.crowded_share) = (Some(0.92), 0.9);
    busy.host.as_mut().unwrap().node_cores = 7.3;
    check(&busy, LimitKind::Schedulers, "", Certainty::Uncertain);
}

/// A schedule that the node meets: its schedulers sleep half of the time, and what is stolen makes it later, not slower.
#[test]
fn a_hypervisor_limits_only_a_node_that_lacks_cpu_time() {
    let stolen = |waiting, used| {
        let mut case = healthy();
        case.cpu.as_mut().unwrap().processes.clear();
        let host = case.host.as_mut().unwrap();
        (host.cpus, host.idle_share, host.steal_share) = (2, 0.1, 0.2);
        (host.node_cores, host.waiting_cores) = (0.68, Some(waiting));
        let vm = case.vm.as_mut().unwrap();
        (vm.schedulers_online, vm.scheduler_use) = (2, Some(used));
        case
    };
    check(&stolen(0.54, 0.45), LimitKind::Nothing, "", Certainty::Uncertain);
    check(&stolen(0.54, 0.9), LimitKind::Host, "hypervisor", Certainty::Certain);
    check(&stolen(1.6, 0.45), LimitKind::Host, "hypervisor", Certainty::Certain);
}

/// A recorded run knows its neighbours by name only.
#[test]
fn a_neighbour_without_a_pid_has_its_name_alone() {
    let figures = |pid| {
        let mut case = healthy();
        case.vm.as_mut().unwrap().scheduler_use = Some(0.9);
        let host = case.host.as_mut().unwrap();
        (host.idle_share, host.waiting_cores) = (0.01, Some(2.5));
        let command = "rabbitscope".to_owned();
        host.neighbours = vec![Neighbour { pid, command, cores: 4.0, is_client: true }];
        let limit = found(&case);
        assert_eq!(limit.kind, LimitKind::Host, "{limit:#?}");
        limit.evidence[0].figure.clone()
    };
    assert!(figures(0).contains("cores, rabbitscope 4.00;"), "{}", figures(0));
    assert!(figures(7).contains("cores, rabbitscope (pid 7) 4.00;"), "{}", figures(7));
}

/// A queue that works all the time and blocks a channel most of it.
fn blocking_queue() -> Flow {
    let process = |pid: &str, role: &str| FlowProcess {
        pid: pid.to_owned(),
        role: role.to_owned(),
        looks: 100,
        ..FlowProcess::default()
    };
    let blocked_by = vec![(Blocker::Process("<0.5.0>".to_owned()), 90)];
    let channel = FlowProcess { blocked: 90, blocked_by, ..process("<0.7.0>", "channel") };
    let queue = FlowProcess { busy: 100, ..process("<0.5.0>", "queue") };
    Flow { looks: 300, processes: vec![queue, channel], ..Flow::default() }
}

/// Threads of schedulers, of the disk and of sockets wait at once, more than there are CPUs.
#[test]
fn burners_hinder_a_node_with_more_threads_than_cpus() {
    let beside = |node_cores, waiting, burners, is_client| {
        let mut case = healthy();
        case.cpu.as_mut().unwrap().processes.clear();
        // Schedulers sleep while the load waits for a CPU, but a queue always has work.
        let vm = case.vm.as_mut().unwrap();
        (vm.schedulers_online, vm.scheduler_use) = (2, Some(0.77));
        case.flow = Ok(blocking_queue());
        let host = case.host.as_mut().unwrap();
        (host.cpus, host.idle_share, host.node_cores) = (2, 0.0, node_cores);
        host.waiting_cores = Some(waiting);
        let client = Neighbour {
            command: "load".to_owned(),
            cores: 0.2,
            is_client: true,
            ..Neighbour::default()
        };
        let burner = Neighbour {
            command: "burner".to_owned(),
            cores: burners / 6.0,
            is_client,
            ..Neighbour::default()
        };
        host.neighbours = [vec![client], vec![burner; 6]].concat();
        let limit = found(&case);
        (limit.kind, limit.subject)
    };
    assert_eq!(beside(0.4, 2.6, 1.5, false), (LimitKind::Host, "burner".to_owned()));
    // Half of the CPU time is the node's, and more of its threads are ready than could run.
    assert_ne!(beside(1.0, 2.6, 0.7, false).0, LimitKind::Host);
    // Two CPUs would be enough for the node alone.
    assert_eq!(beside(1.0, 1.06, 0.73, false), (LimitKind::Host, "burner".to_owned()));
    // The load needs its clients.
    assert_ne!(beside(1.0, 1.06, 0.73, true).0, LimitKind::Host);
    // Others that take little are not the reason.
    assert_ne!(beside(1.0, 1.06, 0.3, false).0, LimitKind::Host);
}
