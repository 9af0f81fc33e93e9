//! Support of every option, and conversion of command lines to scenarios.

use std::error::Error;

use rabbitscope_runs::scenario::{
    Body, FieldValue, MemberQueues, NO_WINDOW, Protocol, QueueNames, QueueType, Scenario, parse,
};

use super::{
    arguments::{METRICS_OPTIONS, OPTIONS, ProgramOption, Values},
    checks::check_table,
    *,
};

/// Output of `PerfTest --help`, version 2.22.1.
const HELP: &str = include_str!("../tests/perftest-2.22.1-help.txt");
/// Output of `PerfTest --metrics-help`.
const METRICS_HELP: &str = include_str!("../tests/perftest-2.22.1-metrics-help.txt");
const TABLE: &str = include_str!("../../../docs/reference/perftest.md");

/// Returns short name, long name and presence of a value, from the help.
fn in_help(help: &str) -> Vec<(String, String, bool)> {
    let heads = help.lines().filter(|line| line.starts_with(" -") || line.starts_with("    --"));
    heads
        .map(|line| {
            let mut words = line.split_whitespace();
            let names = words.next().unwrap();
            let (short, long) = names.split_once(",--").unwrap_or(("", names));
            let trim = |name: &str| name.trim_start_matches('-').to_owned();
            (trim(short), trim(long), words.next() == Some("<arg>"))
        })
        .collect()
}

#[test]
fn every_option_of_the_help_is_known() {
    fn check(options: &[ProgramOption], help: &str) {
        let ours = options.iter().map(|(short, long, values, _)| {
            ((*short).to_owned(), (*long).to_owned(), *values != Values::None)
        });
        assert_eq!(ours.collect::<Vec<_>>(), in_help(help));
    }
    check(&OPTIONS, HELP);
    check(&METRICS_OPTIONS, METRICS_HELP);
}

#[test]
fn every_option_of_the_help_is_in_the_table() {
    check_table(TABLE, &OPTIONS);
}

fn scenario(command_line: &str) -> Scenario {
    checks::scenario(Program::PerfTest, command_line)
}

#[test]
fn command_lines_become_scenarios() {
    let lines = [
        "",
        "-x 1 -y 2 -u throughput-test-1 -a --id test-1",
        "-x 1 -y 2 -u throughput-test-4 --id test-4 -s 4000 -f persistent",
        "-x 1 -y 2 -u throughput-test-5 --autoack -s 4000 --rate 100 -z 15",
        "-x 2 -y 4 -u q -q 500 -A 100 -c 1000 -C 100000 -D 50000",
        "--queue-pattern perf-test-%05d --queue-pattern-from 1 --queue-pattern-to 3000 -x 100 -y 100",
        "-qq -u qq --confirm 100 --qos 1000 --multi-ack-every 500 -ll balanced",
        "-sq -u s -c 200 -q 100 -sco first -ma PT1H -smssb 500000000 -mlb 5000000000",
        "-e amq.topic -t topic -k a.b -K -rkcs 500 -u t -vr 100:60 -vr 1000:10 -vr 0:5",
        "-jb -s 2000 -bc 50 -T application/json -mp priority=5,foo=bar,expiration=60000 -vl 1000:60 -vl 0:10",
        "--polling --polling-interval 10 -u p -m 10 -n 5",
        "-mlb 20gb -smssb 500mb -u q --metrics-prometheus -mpp 8081",
        "-y 0",
        "-p -y 3",
        "-E -qp q-%d -qpf 1 -qpt 3 -y 7 -Y 2",
        "-na -re false -q 20 -u n -R 50 -csd 3 -S -prsd 5 -P 5",
        "-h amqps://me:secret@host:5671/v -sni host -b 10 -M 65536 -cri 30-60 -se -p -u there",
        "-H amqp://a,amqp://b -p -e '' -k d -u d -ew idle -vs 100:10 -vs 2000:20 -sb",
        "docker run -it --rm pivotalrabbitmq/perf-test:latest -x 1 -y 1 -u q -E -y 3 -Y 2",
    ];
    for line in lines {
        scenario(line);
    }
}

