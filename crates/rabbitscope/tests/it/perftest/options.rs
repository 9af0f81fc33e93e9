//! PerfTest's options: printed as a scenario, and run without one.

use rabbitscope_testing::{Ends, Workbench, existing_broker, scenario::Scenario};

#[test]
fn a_broker_in_the_environment_is_for_runs() {
    let bench = Workbench::new("words-uri");
    let mut command = bench.command("run --from-perftest");
    let line = "-x 1 -b 7 -M 8192 -u words -z 2".to_owned();
    command.args([line]).env("RABBITSCOPE_URI", existing_broker().uri());
    let text = command.ended().code(0).stdout;
    assert!(text.contains("uri = \"amqp://localhost?heartbeat=7&frame_max=8192\""), "{text}");
    bench
        .rabbitscope("run --uri amqp://h --from-perftest -x")
        .code(2)
        .says(&["--from-perftest runs nothing"]);
    bench.file("s.toml", &text);
    let mut command = bench.command("run s.toml --out out --set publishers.0.rate=100");
    command.env("RABBITSCOPE_URI", existing_broker().uri());
    command.ended().code(0);
    let used = bench.json("out/run.json")["scenario"]["broker"]["uri"].as_str().unwrap().to_owned();
    assert!(used.ends_with("?heartbeat=7&frame_max=8192") && used.contains("127.0.0.1"), "{used}");
}

#[test]
fn a_load_needs_no_file() {
    let bench = Workbench::new("words-load");
    let words = "load -x 1 --out out -y 2 -u words-load -r 200 -prsd 0 -c 50 -z 2 --json -ms -q 10";
    let uri = existing_broker().uri();
    let ended = bench.command(words).env("RABBITSCOPE_URI", uri).ended().code(0);
    let record = ended.json();
    assert_eq!(record["verdict"]["kind"], "completed");
    let published = record["load"]["published"].as_u64().unwrap();
    assert!((300..=410).contains(&published), "{published}");
    assert_eq!(record["load"]["confirmed"].as_u64(), Some(published));
    assert_eq!(record["scenario"]["consumers"][0]["count"], 2);
    assert!(ended.stderr.contains("--use-millis has no equivalent"), "{}", ended.stderr);
    assert!(bench.read("out/scenario.toml").contains("words-load"));
}

#[test]
fn what_load_does_not_know_is_refused() {
    let bench = Workbench::new("words-wrong");
    bench.file("s.toml", Scenario::steady("q", "1s"));
    bench.rabbitscope("load s.toml").code(2).says(&["`run s.toml`"]);
    bench.rabbitscope("load --sing 5").code(2).says(&["`--sing`"]);
    bench.rabbitscope("load -x 1 --json --json-lines").code(2).says(&["cannot be used with"]);
    let help = bench.rabbitscope("load --help").code(0).stdout;
    assert!(
        help.contains("--stop-on-failure") && help.contains("docs/reference/perftest.md"),
        "{help}"
    );
}

#[test]
fn a_misspelt_option_is_refused_wherever_it_stands() {
    let bench = Workbench::new("words-misspelt");
    bench.rabbitscope("load -x 4 --autoak").code(2).says(&["no option `--autoak`"]);
    bench.rabbitscope("load -r 100 --confrim 10").code(2).says(&["no option `--confrim`"]);
    let convert = |line: &str| {
        let mut command = bench.command("run --from-perftest");
        command.arg(line).ended()
    };
    convert("perf-test -x 50 -r 10 -u perf-test -y 0 | tee -a log").code(0);
    let text =
        convert("docker run --network perf-test -e PRODUCERS=3 perf-test -z 5").code(0).stdout;
    assert!(text.contains("count = 3") && text.contains("# the variable PRODUCERS"), "{text}");
    convert("runjava com.rabbitmq.perf.PerfTestMulti in.json out.json")
        .code(2)
        .says(&["JSON file"]);
}
