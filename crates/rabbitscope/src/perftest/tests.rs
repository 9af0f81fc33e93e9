//! Every option has its place, and command lines become scenarios.

use rabbitscope_data::scenario::{Body, Scenario, parse};

use super::{
    options::{Fate, OPTIONS},
    *,
};

/// What `PerfTest --help` prints, version 2.22.1.
const HELP: &str = include_str!("../../tests/data/perftest-2.22.1-help.txt");
const TABLE: &str = include_str!("../../../../docs/perftest.md");

/// Short name, long name, has a value: as in the help.
fn in_help() -> Vec<(String, String, bool)> {
    let heads = HELP.lines().filter(|line| line.starts_with(" -") || line.starts_with("    --"));
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
    let ours: Vec<_> = OPTIONS
        .iter()
        .map(|(short, long, takes_value, _)| {
            ((*short).to_owned(), (*long).to_owned(), *takes_value)
        })
        .collect();
    assert_eq!(ours, in_help());
}

#[test]
fn every_option_of_the_help_is_in_the_table() {
    for (short, long, _) in in_help() {
        let start = if short.is_empty() {
            format!("| `--{long}` | ")
        } else {
            format!("| `-{short}`, `--{long}` | ")
        };
        let row = TABLE.lines().find(|line| line.starts_with(&start));
        let row = row.unwrap_or_else(|| panic!("docs/perftest.md has no row {start}"));
        let says_none = row.contains("no equivalent");
        let (.., fate) = OPTIONS.iter().find(|(_, name, ..)| *name == long).unwrap();
        assert_eq!(says_none, *fate != Fate::Ours, "{row}");
    }
}

fn scenario(command_line: &str) -> Scenario {
    let text =
        scenario_of(command_line).unwrap_or_else(|error| panic!("{command_line}: {error:#}"));
    parse(&text, "test", &[]).unwrap()
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
        "-na -re false -q 20 -u n -R 50 -csd 3 -S -prsd 5 -P 5",
        "-h amqps://me:secret@host:5671/v -sni host -b 10 -M 65536 -cri 30-60 -se -p -u there",
        "-H amqp://a,amqp://b -e '' -u d -ew idle -vs 100:10 -vs 2000:20 -sb",
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
    assert_eq!((publishers.size_bytes, publishers.confirm_window), (4000, Some(100)));
    assert!(publishers.persistent && busy.queues[0].durable && busy.queues[0].auto_delete);
    assert_eq!(busy.exchanges[0].name, "direct");
    let json = scenario("-jb -s 200 -bc 7 -mp priority=3,level=9,contentType=a/b");
    assert_eq!(json.publishers[0].body, Body::Json { documents: 7 });
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
fn what_has_no_equivalent_is_said_and_secrets_are_not() {
    let text = scenario_of("-niot 4 -h amqp://me:secret@host -ms -z 5").unwrap();
    for part in ["# --nio-threads has no equivalent: a few", "# --use-millis", "amqp://me@host"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("secret"));
}

#[test]
fn what_cannot_work_is_refused() {
    fn check(line: &str, part: &str) {
        let message = format!("{:#}", scenario_of(line).unwrap_err());
        assert!(message.contains(part), "{line}: {message}");
    }
    check("-q 10 -A 20", "multi-ack-every");
    check("-m 5 -c 5", "tx-size");
    check("-x many", "--producers: `many`");
    check("-ew never", "--exit-when: `never`");
    check("-vr 5", "--variable-rate: `5`");
    check("--sing", "no option `--sing`");
}
