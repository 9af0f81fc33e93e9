//! The bus of a fleet controls a load, and nothing else of a worker's machine.

use std::{fs, os::unix::fs::symlink, path::PathBuf, time::Duration};

use rabbitscope_amqp::{Properties, Request, Table, Value};
use rabbitscope_testing::{Ended, Ends, connect, declare_queue, durable_queue, queues_on};

use super::workers::{Place, scenario, secure_bus};

/// A run of one worker.
struct Fleet {
    place: Place,
    /// The broker that carries the messages of the fleet.
    via: String,
    /// The broker under test, as the controller reaches it.
    uri: String,
}

impl Fleet {
    fn new(name: &'static str) -> Self {
        let place = Place::new(name);
        let (via, uri) = (place.bus.uris()[0].clone(), place.broker.uris()[0].clone());
        Self { place, via, uri }
    }

    /// Makes a fleet that reaches the broker under test over TLS, with an authority that no machine trusts.
    fn over_tls(name: &'static str) -> Self {
        let place = Place::new(name);
        let (via, uri) = (place.broker.uris()[0].clone(), secure_bus());
        Self { place, via, uri }
    }

    fn authority(&self) -> PathBuf {
        self.place.broker.directory.join("own-ca.pem")
    }

    /// Writes the scenario, with a file of bodies and additional text if they are not empty.
    fn scenario(&self, files: &str, more: &str) {
        let mut scenario = scenario(self.place.fleet, "1s");
        if !files.is_empty() {
            scenario = scenario.change_publishers(|group| group.body_files(vec![files]));
        }
        self.place.bench.file("s.toml", scenario.text(more));
    }

    /// Returns the ends of the controller and of a worker with these options.
    fn run(&self, options: &str) -> (Ended, Ended) {
        let Self { place, via, uri } = self;
        let bus = format!("--via {via} --fleet {}", place.fleet);
        let timeout = "timeout --signal=KILL 120";
        let mut worker = place.bench.command_through(timeout, &format!("worker {bus} {options}"));
        let worker = worker.spawn().unwrap();
        fs::remove_dir_all(place.bench.path("out")).ok();
        let run = format!("run s.toml --workers 1 {bus} --uri {uri} --out out --plain");
        let controller = place.bench.rabbitscope(&run);
        (controller, worker.ended())
    }

    /// Asserts that the run does not begin, and both report the reason.
    #[track_caller]
    fn refused(&self, options: &str, parts: &[&str]) {
        let (controller, worker) = self.run(options);
        assert_ne!(controller.code, Some(0), "{controller:#?}");
        assert_eq!(worker.code, Some(1), "{worker:#?}");
        for part in parts {
            assert!(controller.stderr.contains(part), "`{part}` is not in {controller:#?}");
            assert!(worker.stderr.contains(part), "`{part}` is not in {worker:#?}");
        }
    }

    /// Asserts a valid run. Returns the worker's output.
    #[track_caller]
    fn succeeds(&self, options: &str) -> String {
        let (controller, worker) = self.run(options);
        assert_eq!(
            (controller.code, worker.code),
            (Some(0), Some(0)),
            "{controller:#?} {worker:#?}"
        );
        worker.stderr
    }
}

#[test]
fn a_worker_decides_itself_whom_its_own_broker_has_to_be() {
    let fleet = Fleet::over_tls("fleet-own-tls");
    let (uri, authority) = (fleet.uri.clone(), fleet.authority());
    let authority = authority.display();
    // A server in the broker's place would get the password.
    fleet.scenario("", "[broker.tls]\nverify = false\n");
    fleet.refused(&format!("--uri {uri}"), &["UnknownIssuer"]);
    let said = fleet.succeeds(&format!("--uri {uri} --tls-ca {authority}"));
    assert!(said.contains("`broker.tls.verify` is not used"), "{said}");
    fleet.succeeds(&format!("--uri {uri} --tls-unchecked"));
    let elsewhere = format!("--uri {uri} --tls-ca {authority} --tls-server-name elsewhere.test");
    fleet.refused(&elsewhere, &["not valid for name"]);
    // A name that the impostor can prove, through an authority that the impostor supplied.
    let theirs = format!("[broker.tls]\nca = \"{authority}\"\nserver-name = \"broker.test\"\n");
    fleet.scenario("", &theirs);
    fleet.refused(&format!("--uri {uri}"), &["UnknownIssuer"]);
}

#[test]
fn for_a_broker_of_the_bus_no_file_of_the_worker_is_opened() {
    let fleet = Fleet::over_tls("fleet-their-tls");
    fleet.scenario("", &format!("[broker.tls]\nca = \"{}\"\n", fleet.authority().display()));
    fleet.refused("", &["`broker.tls.ca` names a file of this worker's machine", "--tls-ca"]);
    fleet.scenario("", "[broker.tls]\nverify = false\n");
    fleet.succeeds("");
}

