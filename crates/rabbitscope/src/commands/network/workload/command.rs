//! `rabbitscope workload`: the load of a running node, or of a capture file, as a scenario.

use std::path::{Path, PathBuf};

use anyhow::Context;
use rabbitscope_files::AtomicFile;
use rabbitscope_runner::fit;
use rabbitscope_runs::scenario;
use rabbitscope_terminal::{UsageError, output};
use rabbitscope_wire::report::{PacketReport, Source, SourceLevel};
use rabbitscope_workload::{
    Measurements, Model, Origin, RunLength, Scale, Topology, anonymous, model,
};

use super::{
    comparing::{CompareArgs, check_place, measurements_path, read_measurements},
    observing::{Observed, SourceArgs},
};
use crate::{
    commands::arguments::{refuse_to_replace, within},
    exit::Exit,
};

/// Size of the largest definitions file: some 100,000 queues with bindings.
const MAX_DEFINITIONS_BYTES: u64 = 256 << 20;

/// Write the load of a running node, or of a capture file, as a scenario
#[derive(Debug, clap::Args)]
pub(in crate::commands) struct Args {
    #[command(flatten)]
    source: SourceArgs,
    /// Exchanges, queues, bindings and policies, as `rabbitmqctl export_definitions` writes them
    ///
    /// Users, permissions and parameters in the file are not read. Without the file, only objects that clients declare
    /// during the capture are known, and others are assumed.
    #[arg(long, value_name = "FILE")]
    definitions: Option<PathBuf>,
    /// The scenario file (.toml); the figures for --compare go into a file beside it (.likeness.json)
    #[arg(short, long, value_name = "FILE", required_unless_present = "compare")]
    output: Option<PathBuf>,
    #[command(flatten)]
    comparison: CompareArgs,
    /// Factor of all rates, for example 0.5; closed loops are not made faster
    #[arg(long, value_name = "FACTOR", default_value = "1", value_parser = within(0.001..=1000.0))]
    scale: f64,
    /// Share of the connections that remain, for example 0.1, with the behaviour of their clients
    #[arg(long, value_name = "SHARE", default_value = "1", value_parser = within(0.0001..=1.0))]
    connections: f64,
    /// Write numbers in place of the names of exchanges, queues, keys, policies and programs
    #[arg(long)]
    anonymous: bool,
}

impl Args {
    pub(in crate::commands) fn execute(self) -> anyhow::Result<Exit> {
        if let Some(scenario) = &self.comparison.compare {
            let source = self.compared_source(scenario)?;
            return self.comparison.execute(scenario, &source, !self.source.no_profile);
        }
        self.comparison.refuse_without_comparison()?;
        let output = self.output.as_deref().expect("the command line asks for it");
        self.check_output(output)?;
        let mut topology = self.topology()?;
        let mut observed = self.source.observe(&mut topology)?;
        refuse_silence(&observed)?;
        let origin = self.origin(&observed, output);
        let model = self.model(&mut observed, topology);
        self.write(&model, &origin, output)?;
        let written = self.write_measurements(&measured(&model, &observed), output)?;
        let (published, delivered) = observed.flows.messages();
        output::result(&format!(
            "{published} messages published, {delivered} delivered: {} groups\nwritten  {}{written}",
            model.groups(),
            output.display(),
        ));
        if let Some(Err(reason)) = &observed.node {
            output::note(&format!("{reason}; objects that no client declared are assumed"));
        }
        if let Some(Err(reason)) = &observed.profile {
            output::note(&format!("no profile of the broker was recorded: {reason}"));
        }
        if let Some(reason) = &observed.cut_short {
            output::note(&format!("{reason}; the scenario covers the time until then"));
        }
        Ok(if observed.cut_short.is_some() { Exit::Failed } else { Exit::Done })
    }

    /// Returns the figures of the source of a comparison.
    fn compared_source(&self, scenario: &Path) -> anyhow::Result<Measurements> {
        let Some(source) = &self.comparison.source else {
            return read_measurements(&measurements_path(scenario));
        };
        if source.extension().is_some_and(|suffix| suffix == "json") {
            return read_measurements(source);
        }
        let mut observed = self.source.read(source)?;
        refuse_silence(&observed)?;
        let model = self.model(&mut observed, self.topology()?);
        Ok(measured(&model, &observed))
    }

    /// Writes the figures for a comparison. A load of another size is not like its source by intention.
    fn write_measurements(&self, measured: &Measurements, output: &Path) -> anyhow::Result<String> {
        if !self.size().is_none() {
            return Ok(String::new());
        }
        let path = measurements_path(output);
        rabbitscope_files::write(&path, measured.to_json().as_bytes())?;
        Ok(format!("\nwritten  {}", path.display()))
    }

    fn model(&self, observed: &mut Observed, mut topology: Topology) -> Model {
        let unreadable =
            if self.anonymous { anonymous(&mut observed.flows, &mut topology) } else { 0 };
        let mut model = model(&mut observed.flows, topology);
        if unreadable > 0 {
            model.leave_out(format!(
                "{unreadable} policies whose patterns this program cannot replace are left out"
            ));
        }
        model.scale(self.size());
        model
    }

    fn size(&self) -> Scale {
        Scale { rates: self.scale, connections: self.connections }
    }

