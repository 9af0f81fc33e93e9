//! Runs with a load from several processes, over a bus that is a separate broker.

use std::{
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::{Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use rabbitscope_broker::Broker;
use rabbitscope_testing::{
    Ended, Ends, OwnBroker, Stops, Workbench, broker_with, count, is_root, latency, own_broker,
    queues_on,
    scenario::{Churn, Consumers, Publishers, Queue, Scenario},
    tls_listener,
};
use serde_json::Value;

/// Eight publishers and eight consumers on separate connections, on four queues.
pub(crate) fn scenario(queues: &str, duration: &str) -> Scenario {
    let queue = &format!("{queues}-{{}}");
    let publishers = Publishers::new(queue).count(8).connections(8).confirm_window(100);
    Scenario::new("fleet")
        .queues(Queue::new(queue).from(1).to(4))
        .publishers(publishers.rate(100))
        .consumers(Consumers::new(queue).count(8).connections(8).prefetch(100))
        .duration(duration)
}

static ALONE: Mutex<()> = Mutex::new(());

/// A bus and a broker under test, shared by all tests of this file. Each test uses a fleet with its own name.
pub(crate) struct Place {
    _alone: MutexGuard<'static, ()>,
    pub(crate) bench: Workbench,
    pub(crate) bus: &'static Broker,
    pub(crate) broker: &'static Broker,
    pub(crate) fleet: &'static str,
    /// The authority of the bus, if it is reached over TLS.
    authority: Option<PathBuf>,
}

impl Place {
    pub(crate) fn new(fleet: &'static str) -> Self {
        // Each test has several load generators, which complain if they get no CPU.
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let Brokers { bus, broker, .. } = brokers();
        Self { _alone: alone, bench: Workbench::new(fleet), bus, broker, fleet, authority: None }
    }

    /// Puts the load on another broker.
    pub(super) fn on(fleet: &'static str, broker: &'static Broker) -> Self {
        Self { broker, ..Self::new(fleet) }
    }

    fn over_tls(fleet: &'static str) -> Self {
        let authority = Some(brokers().broker.directory.join("own-ca.pem"));
        Self { authority, ..Self::new(fleet) }
    }

    fn via(&self) -> String {
        let secure = secure_bus();
        let uri = if self.authority.is_some() { &secure } else { &self.bus.uris()[0] };
        format!("--via {uri} --fleet {}", self.fleet)
    }

    /// Makes a command that trusts the authority.
    fn command(&self, prefix: &str, arguments: &str) -> Command {
        let mut command = self.bench.command_through(prefix, arguments);
        if let Some(authority) = &self.authority {
            command.env("SSL_CERT_FILE", authority);
        }
        command
    }

    fn worker(&self, prefix: &str) -> Child {
        let mut command = self.command(prefix, &format!("worker {}", self.via()));
        command.stderr(Stdio::null()).spawn().unwrap()
    }

    fn workers(&self, count: usize) -> Vec<Child> {
        (0..count).map(|_| self.worker("")).collect()
    }

    fn controller(&self, workers: usize, out: &str, more: &str) -> Child {
        let (via, uri) = (self.via(), &self.broker.uris()[0]);
        let line =
            format!("run s.toml --workers {workers} {via} --uri {uri} --out {out} --plain {more}");
        self.command("", &line).spawn().unwrap()
    }

    /// Runs to the end of the controller and of its workers.
    pub(super) fn run(&self, workers: usize, out: &str, more: &str) -> Ended {
        let started = self.workers(workers);
        let ended = self.controller(workers, out, more).ended();
        succeeded(started);
        ended
    }

    pub(super) fn record(&self, out: &str) -> Value {
        self.bench.json(&format!("{out}/run.json"))
    }
}

struct Brokers {
    bus: Broker,
    /// The bus's port for TLS.
    tls_port: u16,
    broker: OwnBroker,
}

fn brokers() -> &'static Brokers {
    static BROKERS: std::sync::OnceLock<Brokers> = std::sync::OnceLock::new();
    BROKERS.get_or_init(|| {
        let broker = own_broker();
        // The directory is removed with its broker.
        let (config, tls_port) = tls_listener(&broker.directory);
        Brokers { bus: broker_with(|spec| spec.config = config), tls_port, broker }
    })
}

/// Returns the bus's URI for TLS.
pub(crate) fn secure_bus() -> String {
    let Brokers { bus, tls_port, .. } = brokers();
    let (user, password) = bus.login();
    format!("amqps://{user}:{password}@localhost:{tls_port}")
}

#[test]
fn workers_do_together_what_one_process_does() {
    let place = Place::new("fleet-together");
    place.bench.file("s.toml", scenario(place.fleet, "4s"));
    for workers in [1, 4] {
        let out = format!("out-{workers}");
        let ended = place.run(workers, &out, "").code(0);
        assert!(ended.stdout.contains("all have one clock"), "{ended:#?}");
        let record = place.record(&out);
        let fleet = &record["fleet"];
        assert_eq!(fleet["workers"].as_array().unwrap().len(), workers, "{fleet:#}");
        assert_eq!(fleet["latency-error-nanos"], 0, "{fleet:#}");
        // 8 publishers at 100 a second for 4 s, each at its own phase. On a busy machine, a worker learns of the end
        // a little later.
        let published = count(&record, "published");
        assert!((3192..=3280).contains(&published), "{published}");
        assert_eq!(count(&record, "consumed"), published);
        assert_eq!(count(&record, "confirmed"), published);
        assert_eq!(latency(&record, "end-to-end")["count"], published);
        assert_eq!(latency(&record, "confirm")["count"], published);
        assert_eq!(record["losses"], Value::Array(Vec::new()), "{record:#}");
        let connections = fleet["workers"].as_array().unwrap().iter();
        assert_eq!(connections.map(|part| part["connections"].as_u64().unwrap()).sum::<u64>(), 16);
        assert!(place.bench.rows(&format!("{out}/series.jsonl")).len() >= 5);
    }
    let left = queues_on(place.broker);
    assert!(!left.contains(place.fleet), "the topology is removed: {left}");
    let left = queues_on(place.bus);
    assert!(!left.contains(place.fleet), "the bus is as it was: {left}");
}

#[test]
fn an_exact_number_of_messages_is_split_exactly() {
    let place = Place::over_tls("fleet-exact");
    let queue = &format!("{}-{{}}", place.fleet);
    let publishers = Publishers::new(queue).count(8).connections(8).confirm_window(100);
    let exact = scenario(place.fleet, "60s").change_publishers(|_| publishers.messages(1001));
    let channels = Churn::new("channels").concurrency(5).connections(2).cycles(4);
    let dials = Churn::new("connections").name("dials").concurrency(4).cycles(3);
    place.bench.file("s.toml", exact.churn(channels).churn(dials));
    place.run(3, "out", "").code(0);
    let record = place.record("out");
    assert!(record["fleet"]["bus"].as_str().unwrap().starts_with("localhost:"), "{record:#}");
    // The slots of a group share its cycles, on any worker.
    for key in ["churn-opened", "churn-closed"] {
        assert_eq!(count(&record, key), 4 + 3, "{key}");
    }
    assert_eq!(count(&record, "published"), 8008);
    assert_eq!(count(&record, "consumed"), 8008);
    assert_eq!(latency(&record, "end-to-end")["count"], 8008);
    let seconds = record["duration-nanos"].as_u64().unwrap() / 1_000_000_000;
    assert!(seconds < 30, "the last message ends the run: {seconds}");
}

#[test]
fn a_clock_that_is_an_hour_ahead_changes_nothing() {
    if !is_root() {
        return;
    }
    let place = Place::new("fleet-clock");
    place.bench.file("s.toml", scenario(place.fleet, "4s"));
    let ahead = "unshare --time --monotonic 3600 --boottime 3600 --fork --kill-child";
    let workers = [place.worker(""), place.worker(ahead), place.worker(ahead)];
    let ended = place.controller(3, "out", "").ended().code(0);
    succeeded(workers);
    let record = place.record("out");
    let published = count(&record, "published");
    assert!((3192..=3208).contains(&published), "{published}");
    assert_eq!(latency(&record, "end-to-end")["count"], published, "{record:#}");
    let fleet = &record["fleet"];
    let error = fleet["latency-error-nanos"].as_u64().unwrap();
    assert!((1..50_000_000).contains(&error), "another clock, known well enough: {error}");
    assert!(ended.stdout.contains("are accurate within"), "{ended:#?}");
    let p50 = latency(&record, "end-to-end")["p50"].as_u64().unwrap();
    assert!(p50 < 100_000_000 + error, "not an hour: {p50}");
    let clocks = fleet["workers"].as_array().unwrap().iter();
    let errors: Vec<_> = clocks.map(|clock| clock["clock-error-nanos"].as_u64().unwrap()).collect();
    assert_eq!(errors.iter().filter(|error| **error == 0).count(), 1, "{fleet:#}");
}

#[test]
fn a_worker_that_is_killed_is_named_and_the_others_go_on() {
    let place = Place::new("fleet-killed");
    place.bench.file("s.toml", scenario(place.fleet, "16s"));
    let mut workers = place.workers(3);
    let mut controller = place.controller(3, "out", "");
    place.bench.await_seconds("out", 2);
    let mut killed = workers.remove(0);
    let pid = killed.id();
    killed.kill().unwrap();
    let at = Instant::now();
    let named = named_within(&mut controller, &format!("pid {pid}"), Duration::from_secs(30));
    assert!(named - at < Duration::from_secs(3), "{:?}", named - at);
    killed.wait().unwrap();
    let ended = controller.ended().code(4);
    assert!(ended.stdout.contains("NOT VALID, worker lost"), "{ended:#?}");
    let record = place.record("out");
    let doubts = record["doubts"].to_string();
    assert!(doubts.contains("worker-lost") && doubts.contains(&format!("pid {pid}")), "{doubts}");
    assert!(place.bench.rows("out/series.jsonl").len() >= 16, "the others went on");
    assert!(!queues_on(place.broker).contains(place.fleet), "what was declared is removed");
    succeeded(workers);
}

/// Waits for the workers, and asserts their success.
fn succeeded(workers: impl IntoIterator<Item = Child>) {
    for mut worker in workers {
        assert!(worker.wait().unwrap().success());
    }
}

/// Returns the time at which a program writes this text to standard error; later output is dropped.
fn named_within(program: &mut Child, text: &str, limit: Duration) -> Instant {
    use std::io::{BufRead, BufReader};
    let (text, stderr) = (text.to_owned(), program.stderr.take().unwrap());
    let (sender, receiver) = std::sync::mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(stderr).lines().map_while(Result::ok) {
            if line.contains(&text) {
                sender.send(Instant::now()).ok();
            }
        }
    });
    receiver.recv_timeout(limit).expect("it is said")
}

