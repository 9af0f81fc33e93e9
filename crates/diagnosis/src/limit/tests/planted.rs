//! Planted limits, their healthy counterparts, and cases with too little evidence.

use std::time::Duration;

use rabbitscope_wire::report::SocketReport;

use super::cases::{check, found, healthy, process};
use crate::{
    case::{
        Amqp, Blocker, Broker, Case, ChannelCase, Cpu, Disk, ErlangProcess, Flow, FlowProcess,
        FunctionCpu, Load, LoadConsumers, PeerNode, ProcessWaits, QueueCase, Source, Subject,
        Unread, WaitedIn,
    },
    limit::{Certainty, LimitKind},
};

#[test]
fn half_of_the_capacity_is_no_limit() {
    check(&healthy(), LimitKind::Nothing, "", Certainty::Certain);
    let idle = Case { broker: Ok(Broker::default()), ..healthy() };
    assert!(found(&idle).sentence.contains("idle"));
}

#[test]
fn a_process_that_uses_its_core_is_the_limit() {
    let mut case = healthy();
    case.cpu.as_mut().unwrap().processes = vec![process("<0.5.0>", "queue", 0.96)];
    check(&case, LimitKind::Process, "queue orders", Certainty::Certain);
    // Too few samples of it.
    case.cpu.as_mut().unwrap().processes[0].samples = 40;
    check(&case, LimitKind::Nothing, "", Certainty::Certain);
}

#[test]
fn a_root_of_flow_control_needs_less_than_a_core() {
    let mut case = healthy();
    case.cpu.as_mut().unwrap().processes = vec![process("<0.5.0>", "queue", 0.75)];
    check(&case, LimitKind::Nothing, "", Certainty::Likely);
    case.flow = Ok(waiting_for_queue(60, 97));
    check(&case, LimitKind::Process, "queue orders", Certainty::Certain);
}

/// Looks at a channel that waits for the queue, and at the queue, which is busy in some of them, of a hundred each.
fn waiting_for_queue(blocked: u64, busy: u64) -> Flow {
    let queue = "<0.5.0>".to_owned();
    let channel = FlowProcess {
        pid: "<0.7.0>".to_owned(),
        role: "channel".to_owned(),
        looks: 100,
        blocked,
        blocked_by: vec![(Blocker::Process(queue.clone()), blocked)],
        ..FlowProcess::default()
    };
    let queue = FlowProcess {
        pid: queue,
        role: "queue".to_owned(),
        name: "orders".to_owned(),
        looks: 100,
        busy,
        ..FlowProcess::default()
    };
    Flow { looks: 300, processes: vec![channel, queue], ..Flow::default() }
}

#[test]
fn a_root_that_is_always_busy_and_waited_for_needs_no_core() {
    let with = |blocked, busy| {
        let mut case = healthy();
        case.cpu.as_mut().unwrap().processes = vec![process("<0.5.0>", "queue", 0.49)];
        case.flow = Ok(waiting_for_queue(blocked, busy));
        case
    };
    check(&with(96, 82), LimitKind::Process, "queue orders", Certainty::Uncertain);
    check(&with(96, 70), LimitKind::Unknown, "", Certainty::Uncertain);
    check(&with(80, 82), LimitKind::Unknown, "", Certainty::Uncertain);
}

#[test]
fn an_alarm_comes_first() {
    let mut case = healthy();
    case.cpu.as_mut().unwrap().processes = vec![process("<0.5.0>", "queue", 0.96)];
    case.broker.as_mut().unwrap().alarms = vec!["memory".to_owned()];
    check(&case, LimitKind::Alarm, "memory", Certainty::Certain);
}

#[test]
fn full_schedulers_are_the_limit_if_others_wait_for_them() {
    let mut case = healthy();
    let vm = case.vm.as_mut().unwrap();
    (vm.scheduler_use, vm.crowded_share) = (Some(0.99), 0.8);
    case.host.as_mut().unwrap().node_cores = 7.9;
    check(&case, LimitKind::Schedulers, "", Certainty::Certain);
    case.vm.as_mut().unwrap().crowded_share = 0.05;
    check(&case, LimitKind::Schedulers, "", Certainty::Uncertain);
}

