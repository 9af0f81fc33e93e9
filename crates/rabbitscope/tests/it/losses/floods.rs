//! Floods: publishers that write as fast as sockets take. The program's count of accepted messages equals the number
//! in the broker's queue, and the program finds the messages that a queue drops.

use std::time::{Duration, Instant};

use rabbitscope_amqp::{Event, Reply, Request, Table, Value, blocking::Client};
use rabbitscope_testing::{
    Ends, Workbench, connect, consume, count, durable_queue, existing_broker, own_broker,
    scenario::{Consumers, Publishers, Queue, Scenario, raw},
};
use serde_json::Value as Json;

/// Time limit of a flood and the reading of its sockets, in seconds.
const LONGEST: u32 = 400;

/// A queue has stopped growing after its number of messages is unchanged for this time.
const STILL_TIME: Duration = Duration::from_secs(2);

/// The loss that the queue is configured to cause.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Loss {
    None,
    /// The oldest messages are dropped.
    MaxLength,
    /// The latest messages are dropped.
    RejectPublish,
    /// Messages expire.
    Ttl,
}

/// A flood derived from a seed.
#[derive(Clone, Debug)]
struct Flood {
    seed: u64,
    kind: &'static str,
    publishers: u64,
    connections: u64,
    seconds: u64,
    size: u64,
    window: Option<u64>,
    /// Consumers take messages; if false, they wait beyond the end of the run.
    reads: bool,
    loss: Loss,
}

/// The result of a flood.
#[derive(Debug)]
struct Outcome {
    published: u64,
    accepted: u64,
    /// Messages that consumers took from the queue.
    taken: u64,
    depth: u64,
    lost: u64,
    not_judged: u64,
    nacked: u64,
}

struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % end
    }

    fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[usize::try_from(self.below(choices.len() as u64)).unwrap()]
    }
}

