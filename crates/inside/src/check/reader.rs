//! The request to the agent for everything that a diagnosis needs from inside a node.

use std::{sync::atomic::AtomicBool, time::Duration};

use rabbitscope_erlang::{Compiled, Connection, ErlangError, Loaded, ModuleSource, Term};

use super::parts::NodeParts;
use crate::asking::ask_until;

/// Time for the answer in addition to the check: a snapshot waits for the schedulers of a saturated node.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(15);

/// Heap limit of each process of the request; it protects the node.
const MAX_HEAP_BYTES: u32 = 64 << 20;

/// Time between two looks at watched processes and run queues.
const INTERVAL_MS: u32 = 50;

/// Processes whose credit is read at each look, in turn. A look at one takes some microseconds.
const PACE: u32 = 250;

/// Reads everything that a diagnosis needs from inside one node.
#[derive(Debug)]
pub struct CheckReader<'a> {
    agent: Loaded<'a>,
}

impl<'a> CheckReader<'a> {
    /// Loads the agent into the node. It is removed when this reader is dropped, or the connection is lost.
    pub fn new(connection: &'a Connection) -> Result<Self, ErlangError> {
        let options = Term::map([("max_heap_bytes", MAX_HEAP_BYTES.into())]);
        Ok(Self {
            agent: Loaded::agent(connection, ModuleSource::CHECK, Compiled::Quickly, options)?,
        })
    }

    /// Returns the module's name on the node. It has the functions for identities as well.
    pub fn module(&self) -> &str {
        self.agent.module()
    }

    /// Observes the node for `duration`, and returns what was read.
    pub fn read(&mut self, duration: Duration) -> Result<NodeParts, ErlangError> {
        self.read_until(duration, &AtomicBool::new(false))
    }

    /// Observes the node for `duration`, or until `is_early` is set. Rates and shares then apply to the time until then.
    pub fn read_until(
        &mut self,
        duration: Duration,
        is_early: &AtomicBool,
    ) -> Result<NodeParts, ErlangError> {
        let duration_ms = u32::try_from(duration.as_millis()).unwrap_or(u32::MAX);
        let arguments = Term::map([
            ("duration_ms", duration_ms.into()),
            ("interval_ms", INTERVAL_MS.into()),
            ("pace", PACE.into()),
        ]);
        let within = duration + ANSWER_TIMEOUT;
        let answer = ask_until(&mut self.agent, ("check", arguments), within, is_early)?;
        NodeParts::from_term(&answer, self.agent.connection().node())
            .ok_or_else(|| ErlangError::unexpected("a check", &answer))
    }

    /// Removes the agent and waits until it is gone.
    pub fn end(self) -> Result<(), ErlangError> {
        self.agent.end().map(drop)
    }
}
