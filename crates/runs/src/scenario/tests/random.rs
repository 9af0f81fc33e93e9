//! Random valid scenarios, the same in every test run.

mod faults;
mod groups;
mod messages;

use std::{collections::BTreeMap, time::Duration};

use super::{
    super::{validate::lacks, *},
    SMALL, read,
};
use crate::record::{ExpectedCount, ExpectedLatency, ExpectedRate, Quantile};

/// Generator: xorshift64.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).unwrap()
    }

    fn chance(&mut self) -> bool {
        self.below(2) == 0
    }

    fn write(&mut self) -> WriteMode {
        [WriteMode::Batched, WriteMode::PerMessage, WriteMode::PerFrame][self.below(3)]
    }

    fn some<T>(&mut self, value: T) -> Option<T> {
        self.chance().then_some(value)
    }

    fn number(&mut self, limit: u32) -> u32 {
        1 + u32::try_from(self.below(limit as usize)).unwrap()
    }

    pub(super) fn scenario(&mut self) -> Scenario {
        let broker = self.broker();
        let exchanges = (0..self.below(3)).map(|index| self.exchange(index)).collect();
        let queues: Vec<_> = (0..self.number(3)).map(|index| self.queue(index)).collect();
        let publishers =
            (0..self.number(3)).map(|index| self.publishers(index, &queues[0])).collect();
        let consumers = queues.iter().map(|queue| self.consumers(queue)).collect();
        let may_be_asked = queues
            .iter()
            .find(|queue: &&QueueSpec| queue.queue_type != QueueType::Stream && !queue.exclusive);
        let asked: Vec<_> = may_be_asked.cloned().into_iter().collect();
        let requests = (0..2).zip(&asked).map(|(at, queue)| self.requests(at, queue)).collect();
        let responders = (0..2).zip(&asked).map(|(at, queue)| self.responders(at, queue)).collect();
        let churn = (0..self.number(3)).map(|index| self.churn(index, &queues[0])).collect();
        let pollers = (0..self.below(3)).map(|index| self.pollers(index)).collect();
        let duration = Duration::from_millis(u64::from(self.number(100_000)));
        let save = self.chance();
        let faults = self.faults(&broker, duration);
        let mut broker = Broker { spec: broker, ..Broker::default() };
        broker.connecting = self.connecting();
        let packets = self.some(PacketsSpec { duration: duration / 2, save });
        let mut scenario = Scenario {
            name: "r.1_2-3".to_owned(),
            description: "quotes \" ' and\nlines ü".to_owned(),
            seed: if self.chance() { Seed::Drawn } else { Seed::Number(self.number(1000).into()) },
            broker,
            exchanges,
            run: self.options(duration, queues.iter().all(can_empty)),
            expect: self.expect(),
            queues,
            publishers,
            consumers,
            requests,
            responders,
            churn,
            pollers,
            profile: self.some(ProfileSpec {
                event: ProfileEvents::default(),
                delay: duration / 4,
                duration: duration / 2,
                freq_hz: 999,
            }),
            packets,
            faults,
        };
        self.share_connections(&mut scenario);
        // Only expectations that such a scenario measures.
        let forwards = scenario.consumers.iter().any(|group| group.forward.is_some());
        scenario.run.trace_every = scenario.run.trace_every.filter(|_| !forwards);
        scenario.run.verify =
            !forwards && scenario.publishers.iter().any(PublisherGroup::is_stamped);
        let mut that = std::mem::take(&mut scenario.expect.that);
        that.retain(|expectation| lacks(&scenario, expectation.metric).is_none());
        scenario.expect.that = that;
        scenario
    }

    fn policy(&mut self) -> Policy {
        Policy {
            name: "a policy".to_owned(),
            pattern: "^a\\.".to_owned(),
            definition: "{\"max-length\": 5}".to_owned(),
            apply_to: if self.chance() { PolicySubject::All } else { PolicySubject::QuorumQueues },
            priority: if self.chance() { 0 } else { -3 },
        }
    }

    fn parameter(&mut self) -> Parameter {
        Parameter {
            component: "shovel".to_owned(),
            name: format!("s{}", self.below(9)),
            value: "{\"dest-uri\": \"$uri-1\"}".to_owned(),
            node: 1,
        }
    }

    fn broker(&mut self) -> BrokerSpec {
        if self.chance() {
            BrokerSpec::Existing {
                uris: vec!["amqp://me@host:5673/v%2F?heartbeat=7".to_owned(); self.below(3) + 1],
            }
        } else {
            BrokerSpec::Throwaway(ThrowawayBroker {
                nodes: 1 + self.number(6),
                // `false` excludes many other settings, and has its own test.
                is_cluster: true,
                plugins: vec!["rabbitmq_stream".to_owned()],
                plugins_directory: "more plugins".to_owned(),
                config: "a = 1\nb = \"2\"\n".to_owned(),
                advanced_config: "[{rabbit, []}].".to_owned(),
                erl_args: "+S 1 '\\'".to_owned(),
                environment: [("A_B".to_owned(), "c \"d\"".to_owned())]
                    .into_iter()
                    .take(self.below(2))
                    .collect(),
                root: if self.chance() { "/srv/other".to_owned() } else { String::new() },
                patches: vec!["patch.erl".to_owned(); self.below(3)],
                modules: vec!["module.beam".to_owned(); self.below(2)],
                policies: vec![self.policy(); self.below(2)],
                parameters: vec![self.parameter(); self.below(2)],
            })
        }
    }

    fn connecting(&mut self) -> Connecting {
        let delay = Duration::from_millis(u64::from(self.number(5000)));
        let recovery = Recovery { delay, max_delay: delay * 3, timeout: delay * 9 };
        let verify = self.chance();
        let tls = Tls {
            ca: Some("ca.pem".to_owned()).filter(|_| verify),
            cert: Some("cert.pem".to_owned()),
            key: Some("key.pem".to_owned()),
            server_name: self.some("broker".to_owned()),
            verify,
        };
        Connecting {
            allocation: [Allocation::RoundRobin, Allocation::Random][self.below(2)],
            auth: [Auth::Plain, Auth::External, Auth::Token { file: "t".to_owned() }]
                [self.below(3)]
            .clone(),
            tls,
            timeout: delay,
            startup_timeout: self.some(delay),
            nodelay: self.chance(),
            send_buffer_bytes: self.some(4096),
            receive_buffer_bytes: self.some(65_536),
            parallel: self.number(256),
            rate: self.some(12.5),
            recovery: self.some(recovery),
        }
    }

    fn options(&mut self, duration: Duration, can_empty: bool) -> RunOptions {
        let empty = can_empty.then_some(UntilKind::Empty);
        let until = [None, empty, Some(UntilKind::Idle)][self.below(3)];
        let warm_ups = [None, Some(WarmUp::Auto), Some(WarmUp::Time(duration / 2))];
        RunOptions {
            duration: Some(duration),
            until,
            idle_time: (until == Some(UntilKind::Idle)).then_some(Duration::from_millis(1500)),
            empty_timeout: (until == Some(UntilKind::Empty)).then_some(Duration::from_secs(77)),
            warm_up: warm_ups[self.below(3)],
            start_at: self.some(Duration::from_secs(4_107_542_400)),
            verify: true,
            trace_every: self.some(10_000),
            step: self.some(Duration::from_millis(3)),
            self_check: self.chance(),
            stop_on_failure: self.chance(),
            latency_by_queue: self.chance(),
            queue_depths: self.chance(),
        }
    }

    fn expect(&mut self) -> Expect {
        let bounds = [
            (Metric::Count(ExpectedCount::Lost), Limit::Count(0)),
            (Metric::Count(ExpectedCount::Late), Limit::Percent(0.5)),
            (Metric::Rate(ExpectedRate::Published), Limit::PerSecond(9999.5)),
            (Metric::Latency(ExpectedLatency::Confirm, Quantile::P99), Limit::Nanos(20_000_000)),
            (Metric::Latency(ExpectedLatency::EndToEndIntended, Quantile::P9999), Limit::Nanos(1)),
            (Metric::from_name("broker.memory.max").unwrap(), Limit::Bytes(3 << 30)),
            (Metric::from_name("node.run-queue.mean").unwrap(), Limit::Number(1.25)),
            (Metric::from_name("node.run-queue.max").unwrap(), Limit::Number(9.0)),
        ];
        let that = bounds.into_iter().filter_map(|(metric, limit)| {
            let comparison = Comparison::ALL[self.below(5)];
            self.some(Expectation { metric, comparison, limit })
        });
        Expect { that: that.collect(), steady: self.chance() }
    }

    fn schedule(&mut self) -> Schedule {
        let arrival = [Arrival::Constant, Arrival::Poisson][self.below(2)];
        let after = [AfterPhases::Hold, AfterPhases::Repeat, AfterPhases::Stop][self.below(3)];
        let rate = f64::from(self.number(9999)) / 7.0;
        match self.below(3) {
            0 => Schedule::default(),
            1 => Schedule { arrival, ..Schedule::steady(rate) },
            _ => Schedule { arrival, phases: self.phases(), after_phases: after, rate: None },
        }
    }

    fn phases(&mut self) -> Vec<Phase> {
        let rate = f64::from(self.number(9999)) / 7.0;
        let every = Duration::from_millis(100);
        let length = every * 7;
        let rates =
            |from, to| Phase { length, rate: Some(from), to: Some(to), burst: None, every: None };
        let burst = Some(self.number(500));
        let bursts = Phase { length, rate: None, to: None, burst, every: Some(every) };
        let phases = [rates(rate, rate), rates(0.0, rate), bursts, rates(0.0, 0.0)];
        phases[..=self.below(4)].to_vec()
    }

    fn queue(&mut self, index: u32) -> QueueSpec {
        let queue_type = [QueueType::Classic, QueueType::Quorum, QueueType::Stream][self.below(3)];
        let is_classic = queue_type == QueueType::Classic;
        let (to, names) = self.names(index);
        let predeclared = self.below(4) == 0;
        let bindings = if predeclared { Vec::new() } else { self.bindings("e") };
        let name = format!("q.{index} \"ü\"");
        QueueSpec {
            name: if to.is_some() { name + "{:03}" } else { name },
            from: to.map(|_| 0),
            to,
            names,
            names_file: None,
            partitions: None,
            server_named: false,
            queue_type,
            durable: !is_classic || self.chance(),
            exclusive: is_classic && !predeclared && self.chance(),
            auto_delete: is_classic && self.chance(),
            predeclared,
            if_missing: !predeclared && self.chance(),
            arguments: self.arguments(),
            prefill: 0,
            prefill_size: None,
            bind_existing: (!bindings.is_empty()).then(|| self.chance()),
            bindings,
            keep: !is_classic && !predeclared && self.chance(),
        }
    }

    /// Returns the last number or the names of a set, or neither.
    fn names(&mut self, index: u32) -> (Option<u32>, Option<Vec<String>>) {
        match self.below(3) {
            0 => (None, None),
            1 => (Some(self.number(9)), None),
            _ => (None, Some(vec![format!("l{index}"), format!("m{index} ' \"")])),
        }
    }

    fn exchange(&mut self, index: usize) -> ExchangeSpec {
        let predeclared = self.chance();
        ExchangeSpec {
            name: format!("x{index}"),
            kind: ["direct", "fanout", "topic", "headers", "x-hash"][self.below(5)].to_owned(),
            durable: self.chance(),
            auto_delete: self.chance(),
            internal: self.chance(),
            predeclared,
            if_missing: !predeclared && self.chance(),
            arguments: self.arguments(),
            bindings: self.bindings("s"),
            keep: !predeclared && self.chance(),
        }
    }

    fn bindings(&mut self, source: &str) -> Vec<Binding> {
        let binding = |number: usize, random: &mut Self| Binding {
            exchange: format!("{source}.{number}"),
            routing_key: if number == 0 { String::new() } else { "a.*.#".to_owned() },
            arguments: random.arguments(),
        };
        (0..self.below(3)).map(|number| binding(number, self)).collect()
    }

    fn arguments(&mut self) -> BTreeMap<String, FieldValue> {
        let all = [
            ("x-max-length", FieldValue::Integer(-5)),
            ("x-ratio", FieldValue::Float(0.25)),
            ("x-max-age", FieldValue::Text("1h".to_owned())),
            ("x-time", FieldValue::Time(Time { seconds: 1_767_225_600 })),
            ("x flag", FieldValue::Bool(true)),
            ("x-list", FieldValue::Array(vec![FieldValue::Integer(1), FieldValue::Bool(false)])),
            (
                "x-table",
                FieldValue::Table(BTreeMap::from([("k".to_owned(), FieldValue::Float(2.0))])),
            ),
        ];
        all.into_iter().filter_map(|(key, value)| self.some((key.to_owned(), value))).collect()
    }

    fn delay(&mut self) -> Duration {
        Duration::from_millis(self.below(3) as u64 * 250)
    }

    /// Puts some groups of consumers onto the connections of publishers.
    fn share_connections(&mut self, scenario: &mut Scenario) {
        let hosts: Vec<_> = scenario
            .publishers
            .iter()
            .map(|group| (group.name.clone(), group.connections))
            .collect();
        for group in &mut scenario.consumers {
            let host = hosts.iter().find(|(_, count)| group.connections == group.count.min(*count));
            group.connections_of = host.map(|(name, _)| name.clone()).filter(|_| self.chance());
        }
    }

    fn publishers(&mut self, index: u32, queue: &QueueSpec) -> PublisherGroup {
        let count = self.number(50);
        let connections = self.number(count);
        let most = count.div_ceil(connections);
        let to_queue = self.chance();
        let tx_size = Some(self.number(2000)).filter(|_| self.chance());
        let tx_size = tx_size.filter(|_| !to_queue || queue.queue_type != QueueType::Stream);
        let channels = if tx_size.is_some() { most } else { self.number(most) };
        let group = PublisherGroup {
            name: format!("p{index}"),
            count,
            connections,
            channels,
            tx_size,
            ..read(SMALL, &[]).unwrap().publishers.remove(0)
        };
        let group = self.target(group, queue, to_queue);
        let group = self.confirms(group);
        let group = self.content(group);
        let schedule = self.schedule();
        let is_late = schedule.is_set().then(|| self.chance());
        PublisherGroup {
            member_queues: self.member_queues(),
            write: self.write(),
            mandatory: self.chance(),
            rate: schedule.rate,
            arrival: schedule.is_set().then_some(schedule.arrival),
            after_phases: (!schedule.phases.is_empty()).then_some(schedule.after_phases),
            phases: schedule.phases,
            late: is_late.map(|late| if late { LatePolicy::Skip } else { LatePolicy::Send }),
            messages: Some(u64::from(self.number(9999))).filter(|_| self.chance()),
            start_delay: self.delay(),
            random_start_delay: self.delay(),
            ..group
        }
    }

    fn target(
        &mut self,
        group: PublisherGroup,
        queue: &QueueSpec,
        to_queue: bool,
    ) -> PublisherGroup {
        if to_queue {
            return PublisherGroup { queue: Some(queue.name.clone()), ..group };
        }
        let to = |exchange: &str, key: Option<&str>| PublisherGroup {
            queue: None,
            exchange: Some(exchange.to_owned()),
            routing_key: key.map(str::to_owned),
            ..group.clone()
        };
        let direct = to("amq.direct", None);
        match self.below(4) {
            0 => to("amq.topic", Some("a.#")),
            1 => PublisherGroup { from: Some(3), to: Some(7), ..to("amq.direct", Some("k{}")) },
            2 => {
                let keys = Some(vec!["a".to_owned(), String::new()]);
                PublisherGroup { routing_keys: keys, ..direct }
            }
            _ => PublisherGroup { random_routing_keys: Some(self.number(1000)), ..direct },
        }
    }

    fn confirms(&mut self, group: PublisherGroup) -> PublisherGroup {
        let window = [None, Some(NO_WINDOW), Some(self.number(2000))][self.below(3)];
        let window = window.filter(|_| group.tx_size.is_none());
        let is_confirmed = window.is_some() || group.tx_size.is_some();
        let timeout = self.some(Duration::from_secs(3)).filter(|_| is_confirmed);
        let reaction = [OnConfirmTimeout::Count, OnConfirmTimeout::Fail][self.below(2)];
        PublisherGroup {
            confirms: (window == Some(NO_WINDOW)).then_some(true),
            confirm_window: window,
            confirm_timeout: timeout,
            on_confirm_timeout: timeout.map(|_| reaction),
            republish_unconfirmed: window.map(|_| self.chance()),
            ..group
        }
    }

    fn member_queues(&mut self) -> MemberQueues {
        [MemberQueues::Share, MemberQueues::One, MemberQueues::All][self.below(3)]
    }

    fn forward(&mut self) -> Option<Forward> {
        let forward = Forward {
            exchange: Some("amq.topic".to_owned()),
            routing_key: self.some("k.1".to_owned()),
            size: self.some(100),
            persistent: self.chance(),
            share: self.some(0.25),
            ..Forward::default()
        };
        self.some(forward)
    }

    fn consumers(&mut self, queue: &QueueSpec) -> ConsumerGroup {
        let is_stream = queue.queue_type == QueueType::Stream;
        let count = self.number(50);
        let connections = if queue.exclusive { 1 } else { self.number(count) };
        let most = count.div_ceil(connections);
        let polling = self.some(Duration::from_millis(5)).filter(|_| !is_stream);
        let auto_ack = !is_stream && self.chance();
        let prefetch = u16::try_from(self.number(65_535)).unwrap();
        let is_limited = !auto_ack && polling.is_none();
        let channels = if polling.is_some() { most } else { self.number(most) };
        let is_shared = channels < most;
        let tx_size =
            self.some(u32::from(prefetch)).filter(|_| !is_stream && !auto_ack && !is_shared);
        let lasts = Duration::from_secs(1);
        let step = |time| ProcessingStep { time: Duration::from_micros(time), lasts };
        let own_pace = is_limited && !is_shared;
        let processing_times = self.some(vec![step(20), step(0)]).filter(|_| own_pace);
        let share = |time| ProcessingShare { time: Duration::from_micros(time), share: 0.5 };
        let processing_time_shares =
            self.some(vec![share(20), share(0)]).filter(|_| own_pace && processing_times.is_none());
        let time = self.delay();
        let is_drawn = processing_times.is_some() || processing_time_shares.is_some();
        let is_held = own_pace && !is_drawn && !time.is_zero();
        let nack = !auto_ack && self.chance();
        ConsumerGroup {
            forward: self.forward().filter(|_| is_limited && !nack),
            name: format!("c of {}", queue.name),
            count,
            connections,
            channels,
            queue: queue.name.clone(),
            member_queues: self.member_queues(),
            prefetch: is_limited.then_some(prefetch),
            channel_prefetch: self
                .some(prefetch)
                .filter(|_| is_limited && queue.queue_type == QueueType::Classic),
            auto_ack,
            multi_ack_every: if auto_ack || tx_size.is_some() {
                1
            } else {
                self.number(u32::from(prefetch))
            },
            nack,
            requeue: nack.then(|| self.chance()),
            tx_size,
            rate: self.some(0.5).filter(|_| own_pace),
            processing_time: is_held.then_some(time),
            processing_times,
            processing_time_shares,
            polling: Some(polling.is_some()),
            poll_interval: polling,
            unpack: self.chance(),
            arguments: if polling.is_some() { BTreeMap::new() } else { self.arguments() },
            messages: Some(u64::from(self.number(9999))).filter(|_| self.chance() && !is_shared),
            start_delay: self.delay(),
            slow_start: self.delay(),
            ..read(SMALL, &[]).unwrap().consumers.remove(0)
        }
    }
}

fn can_empty(queue: &QueueSpec) -> bool {
    queue.queue_type != QueueType::Stream && !queue.exclusive
}
