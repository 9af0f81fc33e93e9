//! The reference names what the program has: the help of every command, and every key of a file.

use std::{collections::BTreeSet, env, fmt::Write, fs};

use rabbitscope_runs::{experiment, scenario};
use rabbitscope_testing::{Workbench, repository};

const PAGE: &str = "docs/reference/command-line.md";

const HEAD: &str = "# Command line

The help of every command, as the program prints it. `make reference` writes this page.
";

/// Set by `make reference`: the test writes the page instead of comparing it.
const WRITE: &str = "RABBITSCOPE_WRITE_REFERENCE";

fn help(bench: &Workbench, command: &str) -> String {
    let output = bench.command(&format!("{command} --help")).output().unwrap();
    assert!(output.status.success(), "{command}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the names in a help's list of commands.
fn subcommands(help: &str) -> Vec<String> {
    let Some((_, list)) = help.split_once("\nCommands:\n") else { return Vec::new() };
    let names = list.lines().take_while(|line| !line.is_empty());
    let names = names.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names = names.map(|line| line.split_whitespace().next().unwrap().to_owned());
    names.filter(|name| name != "help").collect()
}

/// Adds a section for a command and for each of its own commands.
fn describe(bench: &Workbench, command: &str, page: &mut String) {
    let help = help(bench, command);
    let heading = format!("rabbitscope {command}");
    write!(page, "\n## {}\n\n```text\n", heading.trim_end()).unwrap();
    for line in help.trim_end().lines() {
        page.push_str(line.trim_end());
        page.push('\n');
    }
    page.push_str("```\n");
    for name in subcommands(&help) {
        describe(bench, format!("{command} {name}").trim_start(), page);
    }
}

#[test]
fn the_reference_is_the_help_of_every_command() {
    let bench = Workbench::new("command-line");
    let mut page = HEAD.to_owned();
    describe(&bench, "", &mut page);
    let path = repository(PAGE);
    if env::var_os(WRITE).is_some() {
        fs::write(&path, &page).unwrap();
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    let differs = written.lines().zip(page.lines()).find(|(old, new)| old != new);
    assert!(written == page, "{PAGE} is older than the program: run `make reference`; {differs:?}");
}

/// A table of a file: its name, and whether it may stand there several times.
type Place = (String, bool);

/// The parser's complaint about a file.
type Complaint = fn(&str) -> String;

/// Returns the keys of a table, which the parser names when it meets an unknown one. Empty if there is no such table.
fn keys(complaint: Complaint, place: &[Place]) -> Vec<String> {
    let mut text = String::new();
    for (depth, (_, several)) in place.iter().enumerate() {
        let path: Vec<&str> = place[..=depth].iter().map(|(name, _)| name.as_str()).collect();
        let path = path.join(".");
        let (open, close) = if *several { ("[[", "]]") } else { ("[", "]") };
        writeln!(text, "{open}{path}{close}").unwrap();
    }
    let said = complaint(&format!("{text}no-such-key = 1\n"));
    let Some((_, allowed)) = said.split_once("no-such-key`: is an unknown key; allowed are ")
    else {
        return Vec::new();
    };
    allowed.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Adds the keys of a table and of the tables in it.
fn collect(complaint: Complaint, place: &[Place], found: &mut BTreeSet<String>) {
    for key in keys(complaint, place) {
        for several in [false, true] {
            let inner = [place, &[(key.clone(), several)]].concat();
            if !keys(complaint, &inner).is_empty() {
                collect(complaint, &inner, found);
                break;
            }
        }
        found.insert(key);
    }
}

/// Checks that a page names every key.
#[track_caller]
fn check_keys(page: &str, complaint: Complaint, least: usize) {
    let mut found = BTreeSet::new();
    collect(complaint, &[], &mut found);
    assert!(found.len() >= least, "{found:?}");
    let text = fs::read_to_string(repository(page)).unwrap();
    let named: BTreeSet<&str> = text
        .split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '-'))
        .filter(|word| !word.is_empty())
        .collect();
    let unnamed: Vec<&String> = found.iter().filter(|key| !named.contains(key.as_str())).collect();
    assert!(unnamed.is_empty(), "{page} does not name {unnamed:?}");
}

#[test]
fn every_key_of_a_scenario_is_in_the_reference() {
    let complaint = |text: &str| scenario::parse(text, "keys", &[]).unwrap_err().to_string();
    check_keys("docs/reference/scenario.md", complaint, 120);
}

#[test]
fn every_key_of_an_experiment_is_in_the_reference() {
    let complaint = |text: &str| experiment::parse(text, "keys", &[]).unwrap_err().to_string();
    check_keys("docs/reference/experiment.md", complaint, 30);
}
