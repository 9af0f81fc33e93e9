//! `rabbitscope workload`: the load of a running node, or of a capture file, as a scenario.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::Context;
use rabbitscope_capture::{BrokerPorts, LiveOptions, capture_listening, read_listening};
use rabbitscope_erlang::Connection;
use rabbitscope_files::AtomicFile;
use rabbitscope_probe::packets::{CaptureInterface, MAX_PORTS};
use rabbitscope_runs::scenario;
use rabbitscope_terminal::{UsageError, output};
use rabbitscope_wire::{analyzer::AnalyzerOptions, report::PacketReport};
use rabbitscope_workload::{Flows, Observer, Origin, Topology, model};

use super::packets::listeners;
use crate::{
    commands::{
        arguments::{duration, number, refuse_to_replace, within},
        inside::NodeArguments,
    },
    exit::Exit,
    interrupt,
};

/// Size of the largest definitions file: some 100,000 queues with bindings.
const MAX_DEFINITIONS_BYTES: u64 = 256 << 20;

/// Write the load of a running node, or of a capture file, as a scenario
#[derive(Debug, clap::Args)]
pub(in crate::commands) struct Args {
    /// Read a capture file (pcap or pcapng) instead of observing a node
    #[arg(long, value_name = "FILE", conflicts_with_all = ["pid", "node", "interface", "duration"])]
    pcap: Option<PathBuf>,
    /// Exchanges, queues, bindings and policies, as `rabbitmqctl export_definitions` writes them
    ///
    /// Users, permissions and parameters in the file are not read. Without the file, only objects that clients declare
    /// during the capture are known, and others are assumed.
    #[arg(long, value_name = "FILE")]
    definitions: Option<PathBuf>,
    /// TCP ports of the broker, separated by commas [default: all of the node, or all in the file]
    #[arg(long, value_name = "PORT,…", value_delimiter = ',', value_parser = within(0..=u16::MAX))]
    port: Vec<u16>,
    /// Process identifier of the node's beam.smp [default: that of the node in --node]
    #[arg(long, conflicts_with = "node", value_parser = number::<u32>)]
    pid: Option<u32>,
    /// Network interface to capture on, or any
    #[arg(long, default_value = "any", value_name = "NAME")]
    interface: String,
    /// Duration of the capture
    #[arg(long, default_value = "60s", value_parser = duration)]
    duration: Duration,
    /// The scenario file (.toml)
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    node: NodeArguments,
}

/// The observed flows, and the state of their source.
struct Observed {
    flows: Flows,
    report: PacketReport,
    cut_short: Option<String>,
    /// The state of the node as a source, for a running one.
    node: Option<String>,
}

impl Args {
    pub(in crate::commands) fn execute(self) -> anyhow::Result<Exit> {
        self.check_output()?;
        let mut topology = self.topology()?;
        let observed = match &self.pcap {
            Some(file) => self.read(file)?,
            None => self.look(&mut topology)?,
        };
        let (published, delivered) = observed.flows.messages();
        if published + delivered == 0 {
            anyhow::bail!(
                "no message of AMQP 0-9-1 was observed: TLS hides messages, and other protocols are not read yet"
            );
        }
        let origin = self.origin(&observed);
        let model = model(&observed.flows, topology);
        let text = rabbitscope_workload::scenario(&model, &origin, self.duration.as_secs());
        let file = self.output.display().to_string();
        scenario::parse(&text, &file, &[]).context("the load cannot be written as a scenario")?;
        rabbitscope_files::write(&self.output, text.as_bytes())?;
        output::result(&format!(
            "{published} messages published, {delivered} delivered: {} groups\nwritten  {file}",
            model.groups(),
        ));
        if let Some(reason) = &observed.cut_short {
            output::note(&format!("{reason}; the scenario covers the time until then"));
        }
        Ok(if observed.cut_short.is_some() { Exit::Failed } else { Exit::Done })
    }

    /// Refuses an unusable output before the capture starts.
    fn check_output(&self) -> anyhow::Result<()> {
        let suffix = self.output.extension().and_then(|suffix| suffix.to_str());
        if suffix != Some("toml") {
            return Err(UsageError("-o needs a file with the suffix .toml".to_owned()).into());
        }
        let inputs = self.pcap.iter().chain(&self.definitions);
        refuse_to_replace(&self.output, inputs.map(PathBuf::as_path))?;
        drop(AtomicFile::create(&self.output)?);
        Ok(())
    }

