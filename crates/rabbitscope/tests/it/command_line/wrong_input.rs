//! Wrong input: the message, and the exit code.

use std::{ffi::OsStr, os::unix::ffi::OsStrExt};

use rabbitscope_testing::{Ends, Workbench, scenario::Scenario};

#[test]
fn a_scenario_that_is_not_valid() {
    let bench = Workbench::new("usage");
    bench
        .file("bad.toml", Scenario::steady("q", "5s").to_string().replace("prefetch", "prefetsch"));
    bench.rabbitscope("run bad.toml").code(2).says(&[
        "bad.toml:",
        "`consumers.0.prefetsch`",
        "did you mean `prefetch`?",
    ]);
    bench.rabbitscope("run none.toml").code(2).says(&["none.toml"]);
    assert!(!bench.path("runs").exists());
}

#[test]
fn a_uri_that_is_not_valid_is_not_repeated() {
    let bench = Workbench::new("uri");
    bench.file("s.toml", Scenario::steady("q", "5s"));
    let ended = bench.rabbitscope("run s.toml --uri amqp://user:SECRET@host:port").code(2);
    let ended = ended.says(&["port"]);
    assert!(!ended.stderr.contains("SECRET"));
}

#[test]
fn a_broker_that_is_not_there() {
    let bench = Workbench::new("unreachable");
    bench.file("s.toml", Scenario::steady("q", "5s"));
    bench
        .rabbitscope("run s.toml --uri amqp://user:SECRET@127.0.0.1:1 --out out")
        .code(5)
        .says(&["127.0.0.1:1"]);
    assert!(!bench.path("out").exists(), "a run that never began leaves no directory");
}

#[test]
fn results_are_never_mixed() {
    let bench = Workbench::new("mixed");
    bench.file("s.toml", Scenario::steady("q", "5s"));
    bench.rabbitscope("run s.toml --out .").code(2).says(&["not empty"]);
}

#[test]
fn a_suffix_that_is_not_known() {
    let bench = Workbench::new("suffix");
    bench.file("a.folded", "scheduler;lists:map/2 3\n");
    let allowed = ".html .svg .pb.gz .folded";
    bench.rabbitscope("profile --pid 1 -o x.txt").code(2).says(&["x.txt", allowed]);
    bench.rabbitscope("flamegraph a.folded -o x.txt").code(2).says(&["x.txt", allowed]);
    bench.file("a.dat", "hello");
    bench.rabbitscope("flamegraph a.dat -o x.svg").code(2).says(&["a.dat", ".pb.gz", ".folded"]);
    bench.rabbitscope("report . -o x.svg").code(2).says(&["x.svg", ".html"]);
    bench.rabbitscope("report . -o x.html").code(2).says(&["run.json"]);
}

#[test]
fn an_input_that_is_not_there_has_one_code() {
    let bench = Workbench::new("inputs");
    bench.file("a.folded", "scheduler;lists:map/2 3\n");
    bench.file("s.toml", Scenario::steady("q", "5s"));
    let exporter =
        "kind = 'pyroscope'\nurl = 'http://127.0.0.1:1'\nuser = 'u'\npassword-file = 'none'";
    bench.file("watch.toml", format!("[[exporters]]\n{exporter}\n"));
    let node = "--node x@localhost --dist-port 1";
    for line in [
        "flamegraph none -o x.svg",
        "diff none a.folded",
        "diff a.folded none",
        "diff --before a.folded --after none",
        "packets --pcap none",
        "watch --check --config none",
        "watch --config none",
        "run none",
        "find-rate none --slo confirm.p99<20ms",
        "experiment none --out out",
        "broker start --config none",
        "broker start --advanced-config none",
        "broker start --plugins rabbitmq_stream --plugins-directory none",
        "run s.toml --out out --set broker.patches=[\"none\"]",
        "run s.toml --out out --set publishers.0.body-files=[\"none\"]",
        "load -x 1 -z 1 --body none --out out",
        "queues --listen 127.0.0.1:0 --auth-file none",
        &format!("top {node} --cookie-file none"),
        &format!("top {node} --tls-ca none"),
        &format!("trace lists:map/2 {node} --tls-ca none"),
    ] {
        bench.rabbitscope(line).code(2).says(&["none"]);
    }
}

#[test]
fn a_plugin_that_is_not_installed() {
    let bench = Workbench::new("plugins");
    bench.file("s.toml", Scenario::steady("q", "5s"));
    bench
        .rabbitscope("broker start --plugins rabbitmq_stream,rabbitmq_managment")
        .code(2)
        .says(&["no plugin `rabbitmq_managment`", "did you mean `rabbitmq_management`?"]);
    bench
        .rabbitscope("run s.toml --out out --set broker.plugins=[\"nosuch_plugin\"]")
        .code(2)
        .says(&["no plugin `nosuch_plugin` in ", "/plugins"]);
    assert!(!bench.path("out").exists(), "nothing was begun");
    bench.assert_nothing_left();
}

#[test]
fn a_place_that_cannot_be_written_to() {
    let bench = Workbench::new("place");
    bench.rabbitscope("profile --pid 1 -o none/x.svg").code(1).says(&["none/x.svg"]);
}

#[test]
fn a_command_that_does_not_exist() {
    let bench = Workbench::new("command");
    bench.rabbitscope("sing").code(2);
    bench.rabbitscope("profile --pid 1 --event coffee -o x.svg").code(2).says(&["cpu"]);
    bench.rabbitscope("profile --pid 1 --duration 0s -o x.svg").code(2).says(&["zero"]);
}

/// Variables of other programs, and arguments, may hold any bytes.
#[test]
fn what_is_not_text_ends_no_command_with_a_panic() {
    let bench = Workbench::new("bytes");
    bench.file("s.toml", Scenario::steady("q", "5s"));
    let bytes = OsStr::from_bytes(b"x\xffy");
    let gone = "--uri amqp://127.0.0.1:1";
    for line in [
        format!("run s.toml --out run {gone}"),
        format!("find-rate s.toml --slo confirm.p99<20ms --out search {gone}"),
        "load -x 1 -z 1 -h amqp://127.0.0.1:1 --out load".to_owned(),
    ] {
        let run = |name: &str| bench.command(&line).env(name, bytes).ended();
        run("OF_ANOTHER_PROGRAM").code(5).says(&["127.0.0.1:1"]);
        run("RABBITSCOPE_SET_RUN__STEP").code(2).says(&["RABBITSCOPE_SET_RUN__STEP", "UTF-8"]);
        bench.command(&line).arg(bytes).ended().code(2);
    }
    for line in ["load -x 1 -z 1", "run s.toml", "worker", "leftovers"] {
        let mut command = bench.command(line);
        let ended =
            command.env("RABBITSCOPE_VIA", "amqp://127.0.0.1:1").env("RABBITSCOPE_URI", bytes);
        let ended = ended.ended().code(2);
        assert!(ended.stderr.contains("RABBITSCOPE_URI is not text"), "{line}: {ended:#?}");
    }
}