#[test]
fn a_process_that_waits_for_fsync_is_limited_by_the_disk() {
    let mut case = healthy();
    let wait = |waits, share| ProcessWaits {
        pid: "<0.9.0>".to_owned(),
        role: "ra_log".to_owned(),
        name: "ra_log_wal".to_owned(),
        blocked_share: 0.8,
        runnable_share: 0.0,
        waits,
        waited_in: vec![WaitedIn { function: "prim_file:sync_nif/2".to_owned(), share, waits }],
    };
    case.waits.as_mut().unwrap().processes = vec![wait(900, 0.82)];
    case.host.as_mut().unwrap().data_disk =
        Some(Disk { device: "vda".to_owned(), flush_ms: Some(12.0), ..Disk::default() });
    check(&case, LimitKind::Disk, "ra_log_wal", Certainty::Certain);
    // Few waits take as long, on a slow disk. Fewer, or shorter ones, say nothing.
    case.waits.as_mut().unwrap().processes = vec![wait(5, 0.82)];
    check(&case, LimitKind::Disk, "ra_log_wal", Certainty::Uncertain);
    for few in [wait(3, 0.79), wait(5, 0.4)] {
        case.waits.as_mut().unwrap().processes = vec![few];
        check(&case, LimitKind::Nothing, "", Certainty::Certain);
    }
    // A single wait takes all of the time, of the WAL or of the log.
    case.waits.as_mut().unwrap().processes = vec![wait(1, 0.98)];
    check(&case, LimitKind::Disk, "ra_log_wal", Certainty::Uncertain);
    let of_log = ProcessWaits { role: "other".to_owned(), ..wait(1, 0.98) };
    case.waits.as_mut().unwrap().processes = vec![of_log];
    check(&case, LimitKind::Nothing, "", Certainty::Certain);
    // One that is idle between its waits could take more work. One that is never idle could not.
    let looks = |busy| ErlangProcess {
        pid: "<0.9.0>".to_owned(),
        looks: 300,
        busy,
        ..ErlangProcess::default()
    };
    case.waits.as_mut().unwrap().processes = vec![wait(900, 0.6)];
    check(&case, LimitKind::Nothing, "", Certainty::Likely);
    case.processes.as_mut().unwrap().rows = vec![looks(200)];
    check(&case, LimitKind::Nothing, "", Certainty::Likely);
    case.processes.as_mut().unwrap().rows = vec![looks(290)];
    check(&case, LimitKind::Disk, "ra_log_wal", Certainty::Certain);
}

#[test]
fn locks_and_full_links_are_limits() {
    let mut case = healthy();
    case.cpu.as_mut().unwrap().lock_cores = 1.6;
    check(&case, LimitKind::Lock, "", Certainty::Certain);
    let taker = |name: &str, cores| FunctionCpu { name: name.to_owned(), cores };
    case.cpu.as_mut().unwrap().lock_takers =
        vec![taker("a:b/1", 0.3), taker("ets:c/1 in d:e/2", 0.2)];
    check(&case, LimitKind::Lock, "", Certainty::Certain);
    case.waits.as_mut().unwrap().lock_takers = vec![taker("ets:c/1 in d:e/2", 0.4)];
    check(&case, LimitKind::Lock, "ets:c/1 in d:e/2", Certainty::Certain);
    let mut case = healthy();
    case.vm.as_mut().unwrap().peers =
        vec![PeerNode { node: "rabbit@b".to_owned(), busy_share: 0.7, ..PeerNode::default() }];
    check(&case, LimitKind::Distribution, "rabbit@b", Certainty::Certain);
}

/// The kernel's buffer of a connection between nodes fills up before the VM's own.
#[test]
fn a_full_link_to_another_node_is_distribution() {
    let mut case = healthy();
    let socket = SocketReport {
        local: "10.0.0.1:25672".to_owned(),
        remote: "10.0.0.2:40124".to_owned(),
        of_broker: true,
        busy: Some(1.0),
        data_segments_sent: Some(3500),
        max_unsent_bytes: Some(3 << 20),
        ..SocketReport::default()
    };
    case.packets.as_mut().unwrap().sockets = vec![socket];
    check(&case, LimitKind::Network, "10.0.0.2:40124", Certainty::Certain);
    let peer = |tcp_ports| PeerNode {
        node: "rabbit@b".to_owned(),
        tcp_ports: Some(tcp_ports),
        ..PeerNode::default()
    };
    case.vm.as_mut().unwrap().peers = vec![peer((40_124, 25_672)), peer((25_672, 40_124))];
    check(&case, LimitKind::Distribution, "rabbit@b", Certainty::Certain);
    case.packets.as_mut().unwrap().sockets[0].max_unsent_bytes = Some(0);
    check(&case, LimitKind::Nothing, "", Certainty::Certain);
}

