//! The experiment for which this program was made: routing by a match specification that is compiled for each
//! message, against routing by key.

use std::path::Path;

use rabbitscope_broker::Broker;
use rabbitscope_testing::{
    Workbench, load_module, own_broker,
    scenario::{Profile, Publishers, Queue, Scenario, raw},
};

/// Loads `routers/NAME.erl` in place of the node's own module.
fn load(bench: &Workbench, broker: &Broker, name: &str) {
    let source =
        Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/it/profile/routers/{name}.erl"));
    let copy = bench.file("rabbit_router.erl", std::fs::read_to_string(source).unwrap());
    load_module(broker, &copy);
}

/// Returns the share of the samples, in percent, that have `parent` and somewhere below it `child`.
fn percent_below(folded: &str, parent: &str, child: &str) -> f64 {
    let (mut all, mut below) = (0_u64, 0_u64);
    for line in folded.lines() {
        let (stack, count) = line.rsplit_once(' ').unwrap();
        let count: u64 = count.parse().unwrap();
        let mut frames = stack.split(';');
        all += count;
        if frames.any(|frame| frame == parent) && frames.any(|frame| frame == child) {
            below += count;
        }
    }
    100.0 * below as f64 / all as f64
}

#[test]
fn a_match_specification_for_each_message_is_found_and_is_the_largest_change() {
    let Some(bench) = Workbench::for_root("routers") else { return };
    let broker = own_broker();
    // A load with no work except routing: no consumer, and a queue that keeps little.
    let queue = Queue::new("routed").arguments(raw("{ x-max-length = 10 }"));
    let scenario = Scenario::new("routing")
        .queues(queue.bound("amq.direct", "routed"))
        .publishers(Publishers::through("amq.direct", "routed").confirm_window(500))
        .duration("10s")
        .profile(Profile::new("8s").delay("1s").freq(4999));
    bench.file("s.toml", scenario);
    let run = |out: &str| {
        bench.rabbitscope(&format!("run s.toml --uri {} --out {out}", broker.uri())).code(0);
        bench.rabbitscope(&format!("flamegraph {out} -o {out}.folded")).code(0);
        percent_below(&bench.read(&format!("{out}.folded")), "rabbit_exchange:route/2", SELECT)
    };
    load(&bench, &broker, "select");
    let with_select = run("select");
    load(&bench, &broker, "lookup");
    // Each run declares the queue and its binding again, always the same.
    let name = |kind, name| format!("{{resource, <<\"/\">>, {kind}, <<\"{name}\">>}}");
    let (exchange, queue) = (name("exchange", "amq.direct"), name("queue", "routed"));
    let start = format!("rabbit_router:start([{{{{{exchange}, <<\"routed\">>}}, {queue}}}]).");
    assert_eq!(broker.eval(&start).unwrap().trim(), "true");
    let with_lookup = run("lookup");
    assert!(with_select > 2.0, "{with_select:.2} % below route/2");
    assert!(with_lookup < 0.1, "{with_lookup:.2} % below route/2");
    let ended = bench.rabbitscope("diff lookup select --json").code(0);
    let changes = ended.json();
    let is_of_the_node = |it: &&serde_json::Value| it["kind"] == "erlang" || it["kind"] == "bif";
    let largest = changes.as_array().unwrap().iter().find(is_of_the_node).unwrap();
    assert_eq!(largest["function"], SELECT, "{largest}");
    assert_eq!(largest["own"]["beyond-noise"], true);
    assert!(largest["own"]["change"].as_f64().unwrap() > 0.0, "{largest}");
}

const SELECT: &str = "ets:select/2";
