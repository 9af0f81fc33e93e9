//! Every option of omq, and the scenarios of command lines.

use rabbitscope_runs::scenario::{MqttVersion, Protocol, QueueSpec, QueueType};

use super::options::OPTIONS;
use crate::{
    Program,
    checks::{check_lines, check_notes, check_refusals, check_table, scenario, text},
};

const TABLE: &str = include_str!("../../../../docs/reference/omq.md");

const PROGRAM: Program = Program::Omq;

#[test]
fn every_option_is_in_the_table() {
    check_table(TABLE, &OPTIONS);
}

/// Command lines, and the line of the scenario that is there because of an option.
const LINES: &[(&str, &str)] = &[
    ("amqp --uri amqp://me:secret@h/x", "uri = \"amqp://me@h/x\""),
    ("amqp --uri amqp://a --uri amqp://b", "uris = [\"amqp://a\", \"amqp://b\"]"),
    ("mqtt --publisher-uri mqtt://h:1884", "uri = \"amqp://h?mqtt_port=1884\""),
    (
        "stream --consumer-uri rabbitmq-stream://h:6000 --queues stream",
        "uri = \"amqp://h?stream_port=6000\"",
    ),
    ("mqtt --management-uri amqp://m --publisher-uri mqtt://m", "uri = \"amqp://m\""),
    ("amqp --uri amqps://h --tls-skip-verify", "verify = false"),
    ("amqp -x 3", "count = 3\nconnections = 3\nprotocol = \"amqp-1.0\""),
    ("amqp -y 2 --queues classic", "name = \"omq-{}\"\nfrom = 0\nto = 1"),
    ("amqp -C 10", "messages = 10"),
    ("amqp -D 20", "messages = 20"),
    ("amqp -t /queues/q", "queue = \"q\""),
    (
        "amqp091 -t /exchanges/amq.topic/a.%d -x 2",
        "exchange = \"amq.topic\"\nrouting-key = \"a.{}\"\nfrom = 0\nto = 1",
    ),
    ("mqtt -t sensors/%d -x 2", "topic = \"sensors/{}\"\nfrom = 0\nto = 1"),
    ("mqtt -T sensors/%d -y 2", "topics = [\"sensors/1\"]"),
    ("mqtt -T /topic/a", "topics = [\"a\"]"),
    ("amqp -T /queues/q", "queue = \"q\""),
    ("stream --queues stream --stream-offset first", "offset = \"first\""),
    ("stream --queues stream", "offset = \"next\""),
    ("stream --queues stream --stream-filter-values a,b", "filter-values = [\"a\", \"b\"]"),
    ("stream --queues stream --stream-filter-value-set a,b", "filter-values = [\"a\", \"b\"]"),
    ("amqp --consumer-priority 5", "priority = 5"),
    ("amqp --consumer-credits 100", "prefetch = 100"),
    ("stream --queues stream --consumer-credits 5", "credit = 5"),
    ("amqp -L 10ms", "processing-time = \"10000us\""),
    ("amqp --detect-gaps-in-messages", "verify = true"),
    ("amqp --detect-out-of-order-messages", "verify = true"),
    ("amqp --consumer-startup-delay 10s", "start-delay = \"10s\""),
    ("amqp --requeue-rate 100", "nack = true\nrequeue = true"),
    ("amqp --discard-rate=100", "nack = true\nrequeue = false"),
    ("amqp --queues quorum", "type = \"quorum\"\nkeep = true"),
    ("amqp", "predeclared = true"),
    ("amqp --queues classic --exchange amq.topic --binding-key k", "routing-key = \"k\""),
    ("amqp --queues classic --queue-args x-max-length=10", "x-max-length = 10"),
    ("amqp -s 1kb", "size = \"1024B\""),
    ("amqp -r 2.5", "rate = 2.5"),
    ("amqp -r 0", "rate = 0.0"),
    ("amqp -c 50", "confirm-window = 50"),
    ("amqp", "confirm-window = 1"),
    ("amqp", "persistent = true"),
    ("amqp --message-priority 5", "priority = 5"),
    ("amqp --message-ttl 60s", "expiration = \"60000ms\""),
    ("amqp -z 5m", "duration = \"300s\""),
    ("mqtt --mqtt-publisher-version 4", "mqtt-version = \"3.1.1\""),
    ("mqtt --mqtt-publisher-qos 1 -c 9", "qos = 1\nconfirm-window = 9"),
    ("mqtt --mqtt-consumer-version 3 --mqtt-consumer-qos 1", "mqtt-version = \"3.1.1\"\nqos = 1"),
    ("amqp --amqp-consume-settled", "auto-ack = true"),
    ("amqp091 --amqp091-mandatory", "mandatory = true"),
    ("amqp091 --amqp091-header a=b,c", "a = \"b\""),
    (
        "stream --queues stream --stream-single-active-consumer",
        "consumer-name = \"omq-consumer-0\"",
    ),
    (
        "stream --queues stream -t s -T s --stream-super-stream --stream-super-stream-partitions 4",
        "partitions = 4",
    ),
];