#[test]
fn losses_on_busy_sockets_are_the_network() {
    let mut case = healthy();
    let socket = |retransmitted| SocketReport {
        remote: "10.0.0.9:4711".to_owned(),
        of_broker: true,
        busy: Some(0.9),
        receiver_limited: Some(0.0),
        send_buffer_limited: Some(0.0),
        data_segments_sent: Some(10_000),
        retransmitted: Some(retransmitted),
        ..SocketReport::default()
    };
    case.packets.as_mut().unwrap().sockets = vec![socket(300)];
    check(&case, LimitKind::Network, "10.0.0.9", Certainty::Certain);
    case.packets.as_mut().unwrap().sockets = vec![socket(2)];
    check(&case, LimitKind::Nothing, "", Certainty::Certain);
    // A peer that had no CPU for a while: one of few segments was sent again.
    let few = |retransmitted| SocketReport {
        data_segments_sent: Some(233),
        busy: Some(0.55),
        ..socket(retransmitted)
    };
    case.packets.as_mut().unwrap().sockets = vec![few(1)];
    check(&case, LimitKind::Nothing, "", Certainty::Certain);
    case.packets.as_mut().unwrap().sockets = vec![few(5)];
    check(&case, LimitKind::Network, "10.0.0.9", Certainty::Certain);
    // A machine loses nothing on the way to itself: large messages found no room in the client's socket.
    let within = SocketReport {
        local: "10.0.0.9:5672".to_owned(),
        max_unsent_bytes: Some(4 << 20),
        busy: Some(0.71),
        ..socket(300)
    };
    case.packets.as_mut().unwrap().sockets = vec![within];
    check(&case, LimitKind::Nothing, "", Certainty::Certain);
}

#[test]
fn consumers_with_a_full_prefetch_are_the_limit() {
    let mut case = healthy();
    let queue =
        QueueCase { name: "orders".to_owned(), ready: 5000, consumers: 2, ..QueueCase::default() };
    let channel = |unacknowledged| ChannelCase {
        client: "billing".to_owned(),
        consumers: 2,
        prefetch: Some(10),
        unacknowledged,
        consumed_queues: vec!["orders".to_owned()],
        ..ChannelCase::default()
    };
    case.queues.as_mut().unwrap().rows = vec![queue];
    case.clients.as_mut().unwrap().channels = vec![channel(20)];
    check(&case, LimitKind::Consumers, "orders", Certainty::Certain);
    assert!(found(&case).sentence.contains("billing"));
    // Two queues share the channel, each with one of its consumers.
    let both = vec!["orders".to_owned(), "invoices".to_owned()];
    case.clients.as_mut().unwrap().channels =
        vec![ChannelCase { consumed_queues: both, ..channel(0) }];
    let orders = &mut case.queues.as_mut().unwrap().rows[0];
    (orders.unacknowledged, orders.permitted) = (10, Some(10));
    check(&case, LimitKind::Consumers, "orders", Certainty::Certain);
    // A client of MQTT has no channel.
    case.clients.as_mut().unwrap().channels.clear();
    check(&case, LimitKind::Consumers, "orders", Certainty::Certain);
    let orders = &mut case.queues.as_mut().unwrap().rows[0];
    (orders.unacknowledged, orders.permitted) = (0, None);
    // They could take more: something else delivers too slowly.
    case.clients.as_mut().unwrap().channels = vec![channel(4)];
    check(&case, LimitKind::Unknown, "", Certainty::Uncertain);
    // A backlog that is gone at once is that of a burst.
    case.queues.as_mut().unwrap().rows[0].ready_growth = -2_000.0;
    case.broker.as_mut().unwrap().rates.delivered = Some(9_000.0);
    check(&case, LimitKind::Nothing, "", Certainty::Certain);
}

