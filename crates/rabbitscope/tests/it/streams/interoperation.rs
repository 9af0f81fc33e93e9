//! The same messages to and from rstream, a client of another project.

use std::{
    path::Path,
    process::{Command, Stdio},
};

use rabbitscope_testing::{
    Workbench, count, delete_queue, environment, evaluate, not_run, port_of, scenario::Scenario,
};
use serde_json::Value;

use super::{broker, publishers, readers, stream};

/// A package of the Python Package Index.
const RSTREAM: &str = "rstream==1.1.1";

/// A name with characters that have a meaning in URIs and paths. rstream sends a wrong length of a name that is not ASCII.
const NAME: &str = "pr/obe % of it";

/// Runs the other client to its end.
fn client(bench: &Workbench, python: &Path, arguments: &[&str]) -> Value {
    let script = format!("{}/tests/it/streams/interoperation.py", env!("CARGO_MANIFEST_DIR"));
    let (user, password) = broker().login();
    let mut command = Command::new("timeout");
    command.arg("70").arg(python).arg(script).arg(port_of(broker(), "stream").to_string());
    command.args(arguments).env("BROKER_USER", user).env("BROKER_PASSWORD", password);
    let output = command.stdin(Stdio::null()).current_dir(&bench.directory).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A thousand keys, each on the partition of its hash; partitions in their order, also beyond nine.
#[test]
fn a_key_has_the_partition_of_its_hash() {
    let place = tempfile::tempdir().unwrap();
    let python = match environment(place.path(), RSTREAM) {
        Ok(python) => python,
        Err(reason) => return not_run(&reason),
    };
    let bench = Workbench::new("streams-partitions");
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
    assert_eq!(client(&bench, &python, &words)["same"], 1000);
}

#[test]
fn rstream_reads_what_is_written_and_writes_what_is_read() {
    let place = tempfile::tempdir().unwrap();
    let python = match environment(place.path(), RSTREAM) {
        Ok(python) => python,
        Err(reason) => return not_run(&reason),
    };
    let bench = Workbench::new("streams-rstream");
    let write = Scenario::new("streams-write")
        .queues(stream(NAME).keep(true))
        .publishers(publishers(NAME).messages(10_000).size("700B"))
        .duration("60s");
    bench.run_on(broker(), write, "").code(0);
    let read = client(&bench, &python, &["read", NAME, "10000"]);
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
        let read = client(&bench, &python, &["read", "packed", "5000"]);
        assert_eq!((&read["numbers"], &read["offsets"]), (&true.into(), &true.into()), "{name}");
        delete_queue(broker(), "packed");
    }
    std::fs::remove_dir_all(bench.path("out")).unwrap();
    // Bodies of 0 to 300,000 bytes; then messages that are compressed together, by each codec.
    let written = client(&bench, &python, &["write", "theirs"]);
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
