//! `rabbitscope flamegraph`: a recorded profile in a different format.

use std::path::PathBuf;

use rabbitscope_artifacts::{
    archive,
    format::{ProfileFile, default_page},
    source::read_profile,
};
use rabbitscope_terminal::output;

use super::arguments::{ReadArguments, SpanArguments, refuse_to_replace};
use crate::exit::Exit;

/// Convert a recorded profile to a flame graph or another profile format
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Run directory, directory of `watch`, or profile: .pb.gz, .folded, .html, perf.data, `perf script` text
    input: PathBuf,
    /// Output file; its suffix selects the format [default: flamegraph-TIME.html]
    ///
    /// Formats: .html .svg .pb.gz .folded .speedscope.json .firefox.json
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    span: SpanArguments,
    #[command(flatten)]
    reading: ReadArguments,
}

impl Args {
    pub(super) fn execute(self) -> anyhow::Result<Exit> {
        let (read, _) = archive::split_selection(&self.input)?;
        let path = self.output.clone().unwrap_or_else(|| default_page("flamegraph"));
        refuse_to_replace(&path, [read.as_path()])?;
        let file = ProfileFile::check(&path)?;
        let input = self.span.applied_to(&self.input);
        let profile = read_profile(&input, self.reading.options())?;
        // Some formats cannot hold notes.
        profile.capture.notes.iter().for_each(|note| output::note(note));
        file.write(&profile)?;
        if self.output.is_none() {
            output::result(&format!("profile  {}", path.display()));
        }
        Ok(Exit::Done)
    }
}