/// Every option that has an effect, one by one.
#[test]
fn each_option_has_its_line() {
    check_lines(PROGRAM, LINES);
    assert!(!text(PROGRAM, "amqp --queues classic --cleanup-queues").contains("keep"));
    assert!(!text(PROGRAM, "amqp --message-durability=false").contains("persistent"));
    assert!(!text(PROGRAM, "amqp -x 0").contains("[[publishers]]"));
}

#[test]
fn each_command_has_its_protocols() {
    let both = |line: &str| {
        let found = scenario(PROGRAM, line);
        (found.publishers[0].protocol, found.consumers[0].protocol)
    };
    assert_eq!(both("amqp -z 1s"), (Protocol::Amqp10, Protocol::Amqp10));
    assert_eq!(
        both("omq amqp091-mqtt -t /exchanges/amq.topic/a -T a -z 1s"),
        (Protocol::Amqp091, Protocol::Mqtt)
    );
    assert_eq!(both("-z 1s stream-amqp --queues stream"), (Protocol::Stream, Protocol::Amqp10));
    assert_eq!(
        both("docker run pivotalrabbitmq/omq mqtt-stream -t a -T s --queues stream -z 1s"),
        (Protocol::Mqtt, Protocol::Stream)
    );
    let found = scenario(
        PROGRAM,
        "omq stream-amqp -x 2 -y 1 --queues stream -r 100 -s 200 -C 50 -T /queues/omq-0",
    );
    assert_eq!(
        found.queues.iter().map(QueueSpec::queue_names).collect::<Vec<_>>().concat(),
        ["omq-0", "omq-1"]
    );
    assert_eq!(found.queues[0].queue_type, QueueType::Stream);
    let found = scenario(PROGRAM, "mqtt -z 1s");
    assert_eq!(found.publishers[0].mqtt_version, Some(MqttVersion::V5));
}

#[test]
fn what_has_no_counterpart_is_said() {
    let lines = [
        ("amqp --amqp-sql-filter x", "--amqp-sql-filter has no equivalent"),
        ("amqp -m", "--use-millis has no equivalent"),
        ("amqp -s 100,200", "only the first size"),
        ("amqp -L {{randInt}}ms", "a template has no counterpart"),
        ("amqp --requeue-rate 10", "settles all its messages alike"),
        ("stream --queues stream --requeue-rate 10", "means nothing to readers"),
        ("mqtt --mqtt-publisher-qos 2", "RabbitMQ has 0 and 1"),
        ("amqp -y 0 --detect-gaps-in-messages", "needs publishers and consumers"),
        ("amqp --uri amqp://a --consumer-uri amqp://b", "a run has one broker"),
        ("amqp", "for a day"),
        ("amqp extra", "`extra` belongs to no option: omq ignores it"),
        ("timeout 20 omq amqp", "`timeout 20` becomes the duration"),
    ];
    check_notes(PROGRAM, &lines);
    let lines = [
        ("-x 1", "omq needs a command"),
        ("stomp-amqp", "no load by STOMP"),
        ("amqp --producers 1", "no option `--producers`"),
        ("amqp --queues jms", "--queues: `jms`"),
        ("amqp -t /queues/{{.id}}", "templates and lists"),
        ("amqp -s 5", "at least 12 bytes"),
        ("amqp -z soon", "--time"),
        ("mqtt -T t/%d -y 200", "100 consumers at most"),
        ("stream --queues classic", "cannot work"),
        ("sing -x 1", "begins with no option"),
    ];
    check_refusals(PROGRAM, &lines);
}
