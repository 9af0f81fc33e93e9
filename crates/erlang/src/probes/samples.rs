//! Stacks of running processes, asked for at intervals.

use std::time::Duration;

use super::{
    answer::{Fields, function, rows},
    calls::millis,
    session::{ProbeSession, Watch},
    target::{FunctionName, ProcessKind, ProcessName, Who},
};
use crate::{ErlangError, Term, term::Pid};

const ASKED: &str = "sample";

/// A stack that was seen.
#[derive(Clone, Debug)]
pub struct SampledStack {
    /// Its process.
    pub pid: Pid,
    /// What the process is for.
    pub role: ProcessKind,
    /// What it is called.
    pub name: ProcessName,
    /// At most eight frames, outermost first.
    pub stack: Vec<FunctionName>,
    /// How often.
    pub count: u64,
}

/// What was seen.
#[derive(Clone, Debug)]
pub struct Samples {
    /// Distinct stacks.
    pub stacks: Vec<SampledStack>,
    /// Times that a process was asked.
    pub asked: u64,
    /// Times that it was not waiting.
    pub taken: u64,
    /// Rounds of asking.
    pub rounds: u64,
    /// Processes on the node, or of those that were meant.
    pub processes: u64,
    /// Length of the recording.
    pub elapsed: Duration,
    /// What ended it.
    pub stopped_by: String,
}

impl ProbeSession<'_> {
    /// Samples the busiest processes, or the busiest of those that are meant.
    pub fn samples(
        &mut self,
        who: Option<&Who>,
        interval: Duration,
        duration: Duration,
        watch: &mut Watch<'_>,
    ) -> Result<Samples, ErlangError> {
        let mut stacks = Vec::new();
        let mut arguments =
            vec![("interval_ms", millis(interval)), ("duration_ms", millis(duration))];
        arguments.extend(who.map(|who| ("who", who.to_term())));
        let result = self.ask(ASKED, arguments, duration, watch, &mut |event| {
            for row in rows(ASKED, &event)?.1 {
                stacks.push(sampled(row).ok_or_else(|| ErlangError::unexpected(ASKED, row))?);
            }
            Ok(())
        })?;
        let fields = Fields::new(ASKED, &result);
        Ok(Samples {
            stacks,
            asked: fields.number("asked")?,
            taken: fields.number("taken")?,
            rounds: fields.number("ticks")?,
            processes: fields.number("processes")?,
            elapsed: Duration::from_nanos(fields.number("elapsed_ns")?),
            stopped_by: fields.word("stopped_by")?,
        })
    }
}

fn sampled(row: &Term) -> Option<SampledStack> {
    let [pid, role, name, stack, count] = row.as_tuple()? else { return None };
    Some(SampledStack {
        pid: pid.as_pid()?.clone(),
        role: role.as_atom()?.to_owned(),
        name: name.to_text()?,
        stack: stack.as_list()?.iter().rev().map(function).collect::<Option<Vec<_>>>()?,
        count: count.as_u64()?,
    })
}