#[test]
fn an_unread_source_makes_the_answer_less_certain() {
    let mut case = healthy();
    case.cpu.as_mut().unwrap().processes = vec![process("<0.5.0>", "queue", 0.96)];
    case.packets = Err(Unread::new(Source::Packets));
    check(&case, LimitKind::Process, "orders", Certainty::Likely);
    let mut case = healthy();
    case.cpu = Err(Unread::new(Source::CpuProfile));
    check(&case, LimitKind::Nothing, "", Certainty::Likely);
    let nothing = Case::unread(Subject { duration: Duration::from_secs(15), ..Subject::default() });
    check(&nothing, LimitKind::Unknown, "", Certainty::Uncertain);
    let mut short = healthy();
    short.subject.duration = Duration::from_secs(1);
    check(&short, LimitKind::Unknown, "", Certainty::Uncertain);
}

/// A run of which only the load generator and the broker's rates are known.
fn run(load: Load) -> Case {
    let broker = healthy().broker;
    let subject = healthy().subject;
    Case { broker, load: Some(load), ..Case::unread(subject) }
}

/// A load generator without room says nothing about the broker, whatever the broker looks like.
#[test]
fn a_run_that_its_load_generator_limits_is_not_judged() {
    let doubts = vec!["load threads were busy in 40 of 60 s".to_owned()];
    let mut case = healthy();
    case.cpu.as_mut().unwrap().processes[0].cores = 0.99;
    case.load = Some(Load { doubts, held_back_share: 0.9, ..Load::default() });
    let limit = found(&case);
    assert_eq!((limit.kind, limit.certainty), (LimitKind::Unknown, Certainty::Uncertain));
    assert!(limit.sentence.ends_with("load threads were busy in 40 of 60 s"), "{}", limit.sentence);
}

#[test]
fn a_run_that_keeps_its_schedule_has_no_limit() {
    let load = |late_share: f64, growth: f64| Load {
        scheduled_per_second: Some(1000.0),
        late_share,
        backlog_growth: Some(growth),
        ..Load::default()
    };
    check(&run(load(0.001, 0.0)), LimitKind::Nothing, "", Certainty::Likely);
    check(&run(load(0.3, 0.0)), LimitKind::Unknown, "", Certainty::Uncertain);
    check(&run(load(0.0, 0.5)), LimitKind::Unknown, "", Certainty::Uncertain);
}

#[test]
fn publishers_and_consumers_of_a_run() {
    let one_by_one = |window: u64, held_back_share: f64| Load {
        confirm_window: Some(window),
        held_back_share,
        ..Load::default()
    };
    check(&run(one_by_one(1, 0.9)), LimitKind::Publishers, "", Certainty::Likely);
    check(&run(one_by_one(1, 0.2)), LimitKind::Unknown, "", Certainty::Uncertain);
    check(&run(one_by_one(100, 0.9)), LimitKind::Unknown, "", Certainty::Uncertain);
    let consumers = |held: f64, ready: u64| {
        let consumers = LoadConsumers { queue: "orders".to_owned(), held, may_hold: 100, ready };
        Load { consumers: Some(consumers), ..Load::default() }
    };
    check(&run(consumers(97.0, 5000)), LimitKind::Consumers, "orders", Certainty::Likely);
    check(&run(consumers(97.0, 3)), LimitKind::Unknown, "", Certainty::Uncertain);
    check(&run(consumers(20.0, 5000)), LimitKind::Unknown, "", Certainty::Uncertain);
}

/// One idle connection cannot show a limit, and the broker's word on an alarm is no certainty about the node.
#[test]
fn a_broker_over_amqp_is_blocked_or_unknown() {
    let over_amqp = |blocked: Option<&str>| Case {
        amqp: Some(Ok(Amqp { blocked: blocked.map(str::to_owned), ..Amqp::default() })),
        ..Case::unread(healthy().subject)
    };
    check(&over_amqp(None), LimitKind::Unknown, "", Certainty::Uncertain);
    check(&over_amqp(Some("low on disk")), LimitKind::Alarm, "low on disk", Certainty::Likely);
    // CPU samples beside it name a busy process, and never with certainty.
    let mut beside = over_amqp(None);
    beside.cpu =
        Ok(Cpu { processes: vec![process("<0.5.0>", "queue", 0.97)], ..healthy().cpu.unwrap() });
    check(&beside, LimitKind::Process, "", Certainty::Likely);
}
