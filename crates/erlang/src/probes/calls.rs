//! Single calls of a function, as they happen.

use std::time::Duration;

use super::{
    answer::{Fields, function},
    scrub::scrubbed,
    session::{ProbeSession, Watch},
    target::{FunctionName, FunctionPattern, ProcessKind, ProcessName, Who},
};
use crate::{Cookie, ErlangError, Term, term::Pid};

const ASKED: &str = "trace";

/// Which calls are shown.
#[derive(Clone, Debug, Default)]
pub struct CallFilter {
    /// Only by these processes.
    pub who: Option<Who>,
    /// Only by processes in this role.
    pub role: Option<ProcessKind>,
    /// Only from this module, or this function of it.
    pub caller: Option<(String, Option<String>)>,
    /// Only with such arguments: Erlang terms with `_`, separated by commas.
    pub arguments: Option<String>,
}

/// What is traced, and when it ends.
#[derive(Clone, Debug)]
pub struct CallsRequest {
    /// The function.
    pub function: FunctionPattern,
    /// Which of its calls.
    pub filter: CallFilter,
    /// Show arguments, and not only how many.
    pub arguments: bool,
    /// Show results.
    pub results: bool,
    /// At most this many calls.
    pub limit: u32,
    /// At most this long.
    pub duration: Duration,
    /// Refuse a function that is called more often, a second.
    pub max_rate: Option<u64>,
}

/// One call.
#[derive(Clone, Debug)]
pub struct TracedCall {
    /// The process.
    pub pid: Pid,
    /// What it is for.
    pub role: ProcessKind,
    /// What it is called.
    pub name: ProcessName,
    /// The function.
    pub function: FunctionName,
    /// Where the call returns to, if that is known; a tail call returns to its caller's caller.
    pub caller: Option<FunctionName>,
    /// The arguments as a list, cut and without secrets; empty when not asked for.
    pub arguments: String,
    /// Since the start of the trace.
    pub at: Duration,
    /// Until it returned; absent when it had not by the end.
    pub took: Option<Duration>,
    /// With results `returned`, `error`, `exit`, `throw`, or `not_returned` when it was still under way at the
    /// end. Without them `ended`, which is any of the first four, or `no_end_seen`: it was still under way, or
    /// has failed and its caller as well.
    pub outcome: String,
    /// The result or the reason, cut and without secrets; empty when not asked for.
    pub result: String,
}

/// How a trace ended, and how much of what happened it has seen.
#[derive(Clone, Debug)]
pub struct CallsResult {
    /// The budget that ended it, or `duration`, or `cancelled`.
    pub stopped_by: String,
    /// Calls shown.
    pub calls: u64,
    /// Calls that the node made in this time, whoever made them.
    pub calls_on_node: u64,
    /// Calls a second before the trace.
    pub calls_per_second: u64,
    /// Calls that were traced and not looked at any more.
    pub calls_dropped: u64,
    /// Only some of the processes were traced, because the function is called very often.
    pub narrowed: bool,
    /// Processes that were traced.
    pub processes: u64,
    /// Length of the trace.
    pub elapsed: Duration,
}

impl ProbeSession<'_> {
    /// Traces calls; each is handed over when it has returned.
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
