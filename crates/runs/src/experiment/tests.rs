//! The contents of an experiment file, and its refusals.

use std::time::Duration;

use super::{CapacityDesign, Design, Experiment, LiveDesign, parse};

const ARMS: &str = r#"
name = "prefetch"
base = "classic.toml"
seed = 7
primary = "consumed.rate"
secondary = ["broker.cpu-per-message", "confirm.p99"]
[design]
rounds = 20
looks = [10, 15, 20]
indifferent = "3%"
[[arms]]
name = "default"
[[arms]]
name = "larger"
set = { consumers.0.prefetch = 500, queues.0.arguments = { x-max-length = 5 } }
erl-args = "+S 2"
[[arms]]
name = "list"
set = ["publishers.0.rate=5000"]
[known]
expect = ["larger / default > 1.1", "larger > default"]
source = "somewhere"
"#;

const SWEEP: &str = r#"
name = "prefetch"
base = "classic.toml"
primary = "consumed.rate"
[[sweep]]
set = "consumers.0.prefetch"
values = { from = 1, to = 1000, steps = 4, scale = "log" }
[[sweep]]
set = "queues.0.type"
values = ["classic", "quorum"]
"#;

fn read(text: &str) -> Experiment {
    parse(text, "file.toml", &[]).unwrap()
}

#[test]
fn arms_become_overrides() {
    let experiment = read(ARMS);
    let names: Vec<&str> = experiment.arms.iter().map(|arm| arm.name.as_str()).collect();
    assert_eq!(names, ["default", "larger", "list", "default-again"]);
    assert_eq!(
        experiment.arms[1].overrides,
        [
            "broker.erl-args=\"+S 2\"",
            "consumers.0.prefetch=500",
            "queues.0.arguments.x-max-length=5"
        ]
    );
    assert_eq!(experiment.arms[2].overrides, ["publishers.0.rate=5000"]);
    assert!(experiment.arms[3].control && !experiment.arms[2].control);
    assert_eq!((experiment.seed, experiment.design.indifferent), (7, Some(0.03)));
    assert_eq!(experiment.metrics.len(), 3);
}

#[test]
fn the_first_arm_may_be_the_one_that_is_changed() {
    let first = "name = \"default\"\n";
    let changed = format!("{first}set = [\"publishers.0.rate=9\"]\n");
    let text = ARMS.replace(first, &changed).replace("set = [\"publishers.0.rate=5000\"]", "");
    assert!(read(&text).arms[2].overrides.is_empty());
}

#[test]
fn a_sweep_becomes_cells() {
    let experiment = read(SWEEP);
    let names: Vec<&str> = experiment.arms.iter().map(|arm| arm.name.as_str()).collect();
    assert_eq!(names.len(), 8);
    assert_eq!(names[0], "prefetch=1 type=classic");
    assert_eq!(names[7], "prefetch=1000 type=quorum");
    assert_eq!(
        experiment.arms[3].overrides,
        ["consumers.0.prefetch=10", "queues.0.type=\"quorum\""]
    );
    assert_eq!(experiment.arms[3].cell, [1, 1]);
    assert_eq!(experiment.axes[0].values, ["1", "10", "100", "1000"]);
    assert_eq!(experiment.design.rounds, 20);
    assert!(experiment.arms.iter().all(|arm| !arm.control));
}

#[test]
fn the_command_line_may_override() {
    let overrides = ["design.rounds=8", "design.looks=[8]", "design.max-others=\"40%\""];
    let experiment = parse(ARMS, "file.toml", &overrides.map(str::to_owned)).unwrap();
    let usual = Design::of_rounds(8);
    let expected = Design { indifferent: Some(0.03), max_others: 0.4, ..usual };
    assert_eq!(experiment.design, expected);
    assert_eq!(experiment.design.max_rounds_made(), 12);
}

/// Checks that the text with one change is refused with the expected message.
fn check(text: &str, from: &str, to: &str, expected: &str) {
    assert!(text.contains(from), "{from}");
    let refused = parse(&text.replacen(from, to, 1), "file.toml", &[]).unwrap_err().to_string();
    assert_eq!(refused.get(..expected.len()), Some(expected), "{refused}");
}

#[test]
fn refusals_name_line_key_and_what_is_allowed() {
    check(ARMS, "seed = 7", "seeds = 7", "file.toml:4: `seeds`: is an unknown key; allowed are ");
    check(ARMS, "rounds = 20", "rounds = 5", "file.toml:8: `design.rounds`: must be 6 to 10000: ");
    check(ARMS, "[10, 15, 20]", "[10, 15]", "file.toml:9: `design.looks`: must ascend from 6");
    check(ARMS, "[10, 15, 20]", "[5, 20]", "file.toml:9: `design.looks`: must ascend from 6");
    check(
        ARMS,
        "\"3%\"",
        "\"300%\"",
        "file.toml:10: `design.indifferent`: must be a share above 0",
    );
    check(
        ARMS,
        "consumed.rate",
        "consumed.rates",
        "file.toml:5: `primary`: `consumed.rates` is not a metric",
    );
    check(ARMS, "confirm.p99", "consumed.rate", "file.toml:6: `secondary.1`: is there already");
    check(
        ARMS,
        "name = \"larger\"",
        "name = \"default\"",
        "file.toml:14: `arms.1.name`: is there already",
    );
    check(
        ARMS,
        "set = [\"publishers.0.rate=5000\"]",
        "",
        "file.toml:17: `arms.2`: changes nothing",
    );
    check(ARMS, "[\"publishers.0.rate=5000\"]", "5", "file.toml:19: `arms.2.set`: must be a table");
    check(
        ARMS,
        "larger / default",
        "larger / nobody",
        "file.toml:21: `known.expect.0`: names `nobody`",
    );
    check(ARMS, "\"somewhere\"", "\"\"", "file.toml:22: `known.source`: must name the publication");
    check(ARMS, "name = \"prefetch\"", "name = \"a/b\"", "file.toml:2: `name`: must be letters");
}

