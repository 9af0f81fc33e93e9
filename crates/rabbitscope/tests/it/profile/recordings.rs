//! `profile` and `flamegraph`.

use std::{fs, path::Path, process::Child, thread, time::Duration};

use rabbitscope_testing::{
    Ends, Stops, Workbench, eventually, existing_broker, load_module, may_profile, own_broker,
    plant, signal,
};
use rustix::process::Signal;

use super::pages::names_of_functions;

#[test]
fn nodes_that_are_none() {
    let bench = Workbench::new("nodes");
    bench.rabbitscope("profile --node nobody@nowhere -o x.svg").code(5).says(&["nobody@nowhere"]);
    bench.rabbitscope("profile --pid 999999999 -o x.svg").code(5).says(&["999999999"]);
    let own = std::process::id();
    bench.rabbitscope(&format!("profile --pid {own} -o x.svg")).code(5).says(&["not an Erlang"]);
    assert!(!bench.path("x.svg").exists());
}

#[test]
fn capabilities_that_are_missing() {
    let bench = Workbench::new("capabilities");
    let pid = existing_broker().pid;
    // For root, this drops the capabilities; other users have none.
    let drop = if may_profile() { "setpriv --bounding-set=-all --inh-caps=-all" } else { "env" };
    let mut without = bench.command_through(drop, &format!("profile --pid {pid} -o x.svg"));
    let missing = ["CAP_BPF", "CAP_PERFMON", "CAP_SYS_PTRACE"];
    let ended = without.ended().code(6).says(&missing);
    assert_eq!(ended.stderr.lines().count(), 1, "{ended:#?}");
    assert!(!bench.path("x.svg").exists());
}

#[test]
fn what_a_machine_allows_is_explained() {
    let bench = Workbench::new("explain");
    let broker = existing_broker();
    let name = broker.node_name();
    let ended = bench.rabbitscope(&format!("profile --explain --node {name}")).code(0);
    let expected = if may_profile() { "OTP " } else { "CAP_PERFMON" };
    for part in [expected, "kernel symbols", "cookie", "would"] {
        assert!(ended.stdout.contains(part), "`{part}` is not in {ended:#?}");
    }
    let ended = bench.rabbitscope("profile --explain --json --node nobody@nowhere").code(5);
    let explained = ended.json();
    assert_eq!(explained["tier"], "nothing", "{explained}");
}

#[test]
fn a_page_without_a_name_gets_one_that_is_free() {
    let bench = Workbench::new("unnamed");
    bench.file("a.folded", "scheduler;proc_lib:init_p_do_apply/3;lists:map/2 3\n");
    for _ in 0..3 {
        bench.rabbitscope("flamegraph a.folded").code(0);
    }
    let names = std::fs::read_dir(bench.path(".")).unwrap().map(|entry| entry.unwrap().file_name());
    let pages = names.filter(|name| name.to_string_lossy().starts_with("flamegraph-"));
    assert_eq!(pages.count(), 3);
}

#[test]
fn a_profile_can_be_turned_into_every_form() {
    let bench = Workbench::new("forms");
    bench.file("a.folded", "scheduler;proc_lib:init_p_do_apply/3;lists:map/2 3\n");
    for output in ["b.pb.gz", "b.svg", "b.html", "b.folded", "b.speedscope.json", "b.firefox.json"]
    {
        bench.rabbitscope(&format!("flamegraph a.folded -o {output}")).code(0);
        assert!(bench.path(output).metadata().unwrap().len() > 0, "{output}");
    }
    // Three samples are too few for shares.
    for output in ["b.svg", "b.html"] {
        assert!(bench.read(output).contains("Too few samples to read shares from"), "{output}");
    }
    bench.rabbitscope("flamegraph b.pb.gz -o c.folded").code(0);
    assert_eq!(bench.read("c.folded"), bench.read("a.folded"));
    assert_eq!(bench.json("b.speedscope.json")["profiles"][0]["endValue"], 3);
    assert_eq!(bench.json("b.firefox.json")["threads"][0]["samples"]["weight"][0], 3.0);
}

#[test]
fn recordings_of_perf_are_profiles() {
    let bench = Workbench::new("perf");
    let text =
        "1_scheduler 7/8 1.000001: 1 cpu-clock:pppH: \n\t7f $lists:map/2+0x3 (/tmp/perf-7.map)\n\n";
    bench.file("text", text);
    bench.file("a.folded", "scheduler;lists:map/2 1\n");
    bench.rabbitscope("flamegraph text -o b.folded").code(0);
    assert_eq!(bench.read("b.folded"), bench.read("a.folded"));
    bench.rabbitscope("diff a.folded text").code(0);
    bench.file("open", text.trim_end());
    bench.rabbitscope("flamegraph open -o b.folded").code(0).says(&["without a line break"]);
    assert_eq!(bench.read("b.folded"), bench.read("a.folded"));
    bench.file("perf.data", "PERFILE2 and no more");
    bench.rabbitscope("flamegraph perf.data -o c.svg").code(1).says(&["cut off", "record again"]);
    bench.file("x.bin", "\u{7f}ELF");
    bench
        .rabbitscope("flamegraph x.bin -o c.svg")
        .code(2)
        .says(&["x.bin", "not a supported profile"]);
    assert!(!bench.path("c.svg").exists());
}

