//! Messages by the stream protocol, by AMQP 0-9-1, and from one to the other: none lost, none twice, all in order.

use std::{
    fs, thread,
    time::{Duration, UNIX_EPOCH},
};

use rabbitscope_testing::{
    Workbench, count, latency_figure,
    scenario::{Consumers, Publishers, Queue, Scenario, raw},
};
use rabbitscope_text::display_utc;

use super::{broker, has_commands_of, publishers, readers, stream};

#[test]
fn both_protocols_meet_in_streams() {
    let bench = Workbench::new("streams-meet");
    let scenario = Scenario::new("streams-meet")
        .queues(stream("meet-a"))
        .queues(stream("mü/et % b"))
        .publishers(publishers("meet-a").name("by stream").count(3).messages(2000).size("300B"))
        .publishers(Publishers::new("mü/et % b").name("by amqp").messages(2000).confirm_window(500))
        .consumers(
            Consumers::new("meet-a").name("amqp").prefetch(100).offset("first").messages(6000),
        )
        .consumers(readers("mü/et % b").name("stream").messages(2000))
        .verify(true)
        .duration("60s");
    let text = bench.run_on(broker(), scenario, "").code(0).stdout;
    assert!(
        text.contains("Of 8000 accepted messages 0 lost, 0 duplicates, 0 out of order"),
        "{text}"
    );
    let run = bench.json("out/run.json");
    for (key, expected) in [("published", 8000), ("confirmed", 8000), ("consumed", 8000)] {
        assert_eq!(count(&run, key), expected, "{key}");
    }
    assert_eq!(latency_figure(&run, "end-to-end", "count"), 8000);
    assert_eq!(count(&run, "consumed-item-bytes"), 6000 * 300 + 2000 * 12);
}

/// A reader that takes 5 ms for each message has its chunks again when they are processed, and not before.
#[test]
fn a_slow_reader_holds_the_broker_back() {
    let bench = Workbench::new("streams-slow");
    let slow = readers("slow").credit(1).processing_time("5ms");
    let scenario = Scenario::new("streams-slow")
        .queues(stream("slow"))
        .publishers(publishers("slow").rate(1000).confirm_window(5000))
        .consumers(slow)
        .duration("4s");
    bench.run_on(broker(), scenario, "").code(0);
    let run = bench.json("out/run.json");
    let [published, delivered, consumed] =
        ["published", "delivered", "consumed"].map(|key| count(&run, key));
    assert!((3900..4100).contains(&published), "{published}");
    assert!((300..1300).contains(&consumed), "{consumed}");
    assert!(delivered < consumed + 2500, "{delivered} delivered, {consumed} consumed");
    assert!(latency_figure(&run, "processed", "p50") > 500_000_000, "{run:#}");
}

#[test]
fn many_members_share_connections() {
    let bench = Workbench::new("streams-many");
    let scenario = Scenario::new("streams-many")
        .queues(stream("many-{}").from(1).to(20))
        .publishers(publishers("many-{}").count(40).connections(3).messages(50))
        .consumers(readers("many-{}").count(5).connections(2).messages(400))
        .verify(true)
        .duration("60s");
    let text = bench.run_on(broker(), scenario, "").code(0).stdout;
    assert!(
        text.contains("Of 2000 accepted messages 0 lost, 0 duplicates, 0 out of order"),
        "{text}"
    );
}

/// A reader begins within a chunk: the broker sends all of it, and the reader leaves out what is before its offset.
#[test]
fn an_offset_within_a_chunk_is_exact() {
    let bench = Workbench::new("streams-offset");
    let fill = Scenario::new("streams-fill")
        .queues(stream("offsets").keep(true))
        .publishers(publishers("offsets").messages(1000))
        .duration("60s");
    bench.run_on(broker(), fill, "").code(0);
    std::fs::remove_dir_all(bench.path("out")).unwrap();
    let read = Scenario::new("streams-read")
        .queues(stream("offsets").predeclared(true))
        .consumers(readers("offsets").offset(317).messages(683))
        .duration("60s");
    bench.run_on(broker(), read, "").code(0);
    assert_eq!(count(&bench.json("out/run.json"), "consumed"), 683);
}

