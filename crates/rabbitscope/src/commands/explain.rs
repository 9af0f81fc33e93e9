//! `rabbitscope profile --explain`: what would be recorded here and how, and what is missing.

use rabbitscope_probe::{Fact, explain};
use serde::Serialize;

use super::node::NodeArguments;
use crate::{exit::Exit, output};

/// How a node can be looked at, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Tier {
    /// From outside, everything.
    Ebpf,
    /// By the node itself, Erlang code only.
    FromInside,
    /// Not at all.
    Nothing,
}

impl Tier {
    fn of(facts: &[Fact], has_cookie: bool) -> Self {
        let node_is_known = facts.iter().any(|fact| fact.what == "node" && fact.is_met);
        let all_needed = facts.iter().all(|fact| fact.is_met || !fact.is_needed);
        match (node_is_known && all_needed, has_cookie) {
            (true, _) => Self::Ebpf,
            (false, true) => Self::FromInside,
            (false, false) => Self::Nothing,
        }
    }

    fn sentence(self) -> &'static str {
        match self {
            Self::Ebpf => "would record by eBPF: Erlang, C and kernel functions, every event",
            Self::FromInside => {
                "would not record from outside; --from-inside works: cpu of Erlang functions only, \
                 coarser, by the node itself"
            }
            Self::Nothing => "would record nothing: see what is missing above",
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Explanation<'a> {
    facts: Vec<FactRecord<'a>>,
    tier: Tier,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct FactRecord<'a> {
    what: &'a str,
    met: bool,
    needed: bool,
    found: &'a str,
}

/// Prints what there is for the node with this pid, or why there is no such node.
pub(super) fn execute(
    pid: anyhow::Result<u32>,
    node: &NodeArguments,
    json: bool,
) -> anyhow::Result<Exit> {
    let (pid, no_node) = match pid {
        Ok(pid) => (Some(pid), None),
        Err(error) => (None, Some(error.to_string())),
    };
    let mut facts = explain(pid);
    let missing = |found| Fact { what: "node", is_met: false, is_needed: true, found };
    facts.extend(no_node.map(missing));
    let connected = node.connect().map(drop);
    let has_cookie = connected.is_ok();
    facts.push(Fact {
        what: "cookie",
        is_met: has_cookie,
        is_needed: false,
        found: connected.map_or_else(
            |error| format!("{error}; without it processes are known by pid alone"),
            |()| "the node answers: processes get their roles and names".to_owned(),
        ),
    });
    let tier = Tier::of(&facts, has_cookie);
    if json {
        let facts = facts.iter().map(|fact| FactRecord {
            what: fact.what,
            met: fact.is_met,
            needed: fact.is_needed,
            found: &fact.found,
        });
        output::json(&Explanation { facts: facts.collect(), tier })?;
    } else {
        output::result(&table(&facts, tier));
    }
    Ok(Exit::Done)
}

fn table(facts: &[Fact], tier: Tier) -> String {
    let line = |fact: &Fact| {
        let word = match (fact.is_met, fact.is_needed) {
            (true, _) => "yes",
            (false, true) => "MISSING",
            (false, false) => "no",
        };
        format!("{:<22}{word:<9}{}\n", fact.what, fact.found)
    };
    let lines: String = facts.iter().map(line).collect();
    format!("{lines}\n{}", tier.sentence())
}

#[cfg(test)]
mod tests {
    use rabbitscope_probe::Fact;

    use super::Tier;

    fn fact(what: &'static str, is_met: bool) -> Fact {
        Fact { what, is_met, is_needed: true, found: String::new() }
    }

    #[test]
    fn the_best_that_is_possible() {
        let check = |facts: &[Fact], has_cookie, expected| {
            assert_eq!(Tier::of(facts, has_cookie), expected);
        };
        check(&[fact("capabilities", true), fact("node", true)], false, Tier::Ebpf);
        check(&[fact("capabilities", false), fact("node", true)], true, Tier::FromInside);
        check(&[fact("capabilities", true), fact("node", false)], true, Tier::FromInside);
        check(&[fact("capabilities", true)], false, Tier::Nothing);
    }
}
