//! `experiment` and `sweep`: rounds, a continuation after a kill, and refusals before the first run.

use rabbitscope_runs::experiment::order_of_round;
use rabbitscope_testing::{
    Stops, Workbench, eventually, existing_broker, lines,
    scenario::{Consumers, Publishers, Queue, Scenario},
};
use rustix::process::Signal;
use serde_json::Value;

/// Two arms and the control, each at a constant rate: half of the rate shows as half.
const HALF: &str = r#"
name = "half"
base = "s.toml"
seed = 3
primary = "published.rate"
secondary = ["confirm.p99", "client.cpu-per-message"]
[design]
rounds = 6
max-stolen = "90%"
max-others = "99.99%"
[[arms]]
name = "whole"
[[arms]]
name = "half"
set = ["publishers.0.rate=1000"]
[known]
expect = ["whole > half", "half / whole < 0.6"]
source = "arithmetic"
"#;

fn bench(test: &str, queue: &str) -> Workbench {
    let bench = Workbench::new(test);
    bench.file("s.toml", Scenario::steady(queue, "1s"));
    bench.file("e.toml", HALF);
    bench
}

/// Kills the command in these rounds; returns the journal.
fn killed_in_rounds_1_3_and_5(bench: &Workbench, command: &str) -> String {
    let journal = bench.path("out/experiment.jsonl");
    let mut before = String::new();
    // The journal has a line when a run begins and one when it ends, for three runs a round and the killed ones.
    for (round, begun) in [(1, 3), (3, 16), (5, 29)] {
        let running = bench.start(command);
        eventually(&format!("round {round} is under way"), || lines(&journal) >= begun);
        running.killed();
        let now = bench.read("out/experiment.jsonl");
        // Runs from before the kill were not repeated.
        assert!(now.starts_with(before.rsplit_once('\n').map_or("", |(whole, _)| whole)), "{now}");
        before = now;
    }
    let ended_before = before.lines().filter(|line| line.contains("\"ended\"")).count();
    assert!((12..18).contains(&ended_before), "{before}");
    before
}

#[test]
fn killed_and_called_again_it_goes_on() {
    let bench = bench("experiment", "experiment");
    let uri = existing_broker().uri();
    let command = format!("experiment e.toml --uri {uri} --out out");
    let before = killed_in_rounds_1_3_and_5(&bench, &command);
    let ended = bench.rabbitscope(&command).code(0);
    assert!(ended.stderr.contains("already"), "{ended:#?}");
    assert!(ended.stdout.starts_with("half\nhalf against whole: published "), "{ended:#?}");
    assert!(ended.stdout.contains("met") && ended.stdout.contains("control"), "{ended:#?}");
    let result = bench.json("out/experiment.json");
    let runs = result["runs"].as_array().unwrap();
    let number = |run: &Value, key: &str| run[key].as_u64().unwrap();
    let mut places: Vec<_> =
        runs.iter().map(|run| (number(run, "round"), number(run, "arm"))).collect();
    places.sort_unstable();
    let all: Vec<(u64, u64)> =
        (1..=6).flat_map(|round| (0..3).map(move |arm| (round, arm))).collect();
    assert_eq!(places, all, "every arm once in each round");
    assert!(bench.read("out/experiment.jsonl").starts_with(before.rsplit_once('\n').unwrap().0));
    let order: Vec<u64> = runs.iter().map(|run| number(run, "arm")).collect();
    let drawn = |round| order_of_round(3, round, 3, None).into_iter().map(|arm| arm as u64);
    assert_eq!(
        order,
        (1..=6).flat_map(drawn).collect::<Vec<_>>(),
        "the order of one that was not killed"
    );
    for run in runs {
        let scenario = format!("out/{}/scenario.toml", run["directory"].as_str().unwrap());
        let seed = format!("\nseed = {}\n", number(run, "round"));
        assert!(bench.read(&scenario).contains(&seed), "each round has its own load");
    }
    let half = &result["comparisons"][0];
    let ratio = half["ratio"].as_f64().unwrap();
    assert!((0.45..0.55).contains(&ratio), "{half:#}");
    assert_eq!((&half["verdict"], &result["known"]["met"]), (&"differs".into(), &true.into()));
    assert_eq!(result["comparisons"][3]["role"], "control");
    assert_eq!(lines(&bench.path("out/experiment.csv")), 19);
    assert!(bench.read("out/experiment.html").contains("half against whole: published"));

    let place = |arm: u64| {
        let run = runs.iter().find(|run| run["arm"] == arm).unwrap();
        format!("out/{}", run["directory"].as_str().unwrap())
    };
    let pair = bench.rabbitscope(&format!("compare {} {}", place(0), place(1))).code(0);
    for part in ["scenario.publishers.0.rate", "published.rate", "confirm.p99", "one run of each"] {
        assert!(pair.stdout.contains(part), "{part}: {pair:#?}");
    }

    // The same command again makes no run and prints the same; a different experiment is refused.
    let again = bench.rabbitscope(&command).code(0);
    assert_eq!(again.stdout, ended.stdout);
    bench.file("e.toml", HALF.replace("seed = 3", "seed = 4"));
    bench
        .rabbitscope(&command)
        .code(2)
        .says(&["contains an experiment with another experiment.toml", "--out"]);
    bench.file("e.toml", HALF);
    bench.file("s.toml", Scenario::steady("experiment", "2s"));
    bench.rabbitscope(&command).code(2).says(&["contains an experiment with another arms/01.toml"]);
}