/// A reader begins at the chunk of a time, and before everything that is younger than an age.
#[test]
fn an_offset_may_be_a_time() {
    let bench = Workbench::new("streams-times");
    let run = |scenario: Scenario| {
        let _ = fs::remove_dir_all(bench.path("out"));
        bench.run_on(broker(), scenario.duration("2s"), "").code(0);
        count(&bench.json("out/run.json"), "consumed")
    };
    let fill = |messages: i32, queue: Queue| {
        let written = publishers("times").messages(messages);
        run(Scenario::new("streams-fill").queues(queue).publishers(written))
    };
    let known = || stream("times").predeclared(true);
    fill(500, stream("times").keep(true));
    // A date has whole seconds.
    thread::sleep(Duration::from_secs(2));
    let between = UNIX_EPOCH.elapsed().unwrap();
    thread::sleep(Duration::from_secs(1));
    fill(300, known());
    let date = raw(&display_utc(between).to_string());
    let mut all = vec![readers("times")];
    if has_commands_of((4, 0)) {
        all.push(Consumers::new("times").protocol("amqp-1.0").prefetch(100));
    }
    for readers in all {
        let read = |readers| run(Scenario::new("streams-read").queues(known()).consumers(readers));
        assert_eq!(read(readers.clone().offset(date.clone())), 300);
        assert_eq!(read(readers.offset("1h")), 800);
    }
}

/// Entries of several messages: each message has its confirm and its latency, and none is lost.
#[test]
fn messages_in_sub_entries_are_confirmed_and_read_one_by_one() {
    let bench = Workbench::new("streams-sub-entries");
    let written = |name: &str| publishers(name).messages(3000).confirm_window(700);
    let json = |algorithm: &str| {
        let packed = written(algorithm).sub_entry_size(50).compression(algorithm);
        packed.name(algorithm).body("json").size("500B")
    };
    let mut scenario = Scenario::new("streams-sub-entries").verify(true).duration("60s");
    for name in ["plain", "gzip", "lz4", "zstd"] {
        scenario = scenario.queues(stream(name)).consumers(readers(name).name(name).messages(3000));
    }
    let text = scenario
        .publishers(written("plain").name("plain").sub_entry_size(50).rate(2000))
        .publishers(json("gzip"))
        .publishers(json("lz4"))
        .publishers(json("zstd"))
        .consumers(
            Consumers::new("plain").name("amqp").prefetch(100).offset("first").messages(3000),
        );
    let text = bench.run_on(broker(), text, "").code(0).stdout;
    assert!(
        text.contains("Of 12000 accepted messages 0 lost, 0 duplicates, 0 out of order"),
        "{text}"
    );
    let run = bench.json("out/run.json");
    assert_eq!((count(&run, "confirmed"), count(&run, "consumed")), (12_000, 15_000));
    assert_eq!(latency_figure(&run, "confirm", "count"), 12_000);
    assert_eq!(count(&run, "unpacking-failures"), 0);
    // The bodies are JSON of 500 bytes, which packs to a third.
    let written = count(&run, "bytes-written");
    assert!(written < 3000 * 50 + 3 * 3000 * 400, "{written}");
}

/// A stamp in a property is one in a header for readers of AMQP 0-9-1, and the other way round.
#[test]
fn bodies_stay_as_they_are() {
    let bench = Workbench::new("streams-json");
    let by_amqp = Publishers::new("json").name("by amqp").messages(500).confirm_window(100);
    let json = |group: Publishers| group.body("json").size("300B");
    let scenario = Scenario::new("streams-json")
        .queues(stream("json"))
        .publishers(json(publishers("json").name("by stream").messages(500)))
        .publishers(json(by_amqp))
        .consumers(Consumers::new("json").name("amqp").prefetch(100).offset("first").messages(1000))
        .consumers(readers("json").name("stream").messages(1000))
        .verify(true)
        .duration("60s");
    let text = bench.run_on(broker(), scenario, "").code(0).stdout;
    assert!(
        text.contains("Of 1000 accepted messages 0 lost, 0 duplicates, 0 out of order"),
        "{text}"
    );
    assert_eq!(latency_figure(&bench.json("out/run.json"), "end-to-end", "count"), 2000);
}

