//! Random cases.

use std::time::Duration;

use rabbitscope_wire::report::{self, FindingRule, PacketReport, SourceLevel};

use super::Random;
use crate::case::{
    Answer, Blocker, Broker, BusyReader, Case, ChannelCase, Churn, Clients, ConnectionCase, Cpu,
    Disk, Flow, FlowProcess, FunctionCpu, Host, MessageRates, Neighbour, Part, PeerNode,
    PolledQueue, ProcessCpu, ProcessWaits, QueueCase, QueueKind, Queues, Settings, Source, Subject,
    Turns, Unread, Use, Vm, WaitedIn, WaitingPublisher, Waits,
};

/// Names that a terminal, a page, a shell or a file could obey.
pub(crate) const HOSTILE: [&str; 6] = [
    "<script>alert(1)</script>",
    "it's \"quoted\"",
    "two\nlines",
    "\u{1b}[2Jcleared",
    "right\u{202e}to left",
    "`reboot` $(reboot)",
];

const ROLES: [&str; 11] = [
    "reader",
    "channel",
    "session",
    "queue",
    "quorum_leader",
    "ra_log",
    "msg_store",
    "writer",
    "mgmt_stats",
    "http",
    "",
];

impl Random {
    fn name(&mut self) -> String {
        self.pick(&HOSTILE).to_owned()
    }

    fn pid(&mut self) -> String {
        format!("<0.{}.0>", self.below(8))
    }

    fn role(&mut self) -> String {
        self.pick(&ROLES).to_owned()
    }

    fn rows<T>(&mut self, row: impl Fn(&mut Self) -> T) -> Vec<T> {
        (0..self.below(8)).map(|_| row(self)).collect()
    }

    fn part<T>(&mut self, value: impl FnOnce(&mut Self) -> T) -> Part<T> {
        self.maybe(value).ok_or_else(|| Unread::new(Source::Node))
    }

    fn usage(&mut self) -> Use {
        Use { used: self.count(), limit: self.count() }
    }

    /// Returns a case.
    pub(crate) fn case(&mut self) -> Case {
        let duration = Duration::from_secs(self.pick(&[0, 1, 5, 15, 600]));
        let subject = Subject { node: self.name(), pid: None, duration };
        Case {
            broker: self.part(Self::broker),
            vm: self.part(Self::vm),
            queues: self.part(Self::queues),
            clients: self.part(Self::clients),
            flow: self.part(Self::flow),
            cpu: self.part(Self::cpu),
            waits: self.part(Self::waits),
            packets: self.part(Self::packets),
            turns: self.maybe(Self::turns),
            host: self.part(Self::host),
            ..Case::unread(subject)
        }
    }

    fn broker(&mut self) -> Broker {
        let alarms = ["memory", "disk", "memory on rabbit@b"];
        Broker {
            version: self
                .pick(&["3.9.1", "3.10.8", "3.12.0", "4.0.1", "4.3.0", "", "x"])
                .to_owned(),
            nodes: self.rows(Self::name),
            rates: MessageRates {
                published: self.maybe(|random| 20.0 * random.rate()),
                confirmed: self.maybe(Self::rate),
                delivered: self.maybe(Self::rate),
                acknowledged: self.maybe(Self::rate),
                redelivered: self.maybe(Self::rate),
                unroutable: self.maybe(Self::rate),
                got: self.maybe(Self::rate),
                get_empty: self.maybe(Self::rate),
            },
            churn: self.maybe(|random| Churn {
                connections_opened: random.rate(),
                connections_closed: random.rate(),
                channels_opened: random.rate(),
                channels_closed: random.rate(),
                queues_declared: random.rate(),
                queues_created: random.rate(),
                queues_deleted: random.rate(),
            }),
            memory: self.maybe(Self::usage),
            disk_free_bytes: self.maybe(Self::count),
            disk_limit_bytes: self.maybe(Self::count),
            descriptors: self.maybe(Self::usage),
            alarms: if self.flag() { vec![self.pick(&alarms).to_owned()] } else { Vec::new() },
            blocked_connections: self.maybe(Self::count),
            settings: Settings {
                statistics_interval_ms: self.maybe(Self::count),
                ..Settings::default()
            },
            mirroring_policies: self.rows(Self::name),
            traced_vhosts: self.rows(Self::name),
            ..Broker::default()
        }
    }

