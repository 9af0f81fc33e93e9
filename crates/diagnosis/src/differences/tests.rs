//! Planted differences, equal checks, and files that hold anything.

use std::time::Duration;

use rabbitscope_text::Percentiles;
use rabbitscope_wire::report::{LatencyKind, LatencyReport, PacketReport, Unmatched};

use super::{DifferenceKind, Differences, Noise, compare};
use crate::{
    case::{
        Broker, Case, ChannelCase, Clients, ConnectionCase, Cpu, FunctionCpu, Host, MessageRates,
        ProcessCpu, Queues, Source, Subject, ThreadCpu, Unread, Vm,
    },
    figures::{ClientFigure, Figures, FunctionFigure, METRICS, ProcessFigure},
    report::CheckReport,
};

fn latency(kind: LatencyKind, p50: u64, p99: u64) -> LatencyReport {
    let percentiles = Percentiles { count: 15_000, p50, p99, ..Percentiles::default() };
    LatencyReport { kind, mean: 0.0, min: 0, percentiles, unmatched: Unmatched::default() }
}

fn function(name: &str, cores: f64) -> FunctionCpu {
    FunctionCpu { name: name.to_owned(), cores }
}

fn queue_process(name: &str, cores: f64, samples: u64) -> ProcessCpu {
    let (pid, role) = ("<0.5.0>".to_owned(), "queue".to_owned());
    ProcessCpu { pid, role, name: name.to_owned(), cores, samples, ..ProcessCpu::default() }
}

fn channel(client: &str, published: f64) -> ChannelCase {
    ChannelCase {
        client: client.to_owned(),
        user: "guest".to_owned(),
        published_per_second: Some(published),
        ..ChannelCase::default()
    }
}

fn connection(client: &str) -> ConnectionCase {
    ConnectionCase {
        client: client.to_owned(),
        user: "guest".to_owned(),
        ..ConnectionCase::default()
    }
}

/// A node under a load of 1,000 messages a second, with 4,000 samples.
fn case() -> Case {
    let rates = MessageRates {
        published: Some(1000.0),
        delivered: Some(1000.0),
        ..MessageRates::default()
    };
    Case {
        broker: Ok(Broker {
            version: "3.10.8".to_owned(),
            rates,
            connections: Some(2),
            channels: Some(2),
            memory_bytes: [("binary".to_owned(), 200 << 20)].into(),
            ..Broker::default()
        }),
        vm: Ok(Vm { looks: 300, scheduler_use: Some(0.4), run_queue: 0.5, ..Vm::default() }),
        queues: Ok(Queues::default()),
        clients: Ok(Clients {
            connections: vec![connection("shop"), connection("")],
            channels: vec![channel("shop", 900.0), channel("", 100.0)],
        }),
        cpu: Ok(Cpu {
            samples: 4000,
            seconds: 15.0,
            cores: 2.0,
            threads: vec![ThreadCpu { kind: "scheduler".to_owned(), cores: 1.9 }],
            processes: vec![queue_process("orders", 0.5, 1000)],
            functions: vec![function("ets:lookup/2", 0.4), function("lists:foldl/3", 0.2)],
            ..Cpu::default()
        }),
        packets: Ok(PacketReport {
            latencies: vec![latency(LatencyKind::PublishToConfirm, 1_000_000, 5_000_000)],
            ..PacketReport::default()
        }),
        host: Ok(Host { seconds: 15.0, cpus: 4, node_cores: 2.0, ..Host::default() }),
        ..Case::unread(Subject {
            node: "rabbit@one".to_owned(),
            duration: Duration::from_secs(15),
            ..Subject::default()
        })
    }
}

fn differences(change: impl FnOnce(&mut Case)) -> Differences {
    let mut changed = case();
    change(&mut changed);
    compare(&CheckReport::from_case(&case()), &CheckReport::from_case(&changed))
}

fn names(found: &Differences) -> Vec<(DifferenceKind, &str, &str)> {
    found.largest.iter().map(|one| (one.kind, &*one.subject, &*one.figure)).collect()
}

