//! `rabbitscope trace`: single calls of a function on a running node.

use std::time::Duration;

use rabbitscope_erlang::probes::{
    CallFilter, CallsRequest, FunctionPattern, ProbeSession, TracedCall, Watch,
};
use rabbitscope_terminal::output;
use serde_json::{Value, json};

use super::{node::NodeArguments, who::WhoArguments};
use crate::commands::arguments::{duration, number, within};
use rabbitscope_text::{escapes, short_time};

use rabbitscope_inside as inside;

use crate::{exit::Exit, interrupt};

/// Show calls of a function as they happen: callers and durations
///
/// The trace stops by itself.
#[derive(Debug, clap::Args)]
pub(in crate::commands) struct Args {
    /// Function to trace
    #[arg(value_name = "MODULE:FUNCTION[/ARITY]", value_parser = FunctionPattern::parse)]
    function: FunctionPattern,
    /// Stop after this number of calls
    #[arg(long, default_value = "100", value_parser = within(1..=100_000_u32))]
    limit: u32,
    /// Stop after this time
    #[arg(long, default_value = "10s", value_parser = duration)]
    duration: Duration,
    /// Show arguments, shortened and without secrets; the node copies them whole
    #[arg(long = "args")]
    with_arguments: bool,
    /// Show results, shortened and without secrets
    #[arg(long = "return")]
    results: bool,
    /// Only calls with matching arguments, as Erlang terms
    ///
    /// A _ stands for any term, as in '_, {resource, _, _, _}'.
    #[arg(long = "match", value_name = "TERMS")]
    arguments: Option<String>,
    /// Only calls from this module, or from this function
    #[arg(long, value_name = "MODULE[:FUNCTION]")]
    caller: Option<String>,
    /// Refuse a function with more calls per second than this
    #[arg(long, value_name = "CALLS", value_parser = number::<u64>)]
    max_rate: Option<u64>,
    /// Print one JSON object per line; the last one has totals and notes
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    who: WhoArguments,
    #[command(flatten)]
    node: NodeArguments,
}

impl Args {
    fn request(&self) -> CallsRequest {
        let caller = self.caller.as_deref().map(|text| match text.split_once(':') {
            Some((module, function)) => (module.to_owned(), Some(function.to_owned())),
            None => (text.to_owned(), None),
        });
        CallsRequest {
            function: self.function.clone(),
            filter: CallFilter {
                who: self.who.without_role(),
                role: self.who.role.clone(),
                caller,
                arguments: self.arguments.clone(),
            },
            arguments: self.with_arguments,
            results: self.results,
            limit: self.limit,
            duration: self.duration,
            max_rate: self.max_rate,
        }
    }

    pub(in crate::commands) fn execute(self) -> anyhow::Result<Exit> {
        let request = self.request();
        let connection = self.node.connect()?;
        let stop = interrupt::watch()?;
        let mut session = ProbeSession::start(&connection)?;
        let line = output::ProgressLine::default();
        let mut progress =
            |elapsed: Duration| line.show(&format!("tracing {} s", elapsed.as_secs()));
        let mut watch = Watch { stop: &stop, progress: &mut progress };
        let result = session.calls(&request, &mut watch, &mut |call| {
            if self.json {
                output::json_value(&json_of(&call));
            } else {
                output::result(&text_of(&call));
            }
        })?;
        let said = inside::call_notes(&result);
        if self.json {
            output::json_value(&json!({ "stopped-by": result.stopped_by, "calls": result.calls,
                "calls-on-node": result.calls_on_node, "calls-per-second": result.calls_per_second,
                "calls-dropped": result.calls_dropped, "narrowed": result.narrowed,
                "processes": result.processes, "elapsed-ns": nanos(result.elapsed),
                "notes": said }));
        } else {
            for sentence in &said {
                output::note(sentence);
            }
        }
        Ok(Exit::Done)
    }
}

fn text_of(call: &TracedCall) -> String {
    let took = call.took.map_or_else(|| "-".to_owned(), |took| short_time(nanos(took)));
    let name = if call.name.is_empty() { String::new() } else { format!(" {}", call.name) };
    let caller = call.caller.as_ref().map_or_else(String::new, |caller| format!(" from {caller}"));
    let result = if call.result.is_empty() { String::new() } else { format!(" {}", call.result) };
    let line = format!(
        "{:>9.3} s  {:<14} {:<13} {:>10}  {}{}{name}{caller} → {}{result}",
        call.at.as_secs_f64(),
        call.pid.to_string(),
        call.role,
        took,
        call.function,
        call.arguments,
        call.outcome.replace('_', " "),
    );
    escapes::value(&line).into_owned()
}

fn json_of(call: &TracedCall) -> Value {
    json!({ "at-ns": nanos(call.at), "pid": call.pid.to_string(), "role": call.role, "name": call.name,
        "function": call.function.to_string(), "caller": call.caller.as_ref().map(ToString::to_string),
        "arguments": call.arguments, "took-ns": call.took.map(nanos), "outcome": call.outcome,
        "result": call.result })
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