impl Flood {
    fn new(seed: u64) -> Self {
        let mut random = Random((seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        random.below(2);
        let kind = random.one_of(&["classic", "quorum", "stream"]);
        let publishers = 1 + random.below(20);
        let losses: &[Loss] = match kind {
            "classic" => &[Loss::None, Loss::None, Loss::MaxLength, Loss::Ttl, Loss::RejectPublish],
            "quorum" => &[Loss::None, Loss::None, Loss::MaxLength, Loss::Ttl],
            _ => &[Loss::None],
        };
        let loss = random.one_of(losses);
        Self {
            seed,
            reads: loss == Loss::None && random.below(2) == 0,
            kind,
            publishers,
            connections: 1 + random.below(publishers),
            seconds: 1 + random.below(8),
            size: random.one_of(&[60, 300, 2000, 8000]),
            window: random.one_of(&[None, None, Some(100), Some(2000)]),
            loss,
        }
    }

    fn queue(&self) -> String {
        format!("flood-{}", self.seed)
    }

    fn scenario(&self) -> Scenario {
        let number = |value: u64| i64::try_from(value).unwrap();
        let arguments = match self.loss {
            Loss::None if self.kind == "stream" => "x-stream-max-segment-size-bytes = 5000000",
            Loss::None => "",
            Loss::MaxLength => "x-max-length = 500",
            Loss::RejectPublish => "x-max-length = 500, x-overflow = \"reject-publish\"",
            Loss::Ttl => "x-message-ttl = 20",
        };
        let arguments = raw(&format!("{{ {arguments} }}"));
        let name = &self.queue();
        let mut publishers = Publishers::new(name)
            .count(number(self.publishers))
            .connections(number(self.connections))
            .size(format!("{}B", self.size));
        if let Some(window) = self.window {
            publishers = publishers.confirm_window(number(window));
        }
        let consumers = Consumers::new(name);
        let consumers = match (self.reads, self.kind) {
            (false, _) => consumers.prefetch(100).start_delay("1h"),
            (true, "stream") => {
                consumers.prefetch(100).arguments(raw("{ x-stream-offset = \"first\" }"))
            }
            (true, _) => consumers.auto_ack(true),
        };
        Scenario::new(name)
            .queues(Queue::new(name).of_type(self.kind).keep(true).arguments(arguments))
            .publishers(publishers)
            .consumers(consumers)
            .duration(format!("{}s", self.seconds))
            .verify(true)
    }

    fn run(&self) -> Outcome {
        let bench = Workbench::new("flood");
        bench.file("s.toml", self.scenario());
        let timeout = format!("timeout --signal=KILL {LONGEST}");
        let line = format!("run s.toml --uri {} --out out --json", existing_broker().uri());
        // A machine that stalls for seconds makes a run without service; its counts still hold.
        let ended = bench.command_through(&timeout, &line).ended();
        assert!(matches!(ended.code, Some(0 | 1)), "{ended:#?}");
        let run: Json = ended.json();
        let found = |key: &str| run["verification"][key].as_u64().unwrap();
        Outcome {
            published: count(&run, "published"),
            accepted: count(&run, "accepted"),
            taken: if self.kind == "stream" { 0 } else { count(&run, "consumed") },
            depth: final_depth(&self.queue(), self.kind),
            lost: found("lost"),
            not_judged: found("not-judged"),
            nacked: count(&run, "nacked"),
        }
    }

    /// Asserts that the program and the queue agree.
    #[track_caller]
    fn check(&self) -> Outcome {
        let outcome = self.run();
        let Outcome { published, accepted, taken, depth, lost, not_judged, nacked } = outcome;
        let text = format!("{self:?} {outcome:?}");
        assert!(accepted > 0 && depth + taken <= accepted, "{text}");
        let dropped = accepted - taken - depth;
        if not_judged == 0 {
            assert_eq!(accepted + nacked, published, "all was answered: {text}");
        }
        match self.loss {
            Loss::None => assert_eq!(lost, 0, "{text}"),
            // Messages that expire after the run were not lost in it.
            Loss::Ttl => assert!(lost > 0 && lost <= dropped, "{text}"),
            // A publisher with confirms learns of each refused message.
            Loss::RejectPublish if self.window.is_some() => assert_eq!(lost, 0, "{text}"),
            Loss::MaxLength | Loss::RejectPublish => {
                assert!(lost > 0 && lost == dropped, "{text}");
            }
        }
        if self.loss == Loss::None && not_judged == 0 {
            assert_eq!(dropped, 0, "the queue has what was accepted: {text}");
        }
        outcome
    }
}

/// Returns the number of messages in a queue that has stopped growing, and deletes the queue.
fn final_depth(queue: &str, kind: &str) -> u64 {
    let (mut client, channel) = connect(&existing_broker().uri());
    let none = Table::default();
    let declare = durable_queue(queue, true, &none);
    let depth = |client: &mut Client| match kind {
        "stream" => last_chunk(queue),
        _ => messages(client, channel, &declare),
    };
    let (mut last, mut since) = (depth(&mut client), Instant::now());
    while since.elapsed() < STILL_TIME {
        std::thread::sleep(Duration::from_millis(200));
        let now = depth(&mut client);
        if now != last {
            (last, since) = (now, Instant::now());
        }
    }
    let in_chunk = if kind == "stream" { read_last_chunk(&mut client, channel, queue) } else { 0 };
    client
        .call(channel, &Request::QueueDelete { queue, if_unused: false, if_empty: false })
        .unwrap();
    client.close().unwrap();
    last + in_chunk
}

fn messages(client: &mut Client, channel: u16, passive: &Request<'_>) -> u64 {
    match client.call(channel, passive).unwrap() {
        Reply::QueueDeclared { messages, .. } => u64::from(messages),
        other => panic!("{other:?}"),
    }
}

/// Returns the messages of a stream before its last chunk. RabbitMQ knows the number of all only seconds later. Each
/// segment but the first begins with a snapshot of the publishers, which takes an offset (`osiris_log`).
fn last_chunk(stream: &str) -> u64 {
    let text = existing_broker().eval(&format!(
        "Name = rabbit_misc:r(<<\"/\">>, queue, <<\"{stream}\">>), \
         {{ok, Q}} = rabbit_amqqueue:lookup(Name), \
         [{{_, First}}] = rabbit_stream_queue:info(Q, [committed_offset]), \
         #{{segments := Segments}} = maps:get({{osiris_writer, Name}}, osiris_counters:overview()), \
         First - (Segments - 1)"
    ));
    text.unwrap().trim().parse().unwrap()
}

/// Returns the number of messages in the last chunk.
fn read_last_chunk(client: &mut Client, channel: u16, stream: &str) -> u64 {
    client.call(channel, &Request::Qos { prefetch: 65_000, global: false }).unwrap();
    let last = Value::Text("last".to_owned());
    let arguments = Table(vec![("x-stream-offset".to_owned(), last)]);
    let consume = consume(stream, &arguments);
    client.send(channel, &consume);
    let (mut count, mut latest) = (0, Instant::now());
    while latest.elapsed() < STILL_TIME {
        let mut has_come = false;
        let taken = client.poll(Duration::from_millis(100), |event| {
            has_come |= matches!(event, Event::Delivery(_));
            count += u64::from(matches!(event, Event::Delivery(_)));
            false
        });
        taken.unwrap();
        if has_come {
            latest = Instant::now();
        }
    }
    count
}

/// Makes a flood with these properties; the rest follow from the seed.
fn small(seed: u64, kind: &'static str, window: Option<u64>, loss: Loss) -> Flood {
    Flood {
        reads: false,
        kind,
        window,
        loss,
        seconds: 1,
        publishers: 5,
        connections: 4,
        size: 1000,
        ..Flood::new(seed)
    }
}

#[test]
fn what_is_accepted_is_what_the_queue_has() {
    for (seed, kind) in (10_000..).zip(["classic", "quorum", "stream"]) {
        let outcome = small(seed, kind, None, Loss::None).check();
        assert_eq!(outcome.not_judged, 0, "{outcome:?}");
    }
}

#[test]
fn what_a_queue_drops_is_lost() {
    let losses =
        [("classic", Loss::MaxLength), ("quorum", Loss::Ttl), ("classic", Loss::RejectPublish)];
    for (seed, (kind, loss)) in (20_000..).zip(losses) {
        small(seed, kind, None, loss).check();
    }
}

/// `FLOODS=first-last` selects other seeds.
#[test]
#[ignore = "an hour: make test-floods"]
fn two_hundred_floods() {
    let chosen = std::env::var("FLOODS").unwrap_or_else(|_| "0-199".to_owned());
    let (first, last) = chosen.split_once('-').unwrap();
    let mut failed = Vec::new();
    for seed in first.parse().unwrap()..=last.parse().unwrap() {
        let flood = Flood::new(seed);
        let began = Instant::now();
        match std::panic::catch_unwind(|| flood.check()) {
            Ok(outcome) => println!("{:.1} s {flood:?} {outcome:?}", began.elapsed().as_secs_f64()),
            Err(_) => failed.push(seed),
        }
    }
    assert!(failed.is_empty(), "{failed:?}");
}

/// A queue whose publishers fill their sockets, with one slow consumer.
fn pile(publishers: Publishers, rate: i64, duration: &str) -> Scenario {
    Scenario::with_queue("pile")
        .publishers(publishers.size("8000B"))
        .consumers(Consumers::new("pile").rate(rate).prefetch(10))
        .duration(duration)
        .verify(true)
}

fn filling() -> Publishers {
    Publishers::new("pile").count(4).connections(4)
}

#[test]
fn a_summary_tells_written_from_accepted() {
    let bench = Workbench::new("pile");
    bench.file("s.toml", pile(filling(), 200, "3s"));
    let ended = bench.rabbitscope("run s.toml --out out").code(0);
    let run = bench.json("out/run.json");
    let parts = ["accepted in all", "written in all): sockets were full for", " 0 lost"];
    assert!(parts.iter().all(|part| ended.stdout.contains(part)), "{ended:#?}");
    let counts = |key: &str| run["measured"]["load"][key].as_u64().unwrap();
    assert!(counts("published") > counts("accepted") && counts("accepted") > 0, "{ended:#?}");
    assert_eq!(count(&run, "published"), count(&run, "accepted"), "all was taken after the load");
    assert_eq!(count(&run, "without-service-nanos"), 0, "full sockets that drain are service");
    assert_eq!(run["losses"], Json::Array(Vec::new()));
}

#[test]
fn a_summary_says_that_messages_pile_up() {
    let bench = Workbench::new("piles-up");
    let scenario = pile(Publishers::new("pile").rate(500), 50, "6s");
    let ended = bench.run(scenario).code(0);
    let line =
        ended.stdout.lines().find(|line| line.starts_with("not steady: ")).unwrap_or_default();
    assert!(
        line.contains("of the messages published were not consumed: they pile up"),
        "{ended:#?}"
    );
}

/// Messages that the broker does not read because of an alarm are neither accepted nor lost.
#[test]
fn what_an_alarm_keeps_in_sockets_is_not_judged() {
    let bench = Workbench::new("alarm-at-end");
    let broker = own_broker();
    let scenario = pile(filling(), 200, "3s").expect("blocked", "<= 100%");
    let running = bench.start_run_with(&broker, scenario, "--json", 2);
    broker.eval("rabbit_alarm:set_alarm({{resource_limit, memory, node()}, []})").unwrap();
    let ended = running.ended().code(0);
    let run: Json = ended.json();
    let found = |key: &str| run["verification"][key].as_u64().unwrap();
    let unknown = count(&run, "published") - count(&run, "accepted");
    assert!(unknown > 0 && found("unanswered") >= unknown, "{run:#}");
    assert_eq!((found("lost"), found("not-judged")), (0, found("unanswered")), "{run:#}");
    let loss = &run["losses"][0];
    assert_eq!(
        (loss["what"].as_str(), loss["count"].as_u64()),
        (Some("written messages"), Some(unknown))
    );
    assert!(
        loss["meaning"].as_str().unwrap().contains("an alarm of the broker blocked publishers"),
        "{loss}"
    );
}
