//! The command: the limit of a running node, and what to change.

use std::{
    fmt::Display,
    fs,
    ops::RangeInclusive,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use anyhow::Context;
use clap::ValueEnum;
use rabbitscope_check::{CheckOptions, CheckProgress, ObservedLoad, read_baseline, read_with_load};
use rabbitscope_diagnosis::{
    Case, CheckReport, ClusterReport, ExperimentFile, Severity, compare, experiments,
};
use rabbitscope_terminal::{UsageError, output};
use serde::Serialize;

use super::{
    cluster::{self, ClusterNodes},
    load::Base,
    over_amqp::{self, AmqpArguments},
    recorded::RecordedArguments,
    subject::Subject,
};
use crate::{
    commands::{
        arguments::{duration, number},
        experiments::proof,
        inside::{ClusterArgument, NodeArguments},
    },
    exit::Exit,
    interrupt,
};

/// Find what limits a running node, and what to change
///
/// Reads the node from inside and outside at the same time: queues, channels, flow control, schedulers, CPU samples,
/// times off the CPU, packets, the machine. It changes nothing. Sources that it may not read are named.
#[derive(Debug, clap::Args)]
pub(in crate::commands) struct Args {
    #[command(flatten)]
    recorded: RecordedArguments,
    /// Process identifier of the node's beam.smp [default: that of the node in --node]
    #[arg(long, conflicts_with_all = ["node", "is_wanted"], value_parser = number::<u32>)]
    pid: Option<u32>,
    /// Duration of the check, 3s to 10m
    ///
    /// Rates of queues and channels need 10 seconds: the node writes them every 5.
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "15s")]
    duration: Duration,
    /// Exit with code 3 if there is a finding of this severity, or a worse one
    #[arg(long, value_enum, value_name = "SEVERITY")]
    fail_on: Option<FailOn>,
    /// Add the largest differences from an earlier check, which --json has saved
    #[arg(long, value_name = "FILE", conflicts_with = "is_wanted")]
    baseline: Option<PathBuf>,
    /// Write an experiment for each finding that a throwaway broker can show, into a new or empty directory
    #[arg(long, value_name = "DIR", conflicts_with = "is_wanted")]
    write_experiments: Option<PathBuf>,
    /// Run the first of these experiments; without --write-experiments they are in check-experiments
    #[arg(long, conflicts_with_all = ["is_wanted", "json"])]
    prove: bool,
    /// Print as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    node: NodeArguments,
    #[command(flatten)]
    cluster: ClusterArgument,
    #[command(flatten)]
    amqp: AmqpArguments,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FailOn {
    /// Something costs throughput or time now
    Warning,
    /// Clients fail or are blocked, or will be soon
    Critical,
}

/// Directory of the experiments that `--prove` runs, unless the user names another one.
const USUAL_DIRECTORY: &str = "check-experiments";

const DURATIONS: RangeInclusive<Duration> = Duration::from_secs(3)..=Duration::from_secs(600);

impl Args {
    pub(in crate::commands) fn execute(self) -> anyhow::Result<Exit> {
        if !DURATIONS.contains(&self.duration) {
            return Err(UsageError("--duration is 3 seconds to 10 minutes".to_owned()).into());
        }
        let stop = interrupt::watch()?;
        if self.cluster.is_wanted {
            return self.check_cluster(&stop);
        }
        let baseline = self.baseline.as_deref().map(read_baseline).transpose()?;
        let directory = self.directory();
        directory.map(refuse_if_full).transpose()?;
        let (case, load) = match self.recorded.read(self.node.name())? {
            Some(case) => (case, Err("a record has no packets of clients".to_owned())),
            None if directory.is_some() => with_load(&self.options()?, &stop),
            None => (read(&self.options()?, &stop, true), Err(String::new())),
        };
        let base = load.and_then(|load| Base::new(load, &case));
        let is_early = self.is_early(&stop);
        let mut report = CheckReport::from_case(&case);
        report.differences = baseline.map(|baseline| compare(&baseline, &report));
        let observed = base.as_ref().map(|base| &base.scenario).map_err(String::as_str);
        let files = directory.map_or_else(Vec::new, |_| experiments(&case, &mut report, observed));
        self.show(&report)?;
        if !self.recorded.is_given() && is_unreachable(&case) {
            return Ok(Exit::Unreachable);
        }
        let exit = match directory {
            Some(directory) => {
                self.prove(directory, (&files, base.ok()), (report.worst(), is_early))?
            }
            None => self.exit(report.worst()),
        };
        Ok(if exit == Exit::Done && is_early { Exit::Failed } else { exit })
    }

    /// Returns whether the user ended the check of a node early, and says so.
    fn is_early(&self, stop: &AtomicBool) -> bool {
        let is_early = !self.recorded.is_given() && stop.load(Ordering::Relaxed);
        if is_early {
            output::note("the check was ended early: it is judged by what was read until then");
        }
        is_early
    }

