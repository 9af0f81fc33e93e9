//! Objects that killed runs leave on a broker: removed if they are certainly the run's, and left alone otherwise.

use std::{fs, process::Command, thread, time::Duration};

use rabbitscope_amqp::{Table, blocking::Client};
use rabbitscope_broker::Broker;
use rabbitscope_testing::{
    Ends, Forwarder, PUBLISH, Stops, Workbench, add_user, connect, consume, declare_queue,
    delete_queue, depth, eventually, exchanges_on, own_broker, permit, plant, queues_on,
    scenario::{Churn, Exchange, Publishers, Queue, Scenario},
};
use serde_json::Value;

/// A run of a minute. The queue `full` fills up; `empty` gets nothing.
pub(crate) fn long_run(full: &str, empty: &str) -> Scenario {
    let exchange = format!("{empty}.exchange");
    Scenario::with_queue(full)
        .exchanges(Exchange::new(&exchange))
        .queues(Queue::new(empty).bound(&exchange, "k"))
        .publishers(Publishers::new(full).rate(100).confirm_window(10))
        .duration("60s")
}

/// A run that does not use the queues of other runs.
fn next() -> Scenario {
    let publishers = Publishers::new("lo.next").rate(10);
    Scenario::with_queue("lo.next").publishers(publishers).duration("1s")
}

/// Kills a run under load. Its queues are `PREFIX.full` and `PREFIX.empty`.
pub(crate) fn kill_a_run(bench: &Workbench, uri: &str, prefix: &str) {
    kill(bench, uri, &long_run(&format!("{prefix}.full"), &format!("{prefix}.empty")));
}

fn kill(bench: &Workbench, uri: &str, scenario: &Scenario) {
    bench.file("killed.toml", scenario);
    let running = bench.start(&format!("run killed.toml --uri {uri} --out killed"));
    bench.await_seconds("killed", 1);
    running.killed();
}

/// Returns the command that removes what is certainly the runs'.
pub(crate) fn remove_from(uri: &str) -> String {
    format!("leftovers --remove --assume-unbound --uri {uri}")
}

/// Reads the journal's only entry.
pub(crate) fn journal_entry(bench: &Workbench) -> Value {
    serde_json::from_slice(&fs::read(&bench.journal_entries()[0]).unwrap()).unwrap()
}

/// Changes the journal's only entry.
pub(crate) fn change_entry(bench: &Workbench, change: impl Fn(&mut Value)) {
    let mut entry = journal_entry(bench);
    change(&mut entry);
    fs::write(&bench.journal_entries()[0], serde_json::to_vec(&entry).unwrap()).unwrap();
}

/// Makes another run against the broker at `uri`; returns its output.
pub(crate) fn run_next(bench: &Workbench, uri: &str, more: &str) -> String {
    bench.file("next.toml", next());
    bench.rabbitscope(&format!("run next.toml --uri {uri} --out next {more}")).code(0).stderr
}

/// Declares a durable queue with this many messages, as an application would.
pub(crate) fn declare_as_an_application(broker: &Broker, queue: &str, messages: u32) {
    declare_queue(broker, queue);
    plant(
        broker,
        &format!(
            "Publish = {PUBLISH}, [Publish(<<\"/\">>, <<\"{queue}\">>, <<\"m\">>) || _ <- lists:seq(1, {messages})], ok"
        ),
    );
}

/// Makes a foreign client that consumes from `queue` until it is dropped.
fn consumer_of(broker: &Broker, queue: &str) -> Client {
    let (mut client, channel) = connect(&broker.uri());
    client.call(channel, &consume(queue, &Table::default())).unwrap();
    client
}

