//! Logins by OAuth 2 tokens that are replaced while streams are loaded.

use std::{fs, thread, time::Duration};

use rabbitscope_broker::Broker;
use rabbitscope_testing::{
    Workbench, broker_with, count, evaluate, port_of, scenario::Scenario, token, trust_tokens,
};

use super::{publishers, readers, stream};

/// A broker whose users have tokens.
fn broker() -> Broker {
    broker_with(|spec| {
        spec.plugins.push("rabbitmq_stream".to_owned());
        trust_tokens(spec);
    })
}

/// The first token ends while the load runs. No connection is lost, since the second one is in the file before.
#[test]
fn a_token_is_replaced_on_open_connections() {
    let bench = Workbench::new("streams-token");
    let broker = broker();
    let scenario = Scenario::new("streams-token")
        .queues(stream("tokens"))
        .publishers(publishers("tokens").rate(200))
        .consumers(readers("tokens"))
        .duration("20s")
        .text(&format!(
            "[broker]\nuri = \"amqp://{}?stream_port={}\"\nauth = \"token\"\ntoken-file = \"token\"\n\
             recovery = true\n",
            broker.address(),
            port_of(&broker, "stream")
        ));
    bench.file("s.toml", scenario);
    bench.file("token", token(&broker, 12));
    let running = bench.start("run s.toml --out out");
    bench.await_seconds("out", 2);
    let second = token(&broker, 600);
    fs::write(bench.path("next"), &second).unwrap();
    fs::rename(bench.path("next"), bench.path("token")).unwrap();
    thread::sleep(Duration::from_secs(1));
    let output = running.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let run = bench.json("out/run.json");
    assert_eq!(count(&run, "reconnects"), 0);
    assert!(count(&run, "consumed") > 3800, "{run:#}");
    assert!(bench.files_with("out", &second).is_empty());
    // Without a replacement, brokers that know when a token ends close the connection then.
    let is_watched = !evaluate(&broker, "rabbit_misc:version()").starts_with("\"3.10");
    bench.file("token", token(&broker, 8));
    let ended = bench.rabbitscope("run s.toml --out lost --set broker.recovery=false");
    ended.code(i32::from(is_watched));
}