    fn vm(&mut self) -> Vm {
        let peer = |random: &mut Self| PeerNode {
            node: random.name(),
            queued_bytes: random.rate(),
            limit_bytes: random.count(),
            busy_share: random.share(),
            sent_bytes_per_second: random.rate(),
            received_bytes_per_second: random.rate(),
            tcp_ports: random.maybe(|_| (25_672, 40_124)),
        };
        Vm {
            looks: self.pick(&[0, 20, 300]),
            schedulers_online: self.below(9),
            scheduler_use: self.maybe(Self::share),
            run_queue: self.rate(),
            crowded_share: self.share(),
            peers: self.rows(peer),
            ..Vm::default()
        }
    }

    fn queues(&mut self) -> Queues {
        let kinds = [QueueKind::Classic, QueueKind::Quorum, QueueKind::Stream, QueueKind::Other];
        let row = |random: &mut Self| QueueCase {
            vhost: random.pick(&["/", "shop", ""]).to_owned(),
            name: random.name(),
            kind: random.pick(&kinds),
            pid: random.pid(),
            ready: random.count(),
            ready_growth: random.rate(),
            consumers: random.below(3),
            consumer_capacity: random.maybe(Self::share),
            published_per_second: (random.below(20) > 0).then(|| random.rate()),
            delivered_per_second: random.maybe(Self::rate),
            classic_version: random.maybe(|random| random.below(3)),
            is_durable: random.flag(),
            ..QueueCase::default()
        };
        Queues {
            count: self.below(20),
            leaders: self.rows(|random| (random.name(), random.below(100))),
            rows: self.rows(row),
            ..Queues::default()
        }
    }

    fn channel(&mut self) -> ChannelCase {
        ChannelCase {
            pid: self.pid(),
            name: self.name(),
            client: self.pick(&["", "billing", HOSTILE[0]]).to_owned(),
            user: self.pick(&["", "app", HOSTILE[1]]).to_owned(),
            vhost: self.pick(&["/", "shop", ""]).to_owned(),
            consumers: self.below(4),
            consumers_without_ack: self.below(2),
            prefetch: self.maybe(|random| random.pick(&[0, 1, 10, 200, 60_000])),
            global_prefetch: self.pick(&[0, 0, 5, 2_000]),
            unacknowledged: self.count(),
            unacknowledged_growth: self.rate(),
            is_transactional: self.below(4) == 0,
            consumed_queues: self.rows(Self::name),
            published_per_second: self.maybe(Self::rate),
            delivered_per_second: self.maybe(Self::rate),
            acknowledged_per_second: self.maybe(Self::rate),
            got_per_second: self.maybe(Self::rate),
            get_empty_per_second: self.maybe(Self::rate),
            ..ChannelCase::default()
        }
    }

    fn clients(&mut self) -> Clients {
        let connection = |random: &mut Self| ConnectionCase {
            pid: random.pid(),
            name: random.name(),
            client: random.name(),
            user: random.name(),
            channels: random.count(),
            received_bytes_per_second: random.maybe(Self::rate),
            sent_bytes_per_second: random.maybe(Self::rate),
            ..ConnectionCase::default()
        };
        Clients { connections: self.rows(connection), channels: self.rows(Self::channel) }
    }

    fn blocker(&mut self) -> Blocker {
        match self.below(4) {
            0 => Blocker::Queue("/".to_owned(), self.name()),
            1 => Blocker::Other(self.name()),
            _ => Blocker::Process(self.pid()),
        }
    }

    fn flow(&mut self) -> Flow {
        let row = |random: &mut Self| FlowProcess {
            pid: random.pid(),
            role: random.role(),
            name: random.name(),
            client: random.pick(&["", "billing"]).to_owned(),
            looks: random.pick(&[0, 10, 300]),
            blocked: if random.flag() { 0 } else { random.below(300) },
            busy: random.below(300),
            mailbox: random.count(),
            blocked_by: random.rows(|random| (random.blocker(), random.below(300))),
            ..FlowProcess::default()
        };
        Flow {
            elapsed_ms: self.pick(&[0, 1_000, 15_000]),
            processes: self.rows(row),
            ..Flow::default()
        }
    }

    fn cpu(&mut self) -> Cpu {
        let function = |random: &mut Self| FunctionCpu {
            name: random
                .pick(&["db_match_compile", "dsend", "prometheus:x/1", HOSTILE[2]])
                .to_owned(),
            cores: random.share(),
        };
        let row = |random: &mut Self| ProcessCpu {
            pid: random.pid(),
            role: random.role(),
            name: random.name(),
            cores: random.share(),
            samples: random.count(),
            functions: random.rows(function),
            ..ProcessCpu::default()
        };
        Cpu {
            samples: self.count(),
            seconds: self.pick(&[0.0, 1.0, 15.0]),
            cores: self.share() * 4.0,
            busy_wait_cores: self.share(),
            processes: self.rows(row),
            functions: self.rows(function),
            ..Cpu::default()
        }
    }

