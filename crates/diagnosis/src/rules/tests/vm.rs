//! Rules about the Erlang VM.

use super::{
    cases::change,
    checks::{check, check_healthy, check_unjudged, text},
};
use crate::{
    case::{Case, Source, Unread},
    finding::Severity,
};

#[test]
fn busy_wait() {
    let spin = |cores: f64, usage: f64| {
        move |case: &mut Case| {
            change(&mut case.cpu, |cpu| {
                cpu.cores = 0.4;
                cpu.busy_wait_cores = cores;
            });
            change(&mut case.vm, |vm| vm.scheduler_use = Some(usage));
        }
    };
    let found = check("busy-wait", Severity::Note, "rabbit@a", spin(0.2, 0.1));
    assert!(text(&found).contains("+sbwt none"));
    assert!((found.bound.unwrap().throughput - 1.0).abs() < 1e-9, "half of the CPU time");
    check_healthy("busy-wait", spin(0.04, 0.1));
    check_healthy("busy-wait", spin(0.2, 0.8));
    check("busy-wait", Severity::Warning, "rabbit@a", |case| {
        spin(0.2, 0.1)(case);
        change(&mut case.host, |host| host.throttled_periods = Some(0.2));
    });
    check_healthy("busy-wait", |case| {
        spin(0.2, 0.1)(case);
        change(&mut case.vm, |vm| vm.flags = vec![("+sbwt".to_owned(), "none".to_owned())]);
    });
    check_unjudged("busy-wait", "unknown", |case| {
        change(&mut case.vm, |vm| vm.scheduler_use = None);
    });
}

#[test]
fn distribution_buffer() {
    let full = |share: f64| {
        move |case: &mut Case| change(&mut case.vm, |vm| vm.peers[0].busy_share = share)
    };
    let found = check("distribution-buffer", Severity::Warning, "rabbit@b", full(0.2));
    assert_eq!(text(&found), "DISTRIBUTION_BUFFER_SIZE=256000");
    // One look of 300.
    check_healthy("distribution-buffer", full(1.0 / 300.0));
}

#[test]
fn far_leaders() {
    let far = |local: f64, between: f64| {
        move |case: &mut Case| {
            change(&mut case.queues, |queues| {
                queues.rows.iter_mut().for_each(|queue| queue.published_per_second = Some(local));
            });
            change(&mut case.vm, |vm| vm.peers[0].sent_bytes_per_second = between);
        }
    };
    check("far-leaders", Severity::Warning, "rabbit@a", far(10.0, 4e6));
    check_healthy("far-leaders", far(10.0, 0.0));
    check_healthy("far-leaders", far(900.0, 4e6));
    check_unjudged("far-leaders", "rates", |case| {
        change(&mut case.queues, |queues| queues.count = 10_000);
    });
    check_healthy("far-leaders", |case| {
        change(&mut case.broker, |broker| broker.nodes.truncate(1));
    });
}

#[test]
fn few_schedulers() {
    let run = |schedulers: u64, crowded: f64| {
        move |case: &mut Case| {
            change(&mut case.vm, |vm| {
                vm.schedulers_online = schedulers;
                vm.crowded_share = crowded;
                vm.scheduler_use = Some(crowded);
            });
        }
    };
    let found = check("few-schedulers", Severity::Warning, "rabbit@a", run(1, 0.9));
    assert!((found.bound.unwrap().throughput - 3.0).abs() < 1e-9);
    check_healthy("few-schedulers", run(4, 0.9));
    check_healthy("few-schedulers", run(1, 0.1));
    let rarely = |schedulers: u64| {
        move |case: &mut Case| {
            run(schedulers, 0.9)(case);
            change(&mut case.vm, |vm| vm.looks = 7);
        }
    };
    check_healthy("few-schedulers", rarely(4));
    check_unjudged("few-schedulers", "7", rarely(1));
    check_healthy("few-schedulers", |case| {
        run(1, 0.9)(case);
        change(&mut case.host, |host| host.quota_cores = Some(1.5));
    });
}

#[test]
fn many_schedulers() {
    let throttle = |quota: Option<f64>, periods: f64| {
        move |case: &mut Case| {
            change(&mut case.host, |host| {
                host.quota_cores = quota;
                host.throttled_periods = Some(periods);
            });
        }
    };
    let found = check("many-schedulers", Severity::Warning, "rabbit@a", throttle(Some(2.0), 0.5));
    assert!(text(&found).contains("+S 2"));
    // A node that is throttled most of the time answers late, or never: the counts of threads and of cores suffice.
    let late = |case: &mut Case| {
        throttle(Some(0.5), 0.9)(case);
        change(&mut case.vm, |vm| vm.looks = 7);
    };
    check("many-schedulers", Severity::Warning, "rabbit@a", late);
    let silent = |threads: Option<u64>| {
        move |case: &mut Case| {
            throttle(Some(0.5), 0.9)(case);
            case.vm = Err(Unread::new(Source::Node));
            change(&mut case.host, |host| host.schedulers = threads);
        }
    };
    check("many-schedulers", Severity::Warning, "rabbit@a", silent(Some(4)));
    check_healthy("many-schedulers", silent(Some(1)));
    check_unjudged("many-schedulers", "number of schedulers", silent(None));
    check_healthy("many-schedulers", throttle(Some(2.0), 0.1));
    check_healthy("many-schedulers", throttle(Some(4.0), 0.5));
    check_healthy("many-schedulers", throttle(None, 0.5));
}
