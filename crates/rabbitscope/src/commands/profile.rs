//! `rabbitscope profile`: a CPU profile of a node that is already running.

use std::{path::PathBuf, time::Duration};

use rabbitscope_data::profile::Profile;

use super::arguments::duration;
use crate::{exit::Exit, experiment, format::ProfileFile, interrupt, output};

/// Record a CPU profile of a running node, without a restart and without any flag of the node
#[derive(Debug, clap::Args)]
pub(super) struct Typed {
    /// Pid of the node's beam.smp [default: the only node on this machine]
    #[arg(long, conflicts_with = "node")]
    pid: Option<u32>,
    /// Name of the node, with or without its host
    #[arg(long, value_name = "NAME")]
    node: Option<String>,
    /// What is sampled
    #[arg(long, value_enum, default_value = "cpu")]
    event: Event,
    /// How long
    #[arg(long, default_value = "30s", value_parser = duration)]
    duration: Duration,
    /// Samples a second on each CPU, 1 to 10000
    #[arg(long, default_value = "999", value_name = "HZ",
          value_parser = clap::value_parser!(u32).range(1..=10_000))]
    freq: u32,
    /// Where to; the suffix says in which form: .html .svg .pb.gz .folded
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Print quality and hottest functions as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Event {
    Cpu,
}

struct Valid {
    file: ProfileFile,
    pid: u32,
    freq_hz: u32,
    duration: Duration,
}

impl Typed {
    fn validate(self) -> anyhow::Result<Valid> {
        let Event::Cpu = self.event;
        let file = ProfileFile::check(&self.output)?;
        let pid = match (self.pid, &self.node) {
            (Some(pid), _) => pid,
            (None, Some(name)) => rabbitscope_probe::find_node(name)?.pid,
            (None, None) => rabbitscope_probe::sole_node()?.pid,
        };
        Ok(Valid { file, pid, freq_hz: self.freq, duration: self.duration })
    }

    pub(super) fn execute(self) -> anyhow::Result<Exit> {
        let (path, json) = (self.output.clone(), self.json);
        let valid = self.validate()?;
        let stop = interrupt::watch()?;
        let profile = valid.record(&stop)?;
        let cut_short = stop.load(std::sync::atomic::Ordering::Relaxed);
        valid.file.write(&profile)?;
        if json {
            output::json(&experiment::ProfileSummary::of(&profile))?;
        } else {
            output::result(&format!("{}\nprofile  {}", said_of(&profile), path.display()));
        }
        Ok(if cut_short { Exit::Failed } else { Exit::Done })
    }
}

impl Valid {
    fn record(&self, stop: &std::sync::atomic::AtomicBool) -> anyhow::Result<Profile> {
        let line = output::ProgressLine::default();
        let options = rabbitscope_probe::CpuOptions {
            pid: self.pid,
            freq_hz: self.freq_hz,
            duration: Some(self.duration),
        };
        let profile = rabbitscope_probe::record_cpu(&options, stop, &mut |progress| {
            line.show(&experiment::recording_progress(progress, self.duration));
        })?;
        Ok(profile)
    }
}

fn said_of(profile: &Profile) -> String {
    let notes = profile.capture.notes.iter().map(|note| format!("note: {note}\n"));
    experiment::ProfileSummary::of(profile).to_string() + &notes.collect::<String>()
}