/// The node cannot be asked, although the configuration requires it.
#[test]
fn a_check_of_watch_fails_without_the_cookie() {
    let bench = Workbench::new("cookie");
    let directory = bench.path("windows").display().to_string();
    let inside = "[inside]\nask = true\ncookie-file = '/no/such/cookie'\n";
    bench.file("w.toml", format!("[directory]\npath = '{directory}'\n{inside}"));
    let ended = bench.rabbitscope("watch --config w.toml --check").code(2);
    ended.says(&["cannot read the cookie in /no/such/cookie"]);
}

#[test]
fn two_profiles_are_compared_by_share() {
    let bench = Workbench::new("diff");
    let stacks = |find: u32, other: u32| {
        format!("scheduler;m:route/2;ets:select/2 {find}\nscheduler;m:deliver/1 {other}\n")
    };
    bench.file("a.folded", stacks(1000, 1000));
    bench.file("b.folded", stacks(200, 1800));
    let ended = bench.rabbitscope("diff a.folded b.folded -o d.html").code(0);
    let said: Vec<_> = ended.stdout.split_whitespace().collect();
    // Own and total share, the moved share, the function.
    let shares = ["50.00", "%", "10.00", "%", "-40.00"];
    let expected = [&shares[..], &shares[..], &["both", "ets:select/2"][..]].concat();
    assert!(said.windows(12).any(|words| words == expected), "{ended:#?}");
    let names = names_of_functions(&bench.read("d.html"));
    assert!(names.iter().any(|name| name == "ets:select/2"), "{names:?}");
    let ended = bench.rabbitscope("diff a.folded a.folded --json").code(0);
    assert_eq!(ended.stdout.trim(), "[]");
    bench.file("none.folded", "");
    bench.rabbitscope("diff a.folded none.folded").code(2).says(&["second profile has no samples"]);
    bench.rabbitscope("diff a.folded b.folded -o d.png").code(2).says(&[".html", "d.png"]);
}

#[test]
fn a_node_that_rabbitscope_did_not_start() {
    let Some(bench) = Workbench::for_root("live") else { return };
    let name = existing_broker().node_name();
    let ended =
        bench.rabbitscope(&format!("profile --node {name} --duration 1s -o x.folded")).code(0);
    assert!(ended.stdout.contains("x.folded"), "{ended:#?}");
    assert_eq!(ended.stderr, "");
    assert!(bench.read("x.folded").lines().all(|line| line.contains(';')));
}

/// The number of frames that a sample has room for. Two functions alternate, because equal frames in a row are counted.
const DEEP: &str = "
-module(deep).
-export([start/0]).
start() -> _ = [spawn(fun again/0) || _ <- [1, 2]], ok.
again() -> _ = even(1000), again().
even(0) -> length(lists:seq(1, 100000));
even(N) -> 1 + odd(N - 1).
odd(N) -> 1 + even(N - 1).
";

/// Ticks wait for the recorder in a ring. It has room for some 10,000 stacks of this depth.
#[test]
fn a_recorder_that_was_held_up_says_what_it_has_lost() {
    let Some(bench) = Workbench::for_root("held-up") else { return };
    let broker = own_broker();
    let source = bench.file("deep.erl", DEEP);
    load_module(&broker, &source);
    plant(&broker, "deep:start()");
    let arguments = format!(
        "profile --pid {} --no-names --freq 2999 --duration 20s --json -o x.folded",
        broker.pid
    );
    let recorder = bench.start(&arguments);
    until_it_records(&recorder);
    thread::sleep(Duration::from_secs(1));
    signal(&recorder, Signal::STOP);
    // Other tests may leave the node only a third of the CPUs.
    thread::sleep(Duration::from_secs(12));
    let ended = recorder.ended_by(Signal::CONT).code(0);
    let quality = &ended.json()[0]["quality"];
    let count = |key: &str| quality[key].as_u64().unwrap();
    let seen: u64 = ["complete", "truncated", "broken", "no-process"].map(count).iter().sum();
    assert!(count("lost") > 0 && seen > 2_000, "{ended:#?}");
}

/// Waits until its programs are attached.
fn until_it_records(recorder: &Child) {
    let descriptors = format!("/proc/{}/fd", recorder.id());
    eventually("kernel programs are attached", || {
        let links = fs::read_dir(&descriptors).unwrap().flatten();
        links
            .filter_map(|entry| fs::read_link(entry.path()).ok())
            .any(|target| target == Path::new("anon_inode:bpf_link"))
    });
}

#[test]
fn what_ends_a_recording_early_is_said_and_is_no_success() {
    let Some(bench) = Workbench::for_root("early-end") else { return };
    // Other nodes are running: the default is the broker that `broker start` left running.
    let started = bench.rabbitscope("broker start --json").code(0).json();
    assert!(existing_broker().pid > 0);

    let record = |output: &str| {
        let recording = bench.start(&format!(
            "profile --no-names --duration 60s --event context-switches -o {output}"
        ));
        until_it_records(&recording);
        // The recorder is still reading the kernel's names, and must record something.
        thread::sleep(Duration::from_secs(4));
        recording
    };
    let recording = record("stopped.folded");
    let ended = recording.ended_by(Signal::INT).code(1);
    assert!(ended.stdout.contains("note: stopped after "), "{ended:#?}");
    assert!(ended.stdout.contains(" s of 60.0 s"), "{ended:#?}");

    let recording = record("gone.folded");
    bench.rabbitscope(&format!("broker stop {}", started["name"].as_str().unwrap())).code(0);
    let ended = recording.ended().code(1);
    assert!(ended.stdout.contains("the node exited after "), "{ended:#?}");
    assert!(bench.path("stopped.folded").exists() && bench.path("gone.folded").exists());
}
