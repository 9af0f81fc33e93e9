//! Rules about the broker.

use rabbitscope_wire::report::{ConnectionReport, FrameCount};

use super::{
    cases::change,
    checks::{check, check_healthy, check_unjudged, text},
    rows::{function, process},
};
use crate::{
    case::{Broker, Case, Churn, MessageRates, Use},
    finding::Severity,
};

fn broker(with: impl Fn(&mut Broker)) -> impl Fn(&mut Case) {
    move |case| change(&mut case.broker, &with)
}

fn rates(with: impl Fn(&mut MessageRates)) -> impl Fn(&mut Case) {
    broker(move |broker| with(&mut broker.rates))
}

fn churn(churn: Churn) -> impl Fn(&mut Case) {
    broker(move |broker| broker.churn = Some(churn))
}

#[test]
fn memory_alarm() {
    let alarm = |version: &'static str, watermark: &'static str| {
        broker(move |broker| {
            broker.version = version.to_owned();
            broker.alarms = vec!["memory on rabbit@b".to_owned()];
            let other = &mut broker.settings.other;
            other.insert("rabbit.vm_memory_high_watermark".to_owned(), watermark.to_owned());
        })
    };
    let found = check("memory-alarm", Severity::Critical, "rabbit@b", alarm("3.10.8", "0.4"));
    assert_eq!(text(&found), "vm_memory_high_watermark.relative = 0.6");
    let found = check("memory-alarm", Severity::Critical, "rabbit@b", alarm("4.0.1", "0.6"));
    assert_eq!(text(&found), "vm_memory_high_watermark.relative = 0.7");
    // No endless increase.
    let found = check("memory-alarm", Severity::Critical, "rabbit@b", alarm("4.0.1", "0.8"));
    assert_eq!(text(&found), "");
    let found =
        check("memory-alarm", Severity::Critical, "rabbit@b", alarm("4.0.1", "{absolute,1}"));
    assert_eq!(text(&found), "");
}

#[test]
fn disk_alarm() {
    let alarm = broker(|broker| broker.alarms = vec!["disk".to_owned()]);
    check("disk-alarm", Severity::Critical, "rabbit@a", alarm);
    let low = broker(|broker| broker.disk_free_bytes = Some(1_000));
    check("disk-alarm", Severity::Critical, "rabbit@a", low);
    check_healthy("disk-alarm", broker(|broker| broker.alarms = vec!["memory".to_owned()]));
}

#[test]
fn descriptors() {
    let used = |used| broker(move |broker| broker.descriptors = Some(Use { used, limit: 1_000 }));
    let found = check("descriptors", Severity::Warning, "rabbit@a", used(800));
    assert_eq!(text(&found), "LimitNOFILE=2000");
    check("descriptors", Severity::Critical, "rabbit@a", used(950));
    check_healthy("descriptors", used(799));
    let alarm = broker(|broker| broker.alarms = vec!["file_descriptors".to_owned()]);
    check("descriptors", Severity::Critical, "rabbit@a", alarm);
    check_unjudged("descriptors", "unknown", broker(|broker| broker.descriptors = None));
}

#[test]
fn statistics_overload() {
    let collect = |cores: f64, interval: u64| {
        move |case: &mut Case| {
            change(&mut case.cpu, |cpu| cpu.processes.push(process("mgmt_stats", "stats", cores)));
            change(&mut case.broker, |broker| {
                broker.settings.statistics_interval_ms = Some(interval);
            });
        }
    };
    let found = check("statistics-overload", Severity::Warning, "stats", collect(0.5, 5_000));
    assert_eq!(text(&found), "collect_statistics_interval = 30000");
    assert!((found.bound.unwrap().throughput - (1.0 / (1.0 - 0.55 / 1.9) - 1.0)).abs() < 1e-9);
    let found = check("statistics-overload", Severity::Warning, "stats", collect(0.5, 60_000));
    assert_eq!(text(&found), "management_agent.disable_metrics_collector = true");
    check_healthy("statistics-overload", collect(0.1, 5_000));
    // An idle node: the collectors are most of very little.
    check_healthy("statistics-overload", |case| change(&mut case.cpu, |cpu| cpu.cores = 0.1));
    check_unjudged("statistics-overload", "samples", |case| {
        change(&mut case.cpu, |cpu| cpu.samples = 100);
    });
    check_unjudged("statistics-overload", "roles", |case| {
        change(&mut case.cpu, |cpu| cpu.processes.iter_mut().for_each(|row| row.role.clear()));
    });
}

