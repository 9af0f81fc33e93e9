//! Queues and exchanges that may exist before, queues that the broker names, and the assignment of queues to members.

use std::collections::BTreeMap;

use super::*;

/// Returns `SMALL` with overrides.
fn small(overrides: &[&str]) -> Scenario {
    read(SMALL, overrides).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn the_broker_may_name_queues() {
    let named = ["queues.0.server-named=true", "queues.0.auto-delete=true"];
    let to_exchange = SMALL.replace("queue = \"q\"", "exchange = \"amq.direct\"");
    let reader = "consumers=[{ queue = \"q\", prefetch = 9, count = 3 }]";
    let read = |more: &[&str]| read(&to_exchange, &[&[reader], &named[..], more].concat());
    let scenario = read(&[]).unwrap();
    assert_eq!(scenario.queues[0].queues(), QueueNames::ByBroker);
    assert_eq!(scenario.queues[0].queue_names(), Vec::<String>::new());
    let check = |more: &[&str], part: &str| {
        let message = read(more).unwrap_err().to_string();
        assert!(message.contains(part), "{more:?}: {message}");
    };
    check(&["queues.0.auto-delete=false"], "nobody could remove");
    check(&["queues.0.type=quorum", "queues.0.auto-delete=false"], "classic queues only");
    check(&["queues.0.names=[\"a\"]"], "give no names");
    check(&["queues.0.if-missing=true"], "always new");
    check(&["consumers.0.channels=1"], "a channel of its own");
    check(&["run.until=empty"], "named by the broker");
    check(&["run.verify=true"], "cannot be told apart");
    refused(&named, &["publishers.0.queue", "cannot know"]);
}

#[test]
fn what_is_there_may_be_used_as_it_is() {
    let scenario = small(&["queues.0.if-missing=true"]);
    assert!(scenario.queues[0].if_missing && !scenario.queues[0].predeclared);
    refused(
        &["queues.0.if-missing=true", "queues.0.predeclared=true"],
        &["queues.0.if-missing", "predeclared"],
    );
    refused(&["queues.0.bind-existing=true"], &["queues.0.bind-existing", "needs `bindings`"]);
    let keeps = small(&["queues.0.auto-delete=true", "queues.0.keep=true"]);
    assert!(keeps.queues[0].keep && keeps.queues[0].auto_delete);
    refused(&["queues.0.exclusive=true", "queues.0.keep=true"], &["queues.0.keep"]);
}

#[test]
fn exclusive_queues_have_their_readers_on_one_connection() {
    fn spread(count: u32, connections: u32, which: &str) -> Result<Scenario, ScenarioError> {
        let set = SMALL.replace("\"q\"", "\"q-{}\"");
        let overrides = [
            "queues.0.exclusive=true".to_owned(),
            "queues.0.to=4".to_owned(),
            format!("consumers.0.count={count}"),
            format!("consumers.0.connections={connections}"),
            format!("consumers.0.member-queues={which}"),
        ];
        read(&set, &overrides.each_ref().map(String::as_str))
    }
    for (count, connections) in [(1, 1), (4, 4), (3, 3), (8, 4), (9, 2), (9, 1)] {
        assert!(spread(count, connections, "one").is_ok(), "{count} {connections}");
    }
    for (count, connections, which) in [(9, 3, "one"), (8, 8, "share"), (2, 2, "all")] {
        let message = spread(count, connections, which).unwrap_err().to_string();
        assert!(message.contains("is exclusive"), "{message}");
    }
}

#[test]
fn publishers_may_send_to_the_queues_of_an_exchange_or_nothing_at_all() {
    let scenario = small(&["publishers.0.exchange=amq.direct"]);
    let group = &scenario.publishers[0];
    assert_eq!((group.exchange(), group.keys()), ("amq.direct", RoutingKeys::QueueNames));
    assert_eq!(small(&["publishers.0.rate=0"]).publishers[0].schedule().rate, Some(0.0));
    let confirms = small(&["publishers.0.confirms=true", "publishers.0.confirm-window=7"]);
    assert_eq!(confirms.publishers[0].confirm_window, Some(7));
    refused(&["publishers.0.confirm-window=7", "publishers.0.confirms=false"], &["confirms"]);
}

#[test]
fn a_delivery_mode_is_said_once() {
    let mode = "publishers.0.properties.delivery-mode";
    let group = |text: &str| small(&[&format!("{mode}={text}")]).publishers.remove(0);
    assert_eq!((group("2").is_persistent(), group("1").is_persistent()), (true, false));
    refused(&[&format!("{mode}=3")], &["delivery-mode", "must be 1"]);
    refused(&[&format!("{mode}=1"), "publishers.0.persistent=true"], &["leave one of the two out"]);
}

#[test]
fn arguments_may_be_times() {
    let argument = |text: &str| format!("consumers.0.arguments={{ x-time = {text} }}");
    let scenario = small(&[&argument("1970-01-01T01:00:10+01:00")]);
    let expected = FieldValue::Time(Time { seconds: 10 });
    assert_eq!(scenario.consumers[0].arguments["x-time"], expected);
    assert!(scenario.to_toml().contains("x-time = 1970-01-01T00:00:10Z"), "{}", scenario.to_toml());
    let local = read(SMALL, &[&argument("1970-01-01T01:00:10")]);
    assert!(local.is_err(), "{local:?}");
}

/// A placeholder is replaced or refused at every position.
#[test]
fn no_placeholder_is_left_as_it_is() {
    let set = [
        "queues.0.name=s-{}",
        "queues.0.to=2",
        "publishers.0.queue=s-{}",
        "consumers.0.queue=s-{}",
    ];
    let with = |more: &[&str]| small(&[&set[..], more].concat());
    let binding = "queues.0.bindings=[{ exchange = \"amq.headers\", arguments = { n = \"{:03}\", deep = [{ k = \"x{}\" }] } }]";
    let scenario = with(&[binding, "queues.0.arguments.x-dead-letter-routing-key=dead-{}"]);
    let queue = &scenario.queues[0];
    let of_bindings = queue.arguments_of_each(&queue.bindings[0].arguments).unwrap();
    assert_eq!(of_bindings[1]["n"], FieldValue::Text("002".to_owned()));
    assert!(of_bindings.iter().flat_map(BTreeMap::values).all(|value| !value.has_placeholder()));
    let own = queue.arguments_of_each(&queue.arguments).unwrap();
    assert_eq!(own[0]["x-dead-letter-routing-key"], FieldValue::Text("dead-1".to_owned()));
    assert_eq!(queue.arguments_of_each(&BTreeMap::new()), None);
    for (place, part) in [
        (binding, "needs a set"),
        ("queues.0.arguments.x-dead-letter-routing-key=dead-{}", "is not replaced"),
        ("queues.0.bindings=[{ exchange = \"e-{}\" }]", "is not replaced"),
        ("exchanges=[{ name = \"e-{}\" }]", "is not replaced"),
        (
            "exchanges=[{ name = \"e\", arguments = { alternate-exchange = \"a-{}\" } }]",
            "is not replaced",
        ),
        (
            "exchanges=[{ name = \"e\", bindings = [{ exchange = \"f\", routing-key = \"{}\" }] }]",
            "is not replaced",
        ),
        (
            "exchanges=[{ name = \"e\", bindings = [{ exchange = \"f\", arguments = { a = \"{}\" } }] }]",
            "is not replaced",
        ),
        ("publishers.0.properties.headers.n={}a", "is not replaced"),
        ("publishers.0.properties.message-id=m-{}", "is not replaced"),
        ("consumers=[{ queue = \"q\", arguments = { a = \"{}\" } }]", "is not replaced"),
        (
            "broker.policies=[{ name = \"p\", pattern = \"q-{}\", definition = '{\"max-length\": 1}' }]",
            "is not replaced",
        ),
        (
            "broker.policies=[{ name = \"p\", pattern = \".\", definition = '{\"dead-letter-routing-key\": \"d-{}\"}' }]",
            "is not replaced",
        ),
    ] {
        refused(&[place], &[part]);
    }
}