#[test]
fn who_goes_on_with_a_run_does_not_throw_away_the_log_of_another() {
    let place = Place::new("fleet-other");
    place.bench.file("s.toml", scenario(place.fleet, "60s"));
    let controller = place.controller(2, "lost", "");
    let workers = place.workers(2);
    place.bench.await_seconds("lost", 2);
    workers.into_iter().chain([controller]).for_each(Stops::killed);
    let other = place.controller(2, "other", "--resume --set seed=9");
    other
        .ended()
        .code(2)
        .says(&["has an unfinished run of a different scenario, `fleet`", "omit --resume"]);
    assert!(queues_on(place.bus).contains("fleet-other.log"), "it is still there");
}

#[test]
fn a_controller_that_is_killed_is_replaced_by_one_that_reads_the_log() {
    let place = Place::new("fleet-resumed");
    place.bench.file("s.toml", scenario(place.fleet, "10s"));
    let workers = place.workers(2);
    let controller = place.controller(2, "lost", "");
    place.bench.await_seconds("lost", 3);
    controller.killed();
    // A different scenario does not disturb the run.
    let busy = place.controller(2, "other", "--set seed=9").ended();
    busy.code(1).says(&["still works on a run of scenario `fleet`", "--resume"]);
    let ended = place.controller(2, "out", "--resume").ended().code(0);
    assert!(ended.stderr.contains("resuming the run"), "{ended:#?}");
    let record = place.record("out");
    let published = count(&record, "published");
    assert!((7990..=8010).contains(&published), "all seconds are there: {published}");
    assert_eq!(count(&record, "consumed"), published);
    assert_eq!(latency(&record, "end-to-end")["count"], published);
    assert_eq!(record["fleet"]["resumed"], true);
    let (before, after) =
        (place.bench.rows("lost/series.jsonl"), place.bench.rows("out/series.jsonl"));
    for (before, after) in before.iter().zip(&after).take(3) {
        let row = |row: &Value| {
            let mut row = row.as_object().unwrap().clone();
            // These figures were seen only by the controller of that second.
            for key in ["broker-cpu-cores", "broker-rss-bytes", "queue-messages"] {
                row.remove(key);
            }
            row
        };
        assert_eq!(row(before), row(after));
    }
    succeeded(workers);
    assert!(
        !queues_on(place.broker).contains(place.fleet),
        "what the first had declared is removed"
    );
    assert!(!queues_on(place.bus).contains("fleet-resumed"), "the log is removed");
}