#[test]
fn a_killed_experiment_leaves_no_broker() {
    let bench = bench("experiment-broker", "q");
    let running = bench.start("experiment e.toml --out out --set design.control=false");
    let has_seconds = || {
        let runs = std::fs::read_dir(bench.path("out/runs")).into_iter().flatten().flatten();
        runs.map(|run| run.path().join("series.jsonl")).any(|series| lines(&series) > 0)
    };
    eventually("a run is under load", || bench.path("out/runs").exists() && has_seconds());
    running.killed();
    bench.assert_nothing_left();
}

#[test]
fn ctrl_c_keeps_the_runs_and_says_how_to_go_on() {
    let bench = bench("experiment-interrupt", "interrupted");
    let uri = existing_broker().uri();
    let running = bench.start(&format!(
        "sweep s.toml --vary publishers.0.rate=500,1000 --metric \
                                        published.rate --uri {uri} --out out"
    ));
    let journal = bench.path("out/experiment.jsonl");
    eventually("the third run is under way", || lines(&journal) >= 5);
    let ended = running.ended_by(Signal::INT).code(1);
    assert!(ended.stdout.contains("Not complete"), "{ended:#?}");
    assert!(ended.stderr.contains("to resume, run the same command with --out out"), "{ended:#?}");
    let result = bench.json("out/experiment.json");
    assert_eq!(result["axes"][0]["key"], "publishers.0.rate");
    assert!(result["runs"].as_array().unwrap().len() >= 2, "{result:#}");
}

#[test]
fn what_cannot_say_anything_is_refused_before_it_runs() {
    let bench = bench("experiment-refused", "q");
    let check = |from: &str, to: &str, parts: &[&str]| {
        assert!(HALF.contains(from), "{from}");
        bench.file("wrong.toml", HALF.replacen(from, to, 1));
        bench.rabbitscope("experiment wrong.toml --out out").code(2).says(parts);
        assert!(!bench.path("out").exists());
    };
    check("seed = 3", "sead = 3", &["wrong.toml:4: `sead`: is an unknown key"]);
    check("rounds = 6", "rounds = 5", &["`design.rounds`: must be 6"]);
    check("rate=1000", "rate=2000", &["arm half changes nothing"]);
    check("rate=1000", "rates=1000", &["arm half", "`publishers.0.rates`: is an unknown key"]);
    check(
        "published.rate",
        "replies.rate",
        &["no run of this scenario has replies.rate", "[[requests]]"],
    );
    check("s.toml", "nowhere.toml", &["cannot read", "nowhere.toml"]);
    let large = "sweep s.toml --vary consumers.0.prefetch=1..1000:1000 --out out";
    bench.rabbitscope(large).code(2).says(&["1000 arms in 6 rounds are 6000 runs, about", "--yes"]);
    bench.rabbitscope("sweep s.toml --vary nothing --out out").code(2).says(&["write KEY=VALUES"]);
    bench
        .rabbitscope("sweep s.toml --vary consumers.0.prefetch=1 --out out")
        .code(2)
        .says(&["needs two values"]);
    assert!(!bench.path("out").exists());
}

