//! `watch` with a real broker and every sink. The planted queue is the heaviest in each sink, and the counted
//! messages are the sent ones. After a kill, nothing of ours is left on the node.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    net::SocketAddr,
    thread,
    time::Duration,
};

use rabbitscope_broker::Broker;
use rabbitscope_profiles::{Profile, read_pprof};
use rabbitscope_testing::{
    Receiver, Server, Stops, Workbench, broker_with, count, eventually, files_below, free_address,
    http, is_root, missing_program, not_run,
    scenario::{Consumers, Publishers, Queue, Scenario},
};
use serde_json::Value;

use crate::inside::remains;

const PLANTED: &str = "planted";
/// Samples of queues, in one sink.
const ENOUGH_SAMPLES: u64 = 5;
const CPU: &str = "rabbitscope_node_queue_cpu_seconds_total";
const DEPTH: &str = "rabbitscope_node_queue_messages";
/// A queue in which all messages stay, and their number.
const LEFT: &str = "left";
const LEFT_MESSAGES: i32 = 50;
/// Enables statistics, which no management or Prometheus plugin does here.
const STATISTICS: &str = "collect_statistics = coarse\ncollect_statistics_interval = 500\n";

/// One busy queue, two others, and one in which messages stay.
fn load() -> Scenario {
    let queues = [(PLANTED, 3000), ("calm", 20), ("quiet", 20)];
    // A busy machine may take seconds for a reading of the node.
    let scenario = Scenario::with_queue(LEFT)
        .duration("10s")
        .publishers(Publishers::new(LEFT).rate(100).messages(LEFT_MESSAGES).confirm_window(100));
    queues.into_iter().fold(scenario, |scenario, (name, rate)| {
        scenario
            .queues(Queue::new(name))
            .publishers(Publishers::new(name).rate(rate).confirm_window(100))
            .consumers(Consumers::new(name).prefetch(100))
    })
}

fn configuration(broker: &Broker, scraped: SocketAddr, sinks: [&str; 3]) -> String {
    let (home, epmd) = (broker.distribution().0, broker.port_mapper());
    let [prometheus, victoria, receiver] = sinks;
    format!(
        "[record]\nfrequency = 99\nwindow = '1s'\n\
         [nodes]\nonly = ['{}*']\n\
         [inside]\nask = true\ncookie-file = '{}/.erlang.cookie'\nepmd-port = {epmd}\n\
         [metrics]\ninterval = '1s'\nlisten = '{scraped}'\n\
         [directory]\npath = 'windows'\n\
         [[exporters]]\nkind = 'remote-write'\nurl = '{prometheus}'\n\
         [[exporters]]\nkind = 'remote-write'\nname = 'victoria'\n\
         url = '{victoria}/api/v1/write?extra_label=via=remote-write'\n\
         [[exporters]]\nkind = 'influx'\nurl = '{victoria}/write?extra_label=via=influx'\n\
         [[exporters]]\nkind = 'pyroscope'\nurl = '{receiver}'\n\
         [[exporters]]\nkind = 'parca'\nurl = '{receiver}'\n\
         [[exporters]]\nkind = 'otlp-profiles'\nurl = '{receiver}'\n",
        broker.name,
        home.display()
    )
}

#[test]
fn the_planted_queue_is_the_heaviest_in_each_sink() {
    if !is_root() {
        return;
    }
    if let Some(missing) = missing_program(&["prometheus", "victoria-metrics"]) {
        return not_run(&missing);
    }
    let starting = thread::spawn(Receiver::start);
    let broker = broker_with(|spec| spec.config = STATISTICS.to_owned());
    let scraped = free_address();
    let (mut prometheus, mut victoria) = (Server::prometheus(scraped), Server::victoria_metrics());
    prometheus.start();
    victoria.start();
    let receiver = match starting.join().unwrap() {
        Ok(receiver) => receiver,
        Err(reason) => return not_run(&reason),
    };
    let bench = Workbench::new("sinks");
    let urls = [&prometheus.url("") as &str, &victoria.url(""), &receiver.url];
    bench.file("watch.toml", configuration(&broker, scraped, urls));
    bench.file("load.toml", load());
    let watch = bench
        .command("watch --config watch.toml")
        .stderr(File::create(bench.path("said")).unwrap())
        .spawn()
        .unwrap();
    eventually("it is recorded", || !files_below(&bench.path("windows"), ".pb.gz").is_empty());
    bench.rabbitscope(&format!("run load.toml --uri {} --out out", broker.uri())).code(0);
    let confirmed = count(&bench.json("out/run.json"), "confirmed");
    for (server, series) in [
        (&prometheus, "job=\"rabbitscope\""),
        (&prometheus, "job=\"scraped\""),
        (&victoria, "via=\"remote-write\""),
        (&victoria, "via=\"influx\""),
    ] {
        check_series(server, series, confirmed);
    }
    check_directory(&bench);
    check_requests(&receiver);
    watch.killed();
    remains::assert_nothing_left(&broker, "watch");
}

