//! `rabbitscope functions`: the functions that take the time of a process, or of a call.

use std::{fmt::Write as _, path::PathBuf, time::Duration};

use rabbitscope_artifacts::format::ProfileFile;
use rabbitscope_erlang::probes::{FunctionPattern, ProbeSession, TreeRequest, Trigger, Watch};
use rabbitscope_terminal::{UsageError, output};

use super::{node::NodeArguments, who::WhoArguments};
use crate::commands::arguments::{duration, number};
use rabbitscope_inside as inside;
use rabbitscope_inside::FunctionLine;
use rabbitscope_text::escapes;

use crate::{exit::Exit, interrupt};

/// List the functions of processes or of one call: calls, own and accumulated time, waiting
#[derive(Debug, clap::Args)]
pub(in crate::commands) struct Args {
    /// Only activity inside this function
    #[arg(long, value_name = "MODULE:FUNCTION[/ARITY]", value_parser = FunctionPattern::parse)]
    call: Option<FunctionPattern>,
    /// Use the node's counters instead of tracing: cheaper, without accumulated time and waiting
    #[arg(long, conflicts_with_all = ["call", "output"])]
    counters: bool,
    /// Duration of the measurement
    #[arg(long, default_value = "5s", value_parser = duration)]
    duration: Duration,
    /// Maximum number of rows
    #[arg(long, default_value = "30", value_parser = number::<usize>)]
    rows: usize,
    /// Output file for a flame graph; its suffix selects the format: .html .svg .pb.gz .folded
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print all functions as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    who: WhoArguments,
    #[command(flatten)]
    node: NodeArguments,
}

impl Args {
    /// Makes the request. If a call is the trigger, a role filters the processes; otherwise, it selects them.
    fn request(&self, trigger: Trigger) -> TreeRequest {
        let role = self.who.role.clone().filter(|_| self.call.is_some());
        TreeRequest { trigger, role, follow: false, max_calls: 1_000_000, duration: self.duration }
    }

    pub(in crate::commands) fn execute(self) -> anyhow::Result<Exit> {
        let who = self.who.who();
        let file = self.output.as_deref().map(ProfileFile::check).transpose()?;
        let trigger = match (&self.call, who.clone()) {
            (Some(call), _) => Trigger::Call(call.clone()),
            (None, Some(who)) => Trigger::Process(who),
            (None, None) => {
                let missing = "give --process, --role, --queue, --tree or --call";
                return Err(UsageError(missing.to_owned()).into());
            }
        };
        let connection = self.node.connect()?;
        let stop = interrupt::watch()?;
        let mut session = ProbeSession::start(&connection)?;
        let line = output::ProgressLine::default();
        let mut progress =
            |elapsed: Duration| line.show(&format!("recording {} s", elapsed.as_secs()));
        let mut watch = Watch { stop: &stop, progress: &mut progress };
        let (table, said) = if let Some(who) = who.filter(|_| self.counters) {
            let counters = session.counters(&who, self.duration, &mut watch)?;
            let said = inside::counter_notes(&counters);
            (inside::counted_table(&counters), said)
        } else {
            let tree = session.tree(&self.request(trigger), &mut watch)?;
            let has_entry = self.call.is_some();
            if let Some(file) = &file {
                file.write(&inside::profile_of_tree(&tree, has_entry))?;
            }
            (inside::function_table(&tree), inside::tree_notes(&tree.result, has_entry))
        };
        drop(line);
        if self.json {
            output::json(&serde_json::json!({ "functions": table, "notes": said }))?;
        } else {
            output::result(&text_of(&table, self.rows));
            for sentence in &said {
                output::note(sentence);
            }
        }
        Ok(Exit::Done)
    }
}

fn text_of(table: &[FunctionLine], rows: usize) -> String {
    let shown = &table[..rows.min(table.len())];
    let width = shown.iter().map(|line| line.function.chars().count()).max().unwrap_or(8).max(8);
    let mut text = format!(
        "{:width$} {:>11} {:>11} {:>6} {:>9} {:>11} {:>11} {:>9} {:>9}",
        "function", "calls", "own ms", "own %", "µs/call", "acc. ms", "wait ms", "queued", "gc ms"
    );
    let millis = |micros: Option<f64>| {
        micros.map_or_else(|| "-".to_owned(), |micros| format!("{:.2}", micros / 1e3))
    };
    for line in shown {
        let _ = write!(
            text,
            "\n{:width$} {:>11} {:>11.2} {:>6.1} {:>9.2} {:>11} {:>11} {:>9} {:>9}",
            escapes::value(&line.function),
            line.calls,
            line.own_us / 1e3,
            line.own_share * 100.0,
            line.own_us_per_call,
            millis(line.accumulated_us),
            millis(line.wait_us),
            millis(line.runnable_us),
            millis(line.gc_us),
        );
    }
    if table.len() > shown.len() {
        let _ = write!(text, "\n… and {} more", table.len() - shown.len());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned() {
        let line = |name: &str| FunctionLine {
            function: name.to_owned(),
            calls: 3,
            ..FunctionLine::default()
        };
        let text = text_of(&[line("a:b/1"), line("much_longer:name/2"), line("x:y/0")], 2);
        let ends: Vec<usize> = text.lines().take(3).map(|line| line.chars().count()).collect();
        assert!(ends.windows(2).all(|pair| pair[0] == pair[1]), "{text}");
        assert!(text.ends_with("… and 1 more"), "{text}");
    }
}
