//! Random valid scenarios, the same in every test run.

mod faults;
mod groups;
mod messages;

use std::{collections::BTreeMap, time::Duration};

use super::super::{validate::Measured, *};
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
        [WriteMode::Batched, WriteMode::PerMessage][self.below(2)]
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
        let packets = self.some(PacketsSpec { duration: duration / 2, save });
        let mut scenario = Scenario {
            name: "r.1_2-3".to_owned(),
            description: "quotes \" ' and\nlines ü".to_owned(),
            seed: u64::from(self.number(1000)),
            broker,
            connecting: self.connecting(),
            exchanges,
            stop: Stop {
                duration: Some(duration),
                until: self.until(queues.iter().all(can_empty)),
            },
            run: self.options(duration),
            expect: self.expect(),
            queues,
            publishers,
            consumers,
            requests,
            responders,
            churn,
            pollers,
            profile: self.some(ProfileSpec {
                event: ProfileEvent::default(),
                delay: duration / 4,
                duration: duration / 2,
                freq_hz: 999,
            }),
            packets,
            faults,
        };
        // Only expectations that such a scenario measures.
        scenario.run.verify = scenario.publishers.iter().any(PublisherGroup::is_stamped);
        let mut that = std::mem::take(&mut scenario.expect.that);
        that.retain(|expectation| {
            Measured::from_scenario(&scenario).lacks(expectation.metric).is_none()
        });
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

    fn until(&mut self, can_empty: bool) -> Option<Until> {
        let empty = can_empty.then_some(Until::Empty(Duration::from_secs(77)));
        let all = [None, empty, Some(Until::Idle(Duration::from_millis(1500)))];
        all[self.below(3)]
    }

    fn options(&mut self, duration: Duration) -> RunOptions {
        let warm_ups = [None, Some(WarmUp::Auto), Some(WarmUp::Time(duration / 2))];
        RunOptions {
            warm_up: warm_ups[self.below(3)],
            start_at: self.some(Duration::from_secs(4_107_542_400)),
            verify: true,
            trace_every: self.some(10_000),
            step: self.some(Duration::from_millis(3)),
            self_check: self.chance(),
            stop_on_failure: self.chance(),
            latency_by_queue: self.chance(),
        }
    }

    fn expect(&mut self) -> Expect {
        let bounds = [
            (Metric::Count(ExpectedCount::Lost), Limit::Count(0)),
            (Metric::Count(ExpectedCount::Late), Limit::Percent(0.5)),
            (Metric::Rate(ExpectedRate::Published), Limit::PerSecond(9999.5)),
            (Metric::Latency(ExpectedLatency::Confirm, Quantile::P99), Limit::Nanos(20_000_000)),
            (Metric::Latency(ExpectedLatency::EndToEndIntended, Quantile::P9999), Limit::Nanos(1)),
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
        let demands = [
            Demand::Rate { from: rate, to: rate },
            Demand::Rate { from: 0.0, to: rate },
            Demand::Bursts { messages: self.number(500), every },
            Demand::Rate { from: 0.0, to: 0.0 },
        ];
        let count = 1 + self.below(4);
        demands[..count].iter().map(|demand| Phase { length: every * 7, demand: *demand }).collect()
    }

    fn queue(&mut self, index: u32) -> QueueSpec {
        let queue_type = [QueueType::Classic, QueueType::Quorum, QueueType::Stream][self.below(3)];
        let is_classic = queue_type == QueueType::Classic;
        let names = self.names(index);
        let predeclared = self.below(4) == 0;
        let bindings = if predeclared { Vec::new() } else { self.bindings("e") };
        let name = format!("q.{index} \"ü\"");
        QueueSpec {
            name: if let QueueNames::Numbered(_) = names { name + "{:03}" } else { name },
            names,
            queue_type,
            durable: !is_classic || self.chance(),
            exclusive: is_classic && !predeclared && self.chance(),
            auto_delete: is_classic && self.chance(),
            predeclared,
            if_missing: !predeclared && self.chance(),
            arguments: self.arguments(),
            bind_existing: !bindings.is_empty() && self.chance(),
            bindings,
            keep: !is_classic && !predeclared && self.chance(),
        }
    }

    fn names(&mut self, index: u32) -> QueueNames {
        match self.below(3) {
            0 => QueueNames::One,
            1 => QueueNames::Numbered(NumberRange { from: 0, to: self.number(9) }),
            _ => QueueNames::Listed(vec![format!("l{index}"), format!("m{index} ' \"")]),
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

    fn publishers(&mut self, index: u32, queue: &QueueSpec) -> PublisherGroup {
        let count = self.number(50);
        let connections = self.number(count);
        let to_queue = self.chance();
        let (exchange, routing_key, keys) = match self.below(4) {
            _ if to_queue => ("", queue.name.as_str(), RoutingKeys::Fixed),
            0 => ("amq.topic", "a.#", RoutingKeys::Fixed),
            1 => ("amq.direct", "k{}", RoutingKeys::Numbered(NumberRange { from: 3, to: 7 })),
            2 => ("amq.direct", "", RoutingKeys::Listed(vec!["a".to_owned(), String::new()])),
            _ => ("amq.direct", "", RoutingKeys::Random(self.number(1000))),
        };
        let (size_bytes, sizes, body) = self.content();
        let mut properties = self.properties();
        let packing = self.packing(&body);
        if packing.compression.is_some() {
            properties.content_encoding = None;
        }
        let (confirm_window, tx_size) = match self.below(3) {
            0 => (None, None),
            1 => (self.some(NO_WINDOW).or(Some(self.number(2000))), None),
            _ if to_queue && queue.queue_type == QueueType::Stream => (None, None),
            _ => (None, Some(self.number(2000))),
        };
        let most = count.div_ceil(connections);
        let timeout = ConfirmTimeout { after: Duration::from_secs(3), ends_run: self.chance() };
        let confirms = confirm_window.is_some() || tx_size.is_some();
        let schedule = self.schedule();
        let is_late = schedule.is_set() && self.chance();
        PublisherGroup {
            name: format!("p{index}"),
            count,
            connections,
            channels: if tx_size.is_some() { most } else { self.number(most) },
            exchange: exchange.to_owned(),
            routing_key: routing_key.to_owned(),
            keys,
            member_queues: self.member_queues(),
            size_bytes,
            sizes,
            body,
            packing,
            persistent: properties.delivery_mode.map_or_else(|| self.chance(), |mode| mode == 2),
            properties,
            confirm_window,
            confirm_timeout: self.some(timeout).filter(|_| confirms),
            republish_unconfirmed: confirm_window.is_some() && self.chance(),
            write: self.write(),
            tx_size,
            mandatory: self.chance(),
            schedule,
            late: if is_late { LatePolicy::Skip } else { LatePolicy::Send },
            messages: Some(u64::from(self.number(9999))).filter(|_| self.chance()),
            start_delay: self.delay(),
            random_start_delay: self.delay(),
        }
    }

    fn member_queues(&mut self) -> MemberQueues {
        [MemberQueues::Share, MemberQueues::One, MemberQueues::All][self.below(3)]
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
        let processing_times = self.some(vec![step(20), step(0)]).unwrap_or_default();
        let processing_times = if is_limited && !is_shared { processing_times } else { Vec::new() };
        let own_pace = is_limited && !is_shared;
        ConsumerGroup {
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
            settle: if auto_ack {
                Settle::Ack
            } else {
                [Settle::Ack, Settle::Requeue, Settle::Discard][self.below(3)]
            },
            tx_size,
            rate: self.some(0.5).filter(|_| own_pace),
            processing_time: match processing_times.first() {
                Some(step) => step.time,
                None if own_pace => self.delay(),
                None => Duration::ZERO,
            },
            processing_times,
            polling,
            exclusive: false,
            unpack: self.chance(),
            arguments: if polling.is_some() { BTreeMap::new() } else { self.arguments() },
            messages: Some(u64::from(self.number(9999))).filter(|_| self.chance() && !is_shared),
            start_delay: self.delay(),
            slow_start: self.delay(),
        }
    }
}

fn can_empty(queue: &QueueSpec) -> bool {
    queue.queue_type != QueueType::Stream && !queue.exclusive
}