#[track_caller]
fn check_series(server: &Server, series: &str, confirmed: u64) {
    let counter = format!("rabbitscope_node_messages_confirmed_total{{{series}}}");
    eventually(&format!("{counter} is {confirmed}"), || {
        server.query(&counter) == [confirmed as f64]
    });
    let top = format!("topk(1, {CPU}{{{series}}}) and {CPU}{{queue=\"{PLANTED}\",vhost=\"/\"}}");
    eventually(&top, || server.query(&top).len() == 1);
    let free = format!("rabbitscope_node_disk_free_bytes{{{series}}} > 1e6");
    assert_eq!(server.query(&free).len(), 1, "{free}");
    let up = format!("rabbitscope_node_up{{{series}}}");
    assert_eq!(server.query(&up), [1.0], "{up}");
    // The end of the run deletes the queue.
    let left = format!("max_over_time({DEPTH}{{{series},queue=\"{LEFT}\"}}[5m])");
    eventually(&left, || server.query(&left) == [f64::from(LEFT_MESSAGES)]);
    assert!(!server.query(&format!("{DEPTH}{{{series},queue=\"other\"}}")).is_empty());
    let role = format!("rabbitscope_node_role_cpu_seconds_total{{{series},role=\"queue\"}} > 0");
    assert_eq!(server.query(&role).len(), 1, "{role}");
}

fn check_directory(bench: &Workbench) {
    let mut weights = BTreeMap::new();
    for file in files_below(&bench.path("windows"), ".pb.gz") {
        let profile = read_pprof(fs::read(file).unwrap().as_slice()).unwrap();
        add_queues(&profile, &mut weights);
    }
    check_heaviest("the directory", &weights);
}

fn add_queues(profile: &Profile, weights: &mut BTreeMap<String, u64>) {
    for sample in &profile.samples {
        let process = sample.labels.process.as_ref();
        let identity = process.and_then(|pid| profile.identities.get(&**pid));
        if let Some(identity) = identity.filter(|identity| identity.is_queue()) {
            *weights.entry(identity.name.clone()).or_default() += sample.weight;
        }
    }
}

#[track_caller]
fn check_heaviest(sink: &str, weights: &BTreeMap<String, u64>) {
    let heaviest = weights.iter().max_by_key(|(_, weight)| **weight);
    assert_eq!(heaviest.map(|(name, _)| name.as_str()), Some(PLANTED), "{sink}: {weights:?}");
}

/// Queues and their samples by the path of a request.
type Sinks = BTreeMap<String, BTreeMap<String, u64>>;

fn check_requests(receiver: &Receiver) {
    let mut sinks = Sinks::new();
    while !have_all_enough(&sinks) {
        let request = receiver.next(Duration::from_secs(30)).expect("windows are still sent");
        let queues = sinks.entry(request["path"].as_str().unwrap().to_owned()).or_default();
        for sample in request["samples"].as_array().unwrap() {
            if let Value::String(queue) = &sample["labels"]["queue"] {
                *queues.entry(queue.clone()).or_default() += sample["count"].as_u64().unwrap();
            }
        }
    }
    for (sink, weights) in &sinks {
        check_heaviest(sink, weights);
    }
}

/// Returns whether the three paths have enough samples. Earlier data are in the channel, so that this takes no time.
fn have_all_enough(sinks: &Sinks) -> bool {
    let samples = |queues: &BTreeMap<String, u64>| queues.values().sum::<u64>();
    sinks.len() == 3 && sinks.values().all(|queues| samples(queues) >= ENOUGH_SAMPLES)
}

/// Queues of such a broker write nothing into its tables. Zero messages would be a wrong figure.
#[test]
fn a_broker_without_statistics_says_so_and_has_no_figures_of_queues() {
    if !is_root() {
        return;
    }
    // The node counts from its start, so another test's messages would be counted too.
    let broker = broker_with(|_| ());
    let (scraped, bench) = (free_address(), Workbench::new("statistics"));
    let (home, epmd) = (broker.distribution().0, broker.port_mapper());
    let configuration = format!(
        "[nodes]\nonly = ['{}*']\n[metrics]\ninterval = '1s'\nlisten = '{scraped}'\n\
         [inside]\nask = true\ncookie-file = '{}/.erlang.cookie'\nepmd-port = {epmd}\n",
        broker.name,
        home.display()
    );
    bench.file("watch.toml", &configuration);
    let watch = bench
        .command("watch --config watch.toml -o windows")
        .stderr(File::create(bench.path("said")).unwrap())
        .spawn()
        .unwrap();
    let note = "keeps no statistics of queues and connections";
    eventually(note, || bench.read("said").contains(note));
    bench.file("load.toml", load());
    bench.rabbitscope(&format!("run load.toml --uri {} --out out", broker.uri())).code(0);
    let published = count(&bench.json("out/run.json"), "published");
    let counter = "rabbitscope_node_messages_published_total{";
    eventually("all are counted", || {
        let metrics = http::get(scraped, "/metrics", "");
        let line = metrics.lines().find(|line| line.starts_with(counter)).unwrap_or_default();
        line.contains(&format!("}} {published}"))
    });
    let metrics = http::get(scraped, "/metrics", "");
    for absent in ["queue_messages", "messages_ready", "queues", "connections_in_flow"] {
        assert!(!metrics.contains(&format!("rabbitscope_node_{absent}{{")), "{absent}: {metrics}");
    }
    watch.killed();
    assert_eq!(bench.read("said").matches(note).count(), 1);
}
