//! Objects that killed runs leave on a broker: removed if they are certainly the run's, and left alone otherwise.

use std::{fs, path::PathBuf, process::Command, thread, time::Duration};

use rabbitscope_amqp::{Request, Table, Uri, blocking::Client};
use rabbitscope_broker::Broker;
use rustix::process::Signal;
use serde_json::Value;

use crate::{
    forwarder::Forwarder,
    publishing::PUBLISH,
    workbench::{Ended, Workbench, eventually, lines, own_broker, queues_on, signal},
};

/// `FULL` fills up; `EMPTY` gets nothing.
pub(crate) const KILLED: &str = r#"
name = "killed"
run.duration = "60s"
exchanges = [{ name = "EMPTY.exchange" }]
queues = [
    { name = "FULL" },
    { name = "EMPTY", bindings = [{ exchange = "EMPTY.exchange", routing-key = "k" }] },
]
publishers = [{ queue = "FULL", rate = 100, confirm-window = 10 }]
"#;

/// A run that does not use the queues of `KILLED`.
const NEXT: &str = r#"
name = "next"
run.duration = "1s"
queues = [{ name = "lo.next" }]
publishers = [{ queue = "lo.next", rate = 10 }]
"#;

/// Kills a run under load. Its queues are `PREFIX.full` and `PREFIX.empty`.
pub(crate) fn kill_a_run(bench: &Workbench, uri: &str, prefix: &str) {
    let text = KILLED.replace("FULL", &format!("{prefix}.full"));
    kill(bench, uri, &text.replace("EMPTY", &format!("{prefix}.empty")));
}

fn kill(bench: &Workbench, uri: &str, text: &str) {
    bench.file("killed.toml", text);
    let mut running = bench.start(&format!("run killed.toml --uri {uri} --out killed"));
    eventually("a second is recorded", || lines(&bench.path("killed/series.jsonl")) >= 1);
    signal(&running, Signal::KILL);
    running.wait().unwrap();
}

/// Makes another run against the broker at `uri`; returns its output.
pub(crate) fn run_next(bench: &Workbench, uri: &str, more: &str) -> String {
    bench.file("next.toml", NEXT);
    bench.rabbitscope(&format!("run next.toml --uri {uri} --out next {more}")).code(0).stderr
}

pub(crate) fn entries(bench: &Workbench) -> Vec<PathBuf> {
    let entries = fs::read_dir(bench.path("state/rabbitscope/runs"));
    entries.into_iter().flatten().map(|entry| entry.unwrap().path()).collect()
}

pub(crate) fn exchanges(broker: &Broker) -> String {
    broker.eval("[element(4, Name) || Name <- rabbit_exchange:list_names()]").unwrap()
}

/// Declares a durable queue with this many messages, as an application would.
pub(crate) fn declare_as_an_application(broker: &Broker, queue: &str, messages: u32) {
    let declared = broker.eval(&format!(
        "{{new, _}} = rabbit_amqqueue:declare(rabbit_misc:r(<<\"/\">>, queue, <<\"{queue}\">>), true, \
           false, [], none, <<\"app\">>), \
         Publish = {PUBLISH}, [Publish(<<\"/\">>, <<\"{queue}\">>, <<\"m\">>) || _ <- lists:seq(1, {messages})], ok"
    ));
    assert_eq!(declared.unwrap(), "ok");
}

fn delete_by_hand(broker: &Broker, queue: &str) {
    let deleted = broker.eval(&format!(
        "{{ok, Q}} = rabbit_amqqueue:lookup(rabbit_misc:r(<<\"/\">>, queue, <<\"{queue}\">>)), \
         {{ok, _}} = rabbit_amqqueue:delete(Q, false, false, <<\"somebody\">>), ok"
    ));
    assert_eq!(deleted.unwrap(), "ok");
}

/// Returns the number of ready messages in a queue.
pub(crate) fn depth(broker: &Broker, queue: &str) -> String {
    broker
        .eval(&format!(
            "{{ok, Q}} = rabbit_amqqueue:lookup(rabbit_misc:r(<<\"/\">>, queue, <<\"{queue}\">>)), \
             proplists:get_value(messages_ready, rabbit_amqqueue:info(Q, [messages_ready]))"
        ))
        .unwrap()
}

/// Makes a foreign client that consumes from `queue` until it is dropped.
fn consume(broker: &Broker, queue: &str) -> Client {
    let uri = Uri::parse(&broker.uri()).unwrap();
    let mut client = Client::connect(&uri, "an application", Duration::from_secs(10)).unwrap();
    let channel = client.open_channel().unwrap();
    let consume = Request::Consume {
        queue,
        consumer_tag: "application",
        no_local: false,
        auto_ack: false,
        exclusive: false,
        arguments: &Table::default(),
    };
    client.call(channel, &consume).unwrap();
    client
}