    fn topology(&self) -> anyhow::Result<Topology> {
        let Some(file) = &self.definitions else { return Ok(Topology::default()) };
        let cannot = || format!("cannot read definitions from {}", file.display());
        let text =
            rabbitscope_files::read_text(file, MAX_DEFINITIONS_BYTES).with_context(cannot)?;
        Topology::from_definitions(&text).with_context(cannot)
    }

    fn read(&self, file: &Path) -> anyhow::Result<Observed> {
        rabbitscope_probe::drop_privileges()?;
        if self.port.len() > MAX_PORTS {
            return Err(UsageError(format!("--port takes at most {MAX_PORTS} ports")).into());
        }
        let options = self.analyzer(file.display().to_string());
        let (report, observer) = read_listening(file, options, Observer::default())?;
        let damage = report.capture.as_ref().and_then(|capture| capture.damaged.clone());
        Ok(Observed { flows: observer.finish(), report, cut_short: damage, node: None })
    }

    fn analyzer(&self, subject: String) -> AnalyzerOptions {
        AnalyzerOptions { ports: self.port.clone(), max_rows: 0, ..AnalyzerOptions::new(subject) }
    }

    /// Observes a running node, and adds its objects to those of the definitions.
    fn look(&self, topology: &mut Topology) -> anyhow::Result<Observed> {
        let options = self.live()?;
        let node = Some(match self.objects(topology) {
            Ok(()) => "exchanges, queues, bindings, policies and consumers of the node".to_owned(),
            Err(error) => format!("the node was not asked: {error:#}"),
        });
        let stop = interrupt::watch()?;
        let line = output::ProgressLine::default();
        let mut shown = Duration::ZERO;
        let mut is_over = |elapsed: Duration| {
            if elapsed.as_secs() > shown.as_secs() {
                shown = elapsed;
                let (now, all) = (elapsed.as_secs(), self.duration.as_secs());
                line.show(&format!("observing: {now} of {all} s"));
            }
            elapsed >= self.duration
        };
        let analyzer = self.analyzer(options.subject.clone());
        let (captured, observer) =
            capture_listening(&options, analyzer, Observer::default(), &stop, &mut is_over)?;
        Ok(Observed {
            flows: observer.finish(),
            report: captured.report,
            cut_short: captured.cut_short,
            node,
        })
    }

    /// Reads the objects of the node, if it can be reached. Without them the packets still tell much.
    fn objects(&self, topology: &mut Topology) -> anyhow::Result<()> {
        let connection = match self.pid {
            Some(pid) => Connection::open(&self.node.options_of(pid, name_of(pid)?)?)?,
            None => self.node.connect()?,
        };
        let objects = rabbitscope_inside::read_objects(&connection)?;
        topology.add_missing(Topology::from_definitions(&objects)?);
        Ok(())
    }

    fn live(&self) -> anyhow::Result<LiveOptions> {
        let pid = match self.pid {
            Some(pid) => pid,
            None => self.node.process()?.pid,
        };
        let ports = if self.port.is_empty() { listeners(pid)? } else { self.port.clone() };
        let interface = match self.interface.as_str() {
            "any" => CaptureInterface::Any,
            name => CaptureInterface::Named(name.to_owned()),
        };
        let subject = format!("the node with pid {pid}");
        Ok(LiveOptions { subject, ports: BrokerPorts::new(ports)?, pid: Some(pid), interface })
    }

    /// Returns the sources in words. Their names come from the user, so they are no secret of the node.
    fn origin(&self, observed: &Observed) -> Origin {
        let subject = &observed.report.subject;
        let packets = observed.report.capture.as_ref().map_or(0, |capture| capture.packets);
        let file =
            self.definitions.as_ref().map(|file| format!("definitions of {}", file.display()));
        let declared = "objects that clients declared meanwhile".to_owned();
        let objects = file.into_iter().chain(observed.node.clone()).chain([declared]);
        let stem = self.output.file_stem().unwrap_or_default().to_string_lossy();
        Origin {
            name: scenario_name(&stem),
            sources: [format!("{packets} packets of {subject}")]
                .into_iter()
                .chain(objects)
                .collect(),
            notes: dropped(&observed.report).into_iter().collect(),
        }
    }
}

/// Returns the name of the node with this process, if it shows it.
fn name_of(pid: u32) -> anyhow::Result<Option<String>> {
    let nodes = rabbitscope_probe::list_nodes()?;
    Ok(nodes.into_iter().find(|node| node.pid == pid).and_then(|node| node.name))
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
