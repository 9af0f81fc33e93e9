//! The README fits on a page, and its statements on what the program does and does not do are true. `links` checks
//! the pages.

use std::{collections::BTreeSet, fs};

use rabbitscope_testing::{Ended, Ends, Workbench, is_root, repository};

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

/// Returns a token of a line without its figures and units of time, so that lines of two runs can be compared.
fn form_of_token(token: &str) -> String {
    let mut form = String::new();
    for letter in token.chars() {
        match letter {
            '0'..='9' | '.' | ',' if form.ends_with('N') => {}
            '0'..='9' => form.push('N'),
            _ => form.push(letter),
        }
    }
    let end = form.trim_start_matches(['n', 'µ', 'm']);
    if matches!(end, "s" | "s;" | "s,") { end.replacen('s', "T", 1) } else { form }
}

/// Returns the form of a line of output: its headings, units and columns. A function with its share is one form.
fn form(line: &str) -> String {
    let tokens: Vec<String> = line.split_whitespace().map(form_of_token).collect();
    match &tokens[..] {
        [number, percent, _, ..] if number == "N" && percent == "%" => "N % NAME".to_owned(),
        _ => tokens.join(" "),
    }
}

/// Returns the lines of the demo's output in the README.
fn demo(readme: &str) -> Vec<&str> {
    let (_, rest) = readme.split_once("<!-- made by make readme: begin -->").unwrap();
    let (block, _) = rest.split_once("<!-- made by make readme: end -->").unwrap();
    block.lines().map(str::trim).filter(|line| !line.is_empty() && *line != "…").collect()
}

#[test]
fn a_form_has_no_figures() {
    fn check(line: &str, expected: &str) {
        assert_eq!(form(line), expected);
    }
    check("confirmed  55,226 msg/s  (30.0 s; 1,658 in all)", "confirmed N msg/s (N T; N in all)");
    check("confirm  29.8 ms  950 µs  1.2 s  1,658", "confirm N T N T N T N");
    check("   7.9 %  rabbit_router:find_routes/2", form("  12 %  [garbage collection]").as_str());
    check("latency  p50  p99.9  max", "latency pN pN max");
}

/// The demo's lines are those of a run today, apart from figures. `make readme` writes them.
#[test]
fn the_demo_has_the_form_of_a_run_today() {
    if !is_root() {
        return;
    }
    let readme = document("README.md");
    let shown = demo(&readme);
    for start in ["published", "confirmed", "broker", "latency", "Hottest Erlang functions"] {
        assert!(shown.iter().any(|line| line.starts_with(start)), "{start} is not in {shown:#?}");
    }
    let bench = Workbench::new("readme-demo");
    let short = "--set run.duration=4s --set profile.delay=1s --set profile.duration=2s --out out";
    let scenario = repository("scenarios/stream-publish.toml");
    let run = |number: u32| {
        let ended = bench.rabbitscope(&format!("run {} {short}-{number}", scenario.display()));
        assert!(matches!(ended.code, Some(0 | 4)), "{ended:#?}");
        ended
    };
    // Beside other tests, the node may get no CPU within the two seconds of the profile.
    let has_samples = |ended: &Ended| !ended.stdout.contains("No samples were recorded");
    let ended = (0..4).map(run).find(has_samples).unwrap();
    let today: BTreeSet<String> = ended.stdout.lines().map(form).collect();
    let old: Vec<&&str> = shown.iter().filter(|line| !today.contains(&form(line))).collect();
    assert!(
        old.is_empty(),
        "README.md is older than the program: run `make readme`; {old:#?} {today:#?}"
    );
}
