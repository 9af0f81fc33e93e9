//! Counts of a node's resources in relation to their limits.

use std::fmt;

use rabbitscope_erlang::Term;
use rabbitscope_text::grouped;
use serde::Serialize;

/// Share of the limit from which a warning names a resource.
const NEAR: f64 = 0.8;

/// A resource such as `atoms`, with its number on the node and its limit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct ResourceCount {
    pub(crate) resource: String,
    pub(crate) count: u64,
    /// Absent if only memory is the limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) limit: Option<u64>,
}

/// The resources that could be counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub(crate) struct Limits(Vec<ResourceCount>);

impl Limits {
    /// Reads a list of triples of name, count and limit.
    pub(crate) fn from_term(answer: &Term) -> Option<Self> {
        let resource = |term: &Term| match term.as_tuple()? {
            [name, count, limit] => Some(ResourceCount {
                resource: name.as_atom()?.to_owned(),
                count: count.as_u64()?,
                limit: limit.as_u64(),
            }),
            _ => None,
        };
        answer.as_list()?.iter().map(resource).collect::<Option<_>>().map(Self)
    }

    /// Returns the count of one resource.
    pub(crate) fn count(&self, resource: &str) -> Option<u64> {
        self.0.iter().find(|one| one.resource == resource).map(|one| one.count)
    }

    /// Returns the count and the limit of one resource, if it has a limit.
    pub(crate) fn usage(&self, resource: &str) -> Option<(u64, u64)> {
        let found = self.0.iter().find(|one| one.resource == resource)?;
        Some((found.count, found.limit?))
    }

    /// Returns one sentence for each resource that is nearly used up.
    pub(crate) fn warnings(&self) -> impl Iterator<Item = String> {
        self.0.iter().filter_map(ResourceCount::warning)
    }
}

impl ResourceCount {
    fn warning(&self) -> Option<String> {
        let share = self.count as f64 / self.limit? as f64;
        (share >= NEAR).then(|| {
            let consequence = match self.resource.as_str() {
                "atoms" | "processes" => "the node ends at 100 %",
                _ => "the node refuses connections at 100 %",
            };
            format!("{:.0} % of all {} are in use: {consequence}", share * 100.0, self.resource)
        })
    }
}

impl fmt::Display for Limits {
    /// `processes 271 of 1,048,576, ports 10 of 65,536, tables 151`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, ResourceCount { resource, count, limit }) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { ", " };
            write!(f, "{separator}{resource} {}", grouped(*count))?;
            if let Some(limit) = limit {
                write!(f, " of {}", grouped(*limit))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(rows: &[(&str, i64, Option<i64>)]) -> Limits {
        let row = |&(name, count, limit): &(&str, i64, Option<i64>)| {
            let limit = limit.map_or_else(|| Term::atom("none"), Term::from);
            Term::tuple([Term::atom(name), count.into(), limit])
        };
        Limits::from_term(&Term::list(rows.iter().map(row).collect::<Vec<_>>())).unwrap()
    }

    #[test]
    fn a_resource_without_a_limit_is_counted_and_never_near_it() {
        let limits = limits(&[("atoms", 44_000, Some(1_048_576)), ("tables", 90_000, None)]);
        assert_eq!(limits.to_string(), "atoms 44,000 of 1,048,576, tables 90,000");
        assert_eq!(limits.warnings().count(), 0);
    }

    #[test]
    fn what_is_nearly_used_up_is_named() {
        let near = limits(&[("atoms", 80, Some(100)), ("ports", 79, Some(100))]);
        let warnings: Vec<_> = near.warnings().collect();
        assert_eq!(warnings, ["80 % of all atoms are in use: the node ends at 100 %"]);
    }
}
