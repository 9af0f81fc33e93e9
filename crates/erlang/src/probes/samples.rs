//! Samples the stacks of running processes at intervals.

use std::time::Duration;

use super::{
    answer::{Fields, function, rows},
    calls::millis,
    session::{ProbeSession, Watch},
    target::{FunctionName, ProcessKind, ProcessName, Who},
};
use crate::{ErlangError, Term, term::Pid};

const ASKED: &str = "sample";

/// A sampled stack.
#[derive(Clone, Debug)]
pub struct SampledStack {
    /// The process.
    pub pid: Pid,
    /// Role of the process.
    pub role: ProcessKind,
    /// Name of the process.
    pub name: ProcessName,
    /// At most eight frames, outermost first.
    pub stack: Vec<FunctionName>,
    /// Number of samples.
    pub count: u64,
}

/// The samples of a recording.
#[derive(Clone, Debug)]
pub struct Samples {
    /// Distinct stacks.
    pub stacks: Vec<SampledStack>,
    /// Number of requests to a process.
    pub asked: u64,
    /// Number of requests to a process that was not waiting.
    pub taken: u64,
    /// Number of rounds over the busiest processes.
    pub rounds: u64,
    /// Number of processes on the node, or of selected ones.
    pub processes: u64,
    /// Length of the recording.
    pub elapsed: Duration,
    /// The budget that ended it, or `duration`, or `cancelled`.
    pub stopped_by: String,
}

impl ProbeSession<'_> {
    /// Samples the busiest processes, or the busiest of the selected ones.
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
