//! Rules about the machine.

use super::{
    cases::change,
    checks::{check, check_healthy, check_unjudged},
};
use crate::{
    case::{Case, Host, Neighbour},
    finding::Severity,
};

fn host(with: impl Fn(&mut Host)) -> impl Fn(&mut Case) {
    move |case| change(&mut case.host, &with)
}

/// Plants a busy machine with another program.
fn beside(cores: f64, is_client: bool, idle: f64, waiting: f64) -> impl Fn(&mut Case) {
    host(move |host| {
        let command = "burner".to_owned();
        host.neighbours = vec![Neighbour { pid: 7, command, cores, is_client }];
        host.idle_share = idle;
        host.waiting_cores = Some(waiting);
    })
}

#[test]
fn steal() {
    let steal = |share| host(move |host| host.steal_share = share);
    let found = check("steal", Severity::Warning, "rabbit@a", steal(0.15));
    assert!((found.bound.unwrap().throughput - 0.3).abs() < 1e-9);
    check("steal", Severity::Note, "rabbit@a", steal(0.06));
    check_healthy("steal", steal(0.01));
    let idle = host(|host| {
        host.steal_share = 0.15;
        host.node_cores = 0.1;
    });
    check("steal", Severity::Note, "rabbit@a", idle);
}

#[test]
fn throttling() {
    let throttle = |periods, share| {
        host(move |host| {
            host.throttled_periods = Some(periods);
            host.throttled_share = Some(share);
        })
    };
    let found = check("throttling", Severity::Warning, "rabbit@a", throttle(0.5, 0.2));
    assert!((found.bound.unwrap().throughput - 0.25).abs() < 1e-9);
    check("throttling", Severity::Note, "rabbit@a", throttle(0.06, 0.01));
    check_healthy("throttling", throttle(0.04, 0.01));
    check_healthy("throttling", host(|host| host.throttled_periods = None));
}

#[test]
fn neighbours() {
    let found =
        check("neighbours", Severity::Warning, "burner (pid 7)", beside(1.9, false, 0.0, 1.0));
    assert!((found.bound.unwrap().throughput - 0.5).abs() < 1e-9);
    check_healthy("neighbours", beside(1.9, true, 0.0, 1.0));
    check_healthy("neighbours", beside(1.9, false, 0.3, 1.0));
    check_healthy("neighbours", beside(1.9, false, 0.0, 0.1));
    check_unjudged("neighbours", "unknown", host(|host| host.waiting_cores = None));
    // Six small programs take as much as one large one.
    let many = |cores: f64| {
        move |case: &mut Case| {
            beside(cores, false, 0.0, 1.0)(case);
            change(&mut case.host, |host| host.neighbours = vec![host.neighbours[0].clone(); 6]);
        }
    };
    let found = check("neighbours", Severity::Warning, "burner (pid 7)", many(0.2));
    assert!(found.sentence.starts_with("burner and 5 others take 1.2"), "{}", found.sentence);
    check_healthy("neighbours", many(0.04));
}

#[test]
fn clients_beside() {
    check("clients-beside", Severity::Note, "burner (pid 7)", beside(1.9, true, 0.0, 1.0));
    check_healthy("clients-beside", beside(1.9, false, 0.0, 1.0));
    check_healthy("clients-beside", beside(0.1, true, 0.0, 1.0));
    check_unjudged("clients-beside", "unknown", host(|host| host.waiting_cores = None));
}

/// Plants another VM on the same CPUs, with this use of CPUs, and that of the node.
fn bound_alike(other: f64, own: f64, waiting: Option<f64>) -> impl Fn(&mut Case) {
    host(move |host| {
        let command = "beam.smp".to_owned();
        host.bound_alike = vec![99];
        host.neighbours = vec![Neighbour { pid: 99, command, cores: other, is_client: false }];
        (host.node_cores, host.waiting_cores) = (own, waiting);
    })
}

#[test]
fn shared_cores() {
    let busy = |waiting| bound_alike(1.0, 2.0, waiting);
    check("shared-cores", Severity::Warning, "process 99", busy(Some(1.0)));
    check("shared-cores", Severity::Note, "process 99", busy(Some(0.0)));
    check("shared-cores", Severity::Note, "process 99", busy(None));
    // Two brokers of which one rests do not meet, however they are bound.
    check_healthy("shared-cores", bound_alike(0.05, 2.0, Some(1.0)));
    check_healthy("shared-cores", bound_alike(1.0, 0.05, Some(0.01)));
    // A busy program on the machine is not the VM that is bound alike.
    check_healthy("shared-cores", host(|host| host.bound_alike = vec![99]));
}

#[test]
fn swap() {
    let swap = |pages, bytes| {
        host(move |host| {
            host.swapped_in_per_second = Some(pages);
            host.node_swap_bytes = Some(bytes);
        })
    };
    check("swap", Severity::Warning, "rabbit@a", swap(200.0, 100 << 20));
    check_healthy("swap", swap(0.0, 100 << 20));
    check_healthy("swap", swap(200.0, 0));
}

#[test]
fn memory_pressure() {
    let pressure = |share| host(move |host| host.memory_pressure = share);
    check("memory-pressure", Severity::Warning, "rabbit@a", pressure(Some(0.3)));
    check_healthy("memory-pressure", pressure(Some(0.05)));
    check_unjudged("memory-pressure", "kernel", pressure(None));
}

#[test]
fn own_load() {
    check("own-load", Severity::Note, "rabbitscope", host(|host| host.own_cores = 0.5));
    check_healthy("own-load", host(|host| host.own_cores = 0.1));
}

#[test]
fn slow_disk() {
    let disk = |flush: f64, flushes: f64, busy: f64| {
        host(move |host| {
            host.io_pressure = Some(0.5);
            if let Some(disk) = &mut host.data_disk {
                disk.flush_ms = Some(flush);
                disk.flushes_per_second = Some(flushes);
                disk.busy_share = busy;
            }
        })
    };
    check("slow-disk", Severity::Warning, "vda (/)", disk(60.0, 30.0, 0.95));
    check("slow-disk", Severity::Note, "vda (/)", disk(60.0, 30.0, 0.3));
    check("slow-disk", Severity::Note, "vda (/)", disk(30.0, 30.0, 0.95));
    check_healthy("slow-disk", disk(2.0, 30.0, 0.95));
    // Fifteen flushes in all.
    check_healthy("slow-disk", disk(30.0, 1.0, 0.95));
    check_unjudged("slow-disk", "unknown", host(|host| host.data_disk = None));
}

#[test]
fn io_limit() {
    let limit = |limits: &'static str, pressure| {
        host(move |host| {
            host.io_limits = limits.to_owned();
            host.io_pressure = pressure;
        })
    };
    check("io-limit", Severity::Warning, "vda", limit("254:0 wbps=1048576", Some(0.6)));
    let busy = |case: &mut Case| {
        limit("254:0 wbps=1048576", Some(0.6))(case);
        host(|host| host.data_disk.as_mut().unwrap().busy_share = 0.95)(case);
    };
    check("io-limit", Severity::Note, "vda", busy);
    check_healthy("io-limit", limit("254:0 wbps=1048576", Some(0.1)));
    check_healthy("io-limit", limit("", Some(0.6)));
    check_unjudged("io-limit", "kernel", limit("254:0 wbps=1048576", None));
}