#[test]
fn what_could_be_used_by_others_goes_on_request() {
    let bench = Workbench::new("leftovers");
    let broker = own_broker();
    kill_a_run(&bench, &broker.uri(), "lo");
    assert_eq!(entries(&bench).len(), 1);
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
    let removed = bench.rabbitscope(&format!("{remove} --assume-unbound")).code(0).stdout;
    let removed: Value = serde_json::from_str(&removed).unwrap();
    assert_eq!(removed[0]["removed"][0], "queue `lo.full`", "{removed}");
    assert!(!queues_on(&broker).contains("lo."), "{}", queues_on(&broker));
    assert!(!exchanges(&broker).contains("rabbitscope."), "{}", exchanges(&broker));
    assert!(entries(&bench).is_empty());
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
    assert!(entries(&bench).is_empty());
}

#[test]
fn another_broker_at_the_same_address_is_left_alone() {
    let bench = Workbench::new("same-address");
    let (first, second) = (own_broker(), own_broker());
    let forwarder = Forwarder::to(&first);
    kill_a_run(&bench, &forwarder.uri(&first), "lo");
    forwarder.turn_to(&second);
    declare_as_an_application(&second, "lo.full", 1000);
    declare_as_an_application(&second, "lo.empty", 0);

    let said = run_next(&bench, &forwarder.uri(&second), "");
    assert!(said.contains("its marker is not on this broker"), "{said}");
    let remove = format!("leftovers --remove --assume-unbound --uri {}", forwarder.uri(&second));
    let ended = bench.rabbitscope(&remove).code(1);
    assert!(ended.stdout.contains("its marker is not on this broker"), "{ended:#?}");
    assert_eq!(
        (depth(&second, "lo.full"), depth(&second, "lo.empty")),
        ("1000".into(), "0".into())
    );

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
    let text = KILLED.replace("FULL", "lo.live").replace("EMPTY", "lo.idle");
    bench.file("live.toml", &text.replace("60s", "15s"));
    let uri = broker.uri();
    let live = bench.start(&format!("run live.toml --uri {uri} --out live"));
    eventually("a second is recorded", || lines(&bench.path("live/series.jsonl")) >= 1);

    let program = env!("CARGO_BIN_EXE_rabbitscope");
    let inside = "unshare --pid --fork --mount-proc --kill-child";
    bench.file("next.toml", NEXT);
    let next = format!("{inside} {program} run next.toml --uri {uri} --out next");
    let said = Ended::from(bench.command_line(&next).output().unwrap()).code(0).stderr;
    assert!(said.contains("in another pid namespace"), "{said}");
    let asked = format!("{inside} {program} leftovers --remove --uri {uri}");
    let asked = Ended::from(bench.command_line(&asked).output().unwrap()).code(1);
    assert!(asked.stdout.contains("connection to the broker is still there"), "{asked:#?}");
    assert!(queues_on(&broker).contains("lo.live") && queues_on(&broker).contains("lo.idle"));

    Ended::from(live.wait_with_output().unwrap()).code(0);
    assert!(!queues_on(&broker).contains("lo."), "{}", queues_on(&broker));
    assert_eq!(bench.json("live/run.json")["verdict"]["kind"], "completed");
}

#[test]
fn a_queue_that_somebody_else_uses_now_is_left_alone() {
    let bench = Workbench::new("used");
    let broker = own_broker();
    kill_a_run(&bench, &broker.uri(), "lo");
    let consumer = consume(&broker, "lo.empty");
    let remove = format!("leftovers --remove --assume-unbound --uri {}", broker.uri());
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
    delete_by_hand(&broker, "lo.empty");
    declare_as_an_application(&broker, "lo.empty", 0);
    delete_by_hand(&broker, "lo.full");
    declare_as_an_application(&broker, "lo.full", 7);
    for remove in ["run", "leftovers"] {
        let said = match remove {
            "run" => run_next(&bench, &broker.uri(), "--remove-leftovers --assume-unbound"),
            _ => {
                bench
                    .rabbitscope(&format!(
                        "leftovers --remove --assume-unbound --uri {}",
                        broker.uri()
                    ))
                    .stdout
            }
        };
        if remove == "run" {
            assert!(said.contains("queue `lo.empty`: it is not the object"), "{said}");
        }
        assert_eq!(
            (depth(&broker, "lo.full"), depth(&broker, "lo.empty")),
            ("7".into(), "0".into())
        );
    }
    // Nothing of the run is left: its entry and its markers are gone.
    assert!(entries(&bench).is_empty());
    assert!(!exchanges(&broker).contains("rabbitscope."), "{}", exchanges(&broker));
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
    let entry: Value = serde_json::from_slice(&fs::read(&entries(&bench)[0]).unwrap()).unwrap();
    let pid = entry["origin"]["process"]["pid"].as_u64().unwrap();
    let mut other = (0..1000)
        .find_map(|_| {
            fs::write(last_pid, (pid - 1).to_string()).unwrap();
            let mut child = Command::new("sleep").arg("60").spawn().unwrap();
            if u64::from(child.id()) == pid {
                return Some(child);
            }
            child.kill().unwrap();
            child.wait().unwrap();
            None
        })
        .expect("the pid is given to one of a thousand processes");
    let listed = bench.rabbitscope("leftovers").code(0).stdout;
    other.kill().unwrap();
    other.wait().unwrap();
    assert!(listed.contains("has ended"), "{listed}");
    bench
        .rabbitscope(&format!("leftovers --remove --assume-unbound --uri {}", broker.uri()))
        .code(0);
    assert!(!queues_on(&broker).contains("lo."), "{}", queues_on(&broker));
}

