//! Every option of Stream PerfTest, and the scenarios of command lines.

use rabbitscope_runs::scenario::{Algorithm, BrokerSpec, FieldValue, MemberQueues, Protocol};

use super::options::OPTIONS;
use crate::{
    Program,
    checks::{check_lines, check_notes, check_refusals, check_table, scenario, text},
};

const TABLE: &str = include_str!("../../../../docs/reference/stream-perf-test.md");

const PROGRAM: Program = Program::StreamPerfTest;

#[test]
fn every_option_is_in_the_table() {
    check_table(TABLE, &OPTIONS);
}

/// Command lines, and the line of the scenario that is there because of an option.
const LINES: &[(&str, &str)] = &[
    ("-u rabbitmq-stream://me:secret@h:6000/x", "uri = \"amqp://me@h/x?stream_port=6000\""),
    ("-u rabbitmq-stream://a,rabbitmq-stream://b", "uris = [\"amqp://a\", \"amqp://b\"]"),
    ("-au amqp://h:5673 -u rabbitmq-stream://h:6000", "uri = \"amqp://h:5673?stream_port=6000\""),
    ("-u rabbitmq-stream+tls://h -sni n", "server-name = \"n\""),
    ("-x 4 -pbc 2", "count = 4\nconnections = 2\nprotocol = \"stream\"\nqueue = \"stream\""),
    ("-y 5 -cbc 2", "count = 5\nconnections = 3"),
    ("-s 500", "size = \"500B\""),
    ("-s 8", "size = \"12B\""),
    ("-c 50", "confirm-window = 50"),
    ("", "confirm-window = 10000"),
    ("-st orders", "name = \"orders\""),
    ("-st a,b", "names = [\"a\", \"b\"]"),
    ("-sc 3", "names = [\"stream-1\", \"stream-2\", \"stream-3\"]"),
    ("-sc 9-10 -st s-%d", "names = [\"s-9\", \"s-10\"]"),
    ("-sc 8..10", "names = [\"stream-08\", \"stream-09\", \"stream-10\"]"),
    ("", "keep = true"),
    ("-o first", "offset = \"first\""),
    ("-o 7", "offset = 7"),
    ("-o 2026-06-03T07:45:54Z", "offset = 2026-06-03T07:45:54Z"),
    ("-r 1000", "rate = 1000"),
    ("-R 10 -y 1", "rate = 10"),
    ("-ses 100", "sub-entry-size = 100"),
    ("-ses 100 -co lz4", "compression = \"lz4\""),
    ("-mlb 5gb", "x-max-length-bytes = 5000000000"),
    ("-smssb 20mb", "x-stream-max-segment-size-bytes = 20000000"),
    ("-ma 10m30s", "x-max-age = \"630s\""),
    ("-ma P5DT8H", "x-max-age = \"460800s\""),
    ("-imc 3", "x-initial-cluster-size = 3"),
    ("-ll least-leaders", "x-queue-leader-locator = \"least-leaders\""),
    ("-se 500 -cn app", "consumer-name = \"app\"\nstore-every = 500"),
    ("-se 500", "consumer-name = \"stream-1\""),
    ("-sac -cn app", "single-active-consumer = true"),
    ("-pn p-%s-%d", "reference = true"),
    ("-rt 3", "connect-timeout = \"3s\""),
    ("-sst -ssp 5", "partitions = 5"),
    ("-sst", "exchange = \"stream\"\nrouting-key = \"{}\""),
    ("-z 30", "duration = \"30s\""),
    ("-fvs 1..3", "filter-values = [\"1\", \"2\", \"3\"]"),
    ("-fvs a,b -fs 32", "x-stream-filter-size-bytes = 32"),
    ("-fv a,b", "filter-values = [\"a\", \"b\"]"),
    ("-ic 20", "credit = 20"),
    ("--credits 12-4", "credit = 12"),
    ("-b 5 -u rabbitmq-stream://h", "uri = \"amqp://h?heartbeat=5\""),
    ("-cri 2:7", "recovery-delay = \"2s\"\nrecovery-max-delay = \"7s\""),
    ("-tsbs 1mb", "send-buffer = \"1000000B\""),
    ("-trbs 64kb", "receive-buffer = \"64000B\""),
    ("-tnd false", "nodelay = false"),
    ("-L 5ms", "processing-time = \"5000us\""),
    ("-C 1000", "messages = 1000"),
    ("-D 2000", "messages = 2000"),
    ("--id test-1 -ei 2", "name = \"test-1\""),
];

