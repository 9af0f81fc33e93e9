//! Command lines of Stream PerfTest and omq, as scenarios that run.

use rabbitscope_testing::{Workbench, count};

use super::broker;

/// Prints the scenario of a command line, and runs it.
fn converted(bench: &Workbench, option: &str, line: &str) -> serde_json::Value {
    let mut command = bench.command("run");
    let text = command.args([option, line]).output().unwrap();
    let said = String::from_utf8_lossy(&text.stderr);
    assert!(text.status.success(), "{line}: {said}");
    let text = String::from_utf8(text.stdout).unwrap();
    bench.run_on(broker(), text, "").code(0);
    bench.json("out/run.json")
}

#[test]
fn a_command_line_of_stream_perf_test_runs() {
    let bench = Workbench::new("streams-perf-test");
    let line = "java -jar stream-perf-test.jar --uris rabbitmq-stream://me:secret@nowhere:5552 --producers 2 \
                --consumers 2 --streams converted --rate 1000 --size 200 --sub-entry-size 10 --offset first --confirms 500 \
                --max-length-bytes 1gb --pmessages 500 --cmessages 1000 --delete-streams --batch-size 10";
    let run = converted(&bench, "--from-stream-perf-test", line);
    for (key, expected) in [("published", 1000), ("confirmed", 1000), ("consumed", 2000)] {
        assert_eq!(count(&run, key), expected, "{key}");
    }
    assert_eq!(count(&run, "consumed-item-bytes"), 2000 * 200);
    let scenario = bench.read("out/scenario.toml");
    assert!(scenario.contains("x-max-length-bytes = 1000000000"), "{scenario}");
    let refused = bench.rabbitscope("run --from-stream-perf-test --producer=3").code(2);
    refused.says(&["no option `--producer`"]);
}

#[test]
fn a_super_stream_of_stream_perf_test_runs() {
    let bench = Workbench::new("streams-perf-test-super");
    let line = "-sst -ssp 3 -st converted-super -x 1 -y 1 -o first -C 2000 -D 2000 -ds";
    let run = converted(&bench, "--from-stream-perf-test", line);
    assert_eq!((count(&run, "confirmed"), count(&run, "consumed")), (2000, 2000));
}

/// From the stream protocol to AMQP 0-9-1, a stream for each publisher and consumer.
#[test]
fn a_command_line_of_omq_runs() {
    let bench = Workbench::new("streams-omq");
    let line = "omq stream-amqp091 --queues stream -t /queues/omq-it-%d -T /queues/omq-it-%d -x 2 -y 2 -C 300 -D 300 \
                -c 50 -s 100 -r 500 --consumer-credits 100 --stream-offset first --cleanup-queues --use-millis";
    let run = converted(&bench, "--from-omq", line);
    for (key, expected) in [("published", 600), ("confirmed", 600), ("consumed", 600)] {
        assert_eq!(count(&run, key), expected, "{key}");
    }
    bench.rabbitscope("run --from-omq stomp-amqp").code(2).says(&["STOMP"]);
}
