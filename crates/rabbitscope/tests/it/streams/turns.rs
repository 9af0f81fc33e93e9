//! Readers with a name: stored offsets, and single active consumers that take turns.

use std::{fs, time::Duration};

use rabbitscope_testing::{
    Workbench, count, evaluate, eventually,
    scenario::{Consumers, Scenario},
};

use super::{SINGLE, broker, has_commands_of, publishers, readers, stream};

fn single(name: &str) -> Consumers {
    readers(name).consumer_name("app").single_active_consumer(true)
}

/// Kills the connection of the active reader of a stream, as a network or a machine would. Returns false if there is none.
fn kill_active(stream: &str) -> bool {
    let expression = format!(
        "{{ok, All}} = rabbit_stream_sac_coordinator:group_consumers(<<\"/\">>, <<\"{stream}\">>, <<\"app\">>, \
         [connection_name, state]), Active = [Name || [{{_, Name}}, {{_, active}}] <- All], \
         length([exit(P, kill) || P <- rabbit_stream:list(<<\"/\">>), \
         [{{_, Name}}] <- [rabbit_stream_reader:info(P, [conn_name])], lists:member(Name, Active)])"
    );
    evaluate(broker(), &expression).trim() == "1"
}

#[test]
fn a_named_reader_goes_on_where_it_was() {
    let bench = Workbench::new("streams-named");
    let fill = Scenario::new("streams-fill")
        .queues(stream("named").keep(true))
        .publishers(publishers("named").messages(1000))
        .consumers(readers("named").consumer_name("app").messages(700))
        .duration("60s");
    bench.run_on(broker(), fill, "").code(0);
    assert_eq!(count(&bench.json("out/run.json"), "consumed"), 700);
    for (name, expected) in [("app", 300), ("app", 0), ("other", 1000)] {
        fs::remove_dir_all(bench.path("out")).unwrap();
        let read = Scenario::new("streams-read")
            .queues(stream("named").predeclared(true))
            .consumers(readers("named").consumer_name(name).store_every(100))
            .duration("3s");
        bench.run_on(broker(), read, "").code(0);
        assert_eq!(count(&bench.json("out/run.json"), "consumed"), expected, "{name}");
    }
}

#[test]
fn the_next_single_active_consumer_begins_where_the_last_one_ended() {
    let bench = Workbench::new("streams-single");
    let scenario = Scenario::new("streams-single")
        .queues(stream("single"))
        .publishers(publishers("single").rate(3000).messages(6000))
        .consumers(single("single").count(3).connections(3).messages(2000))
        .verify(true)
        .duration("60s");
    if !has_commands_of(SINGLE) {
        let refused = bench.run_on(broker(), scenario, "").code(1);
        refused.says(&["refused single active consumers of streams", "3.11", "3.10"]);
        return;
    }
    let text = bench.run_on(broker(), scenario, "").code(0).stdout;
    assert!(
        text.contains("Of 6000 accepted messages 0 lost, 0 duplicates, 0 out of order"),
        "{text}"
    );
    assert_eq!(count(&bench.json("out/run.json"), "consumed"), 6000);
}

/// Partitions move from the first reader to the second one while messages wait for their processing.
#[test]
fn partitions_change_hands_without_a_loss() {
    if !has_commands_of(SINGLE) {
        return;
    }
    let bench = Workbench::new("streams-single-super");
    let keyed = "[[publishers]]\nprotocol = \"stream\"\nexchange = \"shops\"\nmessages = 4000\n\
                 random-routing-keys = 100\nrate = 1000\n";
    let scenario = Scenario::new("streams-single-super")
        .queues(stream("shops").partitions(3))
        .consumers(single("shops").count(2).connections(2).slow_start("2s").rate(900))
        .verify(true)
        .duration("9s")
        .text(keyed);
    let text = bench.run_on(broker(), scenario, "").code(0).stdout;
    assert!(
        text.contains("Of 4000 accepted messages 0 lost, 0 duplicates, 0 out of order"),
        "{text}"
    );
    assert_eq!(count(&bench.json("out/run.json"), "consumed"), 4000);
    assert!(bench.read("out/scenario.toml").contains("super-stream = \"shops\""));
}

/// A killed connection stores nothing, so the next reader has the messages since the last stored offset again.
#[test]
fn a_takeover_after_a_kill_repeats_only_messages_that_were_not_stored() {
    if !has_commands_of(SINGLE) {
        return;
    }
    let bench = Workbench::new("streams-single-killed");
    let scenario = Scenario::new("streams-single-killed")
        .queues(stream("killed"))
        .publishers(publishers("killed").rate(2000).messages(12_000))
        .consumers(single("killed").count(2).connections(2).store_every(500))
        .recovery(true)
        .verify(true)
        .duration("12s");
    let running = bench.start_run(broker(), scenario, 2);
    for turn in ["first", "second"] {
        eventually(turn, || kill_active("killed"));
        std::thread::sleep(Duration::from_millis(1500));
    }
    let output = running.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("Of 12000 accepted messages 0 lost, 0 duplicates"), "{said}");
    let run = bench.json("out/run.json");
    assert!(count(&run, "reconnects") >= 1, "{run:#}");
    let again = count(&run, "consumed") - 12_000;
    assert!((1..=2 * 600).contains(&again), "{again} messages came again: {said}");
}
