//! Nodes of throwaway clusters find one another, die and come back alone, and end together.

use std::{
    collections::HashSet,
    process::Command,
    sync::{Mutex, PoisonError},
};

use rabbitscope_broker::{Broker, Node, Registry};
use rabbitscope_runs::scenario::ThrowawayBroker;
use rabbitscope_testing::{Workbench, eventually, processes_showing};

/// Serialises the tests: two clusters would take each other's CPU time while they boot.
static BOOTING: Mutex<()> = Mutex::new(());

fn cluster_of(nodes: u32) -> ThrowawayBroker {
    ThrowawayBroker { nodes, ..ThrowawayBroker::default() }
}

/// Numbers of running members, as each node sees them.
fn seen(nodes: &[Node]) -> Vec<String> {
    let asked = "length([It || It <- [node() | nodes()], \
        rpc:call(It, rabbit, is_running, []) =:= true])";
    nodes.iter().map(|node| node.eval(asked).unwrap()).collect()
}

#[test]
fn nodes_that_die_and_come_back_are_members_of_one_cluster_and_end_with_it() {
    let _one_at_a_time = BOOTING.lock().unwrap_or_else(PoisonError::into_inner);
    let place = Workbench::new("broker");
    let spec = ThrowawayBroker { config: "channel_max = 77".to_owned(), ..cluster_of(3) };
    let mut broker = Broker::start(&spec, &place.path("broker.log")).unwrap();
    assert_eq!(seen(broker.nodes()), ["3", "3", "3"]);
    for node in broker.nodes() {
        assert_eq!(node.eval("application:get_env(rabbit, channel_max)").unwrap(), "{ok,77}");
    }
    let distinct: HashSet<String> = broker.uris().into_iter().collect();
    assert_eq!(distinct.len(), 3);
    for log in ["broker.log", "broker-2.log", "broker-3.log"] {
        assert!(place.path(log).exists(), "{log}");
    }
    let exchange = "rabbit_exchange:declare({resource, <<\"/\">>, exchange, <<\"kept\">>}, \
        direct, true, false, false, [], <<\"test\">>), ok";
    assert_eq!(broker.nodes()[2].eval(exchange).unwrap(), "ok");

    let (directory, pid) = (broker.directory.clone(), broker.nodes()[1].pid);
    broker.kill_node(1);
    assert!(!broker.nodes()[1].is_running() && broker.nodes()[2].is_running());
    let listed = Registry::open().unwrap().running().unwrap();
    let own: Vec<Option<u32>> =
        listed.iter().filter(|node| node.directory == directory).map(|node| node.number).collect();
    assert_eq!(own, [Some(1), Some(3)]);
    broker.start_node_again(1).unwrap();
    assert_ne!(broker.nodes()[1].pid, pid);
    eventually("all are there again", || seen(broker.nodes()) == ["3", "3", "3"]);
    let known = "element(1, rabbit_exchange:lookup({resource, <<\"/\">>, exchange, <<\"kept\">>}))";
    assert_eq!(broker.nodes()[1].eval(known).unwrap(), "ok");

    broker.stop();
    assert_eq!(processes_showing(directory.display()), [0; 0]);
    assert!(!directory.exists());
}

/// Kills the guard of one cluster, and one node of another, which stays.
#[test]
fn a_cluster_leaves_nothing_when_its_guard_is_killed_and_stays_without_one_of_its_nodes() {
    let _one_at_a_time = BOOTING.lock().unwrap_or_else(PoisonError::into_inner);
    let place = Workbench::new("broker");
    let broker = Broker::start(&cluster_of(2), &place.path("broker.log")).unwrap();
    let directory = broker.directory.clone();
    let marker = format!("RABBITSCOPE_BROKER_GUARD={}", directory.display());
    let guard = processes_showing(directory.display()).into_iter().find(|pid| {
        std::fs::read(format!("/proc/{pid}/environ"))
            .is_ok_and(|bytes| bytes.split(|byte| *byte == 0).any(|pair| pair == marker.as_bytes()))
    });
    let killed = Command::new("kill").args(["-KILL", &guard.unwrap().to_string()]).status();
    assert!(killed.unwrap().success());
    eventually("the nodes ended with their guard", || broker.nodes().iter().all(is_gone));
    drop(broker);
    let registry = Registry::open().unwrap();
    registry.sweep().unwrap();
    assert!(!directory.exists());

    let nodes = Broker::start_detached(&cluster_of(2)).unwrap();
    let killed = Command::new("kill").args(["-KILL", &nodes[0].pid.to_string()]).status();
    assert!(killed.unwrap().success());
    eventually("the first ended", || is_gone(&nodes[0]));
    assert!(nodes[1].is_running());
    assert!(registry.sweep().unwrap().iter().all(|swept| swept.name != nodes[0].name));
    let found = registry.find(&nodes[0].name).unwrap();
    assert_eq!(found.number, Some(2));
    found.end().unwrap();
    assert_eq!(processes_showing(nodes[0].directory.display()), [0; 0]);
    assert!(!nodes[0].directory.exists());
}

fn is_gone(node: &Node) -> bool {
    !node.is_running()
}
