//! Runs that have certainly ended, runs that cannot be seen from here, and claims of a journal without proof.

use std::fs;

use rabbitscope_testing::{
    Ends, Stops, Workbench, depth, eventually, own_broker, plant, queues_on, signal,
};
use rustix::process::Signal;

use super::removal::{
    change_entry, declare_as_an_application, journal_entry, kill_a_run, long_run, remove_from,
};

/// Such runs exist in a container whose first process does not wait for its children.
#[test]
fn a_killed_run_that_its_parent_does_not_ask_for_has_ended() {
    let bench = Workbench::new("zombie");
    let broker = own_broker();
    bench.file("s.toml", long_run("lo.full", "lo.empty"));
    let mut running = bench.start(&format!("run s.toml --uri {} --out killed", broker.uri()));
    bench.await_seconds("killed", 1);
    signal(&running, Signal::KILL);
    eventually("it has ended", || {
        bench.rabbitscope("leftovers").code(0).stdout.contains("has ended")
    });
    bench.rabbitscope(&remove_from(&broker.uri())).code(0);
    assert!(!queues_on(&broker).contains("lo."), "{}", queues_on(&broker));
    running.wait().unwrap();
}

/// The start time of a process differs in that namespace, and `/proc` of another pid namespace has other processes.
#[test]
fn a_live_run_is_not_dead_for_a_reader_in_other_namespaces() {
    let bench = Workbench::new("namespaces");
    let broker = own_broker();
    bench.file("live.toml", long_run("lo.live", "lo.idle").duration("20s"));
    let live = bench.start(&format!("run live.toml --uri {} --out live", broker.uri()));
    bench.await_seconds("live", 1);
    let elsewhere =
        ["unshare --time --boottime 3600 --fork --kill-child", "unshare --pid --fork --kill-child"];
    for elsewhere in elsewhere {
        let listed = bench.command_through(elsewhere, "leftovers").ended();
        assert_eq!(listed.code, Some(0), "{listed:#?}");
        assert!(!listed.stdout.contains("has ended"), "{elsewhere}: {}", listed.stdout);
        assert!(listed.stdout.contains("lo.live"), "{elsewhere}: {}", listed.stdout);
    }
    let ended = live.ended().code(0);
    assert!(!queues_on(&broker).contains("lo."), "{ended:#?}");
}

/// A run in a pid namespace without its own `/proc` records its own pid, not that of another process.
#[test]
fn a_run_below_the_proc_of_others_is_remembered_as_itself() {
    let bench = Workbench::new("foreign-proc");
    let broker = own_broker();
    bench.file("s.toml", long_run("lo.full", "lo.empty"));
    let inside = "unshare --pid --fork --kill-child";
    let line = format!("run s.toml --uri {} --out killed", broker.uri());
    let running = bench.command_through(inside, &line).spawn().unwrap();
    bench.await_seconds("killed", 1);
    let entry = journal_entry(&bench);
    let process = &entry["origin"]["process"];
    let of_init = fs::read_to_string("/proc/1/stat").unwrap();
    let start_of_init = of_init.rsplit_once(')').unwrap().1.split_whitespace().nth(19).unwrap();
    assert_eq!(process["pid"], 1, "{entry:#}");
    assert_ne!(process["start-ticks"].to_string(), start_of_init, "{entry:#}");
    running.killed();
    eventually("what it declared is removed", || {
        bench.rabbitscope(&remove_from(&broker.uri())).code == Some(0)
    });
    assert!(!queues_on(&broker).contains("lo."), "{}", queues_on(&broker));
}

#[test]
fn a_journal_is_not_believed_without_proof() {
    let bench = Workbench::new("believed");
    let broker = own_broker();
    declare_as_an_application(&broker, "orders", 7);
    declare_as_an_application(&broker, "invoices", 0);
    let bind = "rabbit_binding:add({binding, rabbit_misc:r(<<\"/\">>, exchange, <<\"amq.topic\">>), \
                <<\"invoices\">>, rabbit_misc:r(<<\"/\">>, queue, <<\"invoices\">>), []}, <<\"app\">>)";
    plant(&broker, bind);
    kill_a_run(&bench, &broker.uri(), "lo");
    change_entry(&bench, |entry| {
        for name in ["orders", "invoices"] {
            let queue = serde_json::json!(
                { "name": name, "queue-type": "classic", "durable": true, "named-by-token": true }
            );
            entry["topology"]["queues"].as_array_mut().unwrap().push(queue);
        }
        entry["topology"]["bindings"] = serde_json::json!([
            { "queue": "invoices", "exchange": "amq.topic", "routing-key": "invoices", "arguments": {} }
        ]);
    });
    let ended = bench.rabbitscope(&remove_from(&broker.uri()));
    let left = queues_on(&broker);
    assert!(left.contains("orders") && left.contains("invoices"), "{ended:#?}");
    assert!(!left.contains("lo."), "what is its own is removed: {left}");
    assert_eq!(depth(&broker, "orders"), "7");
    let bound = "length([1 || {binding, {resource, _, _, <<\"amq.topic\">>}, _, _, _} \
                 <- rabbit_binding:list(<<\"/\">>)])";
    assert_eq!(broker.eval(bound).unwrap(), "1");
}
