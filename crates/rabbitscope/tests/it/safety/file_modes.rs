//! Permissions of the files that every command writes: only its user may read or change them, under any umask.

use std::{
    collections::BTreeSet,
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use clap::CommandFactory;
use rabbitscope::commands::Cli;
use rabbitscope_broker::Broker;
use rabbitscope_testing::{
    Ended, Ends, Workbench, eventually, existing_broker, files_below, is_root, node_options,
    program,
    scenario::{Profile, Scenario},
    signal,
};

/// Every subcommand, with command lines that write all of its files, in an order in which they can run. Some write
/// nothing, or only files that an earlier command also writes. NODE, URI, PORT and PID are those of a broker.
const COMMANDS: [(&str, &[&str]); 26] = [
    ("run", &["run all.toml --uri URI --out run --csv run.csv"]),
    ("load", &["load -x 1 -y 1 -z 1 --out load"]),
    // Its measurements go over the bus.
    ("worker", &[]),
    ("experiment", &["experiment e.toml --uri URI --out experiment"]),
    // Prints.
    ("compare", &[]),
    (
        "sweep",
        &[
            "sweep s.toml --vary publishers.0.rate=500,1000 --metric published.rate --uri URI --out sweep",
        ],
    ),
    (
        "find-rate",
        &[
            "find-rate s.toml --slo confirm.p99<1s --min 100 --max 200 --crossings 1 --step-time 3s --warm-up 1s --uri URI --out rate",
        ],
    ),
    // Prints. Its experiments are written like the files of a run.
    ("check", &[]),
    ("profile", &["profile --pid PID --no-names --duration 1s -o p.pb.gz"]),
    ("watch", &["watch -o windows --window 1s"]),
    (
        "flamegraph",
        &[
            "flamegraph p.pb.gz -o f.html",
            "flamegraph p.pb.gz -o f.svg",
            "flamegraph p.pb.gz -o f.folded",
            "flamegraph p.pb.gz -o f.speedscope.json",
            "flamegraph p.pb.gz -o f.firefox.json",
            "flamegraph p.pb.gz -o f.pb.gz",
        ],
    ),
    ("heatmap", &["heatmap windows -o heat.html"]),
    // A profile of an idle node may have no sample.
    ("diff", &["diff some.folded some.folded -o diff.html"]),
    ("packets", &["packets --port PORT --duration 1s -o w.html -o w.json -o w.pcapng"]),
    ("workload", &["workload --pcap run/packets.pcapng -o mine.toml"]),
    // Prints.
    ("trace", &[]),
    ("calltree", &["calltree timer:sleep/1 --duration 1s -o tree.folded NODE"]),
    ("functions", &["functions --call timer:sleep/1 --duration 1s -o functions.folded NODE"]),
    ("report", &["report run -o report.html"]),
    // Serves until it is stopped.
    ("serve", &[]),
    ("leftovers", &["leftovers"]),
    // Print.
    ("queues", &[]),
    ("top", &[]),
    ("memory", &[]),
    ("process", &[]),
    // Its directory belongs to `crates/broker`.
    ("broker", &[]),
];

/// Commands that take long, so that they are asked to end early. The umask affects their files in the same way as those
/// of the other commands.
const TAKE_LONG: [&str; 3] = ["experiment", "sweep", "find-rate"];

const EXPERIMENT: &str = r#"
name = "e"
base = "s.toml"
primary = "published.rate"
[design]
rounds = 6
max-stolen = "99%"
max-others = "99.99%"
[[arms]]
name = "a"
[[arms]]
name = "b"
set = ["publishers.0.rate=1000"]
"#;

#[test]
fn every_subcommand_is_listed() {
    let command = Cli::command();
    let known: BTreeSet<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
    let listed: BTreeSet<&str> = COMMANDS.iter().map(|(name, _)| *name).collect();
    assert_eq!(listed, known, "say what a new command writes");
}

#[test]
fn nobody_else_may_read_what_is_written() {
    if !is_root() {
        return;
    }
    for umask in ["000", "022"] {
        let bench = bench(umask);
        for (name, lines) in COMMANDS {
            if umask == "022" && TAKE_LONG.contains(&name) {
                continue;
            }
            for line in lines {
                let ended = execute(&bench, umask, existing_broker(), line);
                // On a busy machine, the measurements may be invalid; the files are still written.
                assert!(
                    matches!(ended.code, Some(0 | 1 | 3 | 4)),
                    "{name}, umask {umask}: {ended:#?}"
                );
            }
        }
        let written = written(&bench.directory);
        let single = [
            "p.pb.gz",
            "f.html",
            "diff.html",
            "heat.html",
            "report.html",
            "w.json",
            "mine.toml",
            "run.csv",
        ];
        let of_run = ["run/report.html", "run/packets.pcapng", "run/series.jsonl"];
        for part in single.into_iter().chain(of_run) {
            assert!(written.iter().any(|path| path.ends_with(part)), "{part} of {written:#?}");
        }
        let directories: &[&str] =
            if umask == "000" { &["experiment", "sweep", "rate", "load"] } else { &["load"] };
        for place in directories {
            let below = |path: &&PathBuf| path.starts_with(bench.path(place));
            assert!(written.iter().filter(below).count() > 4, "{place} of {written:#?}");
        }
        let open: Vec<_> = written.iter().filter(|path| mode(path) & 0o077 != 0).collect();
        assert!(open.is_empty(), "umask {umask}: others may use {open:#?}");
    }
}

#[test]
fn others_may_read_what_the_user_lets_them() {
    let bench = bench("077");
    let script = "umask 077; $0 load -x 1 -y 1 -z 1 --out load";
    let mut command = bench.command_line("sh -c");
    command.arg(script).arg(program()).env("RABBITSCOPE_FILE_MODE", "0640");
    let ended = command.ended();
    assert!(matches!(ended.code, Some(0 | 4)), "{ended:#?}");
    let written = written(&bench.directory);
    assert!(written.iter().any(|path| path.ends_with("load/report.html")), "{written:#?}");
    for path in &written {
        let expected = if path.is_dir() { 0o750 } else { 0o640 };
        let is_log = path.ends_with("broker.log");
        assert!(is_log || mode(path) == expected, "{}: {:o}", path.display(), mode(path));
    }
    let wrong = bench.rabbitscope("--file-mode 0666 report load -o r.html").code(2);
    assert!(wrong.stderr.contains("0644"), "{wrong:#?}");
}

fn bench(umask: &str) -> Workbench {
    let bench = Workbench::new("modes");
    let queue = &format!("modes-{umask}");
    bench.file("s.toml", Scenario::steady(queue, "1s"));
    let packets = "[packets]\nduration = \"1s\"\nsave = true\n";
    let all = Scenario::steady(queue, "2s").profile(Profile::new("1s")).text(packets);
    bench.file("all.toml", all);
    bench.file("e.toml", EXPERIMENT);
    bench.file("some.folded", "a;b 5\na;c 3\n");
    bench
}

fn execute(bench: &Workbench, umask: &str, broker: &Broker, line: &str) -> Ended {
    let port = broker.address().port().to_string();
    let pid = broker.pid.to_string();
    let line = line.replace("URI", &broker.uri()).replace("PORT", &port).replace("PID", &pid);
    let line = line.replace("NODE", &node_options(broker));
    let takes_long = TAKE_LONG.iter().any(|command| line.starts_with(command));
    // In the foreground, the program gets one signal instead of two, the second of which would end it at once.
    let limit = if takes_long {
        "--foreground --preserve-status --signal=INT --kill-after=120 60"
    } else {
        "--signal=KILL 180"
    };
    let script = format!("umask {umask}; exec timeout {limit} $0 $@");
    let mut command = bench.command_line("sh -c");
    command.arg(script).arg(program()).args(line.split_whitespace());
    if line.starts_with("watch") {
        return watch_for_a_while(bench, command);
    }
    command.ended()
}

/// Runs `watch` until a signal ends it.
fn watch_for_a_while(bench: &Workbench, mut command: Command) -> Ended {
    let watch = command.spawn().unwrap();
    let windows = || files_below(&bench.path("windows"), ".pb.gz");
    eventually("there are windows", || windows().len() > 1);
    signal(&watch, rustix::process::Signal::INT);
    std::thread::sleep(Duration::from_millis(100));
    let ended = watch.ended();
    Ended { code: ended.code.map(|_| 0), ..ended }
}

/// Returns all files that the program has made below a workbench.
fn written(directory: &Path) -> Vec<PathBuf> {
    let inputs = ["s.toml", "all.toml", "e.toml", "some.folded", "tmp"];
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let made = entries.filter(|path| !inputs.iter().any(|input| path.ends_with(input)));
    made.flat_map(|path| {
        let below = if path.is_dir() { written(&path) } else { Vec::new() };
        [vec![path], below].concat()
    })
    .collect()
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777
}