    /// Writes the scenario, and says which parts of it do not fit this machine.
    fn write(&self, model: &Model, origin: &Origin, output: &Path) -> anyhow::Result<()> {
        let length = RunLength::from_seconds(self.source.duration.as_secs());
        let text = rabbitscope_workload::scenario(model, origin, length);
        let file = output.display().to_string();
        let scenario = scenario::parse(&text, &file, &[])
            .context("the load cannot be written as a scenario")?;
        rabbitscope_files::write(output, text.as_bytes())?;
        for misfit in fit::misfits(&scenario) {
            output::note(&misfit);
        }
        Ok(())
    }

    /// Refuses an unusable output before the capture starts.
    fn check_output(&self, output: &Path) -> anyhow::Result<()> {
        let suffix = output.extension().and_then(|suffix| suffix.to_str());
        if suffix != Some("toml") {
            return Err(UsageError("-o needs a file with the suffix .toml".to_owned()).into());
        }
        let measurements = measurements_path(output);
        for place in [output, &measurements] {
            let inputs = self.source.pcap.iter().chain(&self.definitions);
            refuse_to_replace(place, inputs.map(PathBuf::as_path))?;
        }
        check_place(&measurements, self.size().is_none())?;
        drop(AtomicFile::create(output)?);
        Ok(())
    }

    fn topology(&self) -> anyhow::Result<Topology> {
        let Some(file) = &self.definitions else { return Ok(Topology::default()) };
        let cannot = || format!("cannot read definitions from {}", file.display());
        let text =
            rabbitscope_files::read_text(file, MAX_DEFINITIONS_BYTES).with_context(cannot)?;
        Topology::from_definitions(&text).with_context(cannot)
    }

    /// Returns the sources in words. Their names come from the user; anonymous files do without.
    fn origin(&self, observed: &Observed, output: &Path) -> Origin {
        let packets = observed.report.capture.as_ref().map_or(0, |capture| capture.packets);
        let subject = match (self.anonymous, &self.source.pcap) {
            (false, _) => observed.report.subject.clone(),
            (true, Some(_)) => "a file".to_owned(),
            (true, None) => "a node".to_owned(),
        };
        let file = self.definitions.as_ref().map(|file| {
            let named = format!("definitions of {}", file.display());
            if self.anonymous { "a file with definitions".to_owned() } else { named }
        });
        let node = observed.node.as_ref().map(|asked| match asked {
            Err(_) if self.anonymous => "the node was not asked".to_owned(),
            Ok(text) | Err(text) => text.clone(),
        });
        let declared = "objects that clients declared meanwhile".to_owned();
        let packets = missing_packets(&observed.report)
            .unwrap_or_else(|| format!("{packets} packets of {subject}"));
        let stem = output.file_stem().unwrap_or_default().to_string_lossy();
        Origin {
            name: scenario_name(&stem),
            sources: [packets].into_iter().chain(file).chain(node).chain([declared]).collect(),
            notes: dropped(&observed.report).into_iter().collect(),
        }
    }
}

/// Refuses an observation without messages.
fn refuse_silence(observed: &Observed) -> anyhow::Result<()> {
    let (published, delivered) = observed.flows.messages();
    if published + delivered > 0 || observed.flows.has_readers() {
        return Ok(());
    }
    let reasons: Vec<String> = observed.node.iter().filter_map(|node| node.clone().err()).collect();
    let reasons: Vec<String> =
        missing_packets(&observed.report).into_iter().chain(reasons).collect();
    if reasons.is_empty() {
        anyhow::bail!("no message and no consumer was observed: TLS hides messages");
    }
    anyhow::bail!("no message and no consumer was observed: {}", reasons.join("; "));
}

/// Returns the reason for missing packets.
fn missing_packets(report: &PacketReport) -> Option<String> {
    let of_packets = |source: &&Source| source.level == SourceLevel::Packets && !source.present;
    let missing = report.sources.iter().find(of_packets)?;
    Some(format!("no packets: {}", missing.note))
}

/// Returns the figures of the groups, with the costs that the sources show.
fn measured(model: &Model, observed: &Observed) -> Measurements {
    let mut measured = Measurements::from_model(model, &observed.flows);
    let packets = observed.report.capture.as_ref().map(|capture| capture.packets);
    measured.add_costs(packets, observed.cpu_seconds.clone());
    measured.add_depths(observed.ready.clone());
    measured.add_profile(observed.profile.clone().and_then(Result::ok));
    measured
}

/// Returns a sentence about packets that the capture lost.
fn dropped(report: &PacketReport) -> Option<String> {
    let dropped = report.capture.as_ref()?.dropped.filter(|dropped| *dropped > 0)?;
    Some(format!("the capture lost {dropped} packets: rates and counts are too low"))
}

/// Returns a name that scenarios accept.
fn scenario_name(stem: &str) -> String {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let name: String = stem.chars().map(|c| if is_allowed(c) { c } else { '-' }).collect();
    let name: String = name.trim_start_matches('.').chars().take(100).collect();
    if name.is_empty() { "workload".to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_scenarios() {
        assert_eq!(scenario_name("mine"), "mine");
        assert_eq!(scenario_name(".my load ä"), "my-load--");
        assert_eq!(scenario_name(""), "workload");
    }
}
