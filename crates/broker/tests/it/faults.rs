//! Harm to nodes of a cluster is done, proved, undone and proved to be undone.

use rabbitscope_broker::{Broker, BrokerError, NodeControl};
use rabbitscope_runs::scenario::{FaultKind, ThrowawayBroker};
use rabbitscope_testing::{Workbench, eventually};

/// Number of nodes that this one is connected to, without hidden nodes.
fn connected(control: &NodeControl, node: usize) -> String {
    control.node(node).eval("length(nodes())").unwrap()
}

fn limits(control: &NodeControl) -> String {
    let asked = "{vm_memory_monitor:get_vm_memory_high_watermark(), rabbit_disk_monitor:get_disk_free_limit()}";
    control.node(0).eval(asked).unwrap()
}

/// Harms the first node, calls `meanwhile`, and undoes the harm.
#[track_caller]
fn suffer(control: &NodeControl, kind: FaultKind, meanwhile: impl FnOnce()) {
    let (harm, done) = control.harm(kind, 0);
    done.unwrap_or_else(|error| panic!("{kind:?}: {error}"));
    meanwhile();
    control.undo(&harm).unwrap_or_else(|error| panic!("{kind:?}: {error}"));
    assert_eq!(control.node(0).eval("rabbit:is_running()").unwrap(), "true", "{kind:?}");
}

#[test]
fn every_harm_is_done_and_undone() {
    let place = Workbench::new("broker");
    let spec = ThrowawayBroker { nodes: 2, ..ThrowawayBroker::default() };
    let broker = Broker::start(&spec, &place.path("broker.log")).unwrap();
    let control = broker.control();
    let (pid, before) = (control.node(0).pid, limits(&control));

    suffer(&control, FaultKind::Partition, || {
        assert_eq!([connected(&control, 0), connected(&control, 1)], ["0", "0"]);
        // The other side cannot connect either.
        let ping = format!("net_adm:ping('{}')", control.node(0).node_name());
        assert_eq!(control.node(1).eval(&ping).unwrap(), "pang");
    });
    assert_eq!([connected(&control, 0), connected(&control, 1)], ["1", "1"]);

    for kind in [FaultKind::MemoryAlarm, FaultKind::DiskAlarm] {
        suffer(&control, kind, || {
            let alarms = control.node(1).eval("length(rabbit_alarm:get_alarms())").unwrap();
            assert_eq!(alarms, "1", "the other node knows of it: {kind:?}");
        });
    }
    assert_eq!(limits(&control), before);

    suffer(&control, FaultKind::Pause, || {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        assert!(stat.rsplit_once(") ").unwrap().1.starts_with('T'), "{stat}");
    });
    assert_eq!(control.node(0).pid, pid, "it was the same node all the time");

    for kind in [FaultKind::Stop, FaultKind::Kill] {
        let former = control.node(0).pid;
        suffer(&control, kind, || assert!(!control.node(0).is_running(), "{kind:?}"));
        assert_ne!(control.node(0).pid, former, "{kind:?}");
    }
    eventually("it is a member again", || connected(&control, 1) == "1");

    // An impossible harm is reported, and undoing it does no harm.
    let (kill, done) = control.harm(FaultKind::Kill, 1);
    done.unwrap();
    let (harm, done) = control.harm(FaultKind::MemoryAlarm, 1);
    assert!(matches!(done.unwrap_err(), BrokerError::Eval { .. }));
    control.undo(&harm).unwrap();
    control.undo(&kill).unwrap();

    let directory = broker.directory.clone();
    let halted = control.harm(FaultKind::Pause, 1);
    halted.1.unwrap();
    drop(broker);
    assert!(!directory.exists(), "a halted node ends with the others");
}
