//! Calls and own time of functions, from the node's own counters.

use std::time::Duration;

use super::{
    answer::{Fields, function, rows},
    calls::millis,
    session::{ProbeSession, Watch},
    target::{FunctionName, Who},
};
use crate::{ErlangError, Term};

const ASKED: &str = "counters";

/// A called function.
#[derive(Clone, Debug)]
pub struct CountedFunction {
    /// The function.
    pub function: FunctionName,
    /// Number of calls.
    pub calls: u64,
    /// Own time, without the functions that it called.
    pub own: Duration,
}

/// The functions that the processes called.
#[derive(Clone, Debug)]
pub struct Counters {
    /// The functions, in no order.
    pub functions: Vec<CountedFunction>,
    /// Number of counted processes.
    pub processes: u64,
    /// Number of processes that the request named. The busiest of them were counted.
    pub candidates: u64,
    /// Number of functions that were counted with their times: those with the most calls just before.
    pub timed: u64,
    /// Number of functions that any process of the node called just before.
    pub called: u64,
    /// Duration of the counting.
    pub elapsed: Duration,
    /// The budget that ended it, or `duration`, or `cancelled`.
    pub stopped_by: String,
}

impl ProbeSession<'_> {
    /// Counts the calls of these processes.
    pub fn counters(
        &mut self,
        who: &Who,
        duration: Duration,
        watch: &mut Watch<'_>,
    ) -> Result<Counters, ErlangError> {
        let mut functions = Vec::new();
        let arguments = vec![("who", who.to_term()), ("duration_ms", millis(duration))];
        let result = self.ask(ASKED, arguments, duration, watch, &mut |event| {
            for row in rows(ASKED, &event)?.1 {
                functions.push(counted(row).ok_or_else(|| ErlangError::unexpected(ASKED, row))?);
            }
            Ok(())
        })?;
        let fields = Fields::new(ASKED, &result);
        Ok(Counters {
            functions,
            processes: fields.number("processes")?,
            candidates: fields.number("candidates")?,
            timed: fields.number("timed")?,
            called: fields.number("called")?,
            elapsed: Duration::from_nanos(fields.number("elapsed_ns")?),
            stopped_by: fields.word("stopped_by")?,
        })
    }
}

fn counted(row: &Term) -> Option<CountedFunction> {
    let [name, calls, own] = row.as_tuple()? else { return None };
    Some(CountedFunction {
        function: function(name)?,
        calls: calls.as_u64()?,
        own: Duration::from_micros(own.as_u64()?),
    })
}
