//! A local user who takes the ports that a throwaway broker is about to use, in the test's own network.

use std::{fs, process::Stdio};

use crate::workbench::{Ended, Workbench, may_profile, not_run};

/// Runs one command after the other, beside the squatter. The exit code and the output of each go into a file.
const SCRIPT: &str = r#"
ip link set lo up
setpriv --reuid=65534 --regid=65534 --clear-groups /usr/bin/python3 squatter.py squatter/log squatter/ready "$STEP" 2>squatter/errors &
squatter=$!
trap 'kill $squatter' EXIT
while [ ! -e squatter/ready ]; do sleep 0.1; kill -0 $squatter || exit 9; done
while read -r arguments; do
    # shellcheck disable=SC2086 # several words
    timeout --signal=KILL 180 "$PROGRAM" $arguments >words 2>&1 </dev/null
    echo "exit $? $arguments" >>exits
    cat words >>all-words
done <commands
kill -0 $squatter
"#;

const CLUSTER: &str = r#"
name = "cluster"
[broker]
nodes = 2
[[queues]]
name = "q"
[[publishers]]
queue = "q"
rate = 20
[run]
duration = "6s"
[[faults]]
kind = "kill"
node = 2
at = "1s"
for = "1s"
"#;

const PATCHED: &str = r#"
name = "patched"
[broker]
patches = ["patch.erl"]
[[queues]]
name = "q"
[[publishers]]
queue = "q"
rate = 20
[run]
duration = "1s"
"#;

/// A patch of a function that every release has.
const PATCH: &str = "-module(rabbit_misc).\n\
                     format(Format, Values) -> lists:flatten(io_lib:format(Format, Values)).\n";

/// Runs commands beside a squatter that holds every `step`-th port.
fn beside_a_squatter(step: usize, commands: &str) -> (Workbench, Ended) {
    let bench = Workbench::new("squatter");
    bench.file("squatter.py", include_str!("squatter.py"));
    bench.file("commands", commands);
    let own = bench.path("squatter");
    fs::create_dir(&own).unwrap();
    std::os::unix::fs::chown(&own, Some(65_534), Some(65_534)).unwrap();
    bench.file("cluster.toml", CLUSTER);
    bench.file("patched.toml", PATCHED);
    bench.file("patch.erl", PATCH);
    let script = bench.file("script.sh", SCRIPT);
    let mut command = bench.command_line(&format!("unshare --net sh {}", script.display()));
    command.env("PROGRAM", env!("CARGO_BIN_EXE_rabbitscope")).env("STEP", step.to_string());
    // The other user must be able to read the squatter's script.
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&bench.directory, mode).unwrap();
    let ended = Ended::from(command.stdout(Stdio::piped()).output().unwrap());
    (bench, ended)
}

fn squat(test: &str, starts: usize, rounds: usize) {
    if !may_profile() {
        return not_run(test, "a network and a user of its own need root");
    }
    let single = "broker start\nbroker stop\n".repeat(starts);
    let round = |round| {
        format!("run cluster.toml --out cluster-{round}\nrun patched.toml --out patched-{round}\n")
    };
    let runs: String = (0..rounds).map(round).collect();
    let (bench, ended) = beside_a_squatter(2, &(single + &runs));
    let words = || format!("{ended:?}\n{}", bench.read("all-words"));
    assert_eq!(ended.code, Some(0), "the squatter has to live\n{}", words());
    let log = bench.read("squatter/log");
    assert!(!log.contains("connection"), "{log}");
    let exits = bench.read("exits");
    assert_eq!(exits.lines().count(), 2 * (starts + rounds), "{exits}");
    assert!(exits.lines().all(|line| line.starts_with("exit 0 ")), "{exits}\n{}", words());
}

#[test]
fn nothing_reaches_a_user_who_takes_ports() {
    squat("squatters::nothing_reaches_a_user_who_takes_ports", 2, 1);
}

#[test]
fn a_user_who_holds_all_ports_is_named() {
    const TEST: &str = "squatters::a_user_who_holds_all_ports_is_named";
    if !may_profile() {
        return not_run(TEST, "a network and a user of its own need root");
    }
    let (bench, ended) = beside_a_squatter(1, "broker start\n");
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let words = bench.read("all-words");
    assert_eq!(bench.read("exits"), "exit 1 broker start\n", "{words}");
    assert!(words.contains("no port of 127.0.0.1 from 10000 to 31999 is free"), "{words}");
    assert!(words.contains("22000 of user 65534"), "{words}");
}

/// Part of `make test-faults`.
#[test]
#[ignore = "takes minutes"]
fn faults_nothing_reaches_a_user_who_takes_ports_of_many_brokers() {
    squat("squatters::many", 50, 5);
}
