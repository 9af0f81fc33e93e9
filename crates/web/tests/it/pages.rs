//! A run and a profile with figures that a test can know by heart.

use std::time::Duration;

use rabbitscope_diagnosis::{self as diagnosis, Brief, BriefFinding, Certainty, LimitKind};
use rabbitscope_profiles::{
    Capture, Event, Identity, LineWeight, Profile, ProfileSum, StackEntry, StackOutcome,
    StackQuality, read_folded,
};
use rabbitscope_runs::record::{
    BrokerFacts, FORMAT_VERSION, LatencyFigures, LatencySummary, LoadTotals, Loss, MachineFacts,
    ProfileFacts, RunRecord, SecondRow, Service, ServiceSpan, SpanKind, Verdict,
};
use rabbitscope_runs::record::{Counters, Percentiles, SecondLatencies};

use rabbitscope_wire::report::{
    CaptureReport, Finding, FindingRule, LatencyKind, LatencyReport, PacketReport, Severity,
    Source, SourceLevel, Totals, Unmatched,
};

const SECOND: u64 = 1_000_000_000;

/// Stacks of 1,000 samples.
const STACKS: &str = "\
scheduler;proc_lib:init_p_do_apply/3;rabbit_channel:handle_method/3;ets:lookup/2;db_get 300
scheduler;proc_lib:init_p_do_apply/3;rabbit_channel:handle_method/3 100
scheduler;proc_lib:init_p_do_apply/3;lists:foldr_1/3;lists:foldr_1/3;lists:foldr_1/3;lists:foldr_1/3;lists:foldr_1/3;rabbit_misc:f/1 150
scheduler;proc_lib:init_p_do_apply/3;lists:foldr_1/3;lists:foldr_1/3 50
scheduler;proc_lib:init_p_do_apply/3;osiris_log:write/5;writev;ext4_write_[k] 250
scheduler;schedule 150
";

pub(crate) fn profile() -> Profile {
    let mut profile = read_folded(STACKS.as_bytes()).expect("these stacks are well-formed");
    profile.capture = Capture {
        recorder: "eBPF".to_owned(),
        clock: "cpu-clock".to_owned(),
        node: "rabbit@<host>".to_owned(),
        rabbitmq: "3.10.8".to_owned(),
        node_pid: 77,
        otp_release: "25".to_owned(),
        started_unix_nanos: 1_763_640_000 * SECOND,
        duration_nanos: 2 * SECOND,
        period_nanos: 1_001_001,
        cpus: 2,
        time_step_nanos: 50_000_000,
        value: None,
        notes: vec!["A note with </script> in it.".to_owned()],
    };
    profile.quality = StackQuality {
        complete: 780,
        truncated: 15,
        broken: 5,
        no_process: 200,
        no_function: 0,
        unsymbolised: 2,
        native_cut: 0,
        not_unwound: 0,
        lost: 0,
    };
    name_owners(&mut profile);
    add_lines(&mut profile);
    profile
}

/// Ninety windows of ten seconds from 22:53:20 UTC on, of which each third has a sample of `f` and one of `g`, the others
/// of `f` alone.
pub(crate) fn windows() -> Profile {
    let mut sum = ProfileSum::by_clock(Duration::from_secs(10));
    for number in 0..90 {
        let stacks = if number % 3 == 0 {
            "scheduler;m:f/0 1\nscheduler;m:g/0 1"
        } else {
            "scheduler;m:f/0 1"
        };
        let mut window = read_folded(stacks.as_bytes()).expect("these stacks are well-formed");
        window.capture.started_unix_nanos = (1_764_111_200 + 10 * number) * SECOND;
        window.capture.duration_nanos = 10 * SECOND;
        window.capture.period_nanos = 52_631_578;
        window.capture.time_step_nanos = 50_000_000;
        for sample in &mut window.samples {
            sample.times.add(100, 1);
        }
        sum.add(&window);
    }
    sum.finish().expect("there are windows")
}

/// Sets the owners and times of the samples: those of an owner all within one step.
fn name_owners(profile: &mut Profile) {
    let text = str::to_owned;
    let owners = [
        ("rabbit_channel", "<0.1.0>", ("channel", "a -> b (1)", "a -> b"), 5),
        ("lists", "<0.2.0>", ("queue", "orders", ""), 10),
        ("osiris", "<0.3.0>", ("stream_writer", "events", ""), 30),
    ];
    for sample in &mut profile.samples {
        let name = |entry: &StackEntry| profile.frames.get(entry.frame).name.as_str();
        let owner = owners.iter().find(|(module, ..)| {
            sample.stack.get(2).is_some_and(|entry| name(entry).starts_with(module))
        });
        sample.labels.thread = "1_scheduler".into();
        let Some(&(_, pid, (role, name, connection), step)) = owner else {
            sample.times.add(35, sample.weight);
            sample.labels.outcome = StackOutcome::NoProcess;
            continue;
        };
        let is_stream = role == "stream_writer";
        sample.labels.outcome =
            if is_stream { StackOutcome::Broken } else { StackOutcome::Complete };
        if is_stream {
            sample.labels.thread = "2_scheduler".into();
        }
        sample.labels.process = Some(pid.into());
        sample.times.add(step, sample.weight);
        let identity = Identity {
            role: text(role),
            name: text(name),
            vhost: text("/"),
            connection: text(connection),
            client: text(if connection.is_empty() { "" } else { "<shop>, user guest" }),
        };
        profile.identities.insert(text(pid), identity);
    }
}