#[test]
fn files_of_the_worker_are_sent_with_its_consent_only() {
    let fleet = Fleet::new("fleet-files");
    let bench = &fleet.place.bench;
    fs::create_dir_all(bench.path("bodies/sub")).unwrap();
    bench.file("bodies/sub/body", "a body");
    bench.file("secret", "a secret");
    symlink("../secret", bench.path("bodies/link")).unwrap();
    let (body, secret) = (bench.path("bodies/sub/body"), bench.path("secret"));
    fleet.scenario(&body.display().to_string(), "");
    // The refusal comes before the connection: nothing listens there.
    for options in ["", "--uri amqp://127.0.0.1:1"] {
        fleet.refused(options, &["`publishers.0.body-files` sends files", "--files DIR"]);
    }
    let files = format!("--files {}", bench.path("bodies").display());
    for uri in [String::new(), format!("--uri {}", fleet.uri)] {
        fleet.succeeds(&format!("{files} {uri}"));
        let load = &bench.json("out/run.json")["load"];
        assert!(load["consumed"].as_u64().unwrap() > 100, "{load:#}");
    }
    let link = bench.path("bodies/link").display().to_string();
    for outside in [secret.display().to_string(), link, "/etc/hostname".to_owned()] {
        fleet.scenario(&outside, "");
        fleet.refused(&format!("{files} --uri amqp://127.0.0.1:1"), &["not below", &outside]);
    }
}

#[test]
fn what_a_worker_is_started_with_is_looked_at_before_it_waits() {
    let fleet = Fleet::new("fleet-options");
    let bench = &fleet.place.bench;
    let authority = fleet.authority();
    let worker =
        |options: &str| bench.rabbitscope(&format!("worker --via {} {options}", fleet.via));
    worker("--files nowhere").code(2).says(&["--files nowhere: No such file"]);
    let own = "--uri amqps://localhost:1";
    worker(&format!("{own} --tls-ca nowhere.pem")).code(2).says(&["nowhere.pem"]);
    worker(&format!("{own} --token-file nowhere")).code(2).says(&["nowhere"]);
    worker(&format!("{own} --tls-certificate a")).code(2).says(&["--tls-key"]);
    worker(&format!("--tls-ca {}", authority.display())).code(2).says(&["--uri"]);
    worker("--uri http://h").code(2).says(&["amqp://"]);
    let both = format!("{own} --tls-unchecked --tls-ca {}", authority.display());
    worker(&both).code(2).says(&["cannot be used with"]);
}

/// Replaces a run's log by one that a user of the bus forges.
fn forge_log(bus: &str, log: &str, record: &serde_json::Value) {
    let (mut client, channel) = connect(bus);
    let delete = Request::QueueDelete { queue: log, if_unused: false, if_empty: false };
    client.call(channel, &delete).unwrap();
    let kind = ("x-queue-type".to_owned(), Value::Text("stream".to_owned()));
    client.call(channel, &durable_queue(log, false, &Table(vec![kind]))).unwrap();
    let body = serde_json::to_vec(record).unwrap();
    client.publish(channel, log, &Properties::with_delivery_mode(true), &body);
    client.poll(Duration::from_millis(500), |_| false).unwrap();
    client.close().unwrap();
}

#[test]
fn a_log_that_somebody_else_wrote_removes_nothing() {
    let fleet = Fleet::new("fleet-forged");
    let Place { bench, broker, .. } = &fleet.place;
    fleet.scenario("", "");
    fleet.succeeds("");
    let text = bench.read("out/scenario.toml");
    declare_queue(broker, "orders");
    let token = "0123456789abcdef0123456789abcdef";
    let victim = bench.file("victim.json", "{}");
    let path = format!("../../..{}", victim.with_extension("").display());
    for (token, queue, said) in [
        (token, "orders", "queue `orders`"),
        (path.as_str(), "fleet-forged-1", "a token that no run has"),
    ] {
        let queue = serde_json::json!(
            { "name": queue, "queue-type": "classic", "durable": true, "named-by-token": false }
        );
        let record = serde_json::json!({
            "kind": "begun",
            "run": "0123456789ab",
            "name": "fleet",
            "scenario": text,
            "declared": { "token": token, "queues": [queue], "exchanges": [], "bindings": [] },
            "unmarked": "so that nothing has to be proved",
            "started-unix-nanos": 1,
            "clock": { "boot": "", "time-namespace": "" },
            "members": [],
        });
        forge_log(&fleet.via, "rabbitscope.fleet.fleet-forged.log", &record);
        fs::remove_dir_all(bench.path("out")).ok();
        let run = format!(
            "run s.toml --workers 1 --via {} --fleet fleet-forged --uri {} --out out --plain --resume",
            fleet.via, fleet.uri
        );
        bench.rabbitscope(&run).code(1).says(&[said, "Omit --resume"]);
        assert!(queues_on(broker).contains("orders") && victim.exists());
    }
}
