//! The page agrees with the table of rules.

use std::{collections::BTreeSet, env, fs, path::Path};

use crate::rules::{reference, table::RULES};

/// Set by `make reference`: the test writes the page instead of comparing it.
const WRITE: &str = "RABBITSCOPE_WRITE_REFERENCE";

#[test]
fn the_page_of_findings_is_the_table_of_rules() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/findings.md");
    let page = reference();
    if env::var_os(WRITE).is_some() {
        fs::write(&path, &page).unwrap();
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    let differs = written.lines().zip(page.lines()).find(|(old, new)| old != new);
    assert!(
        written == page,
        "findings.md is older than the rules: run `make reference`; {differs:?}"
    );
}

#[test]
fn rules_are_described_once() {
    let distinct = |text: fn(&crate::rules::rule::Rule) -> &'static str| {
        RULES.iter().map(text).collect::<BTreeSet<_>>().len()
    };
    assert_eq!(distinct(|rule| rule.name), RULES.len());
    assert_eq!(distinct(|rule| rule.title), RULES.len());
    for rule in RULES {
        let texts = [rule.title, rule.meaning, rule.threshold, rule.change, rule.source];
        assert!(texts.iter().all(|text| !text.is_empty() && !text.contains('|')), "{}", rule.name);
        assert!(!rule.source.contains("://"), "{}", rule.name);
        assert!(rule.minimum.seconds > 0 || !rule.minimum.counts.is_empty(), "{}", rule.name);
    }
    assert!(RULES.len() >= 25);
}