/// Adds three lines of one function, of whose 400 samples 40 have no line, and one line of a second function.
fn add_lines(profile: &mut Profile) {
    let frame = |name: &str| {
        let mut named = profile.frames.iter().filter(|(_, frame)| frame.name == name);
        named.next().expect("it is among the stacks").0
    };
    let handle = frame("rabbit_channel:handle_method/3");
    let write = frame("osiris_log:write/5");
    let (channel, header) = ("src/rabbit_channel.erl", "include/rabbit.hrl");
    let line = |frame, file: &str, line, own, total| LineWeight {
        frame,
        file: file.into(),
        line,
        own,
        total,
    };
    profile.lines = vec![
        line(handle, channel, 1302, 10, 250),
        line(handle, channel, 1310, 0, 50),
        line(handle, header, 77, 60, 60),
        line(write, "src/osiris_log.erl", 912, 250, 250),
    ];
}

/// Returns a profile: blocked for 0.95 s in 12 waits, including 0.56 s in fsync; runnable for 0.2 s, idle for 30 s.
pub(crate) fn off_cpu_profile() -> Profile {
    let stacks = "\
dirty_io_scheduler;[blocked];prim_file:sync_nif/2;do_fsync_[k] 560000000
scheduler;[blocked];ets:insert/2;futex_wait_[k] 390000000
scheduler;[runnable];lists:map/2 200000000
scheduler;[idle];do_epoll_wait_[k] 30000000000";
    let mut profile = read_folded(stacks.as_bytes()).expect("these stacks are well-formed");
    profile.event = Event::OffCpu;
    profile.capture.time_step_nanos = 50_000_000;
    for sample in &mut profile.samples {
        sample.count = 6;
        sample.labels.outcome = StackOutcome::Complete;
        sample.times.add(1, sample.weight / 2);
        sample.times.add(3, sample.weight / 2);
    }
    profile
}

/// Returns the same profile with `ets:lookup/2` cheaper, the writes gone and something new: 500 samples.
pub(crate) fn faster_profile() -> Profile {
    let stacks = STACKS
        .replace("db_get 300", "db_get 50")
        .replace("ext4_write_[k] 250", "ext4_write_[k] 0")
        .replace("scheduler;schedule 150\n", "scheduler;schedule 75\nscheduler;m:new/0 75\n");
    let mut profile = read_folded(stacks.as_bytes()).expect("these stacks are well-formed");
    profile.capture = self::profile().capture;
    profile
}

pub(crate) fn series() -> Vec<SecondRow> {
    (0..4)
        .map(|second| SecondRow {
            second,
            interval_nanos: SECOND,
            broker_cpu_cores: Some(1.25),
            broker_rss_bytes: Some(200 << 20),
            client_cpu_cores: Some(0.2),
            counts: Counters {
                published: 1000 + u64::from(second) * 10,
                confirmed: 990,
                ..Counters::default()
            },
            latencies: SecondLatencies {
                confirm_latency: Some(Percentiles {
                    count: 990,
                    p50: 2_000_000,
                    p95: 3_000_000,
                    p99: 4_000_000,
                    max: 90_000_000,
                    ..Percentiles::default()
                }),
                ..SecondLatencies::default()
            },
            ..SecondRow::default()
        })
        .collect()
}

pub(crate) fn run() -> RunRecord {
    let profile = profile();
    RunRecord {
        format_version: FORMAT_VERSION,
        rabbitscope: "0.1.0".to_owned(),
        name: "experiment <1> & more".to_owned(),
        description: "One publisher to a stream.".to_owned(),
        started_unix_nanos: 1_763_640_000 * SECOND,
        duration_nanos: 4 * SECOND,
        scenario: serde_json::json!({ "name": "experiment <1> & more" }),
        machine: MachineFacts {
            kernel: "Linux 6.1.0 x86_64".to_owned(),
            distribution: "Debian GNU/Linux 12".to_owned(),
            cpu: "A processor with a rather long name @ 2.60GHz".to_owned(),
            cpus: 2,
            memory_bytes: 8 << 30,
        },
        broker: BrokerFacts {
            product: "RabbitMQ".to_owned(),
            version: "3.10.8".to_owned(),
            platform: "Erlang/OTP 25".to_owned(),
            cluster_name: "rabbit@localhost".to_owned(),
            address: "127.0.0.1:5672".to_owned(),
            pid: Some(77),
            throwaway: true,
            nodes: Vec::new(),
            patched: Vec::new(),
        },
        load: load(),
        service: service(),
        latencies: vec![LatencySummary {
            figures: LatencyFigures {
                name: "confirm".to_owned(),
                percentiles: Percentiles {
                    count: 3960,
                    p50: 2_000_000,
                    p99: 4_000_000,
                    max: 90_000_000,
                    ..Percentiles::default()
                },
                ..LatencyFigures::default()
            },
            ..LatencySummary::default()
        }],
        profile: Some(ProfileFacts {
            event: "cpu".to_owned(),
            file: "profile-cpu.pb.gz".to_owned(),
            offset_nanos: SECOND,
            capture: profile.capture,
            quality: profile.quality,
        }),
        losses: vec![Loss {
            what: "unconfirmed messages".to_owned(),
            count: 100,
            of: 4060,
            meaning: "Their latency is unknown.".to_owned(),
        }],
        verdict: Verdict::Completed,
        ..RunRecord::default()
    }
}