#[test]
fn values_arrive_where_they_belong() {
    let busy =
        scenario("-x 2 -X 3 -y 4 -c 100 -s 4kB -f persistent".replace("4kB", "4000").as_str());
    let publishers = &busy.publishers[0];
    assert_eq!((publishers.count, publishers.connections, publishers.channels), (6, 2, 3));
    assert_eq!((publishers.size_bytes(), publishers.confirm_window), (4000, Some(100)));
    assert!(publishers.is_persistent() && busy.queues[0].durable && busy.queues[0].auto_delete);
    assert_eq!(busy.exchanges[0].name, "direct");
    let json = scenario("-jb -s 200 -bc 7 -mp priority=3,level=9,contentType=a/b");
    assert_eq!(json.publishers[0].body(), Body::Json { documents: 7, fields: Some(1000) });
    let properties = &json.publishers[0].properties;
    assert_eq!((properties.priority, properties.content_type.as_deref()), (Some(3), Some("a/b")));
    assert!(properties.headers.contains_key("level"));
    let many = scenario("-qp q-%03d -qpf 5 -qpt 7");
    assert_eq!(many.queues[0].queue_names(), ["q-005", "q-006", "q-007"]);
    assert_eq!(
        many.queues[0].binding_keys(&many.queues[0].bindings[0]),
        ["q-005", "q-006", "q-007"]
    );
}

#[test]
fn queues_are_those_of_perftest() {
    let own = scenario("-y 2 -Y 3");
    assert_eq!((own.queues[0].queues(), own.consumers[0].count), (QueueNames::ByBroker, 6));
    assert!(own.queues[0].auto_delete && own.queues[0].keep && own.exchanges[0].durable);
    assert!(own.publishers[0].routing_key().starts_with("perf-test-"));
    assert_ne!(scenario("").publishers[0].routing_key(), own.publishers[0].routing_key());
    let all = scenario("-u a,b -y 2");
    assert_eq!(all.queues[0].queue_names(), ["a", "b"]);
    assert_eq!(all.consumers[0].member_queues, MemberQueues::All);
    let some = scenario("-qp q-%d -qpf 1 -qpt 5 -y 2");
    assert_eq!(some.consumers[0].member_queues, MemberQueues::One);
    let there = scenario("-p -u q");
    assert!(there.queues[0].if_missing && there.exchanges[0].if_missing);
    assert!(there.queues[0].bind_existing == Some(true), "a queue that is there is bound");
    let fanout = scenario("-t fanout -u q");
    assert_eq!((&*fanout.exchanges[0].name, &*fanout.exchanges[0].kind), ("fanout", "fanout"));
    assert_eq!(scenario("-E -u q -y 4").consumers[0].connections, 1);
    assert!(scenario("-y 0").queues.is_empty() && scenario("-E -u q -y 0").queues.is_empty());
    assert!(scenario("-y 0 -u q").queues[0].auto_delete);
    assert!(!scenario("-po -u q").queues[0].keep, "PerfTest deletes it");
}

#[test]
fn arguments_are_those_of_perftest() {
    let check = |line: &str, key: &str, expected: &FieldValue| {
        assert_eq!(scenario(line).queues[0].arguments.get(key), Some(expected), "{line}");
    };
    let text = |text: &str| FieldValue::Text(text.to_owned());
    check("-sq -u s", "x-max-length-bytes", &FieldValue::Integer(20_000_000_000));
    check("-sq -u s", "x-stream-max-segment-size-bytes", &FieldValue::Integer(500_000_000));
    check("-u q -qa x-max-length=5", "x-max-length", &FieldValue::Integer(5));
    check("-u q -qa a=b=c", "a", &text("b"));
    check("-u q -qa x-queue-type=classic", "x-queue-type", &text("classic"));
    let single = "x-single-active-consumer";
    check("-u q -qa x-single-active-consumer=true", single, &FieldValue::Bool(true));
    check("-u q -qa x-dead-letter-exchange=amq.default", "x-dead-letter-exchange", &text(""));
    let unlimited = scenario("-sq -u s -mlb 0");
    assert!(!unlimited.queues[0].arguments.contains_key("x-max-length-bytes"));
    let typed = scenario("-u q -qa x-queue-type=quorum -f persistent -ad false");
    assert_eq!(typed.queues[0].queue_type, QueueType::Quorum);
}

#[test]
fn messages_are_those_of_perftest() {
    let group = |line: &str| scenario(line).publishers.remove(0);
    assert!(group("-qq -u q").is_persistent() && group("-sq -u q").is_persistent());
    assert!(!group("-f persistent,mandatory").is_persistent());
    let both = group("-f persistent mandatory");
    assert!(both.is_persistent() && both.mandatory);
    let mode = group("-f persistent -mp deliveryMode=1,timestamp=1970-01-01T00:00:09Z,clusterId=c");
    assert_eq!((mode.is_persistent(), mode.properties.delivery_mode), (false, Some(1)));
    assert_eq!(mode.properties.timestamp, Some(9));
    assert_eq!(mode.properties.cluster_id.as_deref(), Some("c"));
    let json = group("-jb");
    assert_eq!(json.properties.content_type.as_deref(), Some("application/json"));
    assert_eq!(group("-T a/b").properties.content_type, None);
    assert_eq!(group("-B f -T a/b").properties.content_type.as_deref(), Some("a/b"));
}