    fn waits(&mut self) -> Waits {
        let functions = ["prim_file:sync_nif/2", "prim_file:write_nif/2", "ets:lookup/2"];
        let place = |random: &mut Self| WaitedIn {
            function: random.pick(&functions).to_owned(),
            share: random.share(),
            waits: random.count(),
        };
        let row = |random: &mut Self| ProcessWaits {
            pid: random.pid(),
            role: random.role(),
            name: random.name(),
            blocked_share: random.share(),
            runnable_share: random.share(),
            waits: random.count(),
            waited_in: random.rows(place),
        };
        Waits {
            seconds: self.pick(&[0.0, 1.0, 15.0]),
            processes: self.rows(row),
            ..Waits::default()
        }
    }

    fn packets(&mut self) -> PacketReport {
        let rules = [
            (FindingRule::ZeroWindow, "fewer messages (prefetch)"),
            (FindingRule::ApplicationLimited, "a larger prefetch"),
            (FindingRule::ReceiverLimited, "raise vm_memory_high_watermark"),
            (FindingRule::ChannelClosed, "declare it"),
            (FindingRule::Polling, "consume"),
        ];
        let finding = |random: &mut Self| {
            let (rule, fix) = random.pick(&rules);
            report::Finding {
                rule,
                severity: report::Severity::Warning,
                sentence: random.name(),
                source: SourceLevel::Sockets,
                evidence: random.name(),
                fix: fix.to_owned(),
                connections: random.rows(Self::name),
                connections_in_all: random.count(),
                packets: random.rows(Self::count),
            }
        };
        let connection = |random: &mut Self| report::ConnectionReport {
            client: random.name(),
            from_the_start: random.flag(),
            channels: random.count(),
            ..report::ConnectionReport::default()
        };
        PacketReport {
            findings: self.rows(finding),
            connections: self.rows(connection),
            ..PacketReport::default()
        }
    }

    fn turns(&mut self) -> Turns {
        let publisher = |random: &mut Self| WaitingPublisher {
            client: random.name(),
            messages: random.count(),
            answer: random.pick(&[Answer::Confirm, Answer::Commit, Answer::Reply, Answer::Hidden]),
            window: random.maybe(|random| random.pick(&[0, 1, 7, 500])),
            waiting: random.share(),
        };
        let polled = |random: &mut Self| PolledQueue {
            vhost: random.maybe(Self::name),
            queue: random.name(),
            client: random.name(),
            gets: random.count(),
            empty: random.count(),
        };
        let worker = |random: &mut Self| BusyReader {
            client: random.name(),
            vhost: random.maybe(Self::name),
            queue: random.maybe(Self::name),
            reads_stream: random.flag(),
            messages: random.count(),
            working: random.share(),
        };
        Turns {
            seconds: self.pick(&[0.0, 1.0, 15.0]),
            published: self.count(),
            publishers: self.rows(publisher),
            perhaps: self.count(),
            polled: self.rows(polled),
            workers: self.rows(worker),
        }
    }

    fn host(&mut self) -> Host {
        let neighbour = |random: &mut Self| Neighbour {
            pid: 9,
            command: random.name(),
            cores: random.share() * 3.0,
            is_client: random.flag(),
        };
        let disk = |random: &mut Self| Disk {
            device: random.name(),
            mount: random.name(),
            busy_share: random.share(),
            writes_per_second: random.rate(),
            write_ms: random.maybe(Self::rate),
            flushes_per_second: random.maybe(Self::rate),
            flush_ms: random.maybe(Self::rate),
            in_flight: random.rate(),
        };
        Host {
            seconds: self.pick(&[0.0, 1.0, 15.0]),
            cpus: self.below(9),
            allowed_cpus: self.below(9),
            schedulers: self.maybe(|random| random.below(9)),
            node_cores: self.share() * 4.0,
            waiting_cores: self.maybe(Self::share),
            quota_cores: self.maybe(|random| random.share() * 4.0),
            throttled_periods: self.maybe(Self::share),
            throttled_share: self.maybe(Self::share),
            idle_share: self.share() / 3.0,
            steal_share: self.share(),
            io_pressure: self.maybe(Self::share),
            memory_pressure: self.maybe(Self::share),
            swapped_in_per_second: self.maybe(Self::rate),
            node_swap_bytes: self.maybe(Self::count),
            neighbours: self.rows(neighbour),
            own_cores: self.share(),
            data_disk: self.maybe(disk),
            io_limits: self.name(),
            descriptors: self.maybe(Self::usage),
            bound_alike: self.rows(|_| 9),
            ..Host::default()
        }
    }
}
