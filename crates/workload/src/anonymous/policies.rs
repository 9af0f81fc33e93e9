//! Patterns of policies. A pattern of old names says nothing about the new ones, so it becomes the new names.

use std::collections::{BTreeMap, BTreeSet};

use regex_lite::Regex;

use super::words::Words;
use crate::{
    groups::pattern,
    observe::Flows,
    topology::{Objects, Policy, Topology},
};

/// Gives policies the patterns for the new names. Returns the number of those that are left out: regular expressions
/// that this program does not know.
pub(super) fn resolve(flows: &Flows, topology: &mut Topology, words: &mut Words) -> usize {
    let mut left_out = 0;
    for (vhost, objects) in &mut topology.vhosts {
        let seen = flows.seen.topology.vhosts.get(vhost);
        let names = names(objects, seen);
        let before = objects.policies.len();
        objects.policies = core::mem::take(&mut objects.policies)
            .into_iter()
            .filter_map(|policy| resolved(policy, &names, words))
            .collect();
        left_out += before - objects.policies.len();
    }
    left_out
}

/// Returns all names of queues and exchanges.
fn names(objects: &Objects, seen: Option<&Objects>) -> BTreeSet<String> {
    let both = [Some(objects), seen].into_iter().flatten();
    both.flat_map(|objects| objects.queues.keys().chain(objects.exchanges.keys()).cloned())
        .collect()
}

fn resolved(policy: Policy, names: &BTreeSet<String>, words: &mut Words) -> Option<Policy> {
    let regex = Regex::new(&policy.pattern).ok()?;
    let pattern = matching(names, |name| regex.is_match(name), |name| words.renamed(name));
    Some(Policy { pattern, ..policy })
}

/// Returns a regular expression for the new names of those that match. Names that differ in numbers are one part of it
/// if all of them match. A policy of everything stays one.
fn matching(
    names: &BTreeSet<String>,
    is_match: impl Fn(&str) -> bool,
    mut renamed: impl FnMut(&str) -> String,
) -> String {
    if names.iter().all(|name| is_match(name)) {
        return ".*".to_owned();
    }
    let mut alike: BTreeMap<String, Vec<(String, bool)>> = BTreeMap::new();
    for name in names {
        let new = renamed(name);
        alike.entry(pattern(&new)).or_default().push((new, is_match(name)));
    }
    let mut parts = Vec::new();
    for (pattern, names) in alike {
        let mut matching = names.iter().filter(|(_, is_match)| *is_match).map(|(name, _)| name);
        if names.len() > 1 && names.iter().all(|(_, is_match)| *is_match) {
            parts.push(regex_lite::escape(&pattern).replace("\\{\\}", "[0-9a-f-]+"));
        } else {
            parts.extend(matching.by_ref().map(|name| regex_lite::escape(name)));
        }
    }
    format!("^({})$", parts.join("|"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_becomes_its_names() {
        fn check(names: &[&str], old: &str, expected: &str) {
            let names = names.iter().map(|name| (*name).to_owned()).collect();
            let regex = Regex::new(old).unwrap();
            let new = |name: &str| name.replace("secret", "a");
            assert_eq!(matching(&names, |name| regex.is_match(name), new), expected, "{old}");
        }
        check(&["secret.1", "secret.2", "b"], "^secret", "^(a\\.[0-9a-f-]+)$");
        check(&["secret.1", "secret.2"], "1$", "^(a\\.1)$");
        // Nothing has the empty name.
        check(&["b"], "^secret", "^()$");
        check(&["b", "secret"], ".*", ".*");
        check(&["b", "secret", "x"], "b|sec", "^(a|b)$");
    }
}
