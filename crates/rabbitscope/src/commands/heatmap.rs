//! `rabbitscope heatmap`: the CPU time of nodes over time, from a directory of `watch`.

use std::{path::PathBuf, time::Duration};

use anyhow::Context;
use rabbitscope_artifacts::{
    archive::{self, FoundWindow, split_selection},
    format::{default_page, require_html},
};
use rabbitscope_files::AtomicFile;
use rabbitscope_terminal::{UsageError, output};
use rabbitscope_text::counted;
use rabbitscope_web::{BusyWindow, write_heat_map};

use super::arguments::{SpanArguments, refuse_to_replace};
use crate::exit::Exit;

/// Draw the busy times of nodes from the windows of `watch`, with one row per hour
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Directory of `watch`
    directory: PathBuf,
    /// Output file, .html [default: heatmap-TIME.html]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    span: SpanArguments,
}

impl Args {
    pub(super) fn execute(self) -> anyhow::Result<Exit> {
        let path = self.output.clone().unwrap_or_else(|| default_page("heatmap"));
        require_html(&path)?;
        let (directory, selection) = split_selection(&self.span.applied_to(&self.directory))?;
        refuse_to_replace(&path, [directory.as_path()])?;
        let found = archive::find(&directory, &selection)?;
        if found.is_empty() {
            let message = format!("{} has no such window", directory.display());
            return Err(UsageError(message).into());
        }
        let windows: Vec<BusyWindow> = found.into_iter().map(busy).collect();
        let mut file = AtomicFile::create(&path)?;
        write_heat_map(file.writer(), &windows, |node| selection.command_of(&directory, node))
            .with_context(|| format!("cannot write {}", path.display()))?;
        file.commit()?;
        let count = counted(windows.len() as u64, "window");
        output::result(&format!("{count}  {}", path.display()));
        Ok(Exit::Done)
    }
}

fn busy(window: FoundWindow) -> BusyWindow {
    BusyWindow {
        started: window.name.started(),
        length: Duration::from_millis(window.name.duration_millis),
        cpu: Duration::from_millis(window.name.weight_millis),
        node: window.name.node,
    }
}
