//! Pollers: their measurements equal the work of the management listener.

use std::time::Duration;

use rabbitscope_testing::{
    Ends, Workbench, broker_with, latency, latency_figure, pause,
    scenario::{Poller, Scenario},
};

const PLUGIN: &str = "rabbitmq_management";

#[test]
fn a_throwaway_broker_is_polled() {
    let bench = Workbench::new("polling");
    let scenario = Scenario::steady("polled", "3s")
        .plugins(vec![PLUGIN])
        .pollers(Poller::new("/api/queues").name("queues").interval("200ms").count(2));
    bench.file("s.toml", scenario);
    bench.rabbitscope("run s.toml --out out").code(0);
    let run = bench.json("out/run.json");
    let polls = &run["polls"][0];
    let answered = polls["statuses"]["200"].as_u64().unwrap();
    assert!((20..=80).contains(&answered), "2 pollers, 5 a second each, 3 s: {polls:#}");
    assert_eq!(polls["answered"], answered, "all of them allowed: {polls:#}");
    assert!(polls["bytes"].as_u64().unwrap() > 100 * answered, "{polls:#}");
    latency(&run, "http-queues");
    assert!(bench.read("out/latency-http-queues-intended.hlog").contains("HISTFA"));
    let row = bench.rows("out/series.jsonl").remove(1);
    assert!(row["polls"][0]["latency"]["p99"].as_u64().unwrap() > 10_000, "{row:#}");
}

#[test]
fn a_pause_shows_in_the_time_from_the_schedule() {
    let bench = Workbench::new("polling-pause");
    let broker = broker_with(|spec| spec.plugins = vec![PLUGIN.to_owned()]);
    let url = format!("http://127.0.0.1:{}/api/overview", broker.management_port().unwrap());
    let poller = Poller::new(&url).name("slow").interval("100ms").user("guest");
    let scenario = Scenario::steady("paused", "6s")
        .pollers(poller.password_env("POLLER_PASSWORD"))
        .expect("without-service", "< 90%");
    bench.file("s.toml", scenario);
    let arguments = format!("run s.toml --uri {} --out out", broker.uri());
    bench.rabbitscope(&arguments).code(2).says(&["POLLER_PASSWORD"]);

    let mut command = bench.command(&arguments);
    let running = command.env("POLLER_PASSWORD", broker.login().1).spawn().unwrap();
    bench.await_seconds("out", 1);
    pause(broker.pid, Duration::from_secs(2));
    running.ended().code(0);
    let run = bench.json("out/run.json");
    assert_eq!(run["polls"][0]["errors"].as_object().unwrap().len(), 0, "{run:#}");
    assert!(run["polls"][0]["late"].as_u64().unwrap() >= 10, "{run:#}");
    let of = |name: &str| latency_figure(&run, name, "p95");
    let (actual, intended) = (of("http-slow"), of("http-slow-intended"));
    assert!(intended > 1_000_000_000, "20 of 60 requests fell due in the pause: {intended}");
    assert!(actual < intended, "one of 60 waited, as far as it could see: {actual}");
}