#[test]
fn queues_of_every_type_are_removed() {
    let bench = Workbench::new("types");
    let broker = own_broker();
    let text = r#"
name = "types"
run.duration = "60s"
queues = [
    { name = "lo.quorum", type = "quorum" },
    { name = "lo.stream", type = "stream" },
    { name = "lo.other", type = "quorum" },
    { name = "lo.transient", durable = false },
]
publishers = [{ queue = "lo.quorum", rate = 100 }, { queue = "lo.stream", rate = 100 }]
"#;
    kill(&bench, &broker.uri(), text);
    // As on a virtual host with its own default type: the queue's type is not the requested one.
    let path = &entries(&bench)[0];
    let mut entry: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    let queue = &mut entry["topology"]["queues"][2];
    assert_eq!((&queue["name"], &queue["queue-type"]), (&"lo.other".into(), &"quorum".into()));
    queue["queue-type"] = "classic".into();
    fs::write(path, serde_json::to_vec(&entry).unwrap()).unwrap();
    let ended = bench
        .rabbitscope(&format!("leftovers --remove --assume-unbound --uri {}", broker.uri()))
        .code(0);
    assert!(!queues_on(&broker).contains("lo."), "{ended:#?}");
    assert!(entries(&bench).is_empty() && !exchanges(&broker).contains("rabbitscope."));
}

#[test]
fn bindings_of_a_queue_of_somebody_else_go_with_the_run() {
    let bench = Workbench::new("bindings");
    let broker = own_broker();
    declare_as_an_application(&broker, "app", 0);
    let text = r#"
name = "bindings"
run.duration = "60s"
queues = [{ name = "app", predeclared = true }]
churn = [{ kind = "bindings", queue = "app", exchange = "amq.topic", concurrency = 4, hold = "30s" }]
"#;
    kill(&bench, &broker.uri(), text);
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
    let added = broker.eval(
        "rabbit_auth_backend_internal:add_user(<<\"narrow\">>, <<\"narrow-pass\">>, <<\"test\">>), \
         rabbit_auth_backend_internal:set_permissions(<<\"narrow\">>, <<\"/\">>, <<\"^lo\">>, \
           <<\".*\">>, <<\".*\">>, <<\"test\">>)",
    );
    assert_eq!(added.unwrap(), "ok");
    let uri = format!("amqp://narrow:narrow-pass@{}/%2f", broker.address());
    let said = run_next(&bench, &uri, "");
    assert!(said.contains("if this run is killed"), "{said}");
    assert!(!queues_on(&broker).contains("lo."), "{}", queues_on(&broker));
    assert!(entries(&bench).is_empty());

    kill_a_run(&bench, &uri, "lo");
    let ended = bench.rabbitscope(&format!("leftovers --remove --uri {uri}")).code(1);
    assert!(ended.stdout.contains("its marker is not on this broker"), "{ended:#?}");
    assert!(queues_on(&broker).contains("lo.empty"));
    let id = entries(&bench)[0].file_stem().unwrap().to_string_lossy()[..8].to_owned();
    bench.rabbitscope(&format!("leftovers --forget {id}")).code(0);
    assert!(entries(&bench).is_empty());
}

/// Another client takes our queue's name during the run.
#[test]
fn at_its_end_a_run_leaves_what_others_use_or_declared_anew() {
    let bench = Workbench::new("end");
    let broker = own_broker();
    let text = KILLED.replace("FULL", "lo.full").replace("EMPTY", "lo.empty");
    bench.file("s.toml", &text.replace("60s", "8s").replace("exchanges", "#"));
    let text = fs::read_to_string(bench.path("s.toml")).unwrap();
    bench.file(
        "s.toml",
        &text.replace(
            ", bindings = [{ exchange = \"lo.empty.exchange\", routing-key = \"k\" }]",
            "",
        ),
    );
    let running = bench.start(&format!("run s.toml --uri {} --out out", broker.uri()));
    eventually("a second is recorded", || lines(&bench.path("out/series.jsonl")) >= 1);
    delete_by_hand(&broker, "lo.empty");
    declare_as_an_application(&broker, "lo.empty", 5);
    let consumer = consume(&broker, "lo.full");
    let ended = Ended::from(running.wait_with_output().unwrap()).code(0);
    assert!(ended.stderr.contains("queue `lo.full`: others use it"), "{ended:#?}");
    assert!(ended.stderr.contains("queue `lo.empty`: it is not the object"), "{ended:#?}");
    assert_eq!(depth(&broker, "lo.empty"), "5");
    consumer.close().unwrap();
    thread::sleep(Duration::from_millis(500));
    bench
        .rabbitscope(&format!("leftovers --remove --assume-unbound --uri {}", broker.uri()))
        .code(0);
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
