//! Messages that readers want, by their filter values.

use std::fs;

use rabbitscope_testing::{
    Workbench, count, not_run,
    scenario::{Consumers, Publishers, Scenario, raw},
};

use super::{CONDITIONS, FILTERS, broker, has_commands_of, publishers, readers, stream};

/// Messages with the value `a`, then as many with `b`, then as many without a value.
fn written(name: &str) -> Scenario {
    let all = publishers(name).messages(20_000).size("100B").rate(40_000);
    let valued = |value: &str| all.clone().name(value).filter_values(&[value]);
    Scenario::new("streams-write")
        .queues(stream(name).keep(true))
        .publishers(valued("a"))
        .publishers(valued("b").start_delay("1500ms"))
        .publishers(all.clone().name("none").start_delay("3s"))
        .duration("60s")
}

#[test]
fn chunks_without_a_wanted_message_are_left_out() {
    let bench = Workbench::new("streams-filters");
    if !has_commands_of(FILTERS) {
        let refused = bench.run_on(broker(), written("filtered"), "").code(1);
        refused.says(&["refused filters of streams", "3.13", "3.10"]);
        return;
    }
    bench.run_on(broker(), written("filtered"), "").code(0);
    let read = |wanted: &[&str], unfiltered: bool| {
        fs::remove_dir_all(bench.path("out")).unwrap();
        let readers = readers("filtered").filter_values(wanted).match_unfiltered(unfiltered);
        let scenario = Scenario::new("streams-read")
            .queues(stream("filtered").predeclared(true))
            .consumers(readers)
            .duration("4s");
        bench.run_on(broker(), scenario, "").code(0);
        let run = bench.json("out/run.json");
        ["consumed", "filtered-out", "bytes-read"].map(|key| count(&run, key))
    };
    // 150 bytes each with all that belongs to them, so that 60,000 messages have nine million.
    let [consumed, dropped, bytes] = read(&["a"], false);
    assert_eq!(consumed, 20_000);
    assert!(dropped < 5000 && bytes < 5_000_000, "{dropped} dropped, {bytes} bytes");
    let [consumed, _, bytes] = read(&["a"], true);
    assert_eq!(consumed, 40_000);
    assert!(bytes < 8_000_000, "{bytes}");
    assert_eq!(read(&["a", "b"], false)[0], 40_000);
    let [consumed, dropped, bytes] = read(&["c"], false);
    assert!(consumed == 0 && dropped < 5000 && bytes < 1_000_000, "{dropped} dropped, {bytes}");
}

/// Each chunk has all values: the broker leaves out none, and the reader takes exactly its messages.
#[test]
fn of_mixed_chunks_a_reader_takes_its_messages() {
    if !has_commands_of(FILTERS) {
        return;
    }
    let bench = Workbench::new("streams-mixed");
    let mixed = publishers("mixed").filter_values(&["a", "b", "ü"]).body("json").size("200B");
    let wanted = |value: &str| readers("mixed").name(value).filter_values(&[value]);
    let scenario = Scenario::new("streams-mixed")
        .queues(stream("mixed"))
        .publishers(mixed.messages(3000))
        .consumers(wanted("ü").messages(1000))
        .consumers(wanted("a").messages(1000))
        .duration("60s");
    bench.run_on(broker(), scenario, "").code(0);
    let run = bench.json("out/run.json");
    assert_eq!((count(&run, "consumed"), count(&run, "delivered")), (2000, 2000));
    let dropped = count(&run, "filtered-out");
    assert!((2000..=4000).contains(&dropped), "{dropped}");
}

/// Messages that a reader does not want are not lost, by values of the stream protocol and by conditions of AMQP 1.0.
#[test]
fn readers_with_filters_are_checked() {
    if !has_commands_of(CONDITIONS) {
        return not_run("the broker has no filters by properties");
    }
    let bench = Workbench::new("streams-checked");
    let check = |name: &str, some: [Publishers; 2], reader: Consumers| {
        let [one, other] = some.map(|group| group.rate(500).messages(1500).confirm_window(100));
        let scenario = Scenario::new("streams-checked")
            .queues(stream(name))
            .publishers(one.name("one"))
            .publishers(other.name("other"))
            .consumers(reader.name("some"))
            .consumers(readers(name).name("all"))
            .verify(true)
            .duration("6s");
        let _ = fs::remove_dir_all(bench.path("out"));
        let text = bench.run_on(broker(), scenario, "").code(0).stdout;
        assert!(text.contains("Of 3000 accepted messages 0 lost, 0 duplicates"), "{text}");
        assert_eq!(count(&bench.json("out/run.json"), "consumed"), 1500 + 3000);
    };
    let valued = ["a", "b"].map(|value| publishers("values").filter_values(&[value]));
    check("values", valued, readers("values").filter_values(&["a"]));
    let headers = ["eu", "us"].map(|region| {
        let headers = format!("{{ headers = {{ region = \"{region}\" }} }}");
        Publishers::new("regions").protocol("amqp-1.0").properties(raw(&headers))
    });
    let filter = raw("{ headers = { region = \"eu\" } }");
    let reader = Consumers::new("regions").protocol("amqp-1.0").prefetch(100).offset("first");
    check("regions", headers, reader.filter(filter));
}