    /// Returns the directory for experiments, if they are wanted.
    fn directory(&self) -> Option<&Path> {
        let usual = || self.prove.then(|| Path::new(USUAL_DIRECTORY));
        self.write_experiments.as_deref().or_else(usual)
    }

    /// Writes the experiments, and runs the first one if the user asks for it and did not end the check early.
    fn prove(
        &self,
        directory: &Path,
        (files, base): (&[ExperimentFile], Option<Base>),
        (worst, is_early): (Option<Severity>, bool),
    ) -> anyhow::Result<Exit> {
        if files.is_empty() {
            output::note("no finding can be shown by an experiment on a throwaway broker");
            return Ok(self.exit(worst));
        }
        let likeness = base.as_ref().map(|base| base.likeness.as_str());
        let paths = proof::write_experiments(directory, files, likeness)?;
        base.iter().for_each(Base::note_misfits);
        for path in &paths {
            output::note(&format!("written: {}", path.display()));
        }
        match paths.first() {
            Some(first) if self.prove && !is_early => proof::prove(first, self.json),
            _ => Ok(self.exit(worst)),
        }
    }

    /// Checks all nodes of the cluster at the same time.
    fn check_cluster(&self, stop: &AtomicBool) -> anyhow::Result<Exit> {
        let ClusterNodes { options, missing } = cluster::nodes(&self.node, self.duration)?;
        let cases: Vec<Case> = thread::scope(|scope| {
            let check = |(number, options)| scope.spawn(move || read(options, stop, number == 0));
            let threads: Vec<_> = options.iter().enumerate().map(check).collect();
            threads.into_iter().map(|thread| thread.join().expect("a check panicked")).collect()
        });
        let is_whole = missing.is_empty() && !self.is_early(stop);
        let reports = cases.iter().map(CheckReport::from_case).collect();
        let report = ClusterReport::from_reports(reports, missing);
        let report = report.context("no node of the cluster was checked")?;
        self.show(&report)?;
        let exit = self.exit(report.worst());
        Ok(if exit == Exit::Done && !is_whole { Exit::Failed } else { exit })
    }

    fn show<T: Serialize + Display>(&self, report: &T) -> anyhow::Result<()> {
        if self.json {
            output::json(report)?;
        } else {
            output::result(&report.to_string());
        }
        Ok(())
    }

    fn exit(&self, worst: Option<Severity>) -> Exit {
        let limit = match self.fail_on {
            Some(FailOn::Warning) => Severity::Warning,
            Some(FailOn::Critical) => Severity::Critical,
            None => return Exit::Done,
        };
        if worst >= Some(limit) { Exit::ExpectationFailed } else { Exit::Done }
    }

    fn subject(&self) -> Subject<'_> {
        Subject { pid: self.pid, node: &self.node }
    }

    /// Returns the means to read the node.
    fn options(&self) -> anyhow::Result<CheckOptions> {
        match self.amqp.options()? {
            Some(amqp) if self.pid.is_none() && !self.node.is_named() => {
                Ok(over_amqp::options(amqp, self.duration))
            }
            amqp => Ok(CheckOptions {
                amqp,
                ..self.subject().noted("checks", ", --cluster all").options(self.duration)?
            }),
        }
    }
}

/// Reads one node. `is_shown` asks for the progress on the terminal.
fn read(options: &CheckOptions, stop: &AtomicBool, is_shown: bool) -> Case {
    let line = is_shown.then(output::ProgressLine::default);
    rabbitscope_check::read(options, stop, &mut |progress| {
        if let Some(line) = &line {
            show(line, progress);
        }
    })
}

/// Reads one node, and the load of its clients from the same packets.
fn with_load(options: &CheckOptions, stop: &AtomicBool) -> (Case, Result<ObservedLoad, String>) {
    let line = output::ProgressLine::default();
    read_with_load(options, stop, &mut |progress| show(&line, progress))
}

fn show(line: &output::ProgressLine, progress: CheckProgress) {
    let (elapsed, whole) = (progress.elapsed.as_secs(), progress.whole.as_secs());
    line.show(&format!("checking: {elapsed} of {whole} s"));
}

fn is_unreachable(case: &Case) -> bool {
    case.subject.pid.is_none() && case.broker.is_err() && case.over_amqp().is_none()
}

fn refuse_if_full(directory: &Path) -> Result<(), UsageError> {
    let is_full = fs::read_dir(directory).is_ok_and(|mut entries| entries.next().is_some());
    let message = || {
        let name = directory.display();
        UsageError(format!("{name} is not empty: name a new directory with --write-experiments"))
    };
    if is_full { Err(message()) } else { Ok(()) }
}
