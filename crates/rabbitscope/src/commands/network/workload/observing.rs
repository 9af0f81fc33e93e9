//! The observation: packets of a node or of a file, and the node's objects.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use rabbitscope_capture::{BrokerPorts, LiveOptions, capture_listening, read_listening};
use rabbitscope_erlang::Connection;
use rabbitscope_machine::ProcessUsage;
use rabbitscope_probe::packets::{CaptureInterface, MAX_PORTS};
use rabbitscope_terminal::{UsageError, output};
use rabbitscope_wire::{analyzer::AnalyzerOptions, report::PacketReport};
use rabbitscope_workload::{Counted, Flows, Observer, ProfileShares, Topology, Traffic};

use super::{super::packets::listeners, depths::Depths, profiling::Recording};
use crate::{
    commands::{
        arguments::{duration, number, within},
        inside::NodeArguments,
    },
    interrupt,
};

/// Options of the observation.
#[derive(Debug, clap::Args)]
pub(super) struct SourceArgs {
    /// Read a capture file (pcap or pcapng) instead of observing a node
    #[arg(long, value_name = "FILE", conflicts_with_all = ["pid", "node", "interface", "duration"])]
    pub(super) pcap: Option<PathBuf>,
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
    pub(super) duration: Duration,
    /// Record no CPU profile of the broker, which --compare compares
    ///
    /// Otherwise the node is sampled 999 times a second on each CPU during the capture, if that is permitted.
    #[arg(long)]
    pub(super) no_profile: bool,
    #[command(flatten)]
    node: NodeArguments,
}

/// The observed flows, and the state of their source.
pub(super) struct Observed {
    pub(super) flows: Flows,
    pub(super) report: PacketReport,
    /// CPU time of a running node in each second; empty if it is unknown.
    pub(super) cpu_seconds: Vec<f64>,
    /// Ready messages of all queues of a running node, at readings; empty if they are unknown.
    pub(super) ready: Vec<u64>,
    pub(super) cut_short: Option<String>,
    /// The objects of a running node, or the reason why it was not asked.
    pub(super) node: Option<Result<String, String>>,
    /// The CPU profile of a running node, or the reason against it; absent if it was not wanted.
    pub(super) profile: Option<Result<ProfileShares, String>>,
}

impl SourceArgs {
    /// Observes the source. Objects of a running node are added to those of the definitions.
    pub(super) fn observe(&self, topology: &mut Topology) -> anyhow::Result<Observed> {
        match &self.pcap {
            Some(file) => self.read(file),
            None => self.look(topology),
        }
    }

    /// Reads a capture file.
    pub(super) fn read(&self, file: &Path) -> anyhow::Result<Observed> {
        rabbitscope_probe::drop_privileges()?;
        if self.port.len() > MAX_PORTS {
            return Err(UsageError(format!("--port takes at most {MAX_PORTS} ports")).into());
        }
        let options = self.analyzer(file.display().to_string());
        let (report, observer) = read_listening(file, options, Observer::default())?;
        let damage = report.capture.as_ref().and_then(|capture| capture.damaged.clone());
        let flows = observer.finish();
        let (cpu_seconds, ready) = (Vec::new(), Vec::new());
        let cut_short = damage;
        Ok(Observed { flows, report, cpu_seconds, ready, cut_short, node: None, profile: None })
    }

    fn analyzer(&self, subject: String) -> AnalyzerOptions {
        AnalyzerOptions { ports: self.port.clone(), max_rows: 0, ..AnalyzerOptions::new(subject) }
    }

    /// Observes a running node, and adds its objects to those of the definitions.
    fn look(&self, topology: &mut Topology) -> anyhow::Result<Observed> {
        let options = self.live()?;
        let asked = self.objects(topology);
        let stop = interrupt::watch()?;
        let has_depths = asked.is_ok() && topology.keeps_statistics();
        let depths = has_depths.then(|| self.connect().ok()).flatten().map(Depths::start);
        let recording = options.pid.filter(|_| !self.no_profile).map(Recording::start);
        let line = output::ProgressLine::default();
        let (mut shown, mut cpu) = (Duration::ZERO, vec![cpu_of(&options)]);
        let mut is_over = |elapsed: Duration| {
            if elapsed.as_secs() > shown.as_secs() {
                shown = elapsed;
                let (now, all) = (elapsed.as_secs(), self.duration.as_secs());
                line.show(&format!("observing: {now} of {all} s"));
                cpu.push(cpu_of(&options));
            }
            elapsed >= self.duration
        };
        let analyzer = self.analyzer(options.subject.clone());
        let captured =
            capture_listening(&options, analyzer, Observer::default(), &stop, &mut is_over);
        let profile = recording.map(Recording::finish);
        let ready = depths.map(Depths::finish).unwrap_or_default();
        let (captured, observer) = captured?;
        cpu.push(cpu_of(&options));
        let has_packets = captured.report.capture.is_some();
        let mut flows = if has_packets {
            observer.finish()
        } else {
            Flows::without_packets(self.duration.as_secs_f64())
        };
        let counted = asked.and_then(|before| {
            // Packets of plain connections tell more than counts do.
            let is_needed = !has_packets || topology.has_tls();
            let after = if is_needed { self.traffic()? } else { before.clone() };
            Ok(Counted { before, after, has_packets })
        });
        let node = match &counted {
            Ok(counted) => {
                let added = flows.add_counted(counted, topology);
                Ok(source(added))
            }
            Err(error) => Err(format!("the node was not asked: {error:#}")),
        };
        Ok(Observed {
            flows,
            report: captured.report,
            cpu_seconds: differences(&cpu).unwrap_or_default(),
            ready,
            cut_short: captured.cut_short,
            node: Some(node),
            profile,
        })
    }

    /// Reads the objects of the node, and its counts. Without them the packets still tell much.
    fn objects(&self, topology: &mut Topology) -> anyhow::Result<Traffic> {
        let connection = self.connect()?;
        let load = rabbitscope_inside::read_load(&connection)?;
        topology.add_missing(Topology::from_definitions(&load.objects)?);
        Ok(Traffic::from_json(&load.traffic)?)
    }

    fn traffic(&self) -> anyhow::Result<Traffic> {
        Ok(Traffic::from_json(&rabbitscope_inside::read_traffic(&self.connect()?)?)?)
    }

    fn connect(&self) -> anyhow::Result<Connection> {
        match self.pid {
            Some(pid) => Ok(Connection::open(&self.node.options_of(pid, name_of(pid)?)?)?),
            None => self.node.connect(),
        }
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
}

/// Names the parts of the node that were used.
fn source(added: usize) -> String {
    let objects = "exchanges, queues, bindings, policies, connections and consumers of the node";
    if added > 0 {
        return format!("{objects}, and the messages that it counts every few seconds");
    }
    objects.to_owned()
}

/// Returns the CPU time of the node so far, in seconds.
fn cpu_of(options: &LiveOptions) -> Option<f64> {
    Some(ProcessUsage::from_pid(options.pid?)?.cpu.as_secs_f64())
}

/// Returns the differences of values, unless one is unknown.
fn differences(values: &[Option<f64>]) -> Option<Vec<f64>> {
    let difference = |pair: &[Option<f64>]| Some(pair[1]? - pair[0]?);
    values.windows(2).map(difference).collect()
}

/// Returns the name of the node with this process, if it shows it.
fn name_of(pid: u32) -> anyhow::Result<Option<String>> {
    let nodes = rabbitscope_probe::list_nodes()?;
    Ok(nodes.into_iter().find(|node| node.pid == pid).and_then(|node| node.name))
}
