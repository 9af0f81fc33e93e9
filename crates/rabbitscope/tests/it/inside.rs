//! The probes inside a node as commands: what they write, and what is left when they are killed.

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    process::Command,
    time::Duration,
};

use rabbitscope_broker::Broker;
use rabbitscope_data::scenario::ThrowawayBroker;
use rustix::process::Signal;

use crate::workbench::{Workbench, eventually, own_broker, signal};

/// Erlang that tells what of a probe is on the node: traced processes, flags for new ones, patterns,
/// modules.
const LEFT: &str = "{[P || P <- processes(), erlang:trace_info(P, flags) =/= {flags, []}], \
    erlang:trace_info(new, flags), \
    [F || F <- [{lists, map, 2}, {gen, do_call, 4}, {gen_server, loop, 7}, {lists, reverse, 1}], \
     {all, false} =/= erlang:trace_info(F, all)], \
    [M || {M, _} <- code:all_loaded(), lists:prefix(\"rabbitscope_\", atom_to_list(M))]}";

const NOTHING: &str = "{[],{flags,[]},[],[]}";

fn node_of(broker: &Broker) -> String {
    let (home, epmd) = broker.distribution();
    let cookie = home.join(".erlang.cookie");
    format!("--node {} --cookie-file {} --epmd-port {epmd}", broker.node_name(), cookie.display())
}

/// What is left; nothing when the node is too busy to be asked just now.
fn left(broker: &Broker) -> Option<String> {
    broker.eval(LEFT).ok()
}

#[test]
fn a_kill_during_any_probe_leaves_nothing() {
    let bench = Workbench::new("killed-probe");
    let broker = own_broker("killed-probe");
    let busy = "register(busy, spawn(fun F() -> lists:reverse([1]), timer:sleep(1), F() end))";
    broker.eval(busy).unwrap();
    let node = node_of(&broker);
    for probe in [
        "trace lists:reverse/1 --limit 100000 --duration 60s",
        "calltree timer:sleep/1 --follow --duration 60s -o tree.folded",
        "functions --process busy --duration 60s",
        "functions --process busy --counters --duration 60s",
        "profile --from-inside --duration 60s -o profile.folded",
    ] {
        let running = bench.start(&format!("{probe} {node}"));
        eventually("the probe is on the node", || {
            left(&broker).is_some_and(|left| left != NOTHING)
        });
        std::thread::sleep(Duration::from_secs(2));
        signal(&running, Signal::KILL);
        running.wait_with_output().unwrap();
        eventually(&format!("nothing is left of {probe}"), || {
            broker.eval(LEFT).unwrap() == NOTHING
        });
    }
}

#[test]
fn a_second_program_is_refused_and_the_first_goes_on() {
    let bench = Workbench::new("two-programs");
    let broker = own_broker("two-programs");
    let node = node_of(&broker);
    let first =
        bench.start(&format!("calltree timer:sleep/1 --duration 20s -o tree.folded {node}"));
    let patterned = "erlang:trace_info({lists, map, 2}, traced)";
    eventually("the first one traces", || broker.eval(patterned).unwrap() == "{traced,local}");
    std::thread::sleep(Duration::from_secs(1));
    broker.eval("spawn(fun() -> timer:sleep(20) end), timer:sleep(200)").unwrap();
    let second = format!("functions --process rabbit_sup --duration 1s {node}");
    bench.rabbitscope(&second).code(1).says(&["somebody else"]);
    let ended = first.wait_with_output().unwrap();
    assert!(ended.status.success(), "{ended:?}");
    let folded = bench.read("tree.folded");
    assert!(folded.contains("timer:sleep/1;[wait]"), "{folded}");
    eventually("nothing is left", || left(&broker).is_some_and(|left| left == NOTHING));
}

fn request(port: u16, path: &str, credentials: Option<&str>) -> (u16, String) {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let authorization =
        credentials.map_or_else(String::new, |it| format!("Authorization: Basic {it}\r\n"));
    write!(stream, "GET {path} HTTP/1.1\r\nHost: h\r\n{authorization}Connection: close\r\n\r\n")
        .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
    (status, answer.split_once("\r\n\r\n").unwrap().1.to_owned())
}

#[test]
fn the_plugin_serves_the_brokers_own_users() {
    let bench = Workbench::new("plugin");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../plugin/rabbitmq_queue_info/build.sh");
    let built = Command::new(script).arg(bench.path("plugins")).output().unwrap();
    assert!(built.status.success(), "{built:?}");
    let archive = String::from_utf8(built.stdout).unwrap().trim().to_owned();
    let name = archive.rsplit('/').next().unwrap().trim_end_matches(".ez").to_owned();

    let spec = ThrowawayBroker {
        plugins: vec!["rabbitmq_management".to_owned()],
        ..ThrowawayBroker::default()
    };
    let broker = Broker::start(&spec, &bench.path("broker.log")).unwrap();
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let started = broker.eval(&format!(
        "code:add_patha(\"{archive}/{name}/ebin\"), ok = application:load(rabbitmq_queue_info), \
         ok = application:set_env(rabbitmq_queue_info, listener, \
          [{{ip, \"127.0.0.1\"}}, {{port, {port}}}]), \
         {{ok, _}} = application:ensure_all_started(rabbitmq_queue_info), \
         {{new, _}} = rabbit_amqqueue:declare(rabbit_misc:r(<<\"/\">>, queue, <<\"a \\\"b\\\"\">>), \
          true, false, [], none, <<\"guest\">>), ok"
    ));
    assert_eq!(started.unwrap(), "ok");

    let guest = Some("Z3Vlc3Q6Z3Vlc3Q=");
    let (status, body) = request(port, "/queue-info", guest);
    let queues: serde_json::Value = serde_json::from_str(&body).unwrap();
    assert_eq!((status, queues.as_array().unwrap().len()), (200, 1), "{body}");
    assert_eq!(queues[0]["name"], "a \"b\"");
    assert_eq!(queues[0]["type"], "classic");
    assert_eq!(request(port, "/queue-info/%2F", guest).0, 200);
    assert_eq!(request(port, "/queue-info/nowhere", guest).0, 404);
    assert_eq!(request(port, "/queue-info", None).0, 401);
    assert_eq!(request(port, "/queue-info", Some("Z3Vlc3Q6d3Jvbmc=")).0, 401);
}