#[test]
fn the_pace_is_that_of_perftest() {
    let group = |line: &str| scenario(line).publishers.remove(0);
    let rate = |line: &str| group(line).schedule().rate.map(|rate| (rate * 1000.0).round());
    assert_eq!(rate("-r 0"), Some(0.0));
    assert_eq!((rate("-r 3"), rate("-r 50"), rate("")), (Some(3003.0), Some(50_000.0), None));
    assert_eq!((rate("-P 0.5"), rate("-P 0.5 -r 50")), (Some(2000.0), Some(2000.0)));
    let delay = |line: &str| group(line).random_start_delay.as_secs();
    assert_eq!((delay(""), delay("-r 50"), delay("-vr 5:5"), delay("-P 1")), (0, 1, 1, 1));
    assert_eq!((delay("-r 50 -prsd 0"), delay("-prsd 7")), (0, 7));
    let window = |line: &str| group(line).confirm_window;
    assert_eq!((window("-c 0"), window("-c 9"), window("-c -1")), (Some(NO_WINDOW), Some(9), None));
}

#[test]
fn what_has_no_equivalent_is_said_and_secrets_are_not() {
    let text = scenario_of(Program::PerfTest, "-niot 4 -h amqp://me:secret@host -ms -z 5").unwrap();
    for part in ["# --nio-threads has no equivalent: a few", "# --use-millis", "amqp://me@host"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("secret"));
}

#[test]
fn what_perftest_ignores_is_said() {
    fn check(line: &str, note: &str) {
        let text = scenario_of(Program::PerfTest, line).unwrap();
        let mut notes = text.lines().filter(|line| line.starts_with('#'));
        assert!(notes.any(|line| line.contains(note)), "{note} is not in {text}");
    }
    check("-p true -u q", "`true` belongs to no option");
    check("-f persistent,mandatory", "--flag persistent,mandatory: PerfTest ignores it");
    check("-a -A 5", "--multi-ack-every means nothing with --autoack");
    check("-a -n 5", "--ctxsize means nothing");
    check("-po -q 5 -u q", "--qos means nothing");
    check("-T a/b", "--body-content-type");
    check("-ct 5", "--confirm-timeout");
    check("-jb -vs 5:5", "--variable-size");
    check("-P 1 -r 50", "--publishing-interval");
    check("-mp headers=x", "headers");
    check("-y 0", "declares no queue");
    check("-p -y 3", "consumers are left out");
    check("-y 0 -ew idle -u q", "--exit-when");
    check("-L 1000", "prefetch");
    check("-mpr", "--metrics-prometheus has no equivalent");
    check("-cri 30-60", "doubling");
    check("-sni a", "--server-name-indication means nothing");
    check("-f persistent --autoak", "`--autoak` is the value of --flag for PerfTest");
    check("PRODUCERS=3 perf-test -x 5", "the variable PRODUCERS is read as --producers");
    check("-h 'amqp://h?failover=nearest&connection_timeout=5'", "`failover` of the broker's URI");
    check("timeout 60 perf-test -x 1", "`timeout 60` becomes the duration");
}

#[test]
fn variables_are_options_as_for_perftest() {
    let busy = "docker run -e PRODUCERS=3 -e AUTOACK=true -e QUEUE=q -e FLAG=persistent,mandatory -e PREDECLARED=no \
                -e TIME=5 pivotalrabbitmq/perf-test -x 1 -p -y 2 -u p";
    let read = scenario(busy);
    assert_eq!((read.publishers[0].count, read.consumers[0].count), (3, 2));
    assert_eq!(read.queues[0].queue_names(), ["q"]);
    assert!(read.publishers[0].mandatory && read.consumers[0].auto_ack);
    assert!(!read.queues[0].if_missing, "a variable that is not `true` takes the option away");
    let count = |line: &str| scenario(line).publishers[0].count;
    assert_eq!(count("RABBITMQ_PERF_TEST_ENV_PREFIX=PT PT_PRODUCERS=3 PRODUCERS=4 perf-test"), 3);
    assert_eq!(count("RABBITMQ_PERF_TEST_ENV_PREFIX=PT_ PRODUCERS=4 perf-test -x 2"), 2);
    assert_eq!(count("PRODUCER=4 VERBOSE=true perf-test -x 2"), 2);
}