#[test]
fn what_could_be_used_by_others_goes_on_request() {
    let bench = Workbench::new("leftovers");
    let broker = own_broker();
    kill_a_run(&bench, &broker.uri(), "lo");
    assert_eq!(bench.journal_entries().len(), 1);
    let listed = bench.rabbitscope("leftovers").code(0).stdout;
    assert!(listed.contains("has ended") && listed.contains("lo.full"), "{listed}");

    let said = run_next(&bench, &broker.uri(), "");
    for kept in ["queue `lo.empty`: an application may", "queue `lo.full`: it holds"] {
        assert!(said.contains(kept), "`{kept}` is not in {said}");
    }
    assert!(said.contains("rabbitscope leftovers --remove --uri"), "{said}");
    let queues = queues_on(&broker);
    assert!(queues.contains("lo.full") && queues.contains("lo.empty"), "{queues}");

    let remove = format!("leftovers --remove --json --uri {}", broker.uri());
    let left = bench.rabbitscope(&remove).code(1).stdout;
    assert!(left.contains("lo.full") && queues_on(&broker).contains("lo.full"), "{left}");
    let removed = bench.rabbitscope(&format!("{remove} --assume-unbound")).code(0).json();
    assert_eq!(removed[0]["removed"][0], "queue `lo.full`", "{removed}");
    assert!(!queues_on(&broker).contains("lo."), "{}", queues_on(&broker));
    assert!(!exchanges_on(&broker).contains("rabbitscope."), "{}", exchanges_on(&broker));
    assert!(bench.journal_entries().is_empty());
    let said = bench.rabbitscope(&remove.replace("--json ", "")).code(0).stdout;
    assert!(said.contains("no ended run left anything"), "{said}");
}

#[test]
fn messages_go_when_the_next_run_is_told_to_remove_leftovers() {
    let bench = Workbench::new("leftovers-told");
    let broker = own_broker();
    kill_a_run(&bench, &broker.uri(), "lo");
    let said = run_next(&bench, &broker.uri(), "--remove-leftovers --assume-unbound");
    assert!(said.contains("queue `lo.full`"), "{said}");
    assert!(!queues_on(&broker).contains("lo."), "{}", queues_on(&broker));
    assert!(bench.journal_entries().is_empty());
}

#[test]
fn another_broker_at_the_same_address_is_left_alone() {
    let bench = Workbench::new("same-address");
    let (first, second) = (own_broker(), own_broker());
    let forwarder = Forwarder::new(first.address());
    kill_a_run(&bench, &forwarder.uri(&first), "lo");
    forwarder.turn_to(&second);
    declare_as_an_application(&second, "lo.full", 1000);
    declare_as_an_application(&second, "lo.empty", 0);

    let said = run_next(&bench, &forwarder.uri(&second), "");
    assert!(said.contains("its marker is not on this broker"), "{said}");
    let remove = remove_from(&forwarder.uri(&second));
    let ended = bench.rabbitscope(&remove).code(1);
    assert!(ended.stdout.contains("its marker is not on this broker"), "{ended:#?}");
    let depths = (depth(&second, "lo.full"), depth(&second, "lo.empty"));
    assert_eq!(depths, ("1000".into(), "0".into()));

    // Nothing is lost: the objects can still be removed on the run's own broker.
    forwarder.turn_to(&first);
    bench.rabbitscope(&remove.replace(&forwarder.uri(&second), &forwarder.uri(&first))).code(0);
    assert!(!queues_on(&first).contains("lo."), "{}", queues_on(&first));
}

/// The situation of a container that shares the home of its host.
#[test]
fn a_live_run_in_another_pid_namespace_is_left_alone() {
    let bench = Workbench::new("namespace");
    let broker = own_broker();
    bench.file("live.toml", long_run("lo.live", "lo.idle").duration("15s"));
    let uri = broker.uri();
    let live = bench.start(&format!("run live.toml --uri {uri} --out live"));
    bench.await_seconds("live", 1);

    let inside = "unshare --pid --fork --mount-proc --kill-child";
    bench.file("next.toml", next());
    let next = format!("run next.toml --uri {uri} --out next");
    let said = bench.command_through(inside, &next).ended().code(0).stderr;
    assert!(said.contains("in another pid namespace"), "{said}");
    let remove = format!("leftovers --remove --uri {uri}");
    let asked = bench.command_through(inside, &remove).ended().code(1);
    assert!(asked.stdout.contains("connection to the broker is still there"), "{asked:#?}");
    assert!(queues_on(&broker).contains("lo.live") && queues_on(&broker).contains("lo.idle"));

    live.ended().code(0);
    assert!(!queues_on(&broker).contains("lo."), "{}", queues_on(&broker));
    assert_eq!(bench.json("live/run.json")["verdict"]["kind"], "completed");
}

