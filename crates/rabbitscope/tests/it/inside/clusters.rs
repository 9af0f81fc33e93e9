//! Queues of a cluster whose leader is on another node, or on a node that is down.

use std::{
    collections::BTreeSet,
    env,
    io::{Read, Write},
    net::TcpStream,
    thread,
    time::{Duration, Instant},
};

use rabbitscope_broker::Broker;
use rabbitscope_testing::{
    Ended, Ends, OwnBroker, PUBLISH, Workbench, is_root, node_options, own_broker, plant,
};
use serde_json::{Value, json};

/// Registers a node at another node's port mapper, for this value's lifetime.
struct Registered {
    _stream: TcpStream,
}

impl Registered {
    fn at(mapper: u16, node: &Broker) -> Self {
        let port = format!("element(2, erl_epmd:port_please(\"{}\", \"localhost\"))", node.name);
        let port: u16 = node.eval(&port).unwrap().parse().unwrap();
        let mut stream = TcpStream::connect(("127.0.0.1", mapper)).unwrap();
        // ALIVE2_REQ: a visible node, TCP over IPv4, protocol versions 6 to 5, no extra field.
        let mut request = vec![120];
        request.extend(port.to_be_bytes());
        request.extend([77, 0, 0, 6, 0, 5]);
        request.extend(u16::try_from(node.name.len()).unwrap().to_be_bytes());
        request.extend(node.name.as_bytes());
        request.extend([0, 0]);
        stream.write_all(&u16::try_from(request.len()).unwrap().to_be_bytes()).unwrap();
        stream.write_all(&request).unwrap();
        let mut answer = [0; 2];
        stream.read_exact(&mut answer).unwrap();
        assert_eq!(answer[1], 0, "{answer:?}");
        Self { _stream: stream }
    }
}

/// Two brokers that form one cluster.
struct Cluster {
    first: OwnBroker,
    second: OwnBroker,
    _known: [Registered; 2],
}

impl Cluster {
    fn start() -> Self {
        let (first, second) = (own_broker(), own_broker());
        let home = first.distribution().0;
        let known = [
            Registered::at(first.port_mapper(), &second),
            Registered::at(second.port_mapper(), &first),
        ];
        let cookie = std::fs::read_to_string(home.join(".erlang.cookie")).unwrap();
        let of_first = format!("'{}'", first.node_name());
        let join = format!(
            "erlang:set_cookie({of_first}, list_to_atom(\"{}\")), \
             true = net_kernel:connect_node({of_first}), rabbit:stop(), \
             ok = case erlang:function_exported(rabbit_mnesia, join_cluster, 2) of \
               true -> apply(rabbit_mnesia, join_cluster, [{of_first}, disc]); \
               false -> apply(rabbit_db_cluster, join, [{of_first}, disc]) end, rabbit:start()",
            cookie.trim()
        );
        plant(&second, &join);
        Self { first, second, _known: known }
    }

    /// Returns a command's output for all nodes, through the first.
    fn all(&self, bench: &Workbench, command: &str) -> Value {
        self.asked(bench, &format!("{command} --json")).code(0).json()
    }

    fn asked(&self, bench: &Workbench, command: &str) -> Ended {
        // The brokers belong to this process, whose directory for them differs from the program's.
        let prefix = format!("env TMPDIR={} timeout --signal=KILL 120", env::temp_dir().display());
        let options = format!("{command} --cluster --node {}", self.first.node_name());
        bench.command_through(&prefix, &options).ended()
    }

    /// Returns the queues as the first node reports them.
    fn queues(&self, bench: &Workbench, more: &str) -> Value {
        self.listing(bench, more)["queues"].take()
    }

    /// Returns a listing through the first node. The program does not know the other node's cookie, so that with
    /// `--cluster` the other node is missing.
    fn listing(&self, bench: &Workbench, more: &str) -> Value {
        let asked = format!("queues {} --json {more}", node_options(&self.first));
        bench.rabbitscope(&asked).code(i32::from(more == "--cluster")).json()
    }

    /// Waits until the listing has the expected rows: the figures of queues take some time to reach the tables.
    #[track_caller]
    fn shows(&self, bench: &Workbench, more: &str, expected: &[&str]) {
        shows(more, expected, || self.queues(bench, more));
    }
}

#[track_caller]
fn shows(what: &str, expected: &[&str], read: impl Fn() -> Value) {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let found = words(&read());
        if found == expected {
            return;
        }
        assert!(Instant::now() < deadline, "{what}: {found:?}, and not {expected:?}");
        thread::sleep(Duration::from_millis(300));
    }
}

const DECLARE: &str = "[{new, _} = rabbit_amqqueue:declare({resource, <<\"/\">>, queue, Type}, true, false, \
    [{<<\"x-queue-type\">>, longstr, Type}], none, <<\"test\">>) \
    || Type <- [<<\"classic\">>, <<\"quorum\">>, <<\"stream\">>]], ok";

