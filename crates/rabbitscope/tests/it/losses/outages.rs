//! A run's report on a broker that is killed, raises an alarm, refuses, or loses a queue.
//!
//! `scripts/outages.sh` runs these tests for longer and makes the table in `docs/measurements/faults.md` from them.

use std::{fs::OpenOptions, io::Write};

use rabbitscope_broker::Broker;
use rabbitscope_testing::{
    Ended, Ends, Workbench, broker_with, count, delete_queue,
    scenario::{Churn, Consumers, Publishers, Scenario},
};
use serde_json::Value;

/// Returns the length of the load in seconds; the table uses longer loads.
fn seconds() -> u64 {
    std::env::var("RABBITSCOPE_OUTAGES_SECONDS").map_or(4, |text| text.parse().unwrap())
}

/// 500 messages a second with confirms, and a consumer.
fn scenario(seconds: u64) -> Scenario {
    Scenario::with_queue("outage")
        .publishers(Publishers::new("outage").confirm_window(200).rate(500).persistent(true))
        .consumers(Consumers::new("outage").prefetch(100))
        .duration(format!("{seconds}s"))
        .self_check(false)
        .recovery(true)
        .recovery_delay("200ms")
        .recovery_max_delay("1s")
        .expect("unconfirmed", "== 0")
}

fn broker(config: &str) -> Broker {
    broker_with(|spec| config.clone_into(&mut spec.config))
}

/// The result of a run.
struct Outcome {
    ended: Ended,
    run: Value,
}

impl Outcome {
    fn count(&self, key: &str) -> u64 {
        count(&self.run, key)
    }

    /// Returns a time in milliseconds.
    fn time(&self, key: &str) -> u64 {
        self.count(key) / 1_000_000
    }

    fn load_millis(&self) -> u64 {
        self.run["duration-nanos"].as_u64().unwrap() / 1_000_000
    }

    fn latency(&self, name: &str) -> Value {
        let all = self.run["latencies"].as_array().unwrap();
        all.iter().find(|latency| latency["name"] == name).cloned().unwrap_or_default()
    }

    #[track_caller]
    fn check(&self, code: i32, verdict: &str, says: &[&str]) {
        assert_eq!(self.ended.code, Some(code), "{:#?}\n{:#}", self.ended, self.run);
        assert_eq!(self.run["verdict"]["kind"], verdict, "{:#}", self.run);
        for words in says {
            assert!(self.ended.stdout.contains(words), "`{words}` is not in {}", self.ended.stdout);
        }
    }

    fn row(&self, fault: &str) -> String {
        let seconds = |key: &str| self.count(key) as f64 / 1e9;
        let p999 = |name: &str| self.latency(name)["p999"].as_f64().unwrap_or(0.0) / 1e6;
        let reason = self.run["verdict"]["reason"].as_str().unwrap_or("–");
        let errors: Vec<_> = self.run["errors"].as_array().into_iter().flatten().collect();
        let errors = errors
            .iter()
            .map(|error| format!("{} × {}", error["count"], error["kind"].as_str().unwrap()));
        let counts = ["published", "confirmed", "consumed", "late", "late-by-client", "overdue"];
        let counts = counts.map(|key| self.count(key).to_string()).join(" | ");
        format!(
            "| {fault} | {} | {} | {reason} | {} | {counts} | {:.2} | {:.2} | {:.0} |",
            self.ended.code.unwrap(),
            self.run["verdict"]["kind"].as_str().unwrap(),
            errors.collect::<Vec<_>>().join(", "),
            seconds("without-service-nanos"),
            seconds("alarm-nanos"),
            p999("confirm-intended"),
        )
    }
}

/// Runs `scenario` and causes `fault` after three tenths of it. The result goes to the table, if one is made.
fn outcome(
    bench: &Workbench,
    broker: &mut Broker,
    name: &str,
    scenario: &Scenario,
    fault: impl FnOnce(&mut Broker),
) -> Outcome {
    let out = name.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    bench.file("s.toml", scenario);
    let child = bench.start(&format!("run s.toml --uri {} --out {out}", broker.uri()));
    let before = usize::try_from(seconds() * 3 / 10).unwrap().max(1);
    bench.await_seconds(&out, before);
    fault(broker);
    let ended = child.ended();
    assert!(bench.path(&out).join("run.json").exists(), "{ended:#?}");
    let outcome = Outcome { ended, run: bench.json(&format!("{out}/run.json")) };
    if let Some(table) = std::env::var_os("RABBITSCOPE_OUTAGES_TABLE") {
        let mut table = OpenOptions::new().append(true).create(true).open(table).unwrap();
        writeln!(table, "{}", outcome.row(name)).unwrap();
    }
    outcome
}

fn alarm(broker: &Broker, kind: &str, is_on: bool) {
    let expression = match (kind, is_on) {
        ("memory", true) => "vm_memory_monitor:set_vm_memory_high_watermark(0.00001)",
        ("memory", false) => "vm_memory_monitor:set_vm_memory_high_watermark(0.4)",
        (_, true) => "rabbit_disk_monitor:set_disk_free_limit(1 bsl 60)",
        (_, false) => "rabbit_disk_monitor:set_disk_free_limit(1000)",
    };
    broker.eval(&format!("{expression}.")).unwrap();
}