#[test]
fn what_cannot_be_done_is_refused() {
    let place = Place::new("fleet-refused");
    let (bus, broker) = (&place.bus.uris()[0], &place.broker.uris()[0]);
    place.bench.file("s.toml", scenario(place.fleet, "2s"));
    let run = |arguments: &str| place.bench.rabbitscope(&format!("run s.toml --plain {arguments}"));
    run(&format!("--workers 2 --via {broker} --uri {broker}"))
        .code(2)
        .says(&["are the same", "Give another RabbitMQ with --via"]);
    run(&format!("--workers 2 --via {bus} --uri {broker} --set run.verify=true"))
        .code(2)
        .says(&["run.verify", "without --workers"]);
    run(&format!("--workers 99 --via {bus} --uri {broker}")).code(2).says(&["at most 16 workers"]);
    run(&format!("--workers 1 --via {bus} --uri {broker} --fleet a/b"))
        .code(2)
        .says(&["`a/b` is not a valid fleet name"]);
    run(&format!("--workers 1 --via {bus} --uri {broker} --worker-timeout 1s"))
        .code(5)
        .says(&["0 of 1 workers joined within 1 s", "rabbitscope worker --via"]);
    run(&format!("--workers 1 --uri {broker}")).code(2).says(&["--via"]);
    let nobody = place.bench.rabbitscope("worker --via amqp://127.0.0.1:1").code(5);
    nobody.says(&["the bus: cannot reach a broker at 127.0.0.1:1"]);
    let secure = secure_bus();
    for refused in [
        place.bench.rabbitscope(&format!("worker --via {secure}")),
        run(&format!("--workers 1 --via {secure} --uri {broker}")),
    ] {
        refused.code(5).says(&[
            "the bus: the certificate of the broker at localhost:",
            "UnknownIssuer",
            "SSL_CERT_FILE",
        ]);
    }
    assert!(!queues_on(place.broker).contains(place.fleet), "nothing was declared");
}

#[test]
fn no_password_is_in_the_log_of_a_run() {
    let place = Place::new("fleet-secret");
    place.bench.file("s.toml", scenario(place.fleet, "3s"));
    let workers = place.workers(2);
    let controller = place.controller(2, "out", "");
    place.bench.await_seconds("out", 2);
    let (_, password) = place.broker.login();
    let directory = place.bus.directory.display().to_string();
    let mut search = std::process::Command::new("grep");
    let found = search.args(["-rlF", password, &directory]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&found.stdout), "", "the bus has the password in a file");
    controller.ended().code(0);
    succeeded(workers);
    assert_eq!(place.bench.files_with("out", password), Vec::<std::path::PathBuf>::new());
}
