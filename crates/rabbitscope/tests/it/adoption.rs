//! Queues of a run that an application has adopted, and queues that no removal can empty safely.

use std::{fs, net::TcpListener};

use rabbitscope_broker::Broker;
use rabbitscope_runs::scenario::ThrowawayBroker;

use crate::{
    leftovers::{entries, exchanges, kill_a_run, run_next},
    publishing::PUBLISH,
    workbench::{Ended, Workbench, eventually, lines, own_broker, queues_on},
};

/// Declares the queue as the run did, and binds it to an exchange, as an application would.
fn adopt(broker: &Broker, queue: &str, exchange: &str) {
    let adopted = broker.eval(&format!(
        "Queue = rabbit_misc:r(<<\"/\">>, queue, <<\"{queue}\">>), \
         {{existing, _}} = rabbit_amqqueue:declare(Queue, true, false, [], none, <<\"app\">>), \
         ok = rabbit_binding:add({{binding, rabbit_misc:r(<<\"/\">>, exchange, <<\"{exchange}\">>), \
           <<\"app.key\">>, Queue, []}}, <<\"app\">>)"
    ));
    assert_eq!(adopted.unwrap(), "ok");
}

#[test]
fn an_adopted_queue_is_left_alone() {
    let bench = Workbench::new("adopted");
    let broker = own_broker();
    kill_a_run(&bench, &broker.uri(), "lo");
    adopt(&broker, "lo.empty", "amq.topic");
    for more in ["", "--remove-leftovers"] {
        let _ = fs::remove_dir_all(bench.path("next"));
        let said = run_next(&bench, &broker.uri(), more);
        assert!(said.contains("queue `lo.empty`: an application may have bound"), "{said}");
        assert!(said.contains("--management URL"), "{said}");
    }
    let remove = format!("leftovers --remove --uri {}", broker.uri());
    let left = bench.rabbitscope(&remove).code(1).stdout;
    assert!(left.contains("queue `lo.empty`: an application may have bound"), "{left}");
    assert!(queues_on(&broker).contains("lo.empty"));
    assert_eq!(entries(&bench).len(), 1);
}

#[test]
fn the_management_interface_tells_whose_bindings_there_are() {
    let bench = Workbench::new("management");
    let plugins = vec!["rabbitmq_management".to_owned()];
    let spec = ThrowawayBroker { plugins, ..ThrowawayBroker::default() };
    let broker = Broker::start_with_own_log(&spec).unwrap();
    let (user, password) = broker.login();
    let port = broker.management_port().unwrap();
    let management = format!("--management http://{user}:{password}@127.0.0.1:{port}");
    let remove = format!("leftovers --remove --uri {} {management}", broker.uri());
    kill_a_run(&bench, &broker.uri(), "lo");
    adopt(&broker, "lo.full", "amq.topic");
    let left = bench.rabbitscope(&remove).code(1).stdout;
    assert!(left.contains("queue `lo.full`: it is bound to exchange `amq.topic`"), "{left}");
    let queues = queues_on(&broker);
    assert!(queues.contains("lo.full") && !queues.contains("lo.empty"), "{queues}");
    assert!(!exchanges(&broker).contains("lo.empty.exchange"), "{}", exchanges(&broker));

    // The management interface of a different broker does not know the markers.
    let other = Broker::start_with_own_log(&spec).unwrap();
    let (user, password) = other.login();
    let port = other.management_port().unwrap();
    let elsewhere = format!("--management http://{user}:{password}@127.0.0.1:{port}");
    let asked = remove.replace(&management, &elsewhere);
    let left = bench.rabbitscope(&asked).code(1).stdout;
    assert!(left.contains("of another broker"), "{left}");
    assert!(queues_on(&broker).contains("lo.full"));
    bench.rabbitscope(&remove.replace(&management, "--management localhost")).code(2);
}

/// A scenario for the removal at the end of a run, on a broker that the run did not start.
const TYPES: &str = r#"
name = "types"
run.duration = "1s"
queues = [
    { name = "ty.quorum", type = "quorum" },
    { name = "ty.stream", type = "stream" },
    { name = "ty.classic" },
]
publishers = [
    { queue = "ty.quorum", rate = 50, confirm-window = 10 },
    { queue = "ty.stream", rate = 50, confirm-window = 10 },
    { queue = "ty.classic", rate = 50, confirm-window = 10 },
]
"#;

