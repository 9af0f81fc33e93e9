//! `[[faults]]`: valid and refused faults.

use super::*;

/// Reads `SMALL` on three nodes with one fault of these keys.
fn with(keys: &str) -> Result<Scenario, ScenarioError> {
    read(&format!("{SMALL}\n[broker]\nnodes = 3\n[[faults]]\n{keys}\n"), &[])
}

#[track_caller]
fn fault(keys: &str) -> FaultSpec {
    with(keys).unwrap_or_else(|error| panic!("{error}")).faults.remove(0)
}

#[track_caller]
fn check(keys: &str, expected: &[&str]) {
    let message = with(keys).unwrap_err().to_string();
    for part in expected {
        assert!(message.contains(part), "`{part}` is not in: {message}");
    }
}

#[test]
fn faults_are_read() {
    let kill =
        fault("kind = \"kill\"\nnode = \"random\"\nat = \"2s\"\nevery = \"3s\"\nfor = \"0s\"");
    let second = Duration::from_secs(1);
    let expected = FaultSpec {
        kind: FaultKind::Kill,
        node: Some(FaultNode::Random),
        queue: None,
        at: 2 * second,
        every: Some(3 * second),
        times: None,
        until: None,
        lasts: Some(Duration::ZERO),
    };
    assert_eq!(kill, expected);
    let alarm = fault("kind = \"memory-alarm\"\nnode = 2\nat = \"0s\"");
    assert_eq!((alarm.node, alarm.lasts, alarm.every), (Some(FaultNode::Number(2)), None, None));
    let leader = fault("kind = \"pause\"\nnode = \"leader\"\nqueue = \"q\"\nat = \"1s\"");
    assert_eq!((leader.node, leader.queue.as_deref()), (Some(FaultNode::Leader), Some("q")));
    let alone = read(SMALL, &["faults=[{ kind = \"stop\", at = \"1s\", for = \"1s\" }]"]).unwrap();
    assert_eq!(alone.faults[0].node, Some(FaultNode::Number(1)));
    let text = toml::to_string(&with("kind = \"stop\"\nnode = 3\nat = \"1s\"").unwrap()).unwrap();
    assert_eq!(read(&text, &[]).unwrap().faults[0].node, Some(FaultNode::Number(3)));
}

#[test]
fn nothing_is_done_to_the_broker_of_somebody_else() {
    let keys = ["broker.uri=amqp://h", "faults=[{ kind = \"kill\", at = \"1s\" }]"];
    refused(&keys, &["faults", "that the run starts itself", "remove the broker's URI"]);
}

#[test]
fn faults_that_cannot_be_are_refused() {
    check("kind = \"kil\"\nnode = 1\nat = \"1s\"", &["faults.0.kind", "did you mean `kill`?"]);
    check("kind = \"kill\"\nnode = 4\nat = \"1s\"", &["faults.0.node", "from 1 to 3"]);
    check("kind = \"kill\"\nat = \"1s\"", &["faults.0.node", "is missing"]);
    check("kind = \"kill\"\nnode = \"rnd\"\nat = \"1s\"", &["faults.0.node", "`random`"]);
    check("kind = \"kill\"\nnode = 1.5\nat = \"1s\"", &["faults.0.node", "must be a number"]);
    check(
        "kind = \"kill\"\nnode = \"leader\"\nat = \"1s\"",
        &["faults.0.queue", "the queue of this leader"],
    );
    let leader = "kind = \"kill\"\nnode = \"leader\"\nqueue = \"p\"\nat = \"1s\"";
    check(leader, &["faults.0.queue", "no queue `p`"]);
    check("kind = \"kill\"\nnode = 1\nqueue = \"q\"\nat = \"1s\"", &["faults.0.queue", "leader"]);
    check("kind = \"kill\"\nnode = 1\nat = \"10s\"", &["faults.0.at", "end of the load"]);
    check("kind = \"pause\"\nnode = 1\nat = \"1s\"\nfor = \"0s\"", &["faults.0.for", "longer"]);
    let every = "kind = \"kill\"\nnode = 1\nat = \"1s\"\nevery = \"2s\"";
    check(every, &["faults.0.for", "is missing"]);
    check(&format!("{every}\nfor = \"2s\""), &["faults.0.for", "shorter than `every`"]);
    check(&format!("{every}\nfor = \"1s\"\nuntil = \"1s\""), &["faults.0.until", "never happen"]);
    check("kind = \"kill\"\nnode = 1\nat = \"1s\"\ntimes = 2", &["faults.0.times", "`every`"]);
    let often = "kind = \"kill\"\nnode = 1\nat = \"1s\"\nevery = \"10us\"\nfor = \"1us\"";
    check(often, &["faults.0.every", "the limit of 10000"]);
    let patched = ["broker.patches=[\"p.erl\"]", "faults=[{ kind = \"stop\", at = \"1s\" }]"];
    refused(&patched, &["faults.0.kind", "without its `patches`"]);
    let alone = ["faults=[{ kind = \"partition\", at = \"1s\" }]"];
    refused(&alone, &["faults.0.kind", "needs a cluster"]);
    let text = SMALL.replace("duration = \"10s\"", "");
    let more = "faults=[{ kind = \"kill\", at = \"1s\", every = \"2s\", for = \"1s\" }]";
    let message = read(&text, &["publishers.0.messages=5", more]).unwrap_err().to_string();
    assert!(message.contains("faults.0.every") && message.contains("never ends"), "{message}");
}
