//! The reading of a node's figures through `agent/rabbitscope_figures.erl`, within a budget.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use rabbitscope_erlang::{Connection, ErlangError, Loaded, ModuleSource, Term};

use super::{
    NodeFigures, QueueTotals,
    longest_queues::{CANDIDATES, LongestQueues},
};
use crate::reading_budget::ReadingBudget;

/// Timeout of a reading. The module waits at most half a second for each of two processes of the broker.
const READ_TIMEOUT: Duration = Duration::from_secs(5);

/// Reads the figures of one node.
#[derive(Debug)]
pub struct FiguresReader<'a> {
    module: Loaded<'a>,
    /// Budget for reading the table of queues, the only reading that grows with the number of queues.
    budget: ReadingBudget,
    longest: LongestQueues,
    /// Result of the last reading of queues.
    queues: Option<QueueTotals>,
    /// Its numbers.
    queue_numbers: BTreeMap<String, u64>,
}

impl<'a> FiguresReader<'a> {
    /// Loads the module into the node. It is removed when this reader is dropped, or the connection is lost.
    pub fn new(connection: &'a Connection) -> Result<Self, ErlangError> {
        Ok(Self {
            module: Loaded::functions(connection, ModuleSource::FIGURES)?,
            budget: ReadingBudget::default(),
            longest: LongestQueues::default(),
            queues: None,
            queue_numbers: BTreeMap::new(),
        })
    }

    /// Reads the current figures. Those of queues may come from an earlier reading if more frequent readings would take
    /// too much of the node's time.
    pub fn read(&mut self) -> Result<NodeFigures, ErlangError> {
        let with_queues = self.budget.allows(Instant::now());
        let arguments = vec![
            Term::Integer(i64::try_from(CANDIDATES).unwrap_or(i64::MAX)),
            Term::atom(if with_queues { "true" } else { "false" }),
        ];
        let answer = self.module.call("figures", arguments, READ_TIMEOUT)?;
        let (mut figures, took_us) = NodeFigures::from_term(&answer)
            .ok_or_else(|| ErlangError::unexpected("figures of the node", &answer))?;
        if with_queues {
            self.budget.charge(Instant::now(), Duration::from_micros(took_us));
            self.queues = figures.queues.take().map(|queues| QueueTotals {
                longest: self.longest.select(queues.longest),
                ..queues
            });
            let of_queues = |(path, _): &(&String, &u64)| path.starts_with("queues.");
            let numbers = figures.numbers.iter().filter(of_queues);
            self.queue_numbers = numbers.map(|(path, number)| (path.clone(), *number)).collect();
        }
        figures.numbers.extend(self.queue_numbers.clone());
        figures.queues.clone_from(&self.queues);
        Ok(figures)
    }
}
