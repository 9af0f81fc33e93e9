//! Traces single calls of a function.

use std::time::Duration;

use super::{
    answer::{Fields, function},
    scrub::scrubbed,
    session::{ProbeSession, Watch},
    target::{FunctionName, FunctionPattern, ProcessKind, ProcessName, Who},
};
use crate::{Cookie, ErlangError, Term, term::Pid};

const ASKED: &str = "trace";

/// A selection of calls.
#[derive(Clone, Debug, Default)]
pub struct CallFilter {
    /// Only calls by these processes.
    pub who: Option<Who>,
    /// Only calls by processes in this role.
    pub role: Option<ProcessKind>,
    /// Only calls from this module, or from this function of it.
    pub caller: Option<(String, Option<String>)>,
    /// Only calls with matching arguments: Erlang terms with `_`, separated by commas.
    pub arguments: Option<String>,
}

/// A request to trace calls, with its limits.
#[derive(Clone, Debug)]
pub struct CallsRequest {
    /// The function.
    pub function: FunctionPattern,
    /// The selection of calls.
    pub filter: CallFilter,
    /// Shows arguments, not only their number.
    pub arguments: bool,
    /// Shows results.
    pub results: bool,
    /// Limit of the number of calls.
    pub limit: u32,
    /// Limit of the duration.
    pub duration: Duration,
    /// Refuses a function with more calls per second.
    pub max_rate: Option<u64>,
}

/// A traced call.
#[derive(Clone, Debug)]
pub struct TracedCall {
    /// The process.
    pub pid: Pid,
    /// Role of the process.
    pub role: ProcessKind,
    /// Name of the process.
    pub name: ProcessName,
    /// The function.
    pub function: FunctionName,
    /// The function that the call returns to, if known. A tail call returns to its caller's caller.
    pub caller: Option<FunctionName>,
    /// The arguments as a list, cut and without secrets; empty if not requested.
    pub arguments: String,
    /// Time since the start of the trace.
    pub at: Duration,
    /// Duration; `None` if the call had not returned at the end of the trace.
    pub took: Option<Duration>,
    /// With results: `returned`, `error`, `exit`, `throw`, or `not_returned` for a call that was unfinished at the end.
    /// Without them: `ended` for any of the first four, or `no_end_seen`. Such a call was unfinished, or it failed
    /// together with its caller.
    pub outcome: String,
    /// The result or the reason, cut and without secrets; empty if not requested.
    pub result: String,
}

/// The end of a trace, and the share of the calls that it contains.
#[derive(Clone, Debug)]
pub struct CallsResult {
    /// The budget that ended it, or `duration`, or `cancelled`.
    pub stopped_by: String,
    /// Number of shown calls.
    pub calls: u64,
    /// Calls by all processes of the node during the trace.
    pub calls_on_node: u64,
    /// Calls per second before the trace.
    pub calls_per_second: u64,
    /// Calls that were traced after the limit and dropped.
    pub calls_dropped: u64,
    /// True if only some processes were traced, because the function is called very often.
    pub narrowed: bool,
    /// Number of traced processes.
    pub processes: u64,
    /// Length of the trace.
    pub elapsed: Duration,
}

impl ProbeSession<'_> {
    /// Traces calls and passes each on when it has returned.
    pub fn calls(
        &mut self,
        request: &CallsRequest,
        watch: &mut Watch<'_>,
        on_call: &mut dyn FnMut(TracedCall),
    ) -> Result<CallsResult, ErlangError> {
        let arguments = arguments_of(request);
        let cookie = self.cookie();
        let result = self.ask(ASKED, arguments, request.duration, watch, &mut |event| {
            on_call(call(&event, &cookie)?);
            Ok(())
        })?;
        let fields = Fields::new(ASKED, &result);
        Ok(CallsResult {
            stopped_by: fields.word("stopped_by")?,
            calls: fields.number("calls")?,
            calls_on_node: fields.number("calls_on_node")?,
            calls_per_second: fields.number("calls_per_second")?,
            calls_dropped: fields.number("calls_dropped")?,
            narrowed: fields.flag("narrowed")?,
            processes: fields.number("processes")?,
            elapsed: Duration::from_nanos(fields.number("elapsed_ns")?),
        })
    }
}

fn arguments_of(request: &CallsRequest) -> Vec<(&'static str, Term)> {
    let CallFilter { who, role, caller, arguments } = &request.filter;
    let mut pairs = request.function.arguments();
    pairs.extend([
        ("args", Term::from(request.arguments)),
        ("return", Term::from(request.results)),
        ("max_events", Term::from(request.limit)),
        ("duration_ms", millis(request.duration)),
    ]);
    pairs.extend(who.as_ref().map(|who| ("who", who.to_term())));
    pairs.extend(role.as_ref().map(|role| ("role", Term::text(role))));
    pairs.extend(arguments.as_ref().map(|text| ("match", Term::text(text))));
    pairs.extend(request.max_rate.map(|rate| ("max_rate", Term::from(rate))));
    pairs.extend(caller.as_ref().map(|(module, name)| {
        let module = Term::text(module);
        let term = match name {
            Some(name) => Term::map([("module", module), ("function", Term::text(name))]),
            None => Term::map([("module", module)]),
        };
        ("caller", term)
    }));
    pairs
}

pub(super) fn millis(duration: Duration) -> Term {
    Term::from(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
}

fn call(event: &Term, cookie: &Cookie) -> Result<TracedCall, ErlangError> {
    let fields = Fields::new(ASKED, event);
    let pid = fields.get("pid")?.as_pid().ok_or_else(|| fields.unexpected())?;
    Ok(TracedCall {
        pid: pid.clone(),
        role: fields.word("role")?,
        name: fields.text("name")?,
        function: fields.function("function")?,
        caller: function(fields.get("caller")?),
        arguments: scrubbed(fields.text("args")?, cookie.secret()),
        at: Duration::from_nanos(fields.number("at_ns").unwrap_or(0)),
        took: fields.get("took_ns")?.as_u64().map(Duration::from_nanos),
        outcome: fields.word("outcome")?,
        result: scrubbed(fields.text("result")?, cookie.secret()),
    })
}