/// Writes eleven messages into the stream. A publication without a channel does not reach a stream.
const WRITE: &str = "{ok, Stream} = rabbit_amqqueue:lookup({resource, <<\"/\">>, queue, <<\"stream\">>}), \
    [ok = osiris:write(amqqueue:get_pid(Stream), undefined, N, <<\"body\">>) || N <- lists:seq(1, 11)], ok";

/// Publishes without a channel and without confirms.
fn publish(broker: &Broker, queue: &str, messages: u32) {
    let publish = format!(
        "Publish = {PUBLISH}, [Publish(<<\"/\">>, <<\"{queue}\">>, <<\"body\">>) \
         || _ <- lists:seq(1, {messages})], ok"
    );
    plant(broker, &publish);
}

/// Returns the name, the ready messages, the state and the reason for missing figures of each queue.
fn words(queues: &Value) -> Vec<String> {
    let word = |value: &Value| value.to_string().replace('"', "");
    let row =
        |row: &Value| ["name", "ready", "state", "missing"].map(|key| word(&row[key])).join(" ");
    queues.as_array().unwrap().iter().map(row).collect()
}

#[test]
fn queues_of_other_nodes_are_asked_there() {
    let bench = Workbench::new("cluster");
    let cluster = Cluster::start();
    for node in [&cluster.first, &cluster.second] {
        // The tables must be read, too.
        node.eval("application:set_env(rabbit, collect_statistics, coarse)").unwrap();
    }
    plant(&cluster.second, DECLARE);
    publish(&cluster.second, "classic", 3);
    publish(&cluster.second, "quorum", 7);
    plant(&cluster.second, WRITE);
    let expected = ["classic 3 running null", "quorum 7 running null", "stream 11 running null"];
    cluster.shows(&bench, "--exact", &expected);
    all_nodes_are_shown_at_once(&cluster, &bench, &expected);

    cluster.second.eval("rabbit:stop()").unwrap();
    let down = ["classic null null down", "quorum null null down", "stream null null down"];
    for how in ["--exact", "", "--cluster"] {
        cluster.shows(&bench, how, &down);
    }
    a_missing_node_is_no_success(&cluster, &bench);
}

/// The available rows are shown in full, in every form.
fn a_missing_node_is_no_success(cluster: &Cluster, bench: &Workbench) {
    let missing = cluster.second.node_name();
    let expected = json!([{ "node": missing, "reason": "it is not running" }]);
    for command in ["queues", "top queues", "top --once --interval 100ms"] {
        let shown = cluster.asked(bench, &format!("{command} --json")).code(1).json();
        assert_eq!(shown["missing"], expected, "{command}: {shown:#}");
        let shown = cluster.asked(bench, command).code(1).stdout;
        assert!(shown.contains(&missing) && shown.contains("it is not running"), "{shown}");
        assert!(shown.lines().count() > 3, "{shown}");
    }
    let metrics = cluster.asked(bench, "queues --prometheus").code(1);
    assert!(metrics.stdout.contains("rabbitscope_queues_unanswered 0"), "{metrics:#?}");
    assert!(metrics.stderr.contains(&format!("{missing}, it is not running")), "{metrics:#?}");
}

/// Checks `queues`, `top` and `profile` with `--cluster`.
fn all_nodes_are_shown_at_once(cluster: &Cluster, bench: &Workbench, queues: &[&str]) {
    let names = [&cluster.first, &cluster.second].map(|broker| broker.node_name());
    shows("--cluster", queues, || cluster.all(bench, "queues")["queues"].take());

    let top = cluster.all(bench, "top --sort memory --limit 1000 --interval 100ms");
    let roles = |node: &str| {
        let nodes = top["nodes"].as_array().unwrap();
        let of = nodes.iter().find(|row| row["node"] == node).unwrap_or_else(|| panic!("{top:#}"));
        of["rows"].to_string()
    };
    assert!(roles(&names[0]).contains("\"quorum_follower\""), "{top:#}");
    assert!(roles(&names[1]).contains("\"quorum_leader\""), "{top:#}");

    // The missing node is named, and the first is still shown.
    let listing = cluster.listing(bench, "--cluster");
    assert_eq!(listing["missing"][0]["node"], names[1], "{listing:#}");
    assert_eq!(listing["queues"].as_array().unwrap().len(), 3, "{listing:#}");

    if is_root() {
        cluster.all(bench, "profile --event context-switches --duration 1s -o all.folded");
        let folded = bench.read("all.folded");
        let roots: BTreeSet<&str> =
            folded.lines().filter_map(|line| line.split(';').next()).collect();
        assert_eq!(roots, names.iter().map(String::as_str).collect());
    }
}
