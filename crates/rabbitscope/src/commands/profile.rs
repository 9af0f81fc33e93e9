//! `rabbitscope profile`: a CPU profile of a node that is already running.

use std::{path::PathBuf, sync::atomic::AtomicBool, time::Duration};

use rabbitscope_data::profile::Profile;
use rabbitscope_erlang::probes::{ProbeSession, Watch};

use super::{arguments::duration, node::NodeArguments};
use crate::{exit::Exit, experiment, format::ProfileFile, inside, interrupt, output};

/// More often a process is not asked from inside.
const MOST_INSIDE_HZ: u32 = 100;

/// Record a CPU profile of a running node, without a restart and without any flag of the node
#[derive(Debug, clap::Args)]
pub(super) struct Typed {
    /// Pid of the node's beam.smp [default: the only node on this machine]
    #[arg(long, conflicts_with = "node")]
    pid: Option<u32>,
    #[command(flatten)]
    node: NodeArguments,
    /// Sample Erlang stacks through the distribution connection: needs the cookie and no permission,
    /// also for a node on another machine; coarser
    #[arg(long, conflicts_with = "pid")]
    from_inside: bool,
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
        let pid = match (self.pid, self.node.name()) {
            (Some(pid), _) => pid,
            (None, Some(name)) => rabbitscope_probe::find_node(name)?.pid,
            (None, None) => rabbitscope_probe::sole_node()?.pid,
        };
        Ok(Valid { file, pid, freq_hz: self.freq, duration: self.duration })
    }

    /// Stacks as the node itself tells them.
    fn record_from_inside(&self, stop: &AtomicBool) -> anyhow::Result<Profile> {
        let connection = self.node.connect()?;
        let mut session = ProbeSession::start(&connection)?;
        let line = output::ProgressLine::default();
        let mut progress =
            |elapsed: Duration| line.show(&format!("sampling {} s", elapsed.as_secs()));
        let mut watch = Watch { stop, progress: &mut progress };
        let interval = Duration::from_millis(u64::from(1000 / self.freq.clamp(1, MOST_INSIDE_HZ)));
        let samples = session.samples(None, interval, self.duration, &mut watch)?;
        Ok(inside::profile_of_samples(&samples))
    }

    pub(super) fn execute(self) -> anyhow::Result<Exit> {
        let (path, json) = (self.output.clone(), self.json);
        let stop = interrupt::watch()?;
        let (file, profile) = if self.from_inside {
            (ProfileFile::check(&self.output)?, self.record_from_inside(&stop)?)
        } else {
            let valid = self.validate()?;
            let profile = valid.record(&stop)?;
            (valid.file, profile)
        };
        let cut_short = stop.load(std::sync::atomic::Ordering::Relaxed);
        file.write(&profile)?;
        if json {
            output::json(&experiment::ProfileSummary::of(&profile))?;
        } else {
            output::result(&format!("{}\nprofile  {}", said_of(&profile), path.display()));
        }
        Ok(if cut_short { Exit::Failed } else { Exit::Done })
    }
}

impl Valid {
    fn record(&self, stop: &AtomicBool) -> anyhow::Result<Profile> {
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
