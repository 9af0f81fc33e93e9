//! A healthy node under half of its load, of which everything was read for 15 seconds.

use std::time::Duration;

use rabbitscope_wire::report::PacketReport;

use super::rows::{connection, consumer, process, publisher, queue, waiting};
use crate::case::{
    Broker, Case, Churn, Clients, Cpu, Disk, Flow, Host, MessageRates, PeerNode, Processes,
    QueueKind, Queues, Settings, Subject, Turns, Use, Vm, Waits,
};

/// Returns the healthy case.
pub(super) fn healthy() -> Case {
    let subject =
        Subject { node: "rabbit@a".to_owned(), pid: Some(42), duration: Duration::from_secs(15) };
    Case {
        broker: Ok(broker()),
        vm: Ok(vm()),
        processes: Ok(Processes::default()),
        queues: Ok(queues()),
        clients: Ok(clients()),
        flow: Ok(Flow { elapsed_ms: 15_000, looks: 300, ..Flow::default() }),
        cpu: Ok(cpu()),
        waits: Ok(Waits {
            seconds: 15.0,
            processes: vec![waiting("ra_log", "wal", "prim_file:sync_nif/2", 0.3)],
            ..Waits::default()
        }),
        packets: Ok(PacketReport { not_judged: Some(Vec::new()), ..PacketReport::default() }),
        turns: Some(Turns { seconds: 15.0, published: 15_000, ..Turns::default() }),
        host: Ok(host()),
        ..Case::unread(subject)
    }
}

/// Shortens all observations to one second.
pub(super) fn shorten(case: &mut Case) {
    case.subject.duration = Duration::from_secs(1);
    change(&mut case.vm, |vm| vm.looks = 20);
    change(&mut case.flow, |flow| flow.elapsed_ms = 1_000);
    change(&mut case.cpu, |cpu| cpu.seconds = 1.0);
    change(&mut case.waits, |waits| waits.seconds = 1.0);
    change(&mut case.host, |host| host.seconds = 1.0);
}

/// Changes a part that was read.
pub(super) fn change<T>(part: &mut crate::case::Part<T>, change: impl FnOnce(&mut T)) {
    if let Ok(part) = part {
        change(part);
    }
}

fn broker() -> Broker {
    let rates = MessageRates {
        published: Some(3_000.0),
        confirmed: Some(3_000.0),
        delivered: Some(3_000.0),
        acknowledged: Some(3_000.0),
        redelivered: Some(0.0),
        unroutable: Some(0.0),
        got: Some(0.0),
        get_empty: Some(0.0),
    };
    Broker {
        version: "3.10.8".to_owned(),
        otp: "25".to_owned(),
        nodes: vec!["rabbit@a".to_owned(), "rabbit@b".to_owned()],
        rates,
        churn: Some(Churn::default()),
        connections: Some(20),
        memory: Some(Use { used: 1 << 30, limit: 4 << 30 }),
        disk_free_bytes: Some(100 << 30),
        disk_limit_bytes: Some(50_000_000),
        descriptors: Some(Use { used: 200, limit: 65_536 }),
        settings: Settings {
            statistics: Some("fine".to_owned()),
            statistics_interval_ms: Some(5_000),
            ..Settings::default()
        },
        ..Broker::default()
    }
}

fn vm() -> Vm {
    let peer = PeerNode {
        node: "rabbit@b".to_owned(),
        limit_bytes: 128_000 << 10,
        sent_bytes_per_second: 1e6,
        received_bytes_per_second: 1e6,
        ..PeerNode::default()
    };
    Vm {
        looks: 300,
        schedulers_online: 4,
        scheduler_use: Some(0.4),
        run_queue: 0.4,
        crowded_share: 0.02,
        peers: vec![peer],
        ..Vm::default()
    }
}

fn queues() -> Queues {
    Queues {
        count: 3,
        leaders: vec![("rabbit@a".to_owned(), 30), ("rabbit@b".to_owned(), 30)],
        rows: vec![
            queue("orders", QueueKind::Quorum),
            queue("mails", QueueKind::Classic),
            queue("log", QueueKind::Stream),
        ],
        ..Queues::default()
    }
}

fn clients() -> Clients {
    Clients {
        connections: vec![
            connection("billing", "10.0.0.5:40000 -> 10.0.0.1:5672"),
            connection("shop", "10.0.0.6:40000 -> 10.0.0.1:5672"),
        ],
        channels: vec![consumer("billing", "orders"), publisher("shop")],
    }
}

fn cpu() -> Cpu {
    Cpu {
        samples: 3_000,
        seconds: 15.0,
        cores: 2.0,
        busy_wait_cores: 0.1,
        processes: vec![
            process("channel", "shop", 0.4),
            process("quorum_leader", "orders", 0.3),
            process("ra_log", "wal", 0.27),
            process("msg_store", "store", 0.1),
            process("mgmt_stats", "collector", 0.05),
        ],
        ..Cpu::default()
    }
}

fn host() -> Host {
    let disk = Disk {
        device: "vda".to_owned(),
        mount: "/".to_owned(),
        busy_share: 0.2,
        writes_per_second: 200.0,
        write_ms: Some(0.5),
        flushes_per_second: Some(100.0),
        flush_ms: Some(2.0),
        in_flight: 0.2,
    };
    Host {
        seconds: 15.0,
        cpus: 4,
        allowed_cpus: 4,
        node_cores: 2.0,
        waiting_cores: Some(0.05),
        throttled_periods: Some(0.0),
        throttled_share: Some(0.0),
        idle_share: 0.4,
        cpu_pressure: Some(0.02),
        io_pressure: Some(0.02),
        memory_pressure: Some(0.0),
        swapped_in_per_second: Some(0.0),
        node_swap_bytes: Some(0),
        data_disk: Some(disk),
        ..Host::default()
    }
}
