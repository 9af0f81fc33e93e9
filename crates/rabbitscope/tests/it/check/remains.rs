//! The remains of a check on the node.

use std::{thread, time::Duration};

use rabbitscope_testing::{Stops, Workbench, node_options};

use crate::inside::remains::{assert_nothing_left, await_work, busy_broker};

#[test]
fn a_killed_check_leaves_nothing() {
    let bench = Workbench::new("check-killed");
    let broker = busy_broker(&bench);
    let node = node_options(&broker);
    assert_nothing_left(&broker, "the preparation");
    for delay in [Duration::ZERO, Duration::from_secs(2)] {
        let running = bench.start(&format!("check --duration 30s {node}"));
        await_work(&broker, "check");
        thread::sleep(delay);
        running.killed();
        assert_nothing_left(&broker, "check");
    }
    bench.rabbitscope(&format!("check --duration 3s {node}")).code(0);
    assert_nothing_left(&broker, "a check that ended");
}