#[test]
fn quorum_queues_and_streams_stay_unless_a_person_asks() {
    let bench = Workbench::new("end-types");
    let broker = own_broker();
    bench.file("s.toml", TYPES);
    let run = format!("run s.toml --uri {}", broker.uri());
    let said = bench.rabbitscope(&format!("{run} --out first")).code(0).stderr;
    assert!(
        said.contains("queue `ty.quorum`: the broker deletes a queue of type quorum"),
        "{said}"
    );
    assert!(said.contains("--remove-leftovers"), "{said}");
    let queues = queues_on(&broker);
    assert!(queues.contains("ty.quorum") && queues.contains("ty.stream"), "{queues}");
    assert!(!queues.contains("ty.classic"), "its own messages keep no queue: {queues}");
    let remove = format!("leftovers --remove --assume-unbound --uri {}", broker.uri());
    bench.rabbitscope(&remove).code(0);
    bench.rabbitscope(&format!("{run} --out second --remove-leftovers")).code(0);
    assert!(!queues_on(&broker).contains("ty."), "{}", queues_on(&broker));
    assert!(entries(&bench).is_empty());

    let find = format!("find-rate s.toml --slo confirm.p99<1s --uri {}", broker.uri());
    bench.rabbitscope(&find).code(2).says(&["ty.quorum", "--remove-leftovers"]);
}

#[test]
fn a_message_of_an_application_keeps_the_queue_of_a_run() {
    let bench = Workbench::new("end-foreign");
    let broker = own_broker();
    let text = TYPES.replace("ty.quorum", "ty.a").replace("ty.stream", "ty.b");
    let text = text.replace(", type = \"quorum\"", "").replace(", type = \"stream\"", "");
    bench.file("s.toml", &text.replace("1s", "6s"));
    let running = bench.start(&format!("run s.toml --uri {} --out out", broker.uri()));
    eventually("a second is recorded", || lines(&bench.path("out/series.jsonl")) >= 1);
    let published = broker.eval(&format!(
        "Publish = {PUBLISH}, Publish(<<\"/\">>, <<\"ty.a\">>, <<\"of an application\">>), ok"
    ));
    assert_eq!(published.unwrap(), "ok");
    let ended = Ended::from(running.wait_with_output().unwrap()).code(0);
    assert!(
        ended.stderr.contains("queue `ty.a`: it holds messages that may not belong"),
        "{ended:#?}"
    );
    let queues = queues_on(&broker);
    assert!(queues.contains("ty.a") && !queues.contains("ty.b"), "{queues}");
}

/// Each of these steps fails after the broker has been reached.
#[test]
fn nothing_stays_where_a_later_step_fails() {
    let bench = Workbench::new("later-steps");
    let broker = own_broker();
    bench.file("s.toml", TYPES);
    let taken = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = taken.local_addr().unwrap().port();
    let failing = [
        "--set publishers.2.body-files=[\"absent\"]".to_owned(),
        "--set publishers.2.routing-key=\"k\" --set publishers.2.exchange=\"absent\"".to_owned(),
        format!("--prometheus 127.0.0.1:{port}"),
        "--csv absent/s.csv".to_owned(),
        "--set queues.2.arguments.x-max-length=-1".to_owned(),
    ];
    for (number, more) in failing.iter().enumerate() {
        let run = format!("run s.toml --uri {} --out out{number} {more}", broker.uri());
        let ended = bench.rabbitscope(&run);
        assert_ne!(ended.code, Some(0), "{more}: {ended:#?}");
        let kept = ended.stderr.contains("objects of this run stay on the broker");
        let queues = queues_on(&broker);
        assert!(!queues.contains("ty.classic"), "{more}: {queues} {ended:#?}");
        assert!(kept || !queues.contains("ty."), "{more}: {queues} {ended:#?}");
        assert!(kept || !exchanges(&broker).contains("rabbitscope."), "{more}: {ended:#?}");
        let remove = format!("leftovers --remove --assume-unbound --uri {}", broker.uri());
        bench.rabbitscope(&remove).code(0);
    }
}