#[test]
fn a_uri_keeps_what_means_something() {
    fn check(line: &str, uri: &str) {
        let text = scenario_of(Program::PerfTest, line).unwrap();
        assert!(text.contains(&format!("\"{uri}\"")), "{line}: {text}");
    }
    check("-h 'amqp://h/v?heartbeat=5&failover=x'", "amqp://h/v?heartbeat=5");
    check("-h 'amqp://h/v?heartbeat=5&failover=x' -b 9", "amqp://h/v?heartbeat=9");
    check("-h 'amqp://u:p@h/v?connection_timeout=5'", "amqp://u@h/v");
    check("-H 'amqp://a?x=y,amqp://b?channel_max=7'", "amqp://b?channel_max=7");
    assert_eq!(
        convert("-h 'amqp://u:p@h?auth=x'", Protocol::default()).unwrap().uris,
        ["amqp://u:p@h"]
    );
}

#[test]
fn queues_of_the_stream_protocol_are_streams() {
    fn read(line: &str) -> (Scenario, String) {
        let converted = convert(line, Protocol::Stream).unwrap();
        (parse(&converted.text(), "test", &[]).unwrap(), converted.notes.join("\n"))
    }
    fn check(line: &str, streams: &[&str], without: &[&str]) {
        let (scenario, notes) = read(line);
        assert_eq!(scenario.queues[0].queue_type, QueueType::Stream, "{line}");
        assert_eq!(scenario.queues[0].queue_names(), streams, "{line}");
        assert!(scenario.exchanges.is_empty() && scenario.queues[0].bindings.is_empty(), "{line}");
        let protocols = scenario.publishers.iter().map(|group| group.protocol);
        let mut protocols = protocols.chain(scenario.consumers.iter().map(|group| group.protocol));
        assert!(protocols.all(|protocol| protocol == Protocol::Stream), "{line}");
        for option in ["exchange", "routing-key", "qos", "autoack", "multi-ack-every", "polling"] {
            let note = format!("--{option} means nothing");
            assert_eq!(notes.contains(&note), without.contains(&option), "{line}: {notes}");
        }
    }
    check("-x 2 -y 2", &["perf-test"], &[]);
    check("-u s -e amq.topic -t topic -k key", &["s"], &["exchange", "routing-key"]);
    check("-u s -q 10 -A 5 -a", &["s"], &["qos", "autoack", "multi-ack-every"]);
    check("-qp s-%d -qpf 1 -qpt 3 -x 3 -y 3", &["s-1", "s-2", "s-3"], &[]);
    check("-u a,b -x 2 -y 1 -f persistent", &["a", "b"], &[]);
    check("-u s -po", &["s"], &["polling"]);
    let (scenario, _) = read("-u s -c 100 -sco first -mlb 1gb -cl 5");
    assert_eq!(scenario.publishers[0].confirm_window, Some(100));
    assert!(scenario.consumers[0].arguments.contains_key("x-stream-offset"));
    let refused = |line: &str| format!("{:?}", convert(line, Protocol::Stream).unwrap_err());
    assert!(refused("-m 5 -u s").contains("no transactions"), "{}", refused("-m 5 -u s"));
    assert!(refused("-E -u s").contains("exclusive"), "{}", refused("-E -u s"));
}

#[test]
fn what_cannot_work_is_refused() {
    fn check(line: &str, part: &str) {
        let error = scenario_of(Program::PerfTest, line).unwrap_err();
        let cause = error.source().map(ToString::to_string).unwrap_or_default();
        let message = format!("{error}: {cause}");
        assert!(message.contains(part), "{line}: {message}");
    }
    check("-q 10 -A 20", "multi-ack-every");
    check("-m 5 -c 5", "tx-size");
    check("-x many", "--producers: `many`");
    check("-ew never", "--exit-when: `never`");
    check("-vr 5", "--variable-rate: `5`");
    check("--sing", "no option `--sing`");
    check("-qq", "the broker names no quorum queues");
    check("-qq -sq -u q", "not both");
    check("-u q -qa x-queue-type=quorum", "needs -f persistent");
    check("-e amq.topic", "of type topic");
    check("-e amq.default", "default exchange");
    check("-p -e amq.default -u q", "keys that it makes up");
    check("-qp q-%d", "--queue-pattern-from");
    check("-smssb 4gb -u q", "at most 3gb");
    check("-a -sq -u s", "auto-ack");
    check("-qq -u q -Q 5", "channel-prefetch");
    check("-ll nearest", "`client-local`");
    check("-ma 1h", "PT10M30S");
    check("-P 0.05", "at least 0.1");
    check("-cri 60-30", "30-60");
    check("-x 4 --autoak", "no option `--autoak`");
    check("-r 100 --confrim 10", "no option `--confrim`");
    check("docker run perf-test bin/runjava com.rabbitmq.perf.PerfTestMulti a b", "JSON file");
}
