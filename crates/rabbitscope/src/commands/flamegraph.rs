//! `rabbitscope flamegraph`: a recorded profile in another form.

use std::path::PathBuf;

use super::arguments::{ReadArguments, SpanArguments, refuse_to_replace};
use crate::{archive, exit::Exit, format::ProfileFile, output, source::read_profile};

/// Turn a recorded profile into a flame graph or another profile format
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A run directory, the directory of `watch`, or a profile: .pb.gz, .folded, perf.data, the text of `perf script`
    input: PathBuf,
    /// Where to; the suffix says in which form: .html .svg .pb.gz .folded
    /// .speedscope.json .firefox.json
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    span: SpanArguments,
    #[command(flatten)]
    reading: ReadArguments,
}

impl Args {
    pub(super) fn execute(self) -> anyhow::Result<Exit> {
        let (read, _) = archive::split_selection(&self.input)?;
        refuse_to_replace(&self.output, [read.as_path()])?;
        let file = ProfileFile::check(&self.output)?;
        let input = self.span.applied_to(&self.input);
        let profile = read_profile(&input, self.reading.options())?;
        // Not every form has a place for them.
        profile.capture.notes.iter().for_each(|note| output::note(note));
        file.write(&profile)?;
        Ok(Exit::Done)
    }
}
