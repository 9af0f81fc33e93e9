//! Queues of a run that an application has adopted, and queues that no removal can empty safely.

use std::{fs, net::TcpListener};

use rabbitscope_broker::Broker;
use rabbitscope_testing::{
    Ends, PUBLISH, Workbench, broker_with, exchanges_on, own_broker, plant, queues_on,
    scenario::{Publishers, Queue, Scenario},
};

use super::removal::{kill_a_run, remove_from, run_next};

/// Declares the queue as the run did, and binds it to an exchange, as an application would.
fn adopt(broker: &Broker, queue: &str, exchange: &str) {
    let planted = format!(
        "Queue = rabbit_misc:r(<<\"/\">>, queue, <<\"{queue}\">>), \
         {{existing, _}} = rabbit_amqqueue:declare(Queue, true, false, [], none, <<\"app\">>), \
         ok = rabbit_binding:add({{binding, rabbit_misc:r(<<\"/\">>, exchange, <<\"{exchange}\">>), \
         <<\"app.key\">>, Queue, []}}, <<\"app\">>)"
    );
    plant(broker, &planted);
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
    assert_eq!(bench.journal_entries().len(), 1);
}

#[test]
fn the_management_interface_tells_whose_bindings_there_are() {
    let bench = Workbench::new("management");
    let start = || broker_with(|spec| spec.plugins = vec!["rabbitmq_management".to_owned()]);
    let broker = start();
    let management_of = |broker: &Broker| {
        let (user, password) = broker.login();
        let port = broker.management_port().unwrap();
        format!("--management http://{user}:{password}@127.0.0.1:{port}")
    };
    let management = management_of(&broker);
    let remove = format!("leftovers --remove --uri {} {management}", broker.uri());
    kill_a_run(&bench, &broker.uri(), "lo");
    adopt(&broker, "lo.full", "amq.topic");
    let left = bench.rabbitscope(&remove).code(1).stdout;
    assert!(left.contains("queue `lo.full`: it is bound to exchange `amq.topic`"), "{left}");
    let queues = queues_on(&broker);
    assert!(queues.contains("lo.full") && !queues.contains("lo.empty"), "{queues}");
    assert!(!exchanges_on(&broker).contains("lo.empty.exchange"), "{}", exchanges_on(&broker));

    // The management interface of a different broker does not know the markers.
    let other = start();
    let asked = remove.replace(&management, &management_of(&other));
    let left = bench.rabbitscope(&asked).code(1).stdout;
    assert!(left.contains("of another broker"), "{left}");
    assert!(queues_on(&broker).contains("lo.full"));
    bench.rabbitscope(&remove.replace(&management, "--management localhost")).code(2);
}

/// A scenario for the removal at the end of a run, on a broker that the run did not start.
fn load(queues: [Queue; 3], duration: &str) -> Scenario {
    let scenario = Scenario::new("types").duration(duration);
    queues.into_iter().fold(scenario, |scenario, queue| {
        let publishers = Publishers::new(queue.name()).rate(50).confirm_window(10);
        scenario.queues(queue).publishers(publishers)
    })
}

/// A queue of each type.
fn of_types() -> Scenario {
    let [quorum, stream] =
        ["quorum", "stream"].map(|name| Queue::new(&format!("ty.{name}")).of_type(name));
    load([quorum, stream, Queue::new("ty.classic")], "1s")
}

#[test]
fn quorum_queues_and_streams_stay_unless_a_person_asks() {
    let bench = Workbench::new("end-types");
    let broker = own_broker();
    bench.file("s.toml", of_types());
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
    let remove = remove_from(&broker.uri());
    bench.rabbitscope(&remove).code(0);
    bench.rabbitscope(&format!("{run} --out second --remove-leftovers")).code(0);
    assert!(!queues_on(&broker).contains("ty."), "{}", queues_on(&broker));
    assert!(bench.journal_entries().is_empty());

    let find = format!("find-rate s.toml --slo confirm.p99<1s --uri {}", broker.uri());
    bench.rabbitscope(&find).code(2).says(&["ty.quorum", "--remove-leftovers"]);
}

#[test]
fn a_message_of_an_application_keeps_the_queue_of_a_run() {
    let bench = Workbench::new("end-foreign");
    let broker = own_broker();
    let queues = ["ty.a", "ty.b", "ty.classic"].map(Queue::new);
    let running = bench.start_run(&broker, load(queues, "6s"), 1);
    plant(
        &broker,
        &format!(
            "Publish = {PUBLISH}, Publish(<<\"/\">>, <<\"ty.a\">>, <<\"of an application\">>), ok"
        ),
    );
    let ended = running.ended().code(0);
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
    bench.file("s.toml", of_types());
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
        assert!(kept || !exchanges_on(&broker).contains("rabbitscope."), "{more}: {ended:#?}");
        let remove = remove_from(&broker.uri());
        bench.rabbitscope(&remove).code(0);
    }
}
