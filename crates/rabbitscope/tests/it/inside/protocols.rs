//! Processes of every protocol of the broker have a role, and the connection that they serve, on every tested
//! release. AMQP 1.0 and MQTT belong to a plugin on one release and to the broker itself on the next.

use std::{
    io::Write,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use rabbitscope_broker::Broker;
use rabbitscope_testing::{Workbench, evaluate, eventually, may_profile, node_options, not_run};
use serde_json::Value;

use super::passwords::Logins;

/// Publishes over AMQP 1.0 through the client that comes with the broker, until the node ends.
fn publish_amqp_1_0(logins: &Logins) {
    let (user, password) = logins.broker.login();
    let port = logins.broker.address().port();
    let client = format!(
        "{{ok, _}} = application:ensure_all_started(amqp10_client), \
         {{new, _}} = rabbit_amqqueue:declare(rabbit_misc:r(<<\"/\">>, queue, <<\"ten\">>), true, false, \
          [{{<<\"x-max-length\">>, long, 100}}], none, <<\"test\">>), \
         spawn(fun() -> \
          {{ok, C}} = amqp10_client:open_connection(#{{address => \"127.0.0.1\", port => {port}, \
           hostname => <<\"vhost:/\">>, container_id => <<\"c\">>, \
           sasl => {{plain, <<\"{user}\">>, <<\"{password}\">>}}}}), \
          {{ok, S}} = amqp10_client:begin_session_sync(C), \
          Address = case erlang:module_loaded(rabbit_amqp_session) of \
           true -> <<\"/queues/ten\">>; false -> <<\"/amq/queue/ten\">> end, \
          {{ok, L}} = amqp10_client:attach_sender_link_sync(S, <<\"l\">>, Address, settled), \
          receive {{amqp10_event, {{link, L, credited}}}} -> ok after 10000 -> exit(no_credit) end, \
          register(publishes_amqp_1_0, self()), \
          Send = fun Again() -> \
           amqp10_client:send_msg(L, amqp10_msg:new(<<\"t\">>, <<\"body\">>, true)), timer:sleep(1), Again() end, \
          Send() end), ok"
    );
    assert_eq!(evaluate(&logins.broker, &client), "ok");
    eventually("AMQP 1.0 is published", || {
        evaluate(&logins.broker, "whereis(publishes_amqp_1_0) =/= undefined") == "true"
    });
}

/// Returns the rows of all processes.
fn processes(bench: &Workbench, broker: &Broker) -> Vec<Value> {
    let asked = format!(
        "top processes --once --sort memory --interval 100ms --limit 1000 --json {}",
        node_options(broker)
    );
    let top = bench.rabbitscope(&asked).code(0).json();
    assert!(top["candidates"].as_u64().unwrap() < 1000, "all are in the rows");
    top["rows"].as_array().unwrap().clone()
}

fn names<'a>(rows: &'a [Value], role: &str) -> Vec<&'a str> {
    rows.iter().filter(|row| row["role"] == role).filter_map(|row| row["name"].as_str()).collect()
}

#[test]
fn processes_of_every_protocol_have_role_and_connection() {
    let bench = Workbench::new("protocols");
    let logins = Logins::start();
    let [_amqp, mut mqtt, _stomp, _stream] = logins.connections();
    publish_amqp_1_0(&logins);
    let rows = processes(&bench, &logins.broker);
    let amqp = format!(" -> 127.0.0.1:{}", logins.broker.address().port());
    let [mqtt_port, stomp_port, stream_port] = logins.ports();
    for (role, count, at) in [
        // Readers of AMQP 0-9-1 and of 1.0.
        ("reader", 2, amqp.clone()),
        ("writer", 1, amqp.clone()),
        ("session", 1, amqp),
        ("mqtt_reader", 1, format!(" -> 127.0.0.1:{mqtt_port}")),
        ("stomp_reader", 1, format!(" -> 127.0.0.1:{stomp_port}")),
        ("stream_reader", 1, format!(" -> 127.0.0.1:{stream_port}")),
    ] {
        let names = names(&rows, role);
        let right = names.iter().filter(|name| name.ends_with(&at)).count();
        assert!(right >= count && right == names.len(), "{role} {at}: {names:?}");
    }
    assert!(!names(&rows, "amqp_client").is_empty());
    let has_khepri = evaluate(&logins.broker, "ets:info(rabbit_khepri_queue, size) =/= undefined");
    let metadata = if has_khepri == "true" { "khepri" } else { "mnesia" };
    assert!(!names(&rows, metadata).is_empty(), "{metadata}");
    samples_have_them(&bench, &logins, &mut mqtt);
}

/// Asserts the owners of a profile's samples, while clients publish over MQTT and AMQP 1.0.
fn samples_have_them(bench: &Workbench, logins: &Logins, mqtt: &mut (impl Write + Send)) {
    if !may_profile() {
        not_run("profiles need root");
        return;
    }
    let message = [&[0x30, 103, 0, 1, b't'][..], &[b'x'; 100]].concat();
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                mqtt.write_all(&message).unwrap();
                thread::sleep(Duration::from_micros(200));
            }
        });
        bench
            .rabbitscope(&format!(
                "profile {} --duration 3s -o p.pb.gz",
                node_options(&logins.broker)
            ))
            .code(0);
        stop.store(true, Ordering::Relaxed);
    });
    let profile = bench.profile("p.pb.gz");
    for role in ["mqtt_reader", "session"] {
        let of: Vec<_> =
            profile.identities.values().filter(|identity| identity.role == role).collect();
        assert!(!of.is_empty(), "{role}: {:?}", profile.identities);
        for it in of {
            assert!(it.connection.contains(" -> 127.0.0.1:"), "{it:?}");
            assert_eq!(it.vhost, "/", "{it:?}");
        }
    }
}
