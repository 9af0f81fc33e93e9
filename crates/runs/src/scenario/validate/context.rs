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

/// Checks and completes every item of a list; a problem states the index of its item.
pub(super) fn check_each<T>(
    key: &str,
    items: &mut [T],
    mut check: impl FnMut(usize, &mut T) -> Result<(), Problem>,
) -> Result<(), Problem> {
    items.iter_mut().enumerate().try_for_each(|(index, item)| {
        check(index, item).map_err(|problem| problem.under(index.to_string()).under(key))
    })
}
