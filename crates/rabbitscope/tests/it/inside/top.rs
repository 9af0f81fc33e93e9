//! `top` on a node under load.

use std::path::Path;

use rabbitscope_testing::{
    Stops, Workbench, compile_driver, eventually, existing_broker, node_options, scenario::Scenario,
};
use rustix::process::Signal;
use serde_json::Value;

use super::{memory::InsideNode, queues::modules_on_node};

#[test]
fn who_does_most_under_load() {
    let bench = Workbench::new("top");
    let load = bench.start_run(existing_broker(), Scenario::steady("inside-top", "60s"), 0);
    let node = node_options(existing_broker());
    let top = |arguments: &str| -> Value {
        bench.rabbitscope(&format!("top {arguments} {node} --json")).code(0).json()
    };
    let rows = |top: &Value| top["rows"].as_array().unwrap().clone();
    let named = |top: &Value, name: &str| {
        rows(top).iter().find(|row| row["name"].as_str().unwrap().contains(name)).cloned()
    };
    eventually("the queue works", || {
        let top = top("queues --interval 500ms --limit 100");
        named(&top, "inside-top")
            .is_some_and(|row| row["reductions-per-second"].as_f64() > Some(1e4))
    });

    let connections = top("connections --sort in --interval 500ms --limit 5");
    let most = rows(&connections)[0]["in-per-second"].as_f64().unwrap();
    assert!(most > 10_000.0, "2,000 messages a second are more than {most} bytes: {connections}");

    let channels = top("channels --interval 500ms");
    assert_eq!(channels["rates-known"], false, "half a second is less than the node counts in");
    assert!(channels["candidates"].as_u64().unwrap() >= 2, "{channels}");

    let processes = top("processes --limit 10");
    let working = &processes["microstates"]["scheduler"]["emulator"];
    assert!(working.as_f64().unwrap() > 0.01, "{processes}");
    let cost = |row: &Value| row["reductions-per-second"].as_f64().unwrap();
    let found = rows(&processes);
    assert_eq!(found.len(), 10);
    assert!(found.is_sorted_by(|a, b| cost(a) >= cost(b)), "{processes}");
    let roles: Vec<&str> = found.iter().filter_map(|row| row["role"].as_str()).collect();
    assert!(roles.contains(&"queue") && roles.contains(&"channel"), "{roles:?}");
    assert!(processes["scheduler-use"].as_f64().unwrap() > 0.0);

    for sort in ["memory", "mailbox", "binaries"] {
        assert_eq!(rows(&top(&format!("--sort {sort} --interval 100ms --limit 3"))).len(), 3);
    }
    bench.rabbitscope(&format!("top --sort in {node}")).code(2).says(&["--sort in"]);
    load.ended_by(Signal::INT);
    eventually("nothing of it is on the node", || modules_on_node() == "[]");
}

/// A process with a long mailbox.
const MAILBOX: &str = "Full = spawn(fun () -> register(planted_mailbox, self()), receive stop -> ok end end), \
     [Full ! I || I <- lists:seq(1, 200000)], ok";

/// Plants a process that holds the last scheduler in native code for 25 ms again and again. With few reductions, other
/// processes gather on the first one: a process beside it on its scheduler would run, and ask, between the holds only.
fn plant_holder(node: &InsideNode) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/inside/holding_drv.c");
    compile_driver(&source, &node.broker.directory.join("holding_drv.so"), &["-O1"]);
    let directory = node.broker.directory.display();
    node.plant(&format!(
        "spawn_opt(fun () -> register(planted_holder, self()), ok = erl_ddll:load_driver(\"{directory}\", \"holding_drv\"), \
         Port = open_port({{spawn_driver, \"holding_drv\"}}, []), \
         Hold = fun Hold() -> _ = port_control(Port, 25, <<>>), timer:sleep(1), Hold() end, Hold() end, \
         [{{scheduler, erlang:system_info(schedulers_online)}}]), ok"
    ));
}

#[test]
fn what_the_order_of_the_rows_does_not_show_is_said() {
    let node = InsideNode::start("top-notes");
    let idle = node.json("top --interval 2s");
    assert_eq!(idle["own-processes"], 3, "{idle}");
    let keeper = |row: &Value| row["current-function"] == "prim_eval:receive/2";
    assert!(!idle["rows"].as_array().unwrap().iter().any(keeper), "{idle}");
    assert!(node.text("top").contains("without the 3 processes of this program"));

    node.plant(MAILBOX);
    let text = node.text("top");
    assert!(text.contains("200,000 messages wait for planted_mailbox"), "{text}");
    plant_holder(&node);
    let is_named = |top: &Value| {
        let said = ["late", "silent"].map(|list| top[list].as_array().unwrap().clone()).concat();
        said.iter().any(|process| process["name"] == "planted_holder")
    };
    // Between two holds, it answers at once, and may do so for each question.
    let mut last = Value::Null;
    let is_found = (0..30).any(|_| {
        last = node.json("top --interval 500ms --limit 3");
        is_named(&last)
    });
    assert!(is_found, "{last:#}");
    let limits = idle["limits"].as_array().unwrap();
    assert!(limits.iter().any(|one| one["resource"] == "atoms" && one["limit"].is_u64()), "{idle}");
}

#[test]
fn clients_are_shown_by_the_name_that_they_gave() {
    let node = InsideNode::start("top-clients");
    node.plant("application:set_env(rabbit, collect_statistics, coarse), application:set_env(rabbit, collect_statistics_interval, 500), ok");
    let scenario = Scenario::steady("top-clients", "60s");
    let load = node.bench.start_run(&node.broker, scenario, 0);
    let named = |top: &Value| {
        let rows = top["rows"].as_array().unwrap();
        let is_consumer =
            |row: &&Value| row["client"].as_str().is_some_and(|name| name.contains("consumers"));
        rows.iter().find(is_consumer).cloned()
    };
    eventually("the consumer's channel has its figures", || {
        named(&node.json("top channels --interval 200ms"))
            .is_some_and(|row| row["prefetch"] == 100 && row["unacknowledged"].is_u64())
    });
    let connections = node.json("top connections --interval 200ms");
    assert_eq!(named(&connections).unwrap()["user"], "guest", "{connections}");
    let text = node.text("top channels");
    assert!(text.contains("unacked  prefetch"), "{text}");
    let queues = node.text("top queues");
    assert!(queues.contains("ready  unacked"), "{queues}");
    load.ended_by(Signal::INT);
}
