//! `rabbitscope profile`: a profile of a running node.

use std::{
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use rabbitscope_artifacts::{
    format::{ProfileFile, default_page},
    salvage::Unwritten,
};
use rabbitscope_erlang::probes::{ProbeSession, Watch};
use rabbitscope_probe::{Backend, Node, Recorded};
use rabbitscope_profiles::{Event, Profile};
use rabbitscope_runner::run;
use rabbitscope_terminal::{UsageError, output};

use super::{
    arguments::{duration, number, within},
    cluster_profile, explain,
    inside::{ClusterArgument, NodeArguments},
};
use rabbitscope_inside as inside;
use rabbitscope_inside::IdentityResolver;

use crate::{exit::Exit, interrupt};

/// Highest sampling rate of a process from inside.
const MAX_INSIDE_HZ: u32 = 100;

/// Record a profile of a running node: CPU, time off the CPU, memory
///
/// The node needs no restart and no special flag.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of the command line")]
pub(super) struct Args {
    /// Process identifier of the node's beam.smp [default: that of the node in --node]
    #[arg(long, conflicts_with_all = ["node", "is_wanted"], value_parser = number::<u32>)]
    pid: Option<u32>,
    /// Sample Erlang stacks through the distribution connection: coarser, but needs only the cookie
    ///
    /// This needs no permission on the node's machine, and also works for nodes on other machines.
    #[arg(long, conflicts_with_all = ["pid", "is_wanted"])]
    from_inside: bool,
    #[arg(long, help = event_help(), default_value = "cpu", value_name = "EVENT,…",
          value_delimiter = ',', value_parser = event)]
    event: Vec<Event>,
    /// Duration of the recording
    #[arg(long, default_value = "30s", value_parser = duration)]
    duration: Duration,
    /// Samples per second on each CPU, 1 to 10000
    #[arg(long, default_value = "999", value_name = "HZ",
          value_parser = within(1..=10_000_u32))]
    freq: u32,
    /// Kernel interface: ebpf, perf-events [default: the best permitted one]
    #[arg(long, value_parser = backend, conflicts_with = "from_inside")]
    tier: Option<Backend>,
    /// Output file; its suffix selects the format [default: profile-TIME.html]
    ///
    /// Formats: .html .svg .pb.gz .folded .speedscope.json .firefox.json
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Report what this machine and the node allow and what is missing, without recording
    #[arg(long, conflicts_with_all = ["from_inside", "output", "is_wanted"])]
    explain: bool,
    /// Do not ask the node for the roles and names of its processes
    ///
    /// By default, the command asks before and after the recording if it finds a cookie.
    #[arg(long)]
    no_names: bool,
    /// Print quality and hottest functions as JSON: a list with one entry per event
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    node: NodeArguments,
    #[command(flatten)]
    cluster: ClusterArgument,
}

impl Args {
    fn process(&self) -> anyhow::Result<Node> {
        let Some(pid) = self.pid else { return self.node.process() };
        let mut nodes = rabbitscope_probe::list_nodes()?.into_iter();
        Ok(nodes.find(|node| node.pid == pid).unwrap_or(Node { pid, name: None }))
    }

    /// Records the stacks that the node itself reports.
    fn record_from_inside(&self, stop: &AtomicBool) -> anyhow::Result<Profile> {
        rabbitscope_probe::drop_privileges()?;
        let connection = self.node.connect()?;
        let mut session = ProbeSession::start(&connection)?;
        let line = output::ProgressLine::default();
        let mut progress =
            |elapsed: Duration| line.show(&format!("sampling {} s", elapsed.as_secs()));
        let mut watch = Watch { stop, progress: &mut progress };
        let interval = Duration::from_millis(u64::from(1000 / self.freq.clamp(1, MAX_INSIDE_HZ)));
        let samples = session.samples(None, interval, self.duration, &mut watch)?;
        Ok(inside::profile_of_samples(&samples))
    }

    /// Records a node, with the roles and names of its processes.
    fn record_node(
        &self,
        node: &Node,
        is_shown: bool,
        stop: &AtomicBool,
    ) -> anyhow::Result<Recorded> {
        let options = || self.node.options_of(node.pid, node.name.clone());
        let resolver = (!self.no_names).then(|| IdentityResolver::start(options()));
        let origin = rabbitscope_probe::origin_of(node.pid).unwrap_or_default();
        let mut recorded = self.sample(node.pid, is_shown, stop)?;
        for profile in &mut recorded.profiles {
            profile.capture.node = origin.name.clone().unwrap_or_default();
            profile.capture.rabbitmq = origin.version.clone().unwrap_or_default();
        }
        if let Some(resolver) = resolver {
            resolver.resolve(&mut recorded.profiles);
        }
        Ok(recorded)
    }

    fn sample(&self, pid: u32, is_shown: bool, stop: &AtomicBool) -> anyhow::Result<Recorded> {
        let line = output::ProgressLine::default();
        let options = rabbitscope_probe::Options {
            pid,
            events: distinct(&self.event),
            freq_hz: self.freq,
            duration: Some(self.duration),
            backend: self.tier,
        };
        Ok(rabbitscope_probe::record(&options, stop, &mut |progress| {
            if is_shown {
                line.show(&run::recording_progress(progress, self.duration));
            }
        })?)
    }

    /// Returns the profiles, and whether they are shorter than requested. If a node ended, the recorder has noted it.
    fn record(&self, stop: &AtomicBool) -> anyhow::Result<(Vec<Profile>, bool)> {
        if self.from_inside {
            return Ok((vec![self.record_from_inside(stop)?], false));
        }
        if self.cluster.is_wanted {
            let cluster = self.node.cluster_processes()?;
            let record = |node: &Node, is_shown| self.record_node(node, is_shown, stop);
            let recorded = cluster_profile::record(cluster, self.duration, record, stop)?;
            return Ok((recorded.profiles, recorded.is_short));
        }
        let recorded = self.record_node(&self.process()?, true, stop)?;
        let profiles = rabbitscope_debuginfod::named(recorded, stop);
        let is_short = profiles.iter().any(|profile| profile.capture.duration() < self.duration);
        Ok((profiles, is_short))
    }