#[test]
fn equal_checks_do_not_differ() {
    let found = differences(|_| ());
    assert!(found.largest.is_empty() && found.found == 0, "{:#?}", found.largest);
    assert!(found.conditions.is_empty() && found.judgements.is_empty());
    assert!(found.compared > 20, "{}", found.compared);
    let compared = found.compared;
    assert_eq!(found.lines(12), [format!("{compared} figures compared, none differs")]);
}

#[test]
fn small_changes_are_no_difference() {
    let found = differences(|case| {
        let broker = case.broker.as_mut().unwrap();
        broker.rates.published = Some(1080.0);
        broker.memory_bytes.insert("binary".to_owned(), 220 << 20);
        let cpu = case.cpu.as_mut().unwrap();
        cpu.functions[0].cores = 0.44;
        cpu.functions[1].cores = 0.21;
        case.vm.as_mut().unwrap().run_queue = 0.9;
        case.packets.as_mut().unwrap().latencies[0].percentiles.p99 = 7_000_000;
    });
    assert!(found.largest.is_empty(), "{:#?}", found.largest);
}

#[test]
fn a_rate_that_doubles_is_named_with_its_ratio() {
    let found = differences(|case| case.broker.as_mut().unwrap().rates.published = Some(2000.0));
    let first = &found.largest[0];
    let sentence =
        "published: 2,000/s, was 1,000/s (2.00 times; more than 10 %; its noise is unknown)";
    assert_eq!((first.figure.as_str(), first.sentence.as_str()), ("published.rate", sentence));
    assert_eq!((first.ratio, first.noise), (Some(2.0), Noise::Unknown));
    // Each message takes half of the CPU time.
    assert!(names(&found).contains(&(DifferenceKind::Node, "", "cpu-per-published")));
}

#[test]
fn few_events_are_no_difference() {
    let rate = |rate: f64| {
        let mut case = case();
        case.broker.as_mut().unwrap().rates.unroutable = Some(rate);
        CheckReport::from_case(&case)
    };
    let found = compare(&rate(0.2), &rate(1.5));
    assert!(found.largest.is_empty(), "{:#?}", found.largest);
    assert_eq!(compare(&rate(0.2), &rate(15.0)).largest[0].figure, "unroutable.rate");
}

#[test]
fn functions_beyond_noise_come_before_those_of_small_shares() {
    let found = differences(|case| {
        let cpu = case.cpu.as_mut().unwrap();
        cpu.functions[0].cores = 0.2;
        cpu.functions.push(function("crypto:hash/2", 0.3));
    });
    let sentence = |index: usize| found.largest[index].sentence.as_str();
    assert_eq!(
        sentence(0),
        "CPU time in crypto:hash/2: 15.0 %, was 0.0 % (beyond the noise of sampling)",
    );
    assert_eq!(
        sentence(1),
        "CPU time in ets:lookup/2: 10.0 %, was 20.0 % (0.50 times; beyond the noise of sampling)",
    );
    assert!(found.largest.iter().all(|one| one.noise == Noise::Beyond), "{:#?}", found.largest);
}

/// A function outside of a full list had at most the share of its last row.
#[test]
fn a_missing_row_of_a_full_list_is_no_zero() {
    let with = |cores: f64| {
        let mut case = case();
        let cpu = case.cpu.as_mut().unwrap();
        cpu.functions = (0..49).map(|index| function(&format!("m:f{index}/0"), 0.02)).collect();
        cpu.functions.insert(0, function("m:new/0", cores));
        CheckReport::from_case(&case)
    };
    let mut without = with(0.02);
    without.figures.functions[0].name = "m:old/0".to_owned();
    assert!(compare(&without, &with(0.02)).largest.is_empty());
    let found = compare(&without, &with(0.5));
    let sentence = &found.largest[0].sentence;
    assert!(sentence.contains("m:new/0: 25.0 %, was 1.0 %"), "{sentence}");
    assert!(
        sentence.ends_with("the earlier value is the most that it can have been"),
        "{sentence}"
    );
}