fn load() -> LoadTotals {
    LoadTotals {
        unconfirmed: 100,
        counts: Counters {
            published: 4060,
            confirmed: 3960,
            bytes_written: 400_000,
            writes: 400,
            bytes_read: 80_000,
            reads: 200,
            client_cpu_nanos: 800_000_000,
            without_service_nanos: SECOND / 2,
            alarm_nanos: SECOND / 4,
            ..Counters::default()
        },
        ..LoadTotals::default()
    }
}

fn service() -> Service {
    let spans = vec![
        span(SpanKind::Down, SECOND, SECOND / 2, "the broker <went> away"),
        span(SpanKind::Blocked, 2 * SECOND, SECOND / 4, "low on memory"),
    ];
    Service { spans, ..Service::default() }
}

fn span(kind: SpanKind, from_nanos: u64, length: u64, reason: &str) -> ServiceSpan {
    ServiceSpan { kind, from_nanos, to_nanos: from_nanos + length, reason: reason.to_owned() }
}

/// Returns the packets of the run, without sizes of writes, and with one finding.
pub(crate) fn packets() -> PacketReport {
    let source =
        |level, present: bool, note: &str| Source { level, present, note: note.to_owned() };
    PacketReport {
        subject: "port 5672 of the broker under load".to_owned(),
        sources: vec![
            source(SourceLevel::Sockets, true, "every 100 ms"),
            source(SourceLevel::Packets, true, "captured on any"),
            source(SourceLevel::Writes, false, "Linux 6.3 has <sock_send_length>, this is 6.1"),
        ],
        capture: Some(CaptureReport {
            packets: 12_345,
            bytes: 1 << 20,
            dropped: Some(0),
            ..CaptureReport::default()
        }),
        totals: Totals {
            duration_nanos: 4 * SECOND,
            connections: 2,
            segments: 12_000,
            data_segments: 8_000,
            published: 4_060,
            publish_segments: 12_180,
            ..Totals::default()
        },
        latencies: vec![LatencyReport {
            kind: LatencyKind::PublishToConfirm,
            mean: 1_500_000.0,
            min: 1_000_000,
            percentiles: Percentiles {
                count: 3960,
                p50: 1_500_000,
                p95: 2_000_000,
                p99: 2_500_000,
                p999: 2_600_000,
                p9999: 2_700_000,
                max: 2_700_000,
            },
            unmatched: Unmatched::default(),
        }],
        findings: vec![Finding {
            rule: FindingRule::FrameByFrame,
            severity: Severity::Warning,
            source: SourceLevel::Packets,
            sentence: "the client sends <method>, header and body in segments of their own"
                .to_owned(),
            evidence: "100 % of 4060 publishes".to_owned(),
            fix: "write the whole publish at once".to_owned(),
            connections: vec!["127.0.0.1:40000 -> 127.0.0.1:5672".to_owned()],
            connections_in_all: 1,
            packets: vec![7, 8, 9],
        }],
        ..PacketReport::default()
    }
}

/// A limit and two findings with names that must stay text.
pub(crate) fn brief() -> Brief {
    let finding = |severity, sentence: &str, change: &str| BriefFinding {
        rule: "a-rule".to_owned(),
        severity,
        sentence: sentence.to_owned(),
        evidence: "7 messages; 3 consumers".to_owned(),
        change: change.to_owned(),
    };
    let change = "use 4 queues (at most 10 % more: it waits 9 %)";
    Brief {
        kind: LimitKind::Process,
        certainty: Certainty::Likely,
        limit: "one Erlang process: the queue <script>alert(1)</script> \\u{202e}\"x\" uses 0.97 cores (likely)"
            .to_owned(),
        evidence: vec!["0.97 cores in 970 samples".to_owned()],
        findings: vec![
            finding(diagnosis::Severity::Critical, "An alarm blocks publishers", ""),
            finding(diagnosis::Severity::Warning, "The queue <b>'orders' is \"slow\"", change),
        ],
        more_findings: 2,
        not_judged: "38 rules, because these were not read: the node".to_owned(),
    }
}