#[test]
fn http_load() {
    let serve = |name: &'static str, cores: f64| {
        move |case: &mut Case| {
            let mut row = process("http", "cowboy", cores);
            row.functions.push(function(name, cores));
            change(&mut case.cpu, |cpu| cpu.processes.push(row));
        }
    };
    let scrape = serve("prometheus_text_format:format/1", 0.4);
    let found = check("http-load", Severity::Warning, "cowboy", scrape);
    assert_eq!(text(&found), "prometheus.return_per_object_metrics = false");
    let found =
        check("http-load", Severity::Warning, "cowboy", serve("rabbit_mgmt_util:reply/3", 0.4));
    assert_eq!(text(&found), "");
    check_healthy("http-load", serve("prometheus_text_format:format/1", 0.09));
}

#[test]
fn mirroring() {
    let policy = |version: &'static str, nodes: usize| {
        broker(move |broker| {
            broker.version = version.to_owned();
            broker.nodes.truncate(nodes);
            broker.mirroring_policies = vec!["shop/ha".to_owned()];
        })
    };
    check("mirroring", Severity::Warning, "shop/ha", policy("3.10.8", 2));
    check("mirroring", Severity::Note, "shop/ha", policy("3.10.8", 1));
    check("mirroring", Severity::Note, "shop/ha", policy("4.0.0-rc.1", 2));
    check_unjudged("mirroring", "version", policy("", 2));
}

#[test]
fn tracing() {
    let trace = broker(|broker| broker.traced_vhosts = vec!["it's".to_owned()]);
    let found = check("tracing", Severity::Warning, "it's", trace);
    assert_eq!(text(&found), "rabbitmqctl trace_off -p 'it'\\''s'");
    let idle = broker(|broker| {
        broker.traced_vhosts = vec!["shop".to_owned()];
        broker.rates = MessageRates::default();
    });
    check("tracing", Severity::Note, "shop", idle);
}

#[test]
fn classic_paging() {
    let long = |version: &'static str, used: u64, ready: u64| {
        move |case: &mut Case| {
            change(&mut case.broker, |broker| {
                broker.version = version.to_owned();
                broker.memory = Some(Use { used, limit: 100 });
            });
            change(&mut case.queues, |queues| queues.rows[1].ready = ready);
        }
    };
    let found = check("classic-paging", Severity::Warning, "mails", long("3.10.8", 60, 20_000));
    assert_eq!(text(&found), "classic_queue.default_version = 2");
    let found = check("classic-paging", Severity::Warning, "mails", long("3.9.1", 60, 20_000));
    assert!(text(&found).contains("queue-mode"));
    check_healthy("classic-paging", long("3.10.8", 40, 20_000));
    check_healthy("classic-paging", long("3.10.8", 60, 9_000));
    check_healthy("classic-paging", long("3.12.0", 60, 20_000));
    check_unjudged("classic-paging", "version", long("", 60, 20_000));
}

#[test]
fn unroutable() {
    let lost = |rate| rates(move |rates| rates.unroutable = Some(rate));
    check("unroutable", Severity::Warning, "rabbit@a", lost(300.0));
    check("unroutable", Severity::Note, "rabbit@a", lost(10.0));
    check_healthy("unroutable", lost(1.0));
    // A responder: the node counts its direct replies as unroutable.
    let replies = |case: &mut Case| {
        lost(500.0)(case);
        change(&mut case.clients, |clients| {
            clients.channels[0].published_per_second = Some(1_000.0);
        });
    };
    let found = check("unroutable", Severity::Note, "rabbit@a", replies);
    assert!(found.sentence.contains("direct replies"), "{}", found.sentence);
    check_unjudged("unroutable", "counted", rates(|rates| rates.unroutable = None));
}

#[test]
fn redeliveries() {
    let again = |rate| rates(move |rates| rates.redelivered = Some(rate));
    let found = check("redeliveries", Severity::Warning, "rabbit@a", again(1_500.0));
    assert!((found.bound.unwrap().throughput - 1.0).abs() < 1e-9);
    check_healthy("redeliveries", again(1_000.0));
    check_unjudged("redeliveries", "counted", rates(|rates| rates.redelivered = None));
}

#[test]
fn leaders() {
    let on = |a: u64, b: u64, usage: f64| {
        move |case: &mut Case| {
            change(&mut case.queues, |queues| {
                queues.leaders = vec![("rabbit@a".to_owned(), a), ("rabbit@b".to_owned(), b)];
            });
            change(&mut case.vm, |vm| vm.scheduler_use = Some(usage));
        }
    };
    let found = check("leaders", Severity::Note, "rabbit@a", on(90, 10, 0.4));
    assert_eq!(text(&found), "queue_leader_locator = balanced");
    check("leaders", Severity::Warning, "rabbit@a", on(90, 10, 0.9));
    check("leaders", Severity::Note, "rabbit@b", on(10, 90, 0.9));
    check_healthy("leaders", on(60, 40, 0.9));
    check_unjudged("leaders", "leaders", on(9, 1, 0.9));
    // A node without leaders counts for the mean.
    check("leaders", Severity::Note, "rabbit@a", |case| {
        change(&mut case.queues, |queues| queues.leaders = vec![("rabbit@a".to_owned(), 60)]);
    });
}

