//! A local user who takes the ports that a throwaway broker is about to use, in the test's own network.

use std::fs;

use rabbitscope_testing::{
    Ended, Ends, Workbench, is_root, program,
    scenario::{Fault, Publishers, Scenario},
};

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
    let load = Scenario::with_queue("q").publishers(Publishers::new("q").rate(20));
    let fault = Fault::new("kill").node(2).at("1s").lasting("1s");
    bench.file("cluster.toml", load.clone().faults(fault).duration("6s").nodes(2));
    bench.file("patched.toml", load.duration("1s").patches(vec!["patch.erl"]));
    bench.file("patch.erl", PATCH);
    let script = bench.file("script.sh", SCRIPT);
    let mut command = bench.command_line(&format!("unshare --net sh {}", script.display()));
    command.env("PROGRAM", program()).env("STEP", step.to_string());
    // The other user must be able to read the squatter's script.
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&bench.directory, mode).unwrap();
    let ended = command.ended();
    (bench, ended)
}

fn squat(starts: usize, rounds: usize) {
    if !is_root() {
        return;
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
    squat(2, 1);
}

#[test]
fn a_user_who_holds_all_ports_is_named() {
    if !is_root() {
        return;
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
    squat(50, 5);
}
