//! `run`: the contents of the run directory, and the data that must not remain anywhere.

use rabbitscope_testing::{
    Ends, Workbench, add_user, count, existing_broker, is_root, lines, may_profile, permit,
    processes_showing, queues_on,
    scenario::{Poller, Profile, Scenario},
};

#[test]
fn a_throwaway_broker() {
    let bench = Workbench::new("throwaway");
    let mut scenario = Scenario::steady("q", "4s");
    if is_root() {
        scenario = scenario.profile(Profile::new("2s").delay("1s"));
    }
    bench.file("s.toml", scenario);
    let ended = bench.rabbitscope("run s.toml --set publishers.0.size=64B --out out").code(0);
    assert_eq!(ended.stderr, "", "nobody watches, so there is no progress");
    for part in [
        "published",
        "confirmed",
        "consumed",
        "end-to-end",
        "limit  ",
        "not judged  ",
        "out/report.html",
    ] {
        assert!(ended.stdout.contains(part), "`{part}` is not in {ended:#?}");
    }

    let run = bench.json("out/run.json");
    let published = count(&run, "published");
    assert!((7_000..=9_000).contains(&published), "{published} messages in 4 s at 2000/s");
    assert_eq!(run["load"]["confirmed"], published);
    assert_eq!(run["load"]["consumed"], published);
    assert_eq!(run["verdict"]["kind"], "completed");
    assert_eq!(run["broker"]["throwaway"], true);
    assert_eq!(run["scenario"]["publishers"][0]["size"], "64B");
    assert_eq!(run["profile"].is_object(), may_profile());
    assert!(run["machine"]["cpus"].as_u64().unwrap() > 0);

    assert!((4..=5).contains(&lines(&bench.path("out/series.jsonl"))));
    let second = bench.rows("out/series.jsonl").remove(0);
    assert!(second["broker-cpu-cores"].as_f64().unwrap() > 0.0, "{second}");
    assert!(second["broker-rss-bytes"].as_u64().unwrap() > 50_000_000, "{second}");
    let rows = bench.rows("out/series.jsonl");
    let asked: Vec<_> = rows.iter().filter(|row| row["node"]["processes"].is_u64()).collect();
    assert!(asked.len() + 2 >= rows.len(), "{rows:?}");
    assert!(asked[0]["node"]["memory-ets"].as_u64().unwrap() > 100_000, "{rows:?}");
    assert!(asked[0]["node"]["connections"].as_u64() >= second["connections"].as_u64(), "{rows:?}");
    assert_eq!(run["no-node-figures"], serde_json::Value::Null);
    let broker = bench.json("out/broker.json");
    assert_eq!(broker["before"]["queues"][0]["name"], "q", "{broker}");
    assert!(bench.read("out/broker.log").contains("Server startup complete"));
    for file in ["out/scenario.toml", "out/report.html", "out/latency-confirm.hlog"] {
        assert!(!bench.read(file).is_empty(), "{file}");
    }
    bench.assert_nothing_left();

    assert!(bench.read("out/report.html").contains(r#""limit":{"kind":"#));
    bench.rabbitscope("report out -o again.html").code(0);
    assert_eq!(bench.read("again.html"), bench.read("out/report.html"));
    let events = if may_profile() { "--set profile.event=cpu,off-cpu" } else { "" };
    bench
        .rabbitscope(&format!("run out/scenario.toml --set run.duration=3s {events} --out again"))
        .code(0);
    if may_profile() {
        both_events_are_shown(&bench);
    }
}

/// The run in `again` has computing and waiting: in its record, on two pages that link to each other, and in a check.
fn both_events_are_shown(bench: &Workbench) {
    let run = bench.json("again/run.json");
    assert_eq!(run["profile"]["file"], "profile-cpu.pb.gz", "{run:#}");
    assert_eq!(run["other-profiles"][0]["file"], "profile-off-cpu.pb.gz", "{run:#}");
    assert_eq!(run["other-profiles"][0]["offset-nanos"], run["profile"]["offset-nanos"]);
    for (page, event, other) in [
        (
            "report.html",
            r#""profile":{"event":"cpu""#,
            r#"{"event":"off-cpu","file":"report-off-cpu.html"}"#,
        ),
        (
            "report-off-cpu.html",
            r#""profile":{"event":"off-cpu""#,
            r#"{"event":"cpu","file":"report.html"}"#,
        ),
    ] {
        let text = bench.read(&format!("again/{page}"));
        assert!(text.contains(event) && text.contains(&format!(r#""others":[{other}]"#)), "{page}");
    }
    bench.rabbitscope("report again -o other.html").code(0);
    assert!(bench.read("other-off-cpu.html").contains(r#"{"event":"cpu","file":"other.html"}"#));
    bench.rabbitscope("report again -o other.html").code(0);
    bench.file("mine-off-cpu.html", "mine");
    bench.rabbitscope("report again -o mine.html").code(2).says(&["is no page of rabbitscope"]);
    assert_eq!(bench.read("mine-off-cpu.html"), "mine");
    assert!(!bench.path("mine.html").exists());
    let checked = bench.rabbitscope("check again --json");
    let unread = &checked.json()["unread"];
    assert!(!unread.to_string().contains("cpu-profile"), "{unread:#}");
}

/// Load and pollers log in with the password; no remaining file, output or visible argument holds it.
#[test]
fn the_password_of_a_throwaway_broker_is_nowhere() {
    let bench = Workbench::new("password");
    let scenario = Scenario::steady("q", "4s")
        .plugins(vec!["rabbitmq_management"])
        .config("log.file.level = debug")
        .pollers(Poller::new("/api/queues").name("queues").interval("200ms"));
    bench.file("s.toml", scenario);
    let running = bench.start("run s.toml --out out --json");
    bench.await_seconds("out", 1);
    let node = bench.broker_facts();
    let password = node["login"]["password"].as_str().unwrap();
    assert!(password.len() == 32 && password != "guest");
    assert_eq!(processes_showing(password), [0; 0]);
    let ended = running.ended().code(0);
    let run = bench.json("out/run.json");
    assert!(run["polls"][0]["statuses"]["200"].as_u64().unwrap() > 0, "{run:#}");
    assert!(!(ended.stdout + &ended.stderr).contains(password));
    assert!(bench.files_with("out", password).is_empty());
    assert!(bench.read("out/broker.log").contains("[debug]"));
}

#[test]
fn a_broker_of_somebody_else() {
    let broker = existing_broker();
    let password = "PaSsWoRd4711";
    add_user(broker, "u", password);
    permit(broker, "u", [".*"; 3]);
    let uri = format!("amqp://u:{password}@{}", broker.address());

    let bench = Workbench::new("existing");
    bench.file("s.toml", Scenario::steady("existing", "2s"));
    let mut command = bench.command("run s.toml --out out --json");
    let ended = command.env("RABBITSCOPE_URI", &uri).ended().code(0);

    let run = ended.json();
    assert_eq!(run["broker"]["throwaway"], false);
    assert_eq!(run["broker"]["pid"], broker.pid, "found by the port that it listens on");
    assert!(!queues_on(broker).contains("existing"), "{}", queues_on(broker));
    assert!(!(ended.stdout + &ended.stderr).contains(password));
    assert!(bench.files_with("out", password).is_empty());
    assert!(bench.journal_entries().is_empty());
}