/// Connections of one host, each with 40 channels.
fn opened(count: u16) -> Vec<ConnectionReport> {
    let connection = |index| ConnectionReport {
        client: format!("10.0.0.5:{}", 40_000 + index),
        broker: "10.0.0.1:5672".to_owned(),
        from_the_start: true,
        channels: 40,
        ..ConnectionReport::default()
    };
    (0..count).map(connection).collect()
}

/// A connection with one channel, which it opens so often.
fn reopening(frames: u64) -> ConnectionReport {
    let row = FrameCount { kind: "channel.open".to_owned(), frames, ..FrameCount::default() };
    ConnectionReport { channels: 1, frames: vec![row], ..opened(1).remove(0) }
}

#[test]
fn only_messages_remain_without_churn() {
    let connections = |rate| churn(Churn { connections_opened: rate, ..Churn::default() });
    // Processes that carry messages use 0.8 of 1.9 cores: a channel, a queue, and a message store.
    let bound = |case: &dyn Fn(&mut Case)| {
        let both = |of: &mut Case| {
            connections(10.0)(of);
            case(of);
        };
        check("connection-churn", Severity::Note, "rabbit@a", both).bound.map(|of| of.throughput)
    };
    assert!((bound(&|_| ()).unwrap() - (1.9 / 0.8 - 1.0)).abs() < 1e-9);
    let silent = |case: &mut Case| change(&mut case.clients, |clients| clients.channels.clear());
    assert!(
        (bound(&silent).unwrap() - (1.9 / 0.4 - 1.0)).abs() < 1e-9,
        "a channel without messages"
    );
    let few = |case: &mut Case| change(&mut case.cpu, |cpu| cpu.processes.truncate(1));
    assert_eq!(
        bound(&|case| (silent(case), few(case)).0),
        None,
        "nothing shows the messages' part"
    );
}

#[test]
fn churns() {
    let connections = |rate| churn(Churn { connections_opened: rate, ..Churn::default() });
    check("connection-churn", Severity::Warning, "rabbit@a", connections(150.0));
    check("connection-churn", Severity::Note, "rabbit@a", connections(10.0));
    check_healthy("connection-churn", connections(2.0));
    let channels = |opened, connections| {
        churn(Churn {
            channels_opened: opened,
            connections_opened: connections,
            ..Churn::default()
        })
    };
    check("channel-churn", Severity::Warning, "rabbit@a", channels(150.0, 1.0));
    check("channel-churn", Severity::Note, "rabbit@a", channels(20.0, 0.0));
    // Each connection opens one channel: that is churn of connections.
    check_healthy("channel-churn", channels(150.0, 150.0));
    check_healthy("channel-churn", channels(2.0, 0.0));
    let queues = |created, declared| {
        churn(Churn { queues_created: created, queues_declared: declared, ..Churn::default() })
    };
    check("queue-churn", Severity::Note, "rabbit@a", queues(20.0, 20.0));
    check("queue-churn", Severity::Note, "rabbit@a", queues(0.0, 200.0));
    check_healthy("queue-churn", queues(1.0, 20.0));
    check("connection-churn", Severity::Note, "billing (10.0.0.5, user app)", |case| {
        connections(10.0)(case);
        change(&mut case.packets, |report| report.connections = opened(30));
    });
    // Several clients share a host: none of them is named.
    let shared = check("connection-churn", Severity::Note, "10.0.0.5", |case| {
        connections(10.0)(case);
        change(&mut case.packets, |report| report.connections = opened(30));
        change(&mut case.clients, |clients| {
            clients.connections[1].name = "10.0.0.5:40001 -> 10.0.0.1:5672".to_owned();
        });
    });
    assert_eq!(shared.subjects, ["10.0.0.5"]);
    check("channel-churn", Severity::Note, "billing (10.0.0.5:40000 -> 10.0.0.1:5672", |case| {
        channels(20.0, 0.0)(case);
        change(&mut case.packets, |report| report.connections = opened(1));
    });
    // It opens one channel after the other, under the same number.
    check("channel-churn", Severity::Note, "billing (10.0.0.5:40000 -> 10.0.0.1:5672", |case| {
        channels(20.0, 0.0)(case);
        change(&mut case.packets, |report| report.connections = vec![reopening(300)]);
    });
    for name in ["connection-churn", "channel-churn", "queue-churn"] {
        check_unjudged(name, "count", broker(|broker| broker.churn = None));
    }
}