/// Every option that has an effect, one by one.
#[test]
fn each_option_has_its_line() {
    check_lines(PROGRAM, LINES);
    assert!(!text(PROGRAM, "-ds").contains("keep"));
    assert!(!text(PROGRAM, "-mlb 0").contains("x-max-length-bytes"));
    assert!(
        !text(PROGRAM, "-x 0").contains("[[publishers]]")
            && !text(PROGRAM, "-y 0").contains("[[consumers]]")
    );
}

#[test]
fn a_command_line_becomes_a_scenario() {
    let found = scenario(
        PROGRAM,
        "docker run --rm pivotalrabbitmq/stream-perf-test --uris rabbitmq-stream://h:5552 --producers 3 --consumers 2 \
         --stream-count 3 --rate 500 --sub-entry-size 20 --compression gzip --time 60",
    );
    let BrokerSpec::Existing { .. } = &found.broker.spec else { panic!("it has a URI") };
    let (publishers, consumers) = (&found.publishers[0], &found.consumers[0]);
    assert_eq!((publishers.count, publishers.member_queues), (3, MemberQueues::One));
    assert_eq!((publishers.protocol, consumers.protocol), (Protocol::Stream, Protocol::Stream));
    assert_eq!(
        (publishers.sub_entry_size, publishers.compression),
        (Some(20), Some(Algorithm::Gzip))
    );
    assert_eq!(found.queues[0].queue_names().len(), 3);
    assert!(found.queues[0].keep && found.queues[0].if_missing);
    let length = &found.queues[0].arguments["x-max-length-bytes"];
    assert_eq!(length, &FieldValue::Integer(20_000_000_000));
    // Two super streams, whose members are shared out.
    let found = scenario(PROGRAM, "-sst -st a,b -x 3 -y 2 -sac -cn app -C 10");
    let counts: Vec<_> = found.publishers.iter().map(|group| group.count).collect();
    assert_eq!(counts, [2, 1]);
    assert_eq!(found.publishers[1].exchange.as_deref(), Some("b"));
    assert_eq!(found.consumers[1].super_stream.as_deref(), Some("b"));
    assert_eq!(found.partitions("a").unwrap().len(), 3);
}

#[test]
fn what_has_no_counterpart_is_said() {
    let lines = [
        ("-bs 50", "--batch-size has no equivalent"),
        ("-cc qpid", "--codec has no equivalent"),
        ("-sac", "so that all are active"),
        ("-co gzip", "only with --sub-entry-size"),
        ("-ses 5 -co snappy", "snappy has no equivalent"),
        ("-ses 5 -co gzip", "bodies are JSON"),
        ("", "for a day"),
        ("-sni n", "means nothing without"),
        ("timeout 20 stream-perf-test -x 1", "`timeout 20` becomes the duration"),
        ("RATE=5 stream-perf-test", "the variable RATE is read as --rate, as Stream PerfTest does"),
    ];
    check_notes(PROGRAM, &lines);
    let lines = [
        ("--producer 1", "no option `--producer`"),
        ("-x 1 -x 2", "once only"),
        ("-x 1 word", "`word` belongs to no option"),
        ("-o soon", "--offset: `soon` is not"),
        ("-ll best", "--leader-locator"),
        ("-sc 10-1", "--stream-count"),
        ("-sc 2 -st a,b", "needs one name"),
        ("-co zip", "--compression"),
        ("-L 5parsecs", "--consumer-latency"),
        ("perf-test -x 1", "give it to `run --from-perftest`"),
        ("-sst -ssp 400", "cannot work"),
    ];
    check_refusals(PROGRAM, &lines);
}
