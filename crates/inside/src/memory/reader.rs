//! The reading of a node's memory and its holders.

use std::time::Duration;

use rabbitscope_erlang::{Compiled, Connection, ErlangError, Loaded, ModuleSource, Term};

use super::MemoryReport;
use crate::asking::ask;

/// Time after which the node sends its findings so far. A node with 30,000 processes and 3,000 queues needs a tenth of
/// it.
const BUDGET: Duration = Duration::from_secs(10);

/// Timeout for a saturated node.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);

/// Heap limit of a request. Rows are in tables outside the heap, and lists of binaries in separate processes.
const MAX_HEAP_BYTES: u32 = 128 << 20;

/// Reads the memory of one node.
#[derive(Debug)]
pub struct MemoryReader<'a> {
    agent: Loaded<'a>,
}

impl<'a> MemoryReader<'a> {
    /// Loads the agent into the node.
    pub fn new(connection: &'a Connection) -> Result<Self, ErlangError> {
        let options = Term::map([("max_heap_bytes", MAX_HEAP_BYTES.into())]);
        Ok(Self {
            agent: Loaded::agent(connection, ModuleSource::MEMORY, Compiled::Quickly, options)?,
        })
    }

    /// Reads the current memory, with the first `rows` holders and tables.
    pub fn read(&mut self, rows: u32) -> Result<MemoryReport, ErlangError> {
        let budget_ms = i64::try_from(BUDGET.as_millis()).unwrap_or(i64::MAX);
        let arguments = Term::map([("limit", rows.into()), ("budget_ms", budget_ms.into())]);
        let answer = ask(&mut self.agent, "memory", arguments, BUDGET + ANSWER_TIMEOUT)?;
        let node = self.agent.connection().node();
        MemoryReport::from_term(&answer, node)
            .ok_or_else(|| ErlangError::unexpected("memory", &answer))
    }

    /// Removes the agent and waits until it is gone.
    pub fn end(self) -> Result<(), ErlangError> {
        self.agent.end().map(drop)
    }
}