/// A loop that takes at least as long as the rest of a message's cost for the broker.
const SLOWER: &str = "-module(rabbit_router).
-adds([count/1]).
match_routing_key(Source, [Key | _]) ->
    count(200000),
    [Binding#binding.destination || #route{binding = Binding} <- ets:tab2list(rabbit_route),
        Binding#binding.source =:= Source, Binding#binding.key =:= Key].
count(0) -> ok;
count(Left) -> count(Left - 1).
";

#[test]
fn code_takes_turns_on_a_running_broker() {
    let bench = Workbench::new("experiment-live");
    let queue = Queue::new("live").bound("amq.direct", "live");
    let publishers = Publishers::through("amq.direct", "live").rate(2000).confirm_window(100);
    let routed = Scenario::new("test")
        .queues(queue)
        .publishers(publishers)
        .consumers(Consumers::new("live").prefetch(100))
        .duration("1s");
    bench.file("s.toml", routed);
    bench.file("slower.erl", SLOWER);
    let experiment = "name = \"live\"\nbase = \"s.toml\"\nprimary = \"broker.cpu-per-message\"\n\
                      [design]\nrounds = 6\nlive = { slice = \"2s\", brokers = 1 }\ncontrol = false\n\
                      max-stolen = \"90%\"\nmax-others = \"99.99%\"\n\
                      [[arms]]\nname = \"stock\"\n[[arms]]\nname = \"slower\"\npatches = [\"slower.erl\"]\n";
    bench.file("e.toml", experiment);
    let ended = bench.rabbitscope("experiment e.toml --out out").code(0);
    let result = bench.json("out/experiment.json");
    let runs = result["runs"].as_array().unwrap();
    // One broker for all rounds. Rounds that a busy machine spoiled are repeated on another broker.
    let of_first = runs.iter().filter(|run| run["directory"] == "runs/001-live");
    let slices: Vec<u64> =
        of_first.map(|run| run["slice"]["from-second"].as_u64().unwrap()).collect();
    let in_place_of_others = ended.stderr.contains("in place of excluded rounds");
    assert_eq!(runs.len() > slices.len(), in_place_of_others, "{ended:#?}");
    let expected: Vec<u64> = (0..12).map(|turn| 6 + 2 * turn).collect();
    assert_eq!(slices, expected, "in turn, without the first second");
    for run in runs {
        let is_slower = run["arm"] == 1;
        assert_eq!(run["patched"][0]["sha256"].is_string(), is_slower, "{run:#}");
    }
    let slower = &result["comparisons"][0];
    assert!(slower["ratio"].as_f64().unwrap() > 1.2, "{ended:#?}");
    assert_eq!(slower["verdict"], "differs", "{ended:#?}");
    bench.assert_nothing_left();

    let refused = |from: &str, to: &str, parts: &[&str]| {
        assert!(experiment.contains(from), "{from}");
        bench.file("wrong.toml", experiment.replacen(from, to, 1));
        bench.rabbitscope("experiment wrong.toml --out wrong").code(2).says(parts);
    };
    assert!(result.get("latencies").is_none(), "those of the run are of both arms");
    refused(
        "name = \"stock\"",
        "name = \"stock\"\nset = [\"profile.duration='1s'\"]",
        &["design.live", "[profile]"],
    );
    refused("broker.cpu-per-message", "confirm.p99", &["design.live", "confirm.p99"]);
    refused("patches = [", "erl-args = \"+S 1\"\npatches = [", &["slower may change only"]);
    let existing = format!("experiment e.toml --out wrong --uri {}", existing_broker().uri());
    bench.rabbitscope(&existing).code(2).says(&["slower changes the broker", "--uri"]);
}
