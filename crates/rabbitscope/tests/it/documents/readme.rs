//! The README fits on a page, and its statements on what the program does and does not do are true. `links` checks
//! the pages.

use std::{collections::BTreeSet, fs};

use rabbitscope_testing::{Ends, Workbench, repository};

const MOST_WORDS: usize = 600;

/// Number of lines that a reader sees without scrolling.
const FIRST_SCREEN: usize = 25;

/// The page with a description of each event.
const EVENTS: &str = "docs/internals/profiling.md";

fn document(name: &str) -> String {
    fs::read_to_string(repository(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Returns the text between this heading and the next.
fn section<'a>(readme: &'a str, heading: &str) -> &'a str {
    let (_, rest) = readme.split_once(&format!("\n## {heading}\n")).unwrap();
    rest.split_once("\n## ").map_or(rest, |(section, _)| section)
}

fn help(command: &str) -> String {
    let bench = Workbench::new("readme");
    bench.command(command).ended().stdout
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

/// Returns the pieces of code in the items of a list.
fn code_in_items(section: &str) -> BTreeSet<String> {
    let items = section.lines().filter(|line| line.starts_with("- "));
    items.flat_map(|item| item.split('`').skip(1).step_by(2)).map(str::to_owned).collect()
}

#[test]
fn it_fits_on_a_page() {
    let words = document("README.md").split_whitespace().count();
    assert!(words <= MOST_WORDS, "{words} words, at most {MOST_WORDS}");
}

#[test]
fn both_targets_of_make_are_on_the_first_screen() {
    let readme = document("README.md");
    for target in ["make demo", "make test"] {
        let mut first = readme.lines().take(FIRST_SCREEN);
        assert!(first.any(|line| line.trim_start().starts_with(target)), "{target}");
    }
}

#[test]
fn every_command_is_named_and_no_other() {
    let readme = document("README.md");
    assert_eq!(commands(), code_in_items(section(&readme, "Commands")));
}

#[test]
fn every_event_is_described_and_no_limit_denies_one() {
    let (page, readme) = (document(EVENTS), document("README.md"));
    let limits = section(&readme, "Limits");
    let events = events();
    assert!(events.len() > 5, "{events:?}");
    for event in events {
        assert!(page.contains(&format!("`{event}`")), "{event} is not in {EVENTS}");
        assert!(!limits.contains(&event), "{event} is there, and in Limits");
    }
}

/// Features that a reader may believe to be missing: the key of each, and its words.
#[test]
fn no_limit_denies_a_feature_of_an_option_or_key() {
    let (keys, readme) = (document("docs/reference/scenario.md"), document("README.md"));
    let limits = section(&readme, "Limits");
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