#[test]
fn a_broker_that_is_killed_is_no_success() {
    let bench = Workbench::new("killed");
    let mut broker = broker("");
    let text = scenario(seconds());
    let dead =
        outcome(&bench, &mut broker, "killed, does not come back", &text, |broker| broker.kill());
    let says =
        ["FAILED: the broker did not serve for", "at its end as well", "error     connection"];
    dead.check(1, "failed", &says);
    assert!(dead.time("without-service-nanos") > dead.load_millis() / 4, "{:#}", dead.run);
    assert_eq!(dead.run["service"]["ended-without"], true);
    assert!(!dead.run["steadiness"]["steady"].as_bool().unwrap_or(false));
    // Messages that cannot be sent any more are late by their age, and none of that is the client's fault.
    assert!(dead.count("overdue") > 500 * dead.load_millis() / 4000, "{:#}", dead.run);
    assert!(dead.count("late") >= dead.count("overdue"));
    assert!(
        dead.latency("confirm-intended")["p999"].as_u64() > Some(500_000_000),
        "{:#}",
        dead.run
    );
    let passed = dead.run["expectations"][0]["passed"].as_bool();
    let has_answers = dead.count("unanswered") + dead.count("unconfirmed") == 0;
    assert_eq!(passed, Some(has_answers), "{:#}", dead.run);

    broker.start_again().unwrap();
    // Long enough for the broker to be back well before the end, even on a busy machine.
    let text = scenario(seconds().max(16));
    let name = "killed, comes back";
    let back = outcome(&bench, &mut broker, name, &text, |broker| {
        broker.kill();
        broker.start_again().unwrap();
    });
    assert!(back.time("without-service-nanos") > 100, "{:#}", back.run);
    assert!(back.count("reconnects") >= 2, "{:#}", back.run);
    assert_eq!(back.run["service"]["ended-without"], false, "{:#}", back.run);
    let share = back.time("without-service-nanos") as f64 / back.load_millis() as f64;
    let (code, verdict) = if share > 0.1 { (1, "failed") } else { (3, "completed") };
    assert!(back.ended.code == Some(code) || share <= 0.1, "{share} {:#?}", back.ended);
    assert_eq!(back.run["verdict"]["kind"], verdict, "{:#}", back.run);
}

#[test]
fn churn_that_reaches_nobody_is_without_service() {
    let bench = Workbench::new("churned");
    let mut broker = broker("");
    let text = Scenario::new("churned")
        .churn(Churn::new("connections").rate(20).hold("20ms"))
        .duration(format!("{}s", seconds()))
        .self_check(false);
    let dead = outcome(&bench, &mut broker, "killed under connection churn", &text, |broker| {
        broker.kill();
    });
    let says = ["FAILED: the broker did not serve for", "at its end as well"];
    dead.check(1, "failed", &says);
    assert!(dead.time("without-service-nanos") >= 900, "{:#}", dead.run);
    assert_eq!(dead.run["service"]["ended-without"], true);
}

#[test]
fn alarms_are_told_with_the_brokers_words() {
    let bench = Workbench::new("alarms");
    let mut broker = broker("");
    let text = scenario(seconds());
    alarm(&broker, "memory", true);
    let all = outcome(&bench, &mut broker, "memory alarm from the start", &text, |_| {});
    all.check(
        1,
        "failed",
        &["an alarm of the broker held publishers", "low on memory", "consumed "],
    );
    assert!(all.time("alarm-nanos") > all.load_millis() * 3 / 4, "{:#}", all.run);
    assert_eq!(all.count("confirmed"), 0);
    assert!(all.count("overdue") > 400 * all.load_millis() / 1000 * 3 / 4, "{:#}", all.run);
    alarm(&broker, "memory", false);

    for kind in ["memory", "disk"] {
        let name = format!("{kind} alarm from the middle");
        let half = outcome(&bench, &mut broker, &name, &text, |broker| alarm(broker, kind, true));
        alarm(&broker, kind, false);
        half.check(
            1,
            "failed",
            &["an alarm of the broker held publishers", &format!("low on {kind}")],
        );
        assert!(half.time("alarm-nanos") > half.load_millis() / 4, "{:#}", half.run);
        assert!(half.count("confirmed") > 0, "{:#}", half.run);
        let intended = half.latency("confirm-intended");
        assert!(
            intended["p999"].as_u64() > Some(500_000_000),
            "coordinated omission: {intended:#}"
        );
        assert!(
            intended["overdue"].as_u64() >= half.run["load"]["overdue"].as_u64(),
            "{intended:#}"
        );
        let drift = half.run["steadiness"]["throughput-drift"].as_f64();
        assert!(drift.is_none_or(|drift| drift >= -1.0), "{drift:?}");
    }
}

#[test]
fn what_the_broker_refuses_is_shown() {
    let bench = Workbench::new("refusals");
    let mut broker = broker("max_message_size = 100000");
    let text = scenario(seconds());
    let large = text.clone().change_publishers(|group| group.size("200kB"));
    let refused = outcome(&bench, &mut broker, "bodies too large", &large, |_| {});
    refused.check(1, "failed", &["error     channel closed by the broker", "larger than"]);
    assert_eq!(refused.count("confirmed"), 0);
    assert!(refused.ended.stdout.contains("FAILED: "), "{}", refused.ended.stdout);

    let deleted = outcome(&bench, &mut broker, "queue deleted", &text, |broker| {
        delete_queue(broker, "outage");
    });
    let says = "error     consumer ended by the broker once";
    assert!(deleted.ended.stdout.contains(says), "{:#?}", deleted.ended);
    assert!(deleted.count("reconnects") >= 1 && deleted.time("without-service-nanos") > 0);
    let consumed = deleted.count("consumed");
    assert!(consumed > 500 * deleted.load_millis() / 1000 / 2, "it goes on: {:#}", deleted.run);
}