/// Publishers of a super stream, and readers that share its partitions.
#[test]
fn a_super_stream_is_read_as_it_was_written() {
    let bench = Workbench::new("streams-super");
    let keyed = "[[publishers]]\nprotocol = \"stream\"\nexchange = \"orders\"\ncount = 2\nmessages = 3000\n\
                 random-routing-keys = 500\nrate = 2000\n";
    let scenario = Scenario::new("streams-super")
        .queues(stream("orders").partitions(4))
        .consumers(readers("orders").count(4).connections(4).name("readers"))
        .verify(true)
        .duration("4s")
        .text(keyed);
    let ended = bench.run_on(broker(), scenario, "").code(0).stdout;
    let all = "Of 6000 accepted messages 0 lost, 0 duplicates, 0 out of order";
    assert!(ended.contains(all), "{ended}");
    let again = bench.read("out/scenario.toml");
    for part in ["x-super-stream = true", "x-stream-partition-order", "orders-{}"] {
        assert!(again.contains(part), "{again}");
    }
}

/// Each partition has entries of its own, in which messages of other partitions are missing.
#[test]
fn a_super_stream_has_sub_entries() {
    let bench = Workbench::new("streams-super-entries");
    let keyed = "[[publishers]]\nprotocol = \"stream\"\nexchange = \"parcels\"\ncount = 2\nmessages = 4000\n\
                 random-routing-keys = 91\nsub-entry-size = 20\nbody = \"json\"\nsize = \"300B\"\n\
                 compression = \"lz4\"\nconfirm-window = 1000\n";
    let scenario = Scenario::new("streams-super-entries")
        .queues(stream("parcels").partitions(4))
        .consumers(readers("parcels").count(4).connections(4))
        .verify(true)
        .duration("8s")
        .text(keyed);
    let ended = bench.run_on(broker(), scenario, "").code(0).stdout;
    let all = "Of 8000 accepted messages 0 lost, 0 duplicates, 0 out of order";
    assert!(ended.contains(all), "{ended}");
    let run = bench.json("out/run.json");
    assert_eq!((count(&run, "confirmed"), count(&run, "consumed")), (8000, 8000));
    assert_eq!(latency_figure(&run, "confirm", "count"), 8000);
}

/// PerfTest's options, on a throwaway broker that has streams.
#[test]
fn a_load_by_options_reads_and_writes_a_stream() {
    let bench = Workbench::new("streams-options");
    let words = "load --protocol stream -x 1 -y 1 -C 1000 -D 1000 -sco first -q 5 --out out";
    let notes = bench.rabbitscope(words).code(0).stderr;
    assert!(notes.contains("--qos means nothing to readers of the stream"), "{notes}");
    let run = bench.json("out/run.json");
    for key in ["published", "confirmed", "consumed"] {
        assert_eq!(count(&run, key), 1000, "{key}");
    }
    assert!(bench.read("out/scenario.toml").contains("protocol = \"stream\""));
}

/// The packets of the run have the messages that the load counts.
#[test]
fn packets_beside_a_run_count_the_same() {
    let Some(bench) = Workbench::for_root("streams-packets") else { return };
    let scenario = Scenario::new("streams-packets")
        .queues(stream("seen"))
        .publishers(publishers("seen").rate(500).messages(1500))
        .consumers(readers("seen").messages(1500))
        .duration("30s")
        .text("[packets]\nduration = \"20s\"\n");
    bench.file("s.toml", scenario);
    bench.rabbitscope("run s.toml --out out").code(0);
    let totals = &bench.json("out/packets.json")["totals"];
    assert_eq!(
        (&totals["published"], &totals["delivered"]),
        (&1500.into(), &1500.into()),
        "{totals:#}"
    );
}
