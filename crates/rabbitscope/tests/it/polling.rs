//! Pollers: their measurements equal the work of the management listener.

use std::{thread, time::Duration};

use rabbitscope_broker::Broker;
use rabbitscope_runs::scenario::ThrowawayBroker;
use rustix::process::{Pid, Signal, kill_process};

use crate::workbench::{Ended, Workbench, eventually, lines, scenario};

const PLUGIN: &str = "rabbitmq_management";

#[test]
fn a_throwaway_broker_is_polled() {
    let bench = Workbench::new("polling");
    let pollers = format!(
        "[broker]\nplugins = [\"{PLUGIN}\"]\n[[pollers]]\nname = \"queues\"\n\
         url = \"/api/queues\"\ninterval = \"200ms\"\ncount = 2\n"
    );
    bench.file("s.toml", &(scenario("polled", "3s") + &pollers));
    bench.rabbitscope("run s.toml --out out").code(0);
    let run = bench.json("out/run.json");
    let polls = &run["polls"][0];
    let answered = polls["statuses"]["200"].as_u64().unwrap();
    assert!((20..=80).contains(&answered), "2 pollers, 5 a second each, 3 s: {polls:#}");
    assert_eq!(polls["answered"], answered, "all of them allowed: {polls:#}");
    assert!(polls["bytes"].as_u64().unwrap() > 100 * answered, "{polls:#}");
    let names: Vec<_> = run["latencies"]
        .as_array()
        .unwrap()
        .iter()
        .map(|latency| latency["name"].as_str())
        .collect();
    assert!(names.contains(&Some("http-queues")), "{names:?}");
    assert!(bench.read("out/latency-http-queues-intended.hlog").contains("HISTFA"));
    let series = bench.read("out/series.jsonl");
    let row: serde_json::Value = serde_json::from_str(series.lines().nth(1).unwrap()).unwrap();
    assert!(row["polls"][0]["latency"]["p99"].as_u64().unwrap() > 10_000, "{row:#}");
}

#[test]
fn a_pause_shows_in_the_time_from_the_schedule() {
    let spec = ThrowawayBroker { plugins: vec![PLUGIN.to_owned()], ..ThrowawayBroker::default() };
    let bench = Workbench::new("polling-pause");
    let broker = Broker::start(&spec, &bench.path("broker.log")).unwrap();
    let pollers = format!(
        "[[pollers]]\nname = \"slow\"\nurl = \"http://127.0.0.1:{}/api/overview\"\n\
         interval = \"100ms\"\nuser = \"guest\"\npassword-env = \"POLLER_PASSWORD\"\n\
         [expect]\nwithout-service = \"< 90%\"\n",
        broker.management_port().unwrap()
    );
    bench.file("s.toml", &(scenario("paused", "6s") + &pollers));
    let arguments = format!("run s.toml --uri {} --out out", broker.uri());
    bench.rabbitscope(&arguments).code(2).says(&["POLLER_PASSWORD"]);

    let mut command = bench.command(&arguments);
    let running = command.env("POLLER_PASSWORD", broker.login().1).spawn().unwrap();
    let series = bench.path("out/series.jsonl");
    eventually("a second is recorded", || lines(&series) >= 1);
    let pid = Pid::from_raw(broker.pid.try_into().unwrap()).unwrap();
    kill_process(pid, Signal::STOP).unwrap();
    thread::sleep(Duration::from_secs(2));
    kill_process(pid, Signal::CONT).unwrap();
    Ended::from(running.wait_with_output().unwrap()).code(0);
    let run = bench.json("out/run.json");
    assert_eq!(run["polls"][0]["errors"].as_object().unwrap().len(), 0, "{run:#}");
    assert!(run["polls"][0]["late"].as_u64().unwrap() >= 10, "{run:#}");
    let of = |name: &str| {
        let all = run["latencies"].as_array().unwrap();
        all.iter().find(|latency| latency["name"] == name).unwrap()["p95"].as_u64().unwrap()
    };
    let (actual, intended) = (of("http-slow"), of("http-slow-intended"));
    assert!(intended > 1_000_000_000, "20 of 60 requests fell due in the pause: {intended}");
    assert!(actual < intended, "one of 60 waited, as far as it could see: {actual}");
}
