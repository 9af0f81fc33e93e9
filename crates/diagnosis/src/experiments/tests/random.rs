//! Random cases with figures beyond all bounds and names that try to be more than names.

use rabbitscope_runs::Random;

use super::case::{finding, parsed, unread, with_text, written};
use crate::{
    case::{
        Blocker, Broker, Case, ChannelCase, Churn, Clients, ConnectionCase, Flow, FlowProcess,
        QueueCase, QueueKind, Queues, Settings, Vm,
    },
    experiments::table::{BY_RULE, BY_SETTING},
    finding::Finding,
};

/// Names that end a line, a string, a table or a path, and a password that must not leave.
const NAMES: [&str; 9] = [
    "\"\n[broker]\nuri = \"amqp://guest:hunter2@localhost\"\n#",
    "'''\"\"\"\\",
    "../../etc/passwd",
    "q-{}",
    "\u{202e}gnp.exe\u{0}\u{1b}]0;x\u{7}",
    "",
    "a # b = c",
    "x\r\n[[publishers]]",
    "amq.gen-1",
];

const TEXTS: [&str; 6] = [
    "[{rabbit, [{quorum_commands_soft_limit, 256}]}].",
    "[{rabbit, [{a, 1}, {default_pass, <<\"hunter2\">>}]}].",
    "collect_statistics_interval = 30000",
    "listeners.tcp.1 = 0.0.0.0:5672",
    "a = b\ndefault_pass = hunter2",
    "rabbitmqctl set_policy",
];

struct Source(Random);

