//! The same messages to and from rstream, a client of another project.

use rabbitscope_testing::{
    OtherClient, Workbench, count, delete_queue, evaluate, scenario::Scenario,
};

use super::{FILTERS, SINGLE, broker, has_commands_of, publishers, readers, stream};

/// A package of the Python Package Index.
const RSTREAM: &str = "rstream==1.1.1";

/// A name with characters that have a meaning in URIs and paths. rstream sends a wrong length of a name that is not ASCII.
const NAME: &str = "pr/obe % of it";

/// Returns the other client; `None` with a note if it cannot be had.
fn rstream(bench: &Workbench) -> Option<OtherClient<'_>> {
    OtherClient::of_package(bench, RSTREAM, "streams/interoperation.py", (broker(), "stream"))
}

/// A thousand keys, each on the partition of its hash; partitions in their order, also beyond nine.
#[test]
fn a_key_has_the_partition_of_its_hash() {
    let bench = Workbench::new("streams-partitions");
    let Some(client) = rstream(&bench) else { return };
    let keyed = "[[publishers]]\nprotocol = \"stream\"\nexchange = \"bestellungen\"\nmessages = 1000\n\
                 routing-key = \"schlüssel {}\"\nfrom = 0\nto = 999\n";
    let write = Scenario::new("streams-partitions")
        .queues(stream("bestellungen").partitions(12).keep(true))
        .duration("60s")
        .text(keyed);
    bench.run_on(broker(), write, "").code(0);
    let names: Vec<_> = (0..12).map(|number| format!("bestellungen-{number}")).collect();
    let known = "{ok, All} = rabbit_stream_manager:partitions(<<\"/\">>, <<\"bestellungen\"/utf8>>), \
                 binary_to_list(iolist_to_binary(lists:join(\",\", All)))";
    assert_eq!(evaluate(broker(), known), format!("{:?}", names.join(",")));
    let words = ["partitions", "1000", "schlüssel "].into_iter();
    let words: Vec<_> = words.chain(names.iter().map(String::as_str)).collect();
    assert_eq!(client.run(&words)["same"], 1000);
}

#[test]
fn rstream_reads_what_is_written_and_writes_what_is_read() {
    let bench = Workbench::new("streams-rstream");
    let Some(client) = rstream(&bench) else { return };
    let write = Scenario::new("streams-write")
        .queues(stream(NAME).keep(true))
        .publishers(publishers(NAME).messages(10_000).size("700B"))
        .duration("60s");
    bench.run_on(broker(), write, "").code(0);
    let read = client.run(&["read", NAME, "10000"]);
    assert_eq!(read["sizes"], serde_json::json!([700]));
    assert_eq!((&read["numbers"], &read["offsets"]), (&true.into(), &true.into()), "{read}");
    // The same in entries of several messages, plain and compressed. A stamp beside a body is in a property.
    let packed = publishers("packed").messages(5000).confirm_window(2000).sub_entry_size(100);
    let compressed = packed.clone().body("json").size("600B").compression("gzip");
    for (name, packed) in [("plain", packed.size("700B")), ("gzip", compressed)] {
        std::fs::remove_dir_all(bench.path("out")).unwrap();
        let write = Scenario::new("streams-packed")
            .queues(stream("packed").keep(true))
            .publishers(packed)
            .duration("60s");
        bench.run_on(broker(), write, "").code(0);
        let read = client.run(&["read", "packed", "5000"]);
        assert_eq!((&read["numbers"], &read["offsets"]), (&true.into(), &true.into()), "{name}");
        delete_queue(broker(), "packed");
    }
    std::fs::remove_dir_all(bench.path("out")).unwrap();
    // Bodies of 0 to 300,000 bytes; then messages that are compressed together, by each codec.
    let written = client.run(&["write", "theirs"]);
    let messages = written["messages"].as_u64().unwrap();
    let ours = Scenario::new("streams-read")
        .queues(stream("theirs").predeclared(true))
        .consumers(readers("theirs").messages(i64::try_from(messages).unwrap()))
        .duration("60s");
    bench.run_on(broker(), ours, "").code(0);
    let run = bench.json("out/run.json");
    assert_eq!(count(&run, "consumed"), messages);
    assert_eq!(count(&run, "consumed-item-bytes"), written["bytes"].as_u64().unwrap());
    assert_eq!(count(&run, "unpacking-failures"), 0);
}

/// Values that one side writes are those by which the other side filters, at the broker and after it.
#[test]
fn filter_values_are_understood_both_ways() {
    if !has_commands_of(FILTERS) {
        return;
    }
    let bench = Workbench::new("streams-filter-values");
    let Some(client) = rstream(&bench) else { return };
    let valued = publishers("ours").messages(5000).size("100B").rate(20_000);
    let write = Scenario::new("streams-write")
        .queues(stream("ours").keep(true))
        .publishers(valued.clone().name("a").filter_values(&["a"]))
        .publishers(valued.name("b").filter_values(&["b"]).start_delay("1s"))
        .duration("60s");
    bench.run_on(broker(), write, "").code(0);
    let read = client.run(&["wanted", "ours", "b", "4"]);
    assert_eq!(read["found"], 5000, "{read}");
    assert!(read["others"].as_u64().unwrap() < 2500, "{read}");
    client.run(&["filtered", "theirs-filtered", "3000", "x", "y"]);
    std::fs::remove_dir_all(bench.path("out")).unwrap();
    let read = Scenario::new("streams-read")
        .queues(stream("theirs-filtered").predeclared(true))
        .consumers(readers("theirs-filtered").filter_values(&["y"]))
        .duration("4s");
    bench.run_on(broker(), read, "").code(0);
    let run = bench.json("out/run.json");
    assert_eq!(count(&run, "consumed"), 3000);
    assert!(count(&run, "filtered-out") < 1500, "{run:#}");
}

/// Readers of both projects take turns, each behind the offset that the other one stored.
#[test]
fn single_active_consumers_of_both_take_turns() {
    if !has_commands_of(SINGLE) {
        return;
    }
    let bench = Workbench::new("streams-turns");
    let Some(client) = rstream(&bench) else { return };
    let write = Scenario::new("streams-write")
        .queues(stream("turns").keep(true))
        .publishers(publishers("turns").messages(3000))
        .duration("60s");
    bench.run_on(broker(), write, "").code(0);
    let ours = |messages: i64| {
        std::fs::remove_dir_all(bench.path("out")).unwrap();
        let readers = readers("turns").consumer_name("both").single_active_consumer(true);
        let read = Scenario::new("streams-read")
            .queues(stream("turns").predeclared(true))
            .consumers(readers.messages(messages))
            .duration("60s");
        bench.run_on(broker(), read, "").code(0);
        assert_eq!(count(&bench.json("out/run.json"), "consumed"), messages.unsigned_abs());
    };
    ours(700);
    let read = client.run(&["single", "turns", "both", "500"]);
    assert_eq!((&read["first"], &read["last"]), (&700.into(), &1199.into()), "{read}");
    ours(1800);
}
