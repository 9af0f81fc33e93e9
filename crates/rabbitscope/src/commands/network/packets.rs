//! `rabbitscope packets`: the traffic between a broker and its clients, live or from a capture file.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use clap::builder::{PathBufValueParser, TypedValueParser};
use rabbitscope_artifacts::salvage::Unwritten;
use rabbitscope_capture::{BrokerPorts, LiveOptions, SavedPackets, capture, read, summary};
use rabbitscope_files::AtomicFile;
use rabbitscope_probe::packets::{CaptureInterface, MAX_PORTS, NetworkNamespace, explain_packets};
use rabbitscope_terminal::{UsageError, output};
use rabbitscope_wire::{
    analyzer::{AnalyzerOptions, Payload},
    report::PacketReport,
};

use crate::{
    commands::{
        arguments::{duration, number, refuse_to_replace, within},
        facts::{self, FactRecord},
        inside::NodeArguments,
    },
    exit::Exit,
    interrupt,
};

/// Analyze traffic between a broker and its clients: frames, latencies, windows and bottlenecks
#[derive(Debug, clap::Args)]
pub(in crate::commands) struct Args {
    /// Read a capture file (pcap or pcapng) instead of observing a node
    #[arg(long, value_name = "FILE", conflicts_with_all = ["pid", "node", "interface", "duration", "explain"])]
    pcap: Option<PathBuf>,
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
    #[arg(long, default_value = "10s", value_parser = duration)]
    duration: Duration,
    /// Output file; its suffix selects the format: .html .json .pcapng; can be repeated
    #[arg(short, long, value_name = "FILE", value_parser = PathBufValueParser::new().try_map(target))]
    output: Vec<Target>,
    /// Keep bodies, headers and properties of messages in the .pcapng; credentials are never kept
    #[arg(long)]
    payload: bool,
    /// Report which sources this machine allows and what is missing, without capturing
    #[arg(long)]
    explain: bool,
    /// Print the report as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    node: NodeArguments,
}

/// A file of the results.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Target {
    path: PathBuf,
    form: Form,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Page,
    Json,
    Packets,
}

fn target(path: PathBuf) -> Result<Target, UsageError> {
    let form = match path.extension().and_then(|suffix| suffix.to_str()) {
        Some("html") => Form::Page,
        Some("json") => Form::Json,
        Some("pcapng") => Form::Packets,
        _ => {
            let allowed = "allowed suffixes are .html, .json and .pcapng";
            return Err(UsageError(allowed.to_owned()));
        }
    };
    Ok(Target { path, form })
}

impl Target {
    /// Writes one file. The file for packets takes `saved`.
    fn write(&self, report: &PacketReport, saved: &mut Option<SavedPackets>) -> anyhow::Result<()> {
        let path = &self.path;
        match self.form {
            Form::Page => {
                let mut page = AtomicFile::create(path)?;
                rabbitscope_web::write_packets(page.writer(), report)?;
                Ok(page.commit()?)
            }
            Form::Json => {
                let mut text = serde_json::to_vec_pretty(report)?;
                text.push(b'\n');
                Ok(rabbitscope_files::write(path, &text)?)
            }
            Form::Packets => {
                let Some(saved) = saved.take() else { return Ok(()) };
                // A file without packets would look like an idle broker.
                anyhow::ensure!(report.capture.is_some(), "no packets were captured");
                if let Some(reason) = saved.ended() {
                    output::note(reason);
                }
                saved.finish(path, report)
            }
        }
    }
}

impl Args {
    pub(in crate::commands) fn execute(self) -> anyhow::Result<Exit> {
        if self.explain {
            return self.say_sources();
        }
        let asked = self.output.iter().filter(|target| target.form == Form::Packets).count();
        if asked > 1 {
            return Err(UsageError("give at most one .pcapng".to_owned()).into());
        }
        if self.payload && asked == 0 {
            let message = "--payload needs a .pcapng output: give one with -o";
            return Err(UsageError(message.to_owned()).into());
        }
        // Output errors must show before the capture starts.
        for target in &self.output {
            refuse_to_replace(&target.path, self.pcap.as_deref())?;
            drop(AtomicFile::create(&target.path)?);
        }
        let place = self.output.iter().find(|target| target.form == Form::Packets);
        let mut saved = place.map(|target| SavedPackets::beside(&target.path)).transpose()?;
        let (report, cut_short) = match &self.pcap {
            Some(file) => (self.read(file, saved.as_mut())?, None),
            None => self.look(saved.as_mut())?,
        };
        let mut unwritten = Unwritten::default();
        let written = self.write(&report, saved, &mut unwritten);
        self.say(&report, &written)?;
        if let Some(reason) = &cut_short {
            output::note(&format!("{reason}; the report covers the time until then"));
        }
        let is_whole = cut_short.is_none() && !is_damaged(&report);
        let exit = if is_whole { Exit::Done } else { Exit::Failed };
        unwritten.error().map_or(Ok(exit), Err)
    }

