//! Schedulers of a node that does not answer, judged from outside.

use super::cases::{check, found, healthy};
use crate::{
    case::{Case, Source, ThreadCpu, Unread},
    limit::{Certainty, LimitKind},
};

/// A node whose inside is silent, with so many schedulers and so many cores of work for them.
fn silent(schedulers: Option<u64>, cores: f64, busy_wait: f64, ready: f64) -> Case {
    let mut case = healthy();
    let reason = Unread::new(Source::Node);
    case.vm = Err(reason.clone());
    case.broker = Err(reason.clone());
    case.queues = Err(reason.clone());
    case.flow = Err(reason);
    let cpu = case.cpu.as_mut().unwrap();
    cpu.threads = vec![ThreadCpu { kind: "scheduler".to_owned(), cores }];
    (cpu.cores, cpu.busy_wait_cores) = (cores, busy_wait);
    cpu.processes.clear();
    case.waits.as_mut().unwrap().runnable_cores = ready;
    case.host.as_mut().unwrap().schedulers = schedulers;
    case
}

#[test]
fn the_threads_of_a_silent_node_show_full_schedulers() {
    check(&silent(Some(1), 0.99, 0.0, 0.0), LimitKind::Schedulers, "", Certainty::Likely);
    assert!(found(&silent(Some(1), 0.99, 0.0, 0.0)).sentence.contains("the only scheduler"));
    // Ready threads have work as well.
    check(&silent(Some(2), 1.6, 0.0, 0.3), LimitKind::Schedulers, "", Certainty::Likely);
}

#[test]
fn threads_that_rest_or_wait_busily_are_not_full() {
    check(&silent(Some(2), 0.9, 0.0, 0.0), LimitKind::Unknown, "", Certainty::Uncertain);
    check(&silent(Some(2), 2.0, 0.8, 0.0), LimitKind::Unknown, "", Certainty::Uncertain);
    // Others have the CPUs.
    check(&silent(Some(2), 0.4, 0.0, 1.6), LimitKind::Unknown, "", Certainty::Uncertain);
    check(&silent(None, 2.0, 0.0, 0.0), LimitKind::Unknown, "", Certainty::Uncertain);
    let mut few = silent(Some(1), 0.99, 0.0, 0.0);
    few.cpu.as_mut().unwrap().samples = 100;
    check(&few, LimitKind::Unknown, "", Certainty::Uncertain);
}