#[test]
fn a_queue_that_somebody_else_uses_now_is_left_alone() {
    let bench = Workbench::new("used");
    let broker = own_broker();
    kill_a_run(&bench, &broker.uri(), "lo");
    let consumer = consumer_of(&broker, "lo.empty");
    let remove = remove_from(&broker.uri());
    let ended = bench.rabbitscope(&remove).code(1);
    assert!(ended.stdout.contains("queue `lo.empty`: others use it"), "{ended:#?}");
    assert!(queues_on(&broker).contains("lo.empty"));
    consumer.close().unwrap();
    eventually("it is removed once nobody uses it", || bench.rabbitscope(&remove).code == Some(0));
    assert!(!queues_on(&broker).contains("lo."), "{}", queues_on(&broker));
}

#[test]
fn a_queue_that_was_declared_anew_is_left_alone() {
    let bench = Workbench::new("anew");
    let broker = own_broker();
    kill_a_run(&bench, &broker.uri(), "lo");
    delete_queue(&broker, "lo.empty");
    declare_as_an_application(&broker, "lo.empty", 0);
    delete_queue(&broker, "lo.full");
    declare_as_an_application(&broker, "lo.full", 7);
    for remove in ["run", "leftovers"] {
        if remove == "run" {
            let said = run_next(&bench, &broker.uri(), "--remove-leftovers --assume-unbound");
            assert!(said.contains("queue `lo.empty`: it is not the object"), "{said}");
        } else {
            bench.rabbitscope(&remove_from(&broker.uri()));
        }
        let depths = (depth(&broker, "lo.full"), depth(&broker, "lo.empty"));
        assert_eq!(depths, ("7".into(), "0".into()));
    }
    // Nothing of the run is left: its entry and its markers are gone.
    assert!(bench.journal_entries().is_empty());
    assert!(!exchanges_on(&broker).contains("rabbitscope."), "{}", exchanges_on(&broker));
}

/// Gives the pid of a killed run to another process, as the kernel does after 32,768 others.
#[test]
fn a_pid_that_was_given_anew_is_no_run_that_goes_on() {
    let last_pid = "/proc/sys/kernel/ns_last_pid";
    if fs::OpenOptions::new().write(true).open(last_pid).is_err() {
        eprintln!("not run: {last_pid} cannot be written here");
        return;
    }
    let bench = Workbench::new("pid");
    let broker = own_broker();
    kill_a_run(&bench, &broker.uri(), "lo");
    let entry = journal_entry(&bench);
    let pid = entry["origin"]["process"]["pid"].as_u64().unwrap();
    let other = (0..1000)
        .find_map(|_| {
            fs::write(last_pid, (pid - 1).to_string()).unwrap();
            let child = Command::new("sleep").arg("60").spawn().unwrap();
            if u64::from(child.id()) == pid {
                return Some(child);
            }
            child.killed();
            None
        })
        .expect("the pid is given to one of a thousand processes");
    let listed = bench.rabbitscope("leftovers").code(0).stdout;
    other.killed();
    assert!(listed.contains("has ended"), "{listed}");
    bench.rabbitscope(&remove_from(&broker.uri())).code(0);
    assert!(!queues_on(&broker).contains("lo."), "{}", queues_on(&broker));
}

#[test]
fn queues_of_every_type_are_removed() {
    let bench = Workbench::new("types");
    let broker = own_broker();
    let text = Scenario::new("types")
        .queues(Queue::new("lo.quorum").of_type("quorum"))
        .queues(Queue::new("lo.stream").of_type("stream"))
        .queues(Queue::new("lo.other").of_type("quorum"))
        .queues(Queue::new("lo.transient").durable(false))
        .publishers(Publishers::new("lo.quorum").rate(100))
        .publishers(Publishers::new("lo.stream").rate(100))
        .duration("60s");
    kill(&bench, &broker.uri(), &text);
    // As on a virtual host with its own default type: the queue's type is not the requested one.
    change_entry(&bench, |entry| {
        let queue = &mut entry["topology"]["queues"][2];
        assert_eq!((&queue["name"], &queue["queue-type"]), (&"lo.other".into(), &"quorum".into()));
        queue["queue-type"] = "classic".into();
    });
    let ended = bench.rabbitscope(&remove_from(&broker.uri())).code(0);
    assert!(!queues_on(&broker).contains("lo."), "{ended:#?}");
    assert!(bench.journal_entries().is_empty() && !exchanges_on(&broker).contains("rabbitscope."));
}

