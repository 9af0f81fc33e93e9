//! The capabilities of this machine, as `--explain` prints them.

use rabbitscope_probe::Fact;
use rabbitscope_text::escapes;
use serde::Serialize;

/// A fact in JSON.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct FactRecord<'a> {
    what: &'a str,
    met: bool,
    needed: bool,
    found: &'a str,
}

impl<'a> FactRecord<'a> {
    pub(super) fn all(facts: &'a [Fact]) -> Vec<Self> {
        let record = |fact: &'a Fact| Self {
            what: fact.what,
            met: fact.is_met,
            needed: fact.is_needed,
            found: &fact.found,
        };
        facts.iter().map(record).collect()
    }
}

/// Returns one line per fact.
pub(super) fn lines(facts: &[Fact]) -> String {
    let width = facts.iter().map(|fact| fact.what.len()).max().unwrap_or(0);
    let line = |fact: &Fact| {
        let word = match (fact.is_met, fact.is_needed) {
            (true, _) => "yes",
            (false, true) => "MISSING",
            (false, false) => "no",
        };
        format!("{:<width$}  {word:<7}  {}\n", fact.what, escapes::value(&fact.found))
    };
    facts.iter().map(line).collect()
}
