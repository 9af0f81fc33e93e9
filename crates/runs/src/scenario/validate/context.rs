//! Shared parts of all checks: the possible references of groups, and lists of groups.

use crate::scenario::{BrokerSpec, ExchangeSpec, QueueSpec, error::Problem};

/// Reads a text file that the scenario names; an error is a reason for a person.
pub(in crate::scenario) type TextFiles<'a> = dyn FnMut(&str) -> Result<String, String> + 'a;

/// The possible references of groups.
pub(in crate::scenario) struct Context<'a> {
    pub(super) exchanges: &'a [ExchangeSpec],
    pub(super) queues: &'a [QueueSpec],
    pub(super) broker: &'a BrokerSpec,
}

/// Checks every item of a list; a problem states the index of its item.
pub(super) fn each<W, T>(
    key: &str,
    items: Vec<W>,
    mut check: impl FnMut(usize, W) -> Result<T, Problem>,
) -> Result<Vec<T>, Problem> {
    let checked = items.into_iter().enumerate().map(|(index, item)| {
        check(index, item).map_err(|problem| problem.under(index.to_string()).under(key))
    });
    checked.collect()
}