    fn read(&self, file: &Path, saved: Option<&mut SavedPackets>) -> anyhow::Result<PacketReport> {
        rabbitscope_probe::drop_privileges()?;
        if self.port.len() > MAX_PORTS {
            return Err(UsageError(format!("--port takes at most {MAX_PORTS} ports")).into());
        }
        let options = AnalyzerOptions {
            ports: self.port.clone(),
            ..self.analyzer(file.display().to_string(), saved.is_some())
        };
        read(file, options, saved)
    }

    fn analyzer(&self, subject: String, is_saved: bool) -> AnalyzerOptions {
        let payload = if self.payload { Payload::WithBodies } else { Payload::WithoutBodies };
        AnalyzerOptions { written: is_saved.then_some(payload), ..AnalyzerOptions::new(subject) }
    }

    fn look(
        &self,
        saved: Option<&mut SavedPackets>,
    ) -> anyhow::Result<(PacketReport, Option<String>)> {
        let options = self.live()?;
        let stop = interrupt::watch()?;
        let line = output::ProgressLine::default();
        let mut shown = Duration::ZERO;
        let mut is_over = |elapsed: Duration| {
            if elapsed.as_secs() > shown.as_secs() {
                shown = elapsed;
                line.show(&format!(
                    "looking: {} of {} s",
                    elapsed.as_secs(),
                    self.duration.as_secs()
                ));
            }
            elapsed >= self.duration
        };
        let analyzer = self.analyzer(options.subject.clone(), saved.is_some());
        let looked = capture(&options, analyzer, saved, &stop, &mut is_over)?;
        Ok((looked.report, looked.cut_short))
    }

    /// Returns the captured ports, and the process that owns them. Ports alone need no node on this machine.
    fn live(&self) -> anyhow::Result<LiveOptions> {
        let pid = match self.pid {
            Some(pid) => Some(pid),
            None if self.port.is_empty() || self.node.is_named() => Some(self.node.process()?.pid),
            None => None,
        };
        let ports = match (pid, self.port.is_empty()) {
            (Some(pid), true) => listeners(pid)?,
            _ => self.port.clone(),
        };
        let listed: Vec<String> = ports.iter().map(u16::to_string).collect();
        let listed = listed.join(", ");
        let interface = match self.interface.as_str() {
            "any" => CaptureInterface::Any,
            name => CaptureInterface::Named(name.to_owned()),
        };
        Ok(LiveOptions {
            subject: pid.map_or_else(
                || format!("ports {listed}"),
                |pid| format!("the node with pid {pid}, ports {listed}"),
            ),
            ports: BrokerPorts::new(ports)?,
            pid,
            interface,
        })
    }

    /// Writes each file separately, so that one failure does not lose the others. Returns the written files.
    fn write(
        &self,
        report: &PacketReport,
        mut saved: Option<SavedPackets>,
        unwritten: &mut Unwritten,
    ) -> Vec<&Path> {
        let mut written = Vec::new();
        for target in &self.output {
            let result = target.write(report, &mut saved);
            if unwritten.note(&target.path.display().to_string(), result).is_some() {
                written.push(target.path.as_path());
            }
        }
        written
    }

    fn say(&self, report: &PacketReport, written: &[&Path]) -> anyhow::Result<()> {
        if self.json {
            return output::json(report);
        }
        let places = written.iter().map(|path| format!("\nwritten  {}", path.display()));
        output::result(&(summary(report) + &places.collect::<String>()));
        Ok(())
    }

    fn say_sources(&self) -> anyhow::Result<Exit> {
        let pid = match self.pid {
            Some(pid) => Some(pid),
            None => self.node.process().ok().map(|node| node.pid),
        };
        let namespace = pid.map(NetworkNamespace::from_pid).transpose()?;
        let facts = explain_packets(namespace.as_ref());
        if self.json {
            output::json(&FactRecord::all(&facts))?;
        } else {
            output::result(facts::lines(&facts).trim_end());
        }
        Ok(Exit::Done)
    }
}

/// Returns the ports on which a process listens.
pub(super) fn listeners(pid: u32) -> anyhow::Result<Vec<u16>> {
    let ports = rabbitscope_probe::listening_ports(pid)?;
    if ports.is_empty() {
        let message = format!("process {pid} listens on no TCP port; name ports with --port");
        return Err(UsageError(message).into());
    }
    Ok(ports)
}

fn is_damaged(report: &PacketReport) -> bool {
    report.capture.as_ref().is_some_and(|capture| capture.damaged.is_some())
}