#[test]
fn bindings_of_a_queue_of_somebody_else_go_with_the_run() {
    let bench = Workbench::new("bindings");
    let broker = own_broker();
    declare_as_an_application(&broker, "app", 0);
    let text = Scenario::new("bindings")
        .queues(Queue::new("app").predeclared(true))
        .churn(Churn::new("bindings").queue("app").exchange("amq.topic").concurrency(4).hold("30s"))
        .duration("60s");
    kill(&bench, &broker.uri(), &text);
    let keys = "length([1 || {binding, {resource, _, _, <<\"amq.topic\">>}, _, _, _} \
                <- rabbit_binding:list(<<\"/\">>)])";
    assert_eq!(broker.eval(keys).unwrap(), "4");
    run_next(&bench, &broker.uri(), "");
    assert_eq!(broker.eval(keys).unwrap(), "0");
    assert!(queues_on(&broker).contains("app"));
}

/// A user of the broker with permissions for `lo.…` only.
#[test]
fn without_the_right_to_declare_markers_that_is_said_and_nothing_is_guessed() {
    let bench = Workbench::new("unmarked");
    let broker = own_broker();
    add_user(&broker, "narrow", "narrow-pass");
    permit(&broker, "narrow", ["^lo", ".*", ".*"]);
    let uri = format!("amqp://narrow:narrow-pass@{}/%2f", broker.address());
    let said = run_next(&bench, &uri, "");
    assert!(said.contains("if this run is killed"), "{said}");
    assert!(!queues_on(&broker).contains("lo."), "{}", queues_on(&broker));
    assert!(bench.journal_entries().is_empty());

    kill_a_run(&bench, &uri, "lo");
    let ended = bench.rabbitscope(&format!("leftovers --remove --uri {uri}")).code(1);
    assert!(ended.stdout.contains("its marker is not on this broker"), "{ended:#?}");
    assert!(queues_on(&broker).contains("lo.empty"));
    let id = bench.journal_entries()[0].file_stem().unwrap().to_string_lossy()[..8].to_owned();
    bench.rabbitscope(&format!("leftovers --forget {id}")).code(0);
    assert!(bench.journal_entries().is_empty());
}

/// Another client takes our queue's name during the run.
#[test]
fn at_its_end_a_run_leaves_what_others_use_or_declared_anew() {
    let bench = Workbench::new("end");
    let broker = own_broker();
    let scenario = Scenario::with_queue("lo.full")
        .queues(Queue::new("lo.empty"))
        .publishers(Publishers::new("lo.full").rate(100).confirm_window(10))
        .duration("8s");
    let running = bench.start_run(&broker, scenario, 1);
    delete_queue(&broker, "lo.empty");
    declare_as_an_application(&broker, "lo.empty", 5);
    let consumer = consumer_of(&broker, "lo.full");
    let ended = running.ended().code(0);
    assert!(ended.stderr.contains("queue `lo.full`: others use it"), "{ended:#?}");
    assert!(ended.stderr.contains("queue `lo.empty`: it is not the object"), "{ended:#?}");
    assert_eq!(depth(&broker, "lo.empty"), "5");
    consumer.close().unwrap();
    thread::sleep(Duration::from_millis(500));
    bench.rabbitscope(&remove_from(&broker.uri())).code(0);
    assert!(!queues_on(&broker).contains("lo.full") && queues_on(&broker).contains("lo.empty"));
}

#[test]
fn what_may_be_typed() {
    let bench = Workbench::new("leftovers-usage");
    let none = bench.rabbitscope("leftovers").code(0);
    assert!(none.stdout.contains("no run of this user"), "{none:#?}");
    assert_eq!(bench.rabbitscope("leftovers --json").code(0).stdout.trim(), "[]");
    bench.rabbitscope("leftovers --remove").code(2).says(&["--uri"]);
    bench.rabbitscope("leftovers --forget abc").code(2).says(&["abc"]);
    bench.rabbitscope("leftovers --remove --uri amqp://127.0.0.1:1").code(0);
}
