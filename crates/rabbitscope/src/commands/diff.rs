//! `rabbitscope diff`: the changes between two profiles, or between two sets of them.

use std::path::PathBuf;

use rabbitscope_analysis::RunPairing;
use rabbitscope_artifacts::archive;
use rabbitscope_experiments::comparison::{Comparison, DiffPage};
use rabbitscope_terminal::{UsageError, output};

use super::arguments::{ReadArguments, refuse_to_replace};
use crate::exit::Exit;

/// Compare two profiles: a flame graph of changes, and the functions whose share changed most
///
/// With four or more profiles on each side (--before, --after), a change counts only if it exceeds the variation
/// between runs of one side.
#[derive(Debug, clap::Args)]
#[command(override_usage = "rabbitscope diff [OPTIONS] <BEFORE> <AFTER>\n       \
                            rabbitscope diff [OPTIONS] --before <PROFILE>... --after <PROFILE>...")]
pub(super) struct Args {
    /// Profile before the change
    ///
    /// A run directory, .pb.gz, .folded, .html, perf.data, `perf script` text, or windows of `watch`, such as
    /// 'DIR?from=10:00&to=11:00&node=rabbit@a&version=4.0.5'.
    #[arg(value_name = "BEFORE", required_unless_present = "before_set")]
    before: Option<PathBuf>,
    /// Profile after the change
    #[arg(value_name = "AFTER", required_unless_present = "after_set")]
    after: Option<PathBuf>,
    /// Profiles of several runs before the change
    #[arg(
        id = "before_set",
        long = "before",
        value_name = "PROFILE",
        num_args = 1..,
        requires = "after_set",
        conflicts_with_all = ["before", "after"]
    )]
    before_set: Vec<PathBuf>,
    /// Profiles of several runs after the change
    #[arg(
        id = "after_set",
        long = "after",
        value_name = "PROFILE",
        num_args = 1..,
        requires = "before_set",
        conflicts_with_all = ["before", "after"]
    )]
    after_set: Vec<PathBuf>,
    /// Output page with the flame graph of changes (.html)
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print every change as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: ReadArguments,
}

impl Args {
    pub(super) fn execute(self) -> anyhow::Result<Exit> {
        self.refuse_to_replace_an_input()?;
        let page = self.output.as_deref().map(DiffPage::check).transpose()?;
        let comparison = self.compare()?;
        if let Some(page) = &page {
            page.write(&comparison)?;
        }
        if self.json {
            output::json(&comparison.changes())?;
        } else {
            output::result(&comparison.to_string());
        }
        Ok(Exit::Done)
    }

    fn refuse_to_replace_an_input(&self) -> anyhow::Result<()> {
        let Some(output) = &self.output else { return Ok(()) };
        let pair = self.before.iter().chain(&self.after);
        for input in pair.chain(&self.before_set).chain(&self.after_set) {
            let (read, _) = archive::split_selection(input)?;
            refuse_to_replace(output, [read.as_path()])?;
        }
        Ok(())
    }

    fn compare(&self) -> anyhow::Result<Comparison> {
        let options = self.reading.options();
        if let Some((before, after)) = self.before.as_ref().zip(self.after.as_ref()) {
            return Comparison::read(before, after, options);
        }
        let sides = [("before", &self.before_set), ("after", &self.after_set)];
        for (side, profiles) in &sides {
            let twice = profiles.iter().enumerate().find(|(at, it)| profiles[..*at].contains(it));
            if let Some((_, profile)) = twice {
                let message = format!("--{side} has {} twice", profile.display());
                return Err(UsageError(message).into());
            }
        }
        let name = |profiles: &[PathBuf]| format!("{} runs", profiles.len());
        let [before, after] = sides.map(|(_, profiles)| (name(profiles), &profiles[..]));
        let sides = [(&before.0[..], before.1), (&after.0[..], after.1)];
        Comparison::read_runs(sides, RunPairing::None, options)
    }
}