    pub(super) fn execute(self) -> anyhow::Result<Exit> {
        if self.explain {
            let found = self.process().map(|node| (node.pid, node.name));
            return explain::execute(found, self.tier, &self.node, self.json);
        }
        if self.from_inside && self.event != [Event::Cpu] {
            return Err(UsageError("--from-inside samples cpu only; omit --event".into()).into());
        }
        let output = self.output.clone().unwrap_or_else(|| default_page("profile"));
        let paths = outputs(&output, &distinct(&self.event));
        let files: Vec<ProfileFile> =
            paths.iter().map(|path| ProfileFile::check(path)).collect::<anyhow::Result<_>>()?;
        let stop = interrupt::watch()?;
        let (mut profiles, is_short) = self.record(&stop)?;
        let is_stopped = stop.load(Ordering::Relaxed);
        if is_stopped {
            note_stop(&mut profiles, self.duration);
        }
        let mut unwritten = Unwritten::default();
        let places = write_each(&files, &profiles, &mut unwritten);
        self.say(&profiles, &places)?;
        let exit = if is_short || is_stopped { Exit::Failed } else { Exit::Done };
        unwritten.error().map_or(Ok(exit), Err)
    }

    fn say(&self, profiles: &[Profile], places: &[Option<PathBuf>]) -> anyhow::Result<()> {
        if self.json {
            let all: Vec<_> = profiles.iter().map(run::ProfileSummary::from_profile).collect();
            return output::json(&all);
        }
        for (profile, place) in profiles.iter().zip(places) {
            let place = place.as_ref().map_or("not written".into(), |path| path.to_string_lossy());
            output::result(&format!("{}\nprofile  {place}", said_of(profile)));
        }
        Ok(())
    }
}

/// Notes that the user pressed Ctrl-C.
fn note_stop(profiles: &mut [Profile], asked: Duration) {
    for profile in profiles {
        profile.capture.notes.push(format!(
            "stopped after {:.1} s of {:.1} s; the recording until then is kept",
            profile.capture.duration().as_secs_f64(),
            asked.as_secs_f64(),
        ));
    }
}

/// Writes each file separately, and reports its path. If a file cannot be written, the profile is saved elsewhere,
/// because the recording cannot be repeated.
fn write_each(
    files: &[ProfileFile],
    profiles: &[Profile],
    unwritten: &mut Unwritten,
) -> Vec<Option<PathBuf>> {
    let pages: Vec<(Event, &ProfileFile)> =
        profiles.iter().map(|profile| profile.event).zip(files).collect();
    let write = |(file, profile): (&ProfileFile, &Profile)| {
        let name = file.path().display().to_string();
        unwritten.note_recording(&name, profile, file.write_beside(profile, &pages))
    };
    files.iter().zip(profiles).map(write).collect()
}

fn said_of(profile: &Profile) -> String {
    let notes = profile.capture.notes.iter().map(|note| format!("note: {note}\n"));
    run::ProfileSummary::from_profile(profile).to_string() + &notes.collect::<String>()
}

fn event(text: &str) -> Result<Event, String> {
    let event = Event::RECORDED.into_iter().find(|event| event.name() == text);
    event.ok_or_else(|| format!("known are {}", event_names()))
}

fn event_names() -> String {
    Event::RECORDED.map(Event::name).join(", ")
}

fn event_help() -> String {
    format!(
        "Events to sample: {}; with several, separated by commas, each event has its own file",
        event_names()
    )
}

fn backend(text: &str) -> Result<Backend, String> {
    Backend::ALL.into_iter().find(|backend| backend.name() == text).ok_or_else(|| {
        let known: Vec<&str> = Backend::ALL.into_iter().map(Backend::name).collect();
        format!("known are {}", known.join(", "))
    })
}

fn distinct(events: &[Event]) -> Vec<Event> {
    Event::RECORDED.into_iter().filter(|event| events.contains(event)).collect()
}

/// Returns one file per event: the given path for one event, and a derived path for each of several.
fn outputs(output: &Path, events: &[Event]) -> Vec<PathBuf> {
    let [_, _, ..] = events else { return vec![output.to_owned()] };
    let name = output.file_name().map(|name| name.to_string_lossy().into_owned());
    let name = name.unwrap_or_default();
    let (stem, suffix) = name.split_at(name.find('.').unwrap_or(name.len()));
    let named = |event: &Event| output.with_file_name(format!("{stem}-{}{suffix}", event.name()));
    events.iter().map(named).collect()
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use rabbitscope_profiles::Event;

    use super::{event, outputs};

    fn check(output: &str, events: &[Event], expected: &[&str]) {
        let expected: Vec<PathBuf> = expected.iter().map(PathBuf::from).collect();
        assert_eq!(outputs(Path::new(output), events), expected);
    }

    #[test]
    fn several_events_go_to_files_of_their_own() {
        check("d/x.pb.gz", &[Event::Cpu], &["d/x.pb.gz"]);
        check(
            "d/x.pb.gz",
            &[Event::Cpu, Event::PageFaults],
            &["d/x-cpu.pb.gz", "d/x-page-faults.pb.gz"],
        );
    }

    #[test]
    fn events_have_the_names_of_the_profile() {
        assert_eq!(event("off-cpu"), Ok(Event::OffCpu));
        assert!(event("offcpu").unwrap_err().contains("context-switches"));
    }
}