#[test]
fn refusals_of_a_sweep() {
    check(SWEEP, "steps = 4", "steps = 1", "file.toml:7: `sweep.0.values`: needs `from` below");
    check(SWEEP, "from = 1,", "from = 0,", "file.toml:7: `sweep.0.values`: needs `from` below");
    check(SWEEP, "scale", "scales", "file.toml:7: `sweep.0.values`: has an unknown key `scales`");
    check(
        SWEEP,
        "\"quorum\"]",
        "\"classic\"]",
        "file.toml:10: `sweep.1.values`: has a value twice",
    );
    check(SWEEP, "queues.0.type", "consumers.0.prefetch", "file.toml:5: `sweep`: has the same key");
    let sweep_and_arms =
        format!("{ARMS}[[sweep]]\nset = \"run.duration\"\nvalues = [\"1s\", \"2s\"]\n");
    check(&sweep_and_arms, "", "", "file.toml:23: `sweep`: cannot stand beside `arms`");
    check(
        "name = \"a\"\nbase = \"b\"\nprimary = \"consumed.rate\"",
        "",
        "",
        "file.toml: `arms`: is missing",
    );
}

#[test]
fn ranges_on_the_command_line() {
    fn check(text: &str, expected: Option<&[&str]>) {
        let axis = super::SweepAxis::parse("consumers.0.prefetch", text);
        let values =
            axis.as_ref().map(|axis| axis.values.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(values.as_deref().ok(), expected, "{text}");
    }
    check("1,10, 100", Some(&["1", "10", "100"]));
    check("1..100:3:log", Some(&["1", "10", "100"]));
    check("0..10:3", Some(&["0", "5", "10"]));
    check("classic,quorum", Some(&["classic", "quorum"]));
    check("1", None);
    check("1..10", None);
    check("10..1:3", None);
    check("1,1", None);
}

#[test]
fn turns_on_running_brokers() {
    let with = |live: &str| format!("{HEAD}\n[design]\nlive = {live}\n{ARMS_ALONE}");
    let live = read(&with("{}")).design.live;
    assert_eq!(live, Some(LiveDesign { slice_seconds: 5, brokers: 3 }));
    let live = read(&with("{ slice = \"10s\", brokers = 2 }")).design.live;
    assert_eq!(live, Some(LiveDesign { slice_seconds: 10, brokers: 2 }));
    assert_eq!(read(ARMS).design.live, None);
    check(
        &with("{ slice = \"1500ms\" }"),
        "",
        "",
        "file.toml:5: `design.live.slice`: must be whole seconds",
    );
    check(&with("{ brokers = 0 }"), "", "", "file.toml:5: `design.live.brokers`: must be 1 to");
    let looks = with("{}\nrounds = 20\nlooks = [10, 20]");
    check(&looks, "", "", "file.toml:7: `design.looks`: cannot be several beside `live`");
    check(&with("{ slices = 1 }"), "", "", "file.toml:5: `design.live.slices`: is an unknown key");
}

#[test]
fn searches_in_place_of_runs() {
    let search = |design: &str| {
        let head = HEAD.replace("consumed.rate", "capacity.rate");
        format!("{head}\n[design]\n{design}\n{ARMS_ALONE}")
    };
    let usual = "capacity = { limits = [\"confirm.p99 < 20ms\"], step = \"4s\", min = 5000 }";
    let capacity = read(&search(usual)).design.capacity.unwrap();
    let within = CapacityDesign::within(vec!["confirm.p99 < 20ms".to_owned()]);
    assert_eq!(capacity, CapacityDesign { step: Duration::from_secs(4), min: 5000.0, ..within });
    check(&search(""), "", "", "file.toml:3: `primary`: is `capacity.rate` and the only metric");
    let other = search(usual).replace("capacity.rate", "consumed.rate");
    check(&other, "", "", "file.toml:3: `primary`: is `capacity.rate` and the only metric");
    let short = search(usual).replace("4s", "1s");
    check(&short, "", "", "file.toml:5: `design.capacity.step`: must be 3s or longer");
    let none = search("capacity = { limits = [] }");
    check(&none, "", "", "file.toml:5: `design.capacity.limits`: must list limits");
}

const HEAD: &str = "name = \"live\"\nbase = \"a.toml\"\nprimary = \"consumed.rate\"";

const ARMS_ALONE: &str = "[[arms]]\nname = \"a\"\n[[arms]]\nname = \"b\"\npatches = [\"b.erl\"]\n";