#[test]
fn processes_are_known_by_role_and_name() {
    let found = differences(|case| {
        let cpu = case.cpu.as_mut().unwrap();
        cpu.processes = vec![queue_process("orders", 0.95, 1900)];
        cpu.processes[0].pid = "<0.99.0>".to_owned();
    });
    let row = found.largest.iter().find(|one| one.kind == DifferenceKind::Process).unwrap();
    assert_eq!((row.subject.as_str(), row.ratio), ("queue orders", Some(1.9)));
}

#[test]
fn latencies_differ_from_a_threshold_on() {
    let found = differences(|case| {
        let percentiles = &mut case.packets.as_mut().unwrap().latencies[0].percentiles;
        (percentiles.p50, percentiles.p99) = (1_300_000, 9_000_000);
    });
    let figures: Vec<&str> = found.largest.iter().map(|one| one.figure.as_str()).collect();
    assert_eq!(figures, ["publish-to-confirm.p50", "publish-to-confirm.p99"]);
}

#[test]
fn clients_come_go_and_change() {
    let found = differences(|case| {
        let clients = case.clients.as_mut().unwrap();
        clients.connections = vec![connection("billing"), connection("")];
        clients.channels = vec![channel("billing", 50.0), channel("", 300.0)];
    });
    let sentences: Vec<&str> = found.largest.iter().map(|one| one.sentence.as_str()).collect();
    assert!(
        sentences
            .contains(&"client billing came: it has 1 connection with 1 channel, publishes 50/s")
    );
    assert!(
        sentences
            .contains(&"client shop is gone: it had 1 connection with 1 channel, publishes 900/s")
    );
    let changed = "clients of user guest, publishes: 300/s, was 100/s (3.00 times; more than 10 %; its noise is unknown)";
    assert!(sentences.contains(&changed), "{sentences:#?}");
}

/// A client may be missing because only the busiest connections have a row.
#[test]
fn clients_without_a_row_are_not_gone() {
    let found = differences(|case| {
        case.broker.as_mut().unwrap().connections = Some(2000);
        case.clients.as_mut().unwrap().connections.clear();
        case.clients.as_mut().unwrap().channels.clear();
    });
    assert!(found.largest.iter().all(|one| one.kind != DifferenceKind::Client), "{found:#?}");
}

#[test]
fn other_conditions_are_said_first() {
    let found = differences(|case| {
        case.subject.node = "rabbit@two".to_owned();
        case.subject.duration = Duration::from_secs(60);
        case.broker.as_mut().unwrap().version = "4.0.1".to_owned();
        case.cpu = Err(Unread::new(Source::CpuProfile));
    });
    let expected = [
        "the baseline is of another node: rabbit@one",
        "RabbitMQ was 3.10.8 and is 4.0.1",
        "the baseline lasted 15.0 s, this check 60.0 s",
        "this check could not read: CPU samples; their figures are not compared",
    ];
    assert_eq!(found.conditions, expected);
    assert_eq!(found.lines(12)[..4], expected);
    assert!(names(&found).iter().all(|(kind, ..)| *kind != DifferenceKind::Function));
}

#[test]
fn a_change_of_the_limit_is_said() {
    let found = differences(|case| case.broker.as_mut().unwrap().alarms = vec!["disk".to_owned()]);
    assert!(found.judgements[0].starts_with("the limit was: "), "{:?}", found.judgements);
}

#[test]
fn text_is_short_and_foreign_names_are_text() {
    let hostile = "<script>\u{1b}[2J\"\n\u{202e}evil";
    let found = differences(|case| {
        let cpu = case.cpu.as_mut().unwrap();
        cpu.functions = (0..40).map(|index| function(&format!("{hostile}{index}"), 0.05)).collect();
        case.subject.node = hostile.to_owned();
        case.broker.as_mut().unwrap().version = hostile.to_owned();
    });
    let lines = found.lines(12);
    assert_eq!(lines.len(), 12);
    assert!(lines[11].contains("more in the JSON"), "{lines:#?}");
    // Nothing is left out without being counted.
    let all = (found.conditions.len() + found.judgements.len()) as u64 + found.found;
    let last = found.lines(7)[6].clone();
    assert!(last.contains(&format!("; {} differences more", all - 6)), "{last}");
    let is_obeyed = |c: char| c.is_control() || c == '\u{202e}';
    assert!(!lines.iter().any(|line| line.contains(is_obeyed)), "{lines:#?}");
    let text = serde_json::to_string(&found).unwrap();
    assert_eq!(serde_json::from_str::<Differences>(&text).unwrap(), found);
}