impl Source {
    fn name(&mut self) -> String {
        let at = self.below(NAMES.len());
        NAMES[at].to_owned()
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.0.below(limit as u64)).unwrap()
    }

    fn number(&mut self) -> u64 {
        [0, 1, 2, 40, 5_000, 70_000, u64::MAX][self.below(7)]
    }

    fn rate(&mut self) -> Option<f64> {
        let rates = [0.0, 1e-9, 0.5, 37.25, 5e4, 1e300, f64::NAN, f64::INFINITY, -3.0];
        let at = self.below(rates.len() + 1);
        rates.get(at).copied()
    }

    fn yes(&mut self) -> bool {
        self.below(2) == 0
    }

    fn queue(&mut self) -> QueueCase {
        let kinds = [QueueKind::Classic, QueueKind::Quorum, QueueKind::Stream, QueueKind::Other];
        QueueCase {
            vhost: self.name(),
            name: self.name(),
            kind: kinds[self.below(4)],
            pid: self.name(),
            ready: self.number(),
            consumers: self.number(),
            published_per_second: self.rate(),
            delivered_per_second: self.rate(),
            is_durable: self.yes(),
            ..QueueCase::default()
        }
    }

    fn channel(&mut self) -> ChannelCase {
        ChannelCase {
            pid: self.name(),
            name: self.name(),
            connection: self.name(),
            client: self.name(),
            vhost: self.name(),
            consumers: self.number(),
            consumers_without_ack: self.number(),
            prefetch: self.yes().then(|| self.number()),
            global_prefetch: self.number(),
            unconfirmed: self.number(),
            is_confirming: self.yes(),
            consumed_queues: vec![self.name()],
            published_per_second: self.rate(),
            got_per_second: self.rate(),
            get_empty_per_second: self.rate(),
            ..ChannelCase::default()
        }
    }

    fn connection(&mut self) -> ConnectionCase {
        ConnectionCase {
            pid: self.name(),
            name: self.name(),
            received_bytes_per_second: self.rate(),
            ..ConnectionCase::default()
        }
    }

    fn broker(&mut self) -> Broker {
        let churn = Churn {
            connections_opened: self.rate().unwrap_or(0.0),
            channels_opened: self.rate().unwrap_or(0.0),
            queues_created: self.rate().unwrap_or(0.0),
            ..Churn::default()
        };
        let keys = ["default_pass", "credit_flow_default_credit", "queue_index_embed_msgs_below"];
        let values = ["<<\"hunter2\">>", "{800,400}", "hunter2}, {x, [", "7", ""];
        let mut other = |key: &str| (format!("rabbit.{key}"), values[self.below(5)].to_owned());
        let other = keys.into_iter().map(&mut other).collect();
        let settings =
            Settings { statistics_interval_ms: Some(self.number()), other, ..Settings::default() };
        Broker {
            version: ["3.10.8", "4.0.1", "", "x.y"][self.below(4)].to_owned(),
            nodes: (0..self.below(4)).map(|_| self.name()).collect(),
            churn: self.yes().then_some(churn),
            settings,
            ..Broker::default()
        }
    }

    fn flow(&mut self) -> Flow {
        let blockers = [
            Blocker::Process(self.name()),
            Blocker::Queue(self.name(), self.name()),
            Blocker::Other(self.name()),
        ];
        let blocked_by = blockers.into_iter().map(|blocker| (blocker, 50)).collect();
        let role = "channel".to_owned();
        let process =
            FlowProcess { role, looks: 100, blocked: 50, blocked_by, ..FlowProcess::default() };
        Flow { processes: vec![process], ..Flow::default() }
    }

    fn case(&mut self) -> Case {
        let mut case = unread();
        case.subject.node = self.name();
        if self.yes() {
            case.broker = Ok(self.broker());
        }
        if self.yes() {
            let rows = (0..self.below(6)).map(|_| self.queue()).collect();
            case.queues = Ok(Queues { count: self.number(), rows, ..Queues::default() });
        }
        if self.yes() {
            case.clients = Ok(Clients {
                connections: (0..self.below(4)).map(|_| self.connection()).collect(),
                channels: (0..self.below(6)).map(|_| self.channel()).collect(),
            });
        }
        if self.yes() {
            case.flow = Ok(self.flow());
        }
        if self.yes() {
            let flags = vec![("+sbwt".to_owned(), self.name()), ("+S".to_owned(), self.name())];
            case.vm = Ok(Vm { schedulers_online: self.number(), flags, ..Vm::default() });
        }
        case
    }

    /// Returns a finding of each row of the table, and one whose rule is hostile as well.
    fn findings(&mut self) -> Vec<Finding> {
        let rules = BY_RULE.iter().map(|(rule, _)| (*rule, ""));
        let settings = BY_SETTING.iter().map(|(setting, _)| ("../\"x\n", *setting));
        let named = rules.chain(settings);
        named
            .map(|(rule, setting)| {
                let found = finding(rule, &self.name(), setting);
                with_text(found, TEXTS[self.below(TEXTS.len())])
            })
            .collect()
    }
}

#[test]
fn every_file_is_accepted_whatever_was_observed() {
    let mut written_files = 0;
    for seed in 0..80 {
        let mut source = Source(Random::new(seed));
        let case = source.case();
        let findings = source.findings();
        let (files, _) = written(&case, findings);
        written_files += files.len();
        for file in &files {
            let (experiment, scenarios) = parsed(file);
            let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-.".contains(c);
            assert!(file.name.chars().all(plain) && file.name.len() <= 75, "{}", file.name);
            assert!(file.scenario_name.chars().all(plain) && !file.name.starts_with('.'));
            assert!(!experiment.description.contains(char::is_control));
            assert!(!experiment.description.contains('\u{202e}'));
            let without_sentence: Vec<&str> = file
                .experiment
                .lines()
                .filter(|line| !line.starts_with("description = "))
                .collect();
            for text in [file.scenario.as_str(), &without_sentence.join("\n")] {
                let foreign = ["hunter2", "passwd", "amq.gen", "gnp.exe", "0.0.0.0", "localhost"];
                assert!(foreign.iter().all(|word| !text.contains(word)), "{text}");
            }
            for scenario in scenarios {
                let queues: usize = scenario.queues.iter().map(|one| one.queue_names().len()).sum();
                let members: u32 = scenario.publishers.iter().map(|one| one.count).sum();
                assert!(queues <= 700 && members <= 400, "{}", file.scenario);
            }
        }
    }
    assert!(written_files > 500, "{written_files}");
}
