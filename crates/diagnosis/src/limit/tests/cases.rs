//! A healthy case, and checks of the limit that is found.

use std::time::Duration;

use rabbitscope_wire::report::PacketReport;

use crate::{
    case::{
        Broker, Case, Clients, Cpu, Flow, Host, MessageRates, ProcessCpu, Processes, Queues,
        Subject, Vm, Waits,
    },
    flow::roots,
    limit::{Certainty, Limit, LimitKind, limit},
};

/// A node at half of its capacity, of which every source was read.
pub(super) fn healthy() -> Case {
    let rates = MessageRates {
        published: Some(1000.0),
        delivered: Some(1000.0),
        ..MessageRates::default()
    };
    Case {
        broker: Ok(Broker { version: "3.10.8".to_owned(), rates, ..Broker::default() }),
        vm: Ok(Vm {
            looks: 300,
            schedulers_online: 8,
            scheduler_use: Some(0.4),
            run_queue: 0.5,
            ..Vm::default()
        }),
        processes: Ok(Processes::default()),
        queues: Ok(Queues::default()),
        clients: Ok(Clients::default()),
        flow: Ok(Flow { looks: 300, ..Flow::default() }),
        cpu: Ok(Cpu {
            samples: 4000,
            seconds: 15.0,
            cores: 3.2,
            processes: vec![process("<0.5.0>", "queue", 0.4)],
            ..Cpu::default()
        }),
        waits: Ok(Waits { seconds: 15.0, ..Waits::default() }),
        packets: Ok(PacketReport::default()),
        host: Ok(Host {
            seconds: 15.0,
            cpus: 8,
            node_cores: 3.2,
            waiting_cores: Some(0.05),
            idle_share: 0.5,
            ..Host::default()
        }),
        ..Case::unread(Subject { duration: Duration::from_secs(15), ..Subject::default() })
    }
}

pub(super) fn process(pid: &str, role: &str, cores: f64) -> ProcessCpu {
    ProcessCpu {
        pid: pid.to_owned(),
        role: role.to_owned(),
        name: "orders".to_owned(),
        cores,
        samples: 1500,
        ..ProcessCpu::default()
    }
}

pub(super) fn found(case: &Case) -> Limit {
    let flow = case.flow.as_ref().map_or(Vec::new(), |flow| roots(&flow.processes));
    limit(case, &flow)
}

#[track_caller]
pub(super) fn check(case: &Case, kind: LimitKind, subject: &str, certainty: Certainty) {
    let limit = found(case);
    assert_eq!((limit.kind, limit.certainty), (kind, certainty), "{limit:#?}");
    assert!(limit.subject.contains(subject), "{limit:#?}");
}