#[test]
fn a_saved_check_is_read_as_it_was_written() {
    let report = CheckReport::from_case(&case());
    let text = serde_json::to_string(&report).unwrap();
    let read: CheckReport = serde_json::from_str(&text).unwrap();
    assert_eq!(read.figures, report.figures);
    assert!(!text.contains("null") || !read.figures.values.is_empty());
    let mut old: serde_json::Value = serde_json::from_str(&text).unwrap();
    old.as_object_mut().unwrap().remove("figures");
    let old: CheckReport = serde_json::from_value(old).unwrap();
    let found = compare(&old, &report);
    assert_eq!(found.conditions, ["the baseline has no figures to compare"]);
    assert_eq!((found.compared, found.largest.len()), (0, 0));
}

/// Numbers of a seed (`SplitMix64`), among them the awkward ones.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed ^ mixed >> 27
    }

    fn count(&mut self) -> u64 {
        match self.next() % 5 {
            0 => 0,
            1 => u64::MAX,
            _ => self.next() % 10_000,
        }
    }

    fn figure(&mut self) -> f64 {
        match self.next() % 9 {
            0 => 0.0,
            1 => f64::NAN,
            2 => f64::INFINITY,
            3 => -1.0,
            4 => 1e308,
            5 => 1e-300,
            _ => (self.next() % 100_000) as f64 / 7.0,
        }
    }

    fn figures(&mut self) -> Figures {
        let name = |index: u64| format!("n\u{202e}{index}");
        Figures {
            values: METRICS
                .iter()
                .map(|metric| (metric.id.name.to_owned(), self.figure()))
                .collect(),
            samples: self.count(),
            functions: (0..self.next() % 60)
                .map(|index| FunctionFigure {
                    name: name(index % 55),
                    share: self.figure(),
                    samples: self.count(),
                })
                .collect(),
            processes: (0..self.next() % 60)
                .map(|index| ProcessFigure {
                    name: name(index % 55),
                    samples: self.count(),
                    ..ProcessFigure::default()
                })
                .collect(),
            clients: (0..self.next() % 60)
                .map(|index| ClientFigure {
                    name: name(index),
                    connections: self.count(),
                    published: Some(self.figure()),
                    unacknowledged: self.count(),
                    ..ClientFigure::default()
                })
                .collect(),
            has_all_clients: self.next().is_multiple_of(2),
            ..Figures::default()
        }
    }
}

/// Whatever the files hold: no figure of the result is unfit for JSON, sizes are ranked, and two equal files are equal.
#[test]
fn any_files_can_be_compared() {
    let mut numbers = Numbers(37);
    for _ in 0..300 {
        let report = |numbers: &mut Numbers| CheckReport {
            duration_nanos: numbers.count(),
            figures: numbers.figures(),
            ..CheckReport::from_case(&case())
        };
        let (old, new) = (report(&mut numbers), report(&mut numbers));
        let found = compare(&old, &new);
        for row in &found.largest {
            let figures = [row.before, row.after, row.size, row.ratio.unwrap_or_default()];
            assert!(figures.iter().all(|figure| figure.is_finite()), "{row:?}");
            assert!(!row.sentence.contains("NaN") && !row.sentence.contains("inf "), "{row:?}");
        }
        assert!(found.largest.is_sorted_by(|one, other| one.size >= other.size));
        assert!(found.largest.len() <= 50 && (4..20).all(|most| found.lines(most).len() <= most));
        assert!(compare(&new, &new).largest.is_empty());
    }
}
