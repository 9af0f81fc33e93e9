//! `rabbitscope calltree`: the time of a function's calls by callee, waiting included.

use std::{path::PathBuf, time::Duration};

use rabbitscope_artifacts::format::{ProfileFile, default_page};
use rabbitscope_erlang::probes::{FunctionPattern, ProbeSession, TreeRequest, Trigger, Watch};
use rabbitscope_terminal::output;

use super::node::NodeArguments;
use crate::commands::arguments::{duration, within};
use rabbitscope_inside as inside;

use crate::{exit::Exit, interrupt};

/// Draw a flame graph of a function's calls: running, waiting, runnable and garbage collection apart
#[derive(Debug, clap::Args)]
pub(in crate::commands) struct Args {
    /// Function to record
    #[arg(value_name = "MODULE:FUNCTION[/ARITY]", value_parser = FunctionPattern::parse)]
    function: FunctionPattern,
    /// Follow a call into the process that it waits for
    #[arg(long)]
    follow: bool,
    /// Only processes in this role
    #[arg(long, value_name = "ROLE")]
    role: Option<String>,
    /// Stop after this number of calls
    #[arg(long, default_value = "10000", value_parser = within(1..=1_000_000_u32))]
    limit: u32,
    /// Stop after this time
    #[arg(long, default_value = "10s", value_parser = duration)]
    duration: Duration,
    /// Output file; its suffix selects the format [default: calltree-TIME.html]
    ///
    /// Formats: .html .svg .pb.gz .folded
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Output file for the longest single call; its suffix selects the format
    #[arg(long, value_name = "FILE")]
    slowest: Option<PathBuf>,
    /// Print totals, notes and functions as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    node: NodeArguments,
}

impl Args {
    pub(in crate::commands) fn execute(self) -> anyhow::Result<Exit> {
        let output = self.output.clone().unwrap_or_else(|| default_page("calltree"));
        let file = ProfileFile::check(&output)?;
        let slowest_file = self.slowest.as_deref().map(ProfileFile::check).transpose()?;
        let request = TreeRequest {
            trigger: Trigger::Call(self.function.clone()),
            role: self.role.clone(),
            follow: self.follow,
            max_calls: self.limit,
            duration: self.duration,
        };
        let connection = self.node.connect()?;
        let stop = interrupt::watch()?;
        let mut session = ProbeSession::start(&connection)?;
        let line = output::ProgressLine::default();
        let mut progress =
            |elapsed: Duration| line.show(&format!("recording {} s", elapsed.as_secs()));
        let tree = session.tree(&request, &mut Watch { stop: &stop, progress: &mut progress })?;
        drop(line);
        let said = inside::tree_notes(&tree.result, true);
        file.write(&inside::profile_of_tree(&tree, true))?;
        if let (Some(file), Some(profile)) = (slowest_file, inside::slowest_of_tree(&tree)) {
            file.write(&profile)?;
        }
        if self.json {
            output::json(&serde_json::json!({ "calls": tree.result.calls,
                "calls-cut": tree.result.calls_cut, "calls-on-node": tree.result.calls_on_node,
                "events": tree.result.events, "stopped-by": tree.result.stopped_by,
                "slowest-us": tree.slowest.as_ref().map(|slowest| slowest.took.as_micros()),
                "notes": said, "functions": inside::function_table(&tree) }))?;
        } else {
            output::result(&format!("{}\nprofile  {}", said.join("\n"), output.display()));
        }
        Ok(if tree.nodes.is_empty() { Exit::Failed } else { Exit::Done })
    }
}
