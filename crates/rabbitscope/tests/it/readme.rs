//! The README's statements on what the program does and does not do are true.

use std::{collections::BTreeSet, fs, path::Path};

use crate::workbench::Workbench;

fn readme() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    fs::read_to_string(root.join("README.md")).unwrap()
}

/// Returns the text between this heading and the next.
fn section<'a>(readme: &'a str, heading: &str) -> &'a str {
    let (_, rest) = readme.split_once(&format!("\n## {heading}\n")).unwrap();
    rest.split_once("\n## ").map_or(rest, |(section, _)| section)
}

fn help(command: &str) -> String {
    let bench = Workbench::new("readme");
    let output = bench.command(command).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the names in the list of commands of `--help`.
fn commands() -> BTreeSet<String> {
    let help = help("--help");
    let (_, list) = help.split_once("Commands:\n").unwrap();
    let names = list.lines().take_while(|line| !line.is_empty());
    let names = names.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names = names.map(|line| line.split_whitespace().next().unwrap().to_owned());
    names.filter(|name| name != "help").collect()
}

/// Returns the values of `profile --event`.
fn events() -> Vec<String> {
    let help = help("profile --help");
    let (_, values) = help.split_once("Events to sample: ").unwrap();
    let (values, _) = values.split_once(';').unwrap();
    values.split(',').map(|value| value.trim().to_owned()).collect()
}

#[test]
fn every_command_is_named_and_no_other() {
    let readme = readme();
    let named: BTreeSet<String> = section(&readme, "What it does")
        .split("**`rabbitscope ")
        .skip(1)
        .map(|rest| rest.split([' ', '`']).next().unwrap().to_owned())
        .collect();
    assert_eq!(commands(), named);
}

#[test]
fn every_event_is_named_and_no_limit_denies_one() {
    let readme = readme();
    let (what, limits) = (section(&readme, "What it does"), section(&readme, "Limits"));
    let events = events();
    assert!(events.len() > 5, "{events:?}");
    for event in events {
        assert!(what.contains(&format!("`{event}`")), "{event} is not in the README");
        assert!(!limits.contains(&event), "{event} is there, and in Limits");
    }
}

/// Features that a reader may believe to be missing: the key of each, and its words.
#[test]
fn no_limit_denies_what_an_option_or_a_key_does() {
    let readme = readme();
    let limits = section(&readme, "Limits");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let keys = fs::read_to_string(root.join("docs/scenario.md")).unwrap();
    for (key, words) in [
        ("[[requests]]", &["RPC", "request"][..]),
        ("[[churn]]", &["churn"]),
        ("amqps", &["TLS"]),
        ("`arrival`", &["burst", "Poisson"]),
        ("`recovery`", &["reconnect"]),
        ("[[pollers]]", &["HTTP"]),
        ("[packets]", &["on the wire"]),
    ] {
        assert!(keys.contains(key), "{key} is no key of a scenario any more");
        for word in words {
            assert!(!limits.contains(word), "{word} is in Limits, and {key} does it");
        }
    }
}
