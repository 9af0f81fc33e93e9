//! A timed capture of a node's packets, sockets and writes.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use rabbitscope_machine::ProcessIdentity;
use rabbitscope_probe::packets::{
    CaptureInterface, NetworkNamespace, PacketError, PacketRing, RingOptions, SocketSampler,
    WriteCounter, WriteDirection,
};
use rabbitscope_wire::{
    activity::{ActivityListener, NoListener},
    analyzer::{Analyzer, AnalyzerOptions},
    decode::{Repeats, decode_inner},
    findings,
    packet::{LinkType, Packet, Timestamp},
    report::{PacketReport, Source, SourceLevel, WriteSizes},
};

use super::{
    pace::SocketPace, ports::BrokerPorts, recorded::take, saved::SavedPackets,
    sockets::SocketFigures,
};

/// Longest wait for packets at a time.
const PACKET_TIMEOUT: Duration = Duration::from_millis(20);
/// Time after the end in which earlier packets may still arrive: twice the time after which a block is handed over.
const DRAIN_TIME: Duration = Duration::from_millis(100);
/// Limit for reading the rest of the ring at the end. Other programs may keep filling it, and an interface's clock may
/// be wrong.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(10);
/// Number of watched sockets.
const MAX_SOCKETS: usize = 16_384;

/// The subject of a capture.
#[derive(Clone, Debug)]
pub struct LiveOptions {
    /// Description in words.
    pub subject: String,
    /// Ports of the broker.
    pub ports: BrokerPorts,
    /// The node's process, if known. It selects the network namespace and the writes to count.
    pub pid: Option<u32>,
    /// Interface to capture on.
    pub interface: CaptureInterface,
}

/// The result of a capture.
#[derive(Debug)]
pub struct LiveCapture {
    /// The report.
    pub report: PacketReport,
    /// The reason for an early end.
    pub cut_short: Option<String>,
}

/// The available sources, and the errors of the others.
struct Sources {
    ring: Result<PacketRing, PacketError>,
    sockets: Result<SocketSampler, PacketError>,
    writes: Option<Result<WriteCounter, PacketError>>,
}

impl Sources {
    fn open(options: &LiveOptions) -> Result<Self, PacketError> {
        let namespace = options.pid.map(NetworkNamespace::from_pid).transpose()?;
        let namespace = namespace.as_ref().filter(|namespace| !namespace.is_own());
        let ring_options =
            RingOptions::new(options.interface.clone(), options.ports.listening().clone());
        Ok(Self {
            ring: permitted(PacketRing::open(&ring_options, namespace))?,
            sockets: permitted(SocketSampler::start(
                options.ports.all().clone(),
                namespace,
                MAX_SOCKETS,
            ))?,
            writes: options.pid.map(|pid| WriteCounter::attach(pid, options.ports.listening())),
        })
    }

    /// Describes each source, with the reason if it is missing, and the mean interval between looks at the sockets.
    fn describe(&self, options: &LiveOptions, interval: Duration) -> Vec<Source> {
        let source = |level, found: Result<String, String>| Source {
            level,
            present: found.is_ok(),
            note: found.unwrap_or_else(|refusal| refusal),
        };
        let interval = interval.as_millis();
        let sockets =
            self.sockets.as_ref().map(|_| format!("the kernel's account, every {interval} ms"));
        let ring = self.ring.as_ref().map(|_| format!("captured on {}", options.interface.name()));
        let writes = match &self.writes {
            Some(writes) => {
                writes.as_ref().map(|_| "counted in the kernel".to_owned()).map_err(text)
            }
            None => Err("the process of the broker is unknown: give --node or --pid".to_owned()),
        };
        vec![
            source(SourceLevel::Sockets, sockets.map_err(text)),
            source(SourceLevel::Packets, ring.map_err(text)),
            source(SourceLevel::Writes, writes),
        ]
    }
}

fn text(error: &PacketError) -> String {
    error.to_string()
}

/// Keeps a lack of permission or support as a missing source. Other failures are the user's to mend, such as an unknown
/// interface.
fn permitted<T>(opened: Result<T, PacketError>) -> Result<Result<T, PacketError>, PacketError> {
    use rabbitscope_probe::ErrorKind::{Permission, Unsupported};
    match opened {
        Err(error) if !matches!(error.kind(), Permission | Unsupported) => Err(error),
        opened => Ok(opened),
    }
}

/// Captures until `is_over` or `stop`. `is_over` is called repeatedly with the elapsed time.
pub fn capture(
    options: &LiveOptions,
    analyzer: AnalyzerOptions,
    saved: Option<&mut SavedPackets>,
    stop: &AtomicBool,
    is_over: &mut dyn FnMut(Duration) -> bool,
) -> anyhow::Result<LiveCapture> {
    Ok(capture_all(options, (analyzer, NoListener), saved, stop, is_over)?.0)
}

/// Like [`capture`], and also reports the activity of clients.
pub fn capture_listening<L: ActivityListener>(
    options: &LiveOptions,
    analyzer: AnalyzerOptions,
    listener: L,
    stop: &AtomicBool,
    is_over: &mut dyn FnMut(Duration) -> bool,
) -> anyhow::Result<(LiveCapture, L)> {
    capture_all(options, (analyzer, listener), None, stop, is_over)
}

fn capture_all<L: ActivityListener>(
    options: &LiveOptions,
    (analyzer, listener): (AnalyzerOptions, L),
    saved: Option<&mut SavedPackets>,
    stop: &AtomicBool,
    is_over: &mut dyn FnMut(Duration) -> bool,
) -> anyhow::Result<(LiveCapture, L)> {
    let sources = Sources::open(options)?;
    rabbitscope_probe::give_up_capturing()?;
    if let (Err(error), Err(_)) = (&sources.ring, &sources.sockets) {
        anyhow::bail!("nothing can be observed: {error}");
    }
    let analyzer =
        AnalyzerOptions { ports: options.ports.listening().as_slice().to_vec(), ..analyzer };
    let mut watch = Watch {
        node: options.pid.and_then(ProcessIdentity::from_pid),
        number: 0,
        written: Vec::new(),
        repeats: Repeats::new(),
        analyzer: Analyzer::with_listener(analyzer, listener),
        sockets: SocketFigures::new(options.ports.clone()),
        saved,
        pace: SocketPace::new(),
        sources,
    };
    let cut_short = watch.look(stop, is_over);
    let described = watch.sources.describe(options, watch.pace.mean_interval());
    let (mut report, listener) = watch.report()?;
    report.sources = described;
    findings::judge(&mut report);
    Ok((LiveCapture { report, cut_short }, listener))
}

/// A capture in progress.
struct Watch<'a, L> {
    sources: Sources,
    node: Option<ProcessIdentity>,
    analyzer: Analyzer<L>,
    sockets: SocketFigures,
    pace: SocketPace,
    saved: Option<&'a mut SavedPackets>,
    number: u64,
    written: Vec<u8>,
    repeats: Repeats,
}

impl<L: ActivityListener> Watch<'_, L> {
    /// Captures, and returns the reason for an early end, if there was one.
    fn look(
        &mut self,
        stop: &AtomicBool,
        is_over: &mut dyn FnMut(Duration) -> bool,
    ) -> Option<String> {
        let start = Instant::now();
        let mut cut_short = None;
        while !is_over(start.elapsed()) {
            let waited = start.elapsed().as_secs_f64();
            if stop.load(Ordering::Relaxed) {
                cut_short = Some(format!("stopped after {waited:.1} s"));
                break;
            }
            if self.node.is_some_and(|node| !node.is_shown_alive()) {
                cut_short = Some(format!("the node ended after {waited:.1} s"));
                break;
            }
            let mut looked = self.packets(PACKET_TIMEOUT).map(drop);
            if self.pace.is_due() {
                looked = looked.and_then(|()| self.ask_sockets());
            }
            // On an error, such as a disabled interface, the packets so far still count.
            if let Err(error) = looked {
                return Some(format!("after {waited:.1} s: {error:#}"));
            }
        }
        let drained = self.ask_sockets().and_then(|()| self.drain());
        cut_short.or_else(|| drained.err().map(|error| format!("at the end: {error:#}")))
    }

    /// Takes the packets captured so far. If this program lacked CPU time, many of them are still in the ring.
    fn drain(&mut self) -> anyhow::Result<()> {
        let (end, start) = (SystemTime::now(), Instant::now());
        let end = end.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        loop {
            let latest = self.packets(PACKET_TIMEOUT)?;
            let is_empty = latest.is_none() && start.elapsed() >= DRAIN_TIME;
            if is_empty || latest.is_some_and(|latest| u128::from(latest) > end) {
                return Ok(());
            }
            if start.elapsed() > DRAIN_TIMEOUT {
                let seconds = DRAIN_TIMEOUT.as_secs();
                anyhow::bail!(
                    "packets of the last moments are missing: {seconds} s were too short to read them"
                );
            }
        }
    }

    /// Takes the packets of a block, or waits for one. Returns the time of the latest packet in nanoseconds since 1970.
    fn packets(&mut self, timeout: Duration) -> anyhow::Result<Option<u64>> {
        let Self { sources, analyzer, saved, number, written, repeats, .. } = self;
        let Ok(ring) = &mut sources.ring else {
            thread::sleep(timeout);
            return Ok(None);
        };
        let mut latest = None;
        let Some(block) = ring.next_block(timeout)? else { return Ok(None) };
        for captured in block.packets() {
            latest = latest.max(Some(captured.unix_nanos));
            let packet = Packet {
                number: *number + 1,
                time: Timestamp::from_unix_nanos(captured.unix_nanos),
                link: LinkType::Raw,
                length: captured.length,
                data: captured.data,
            };
            let decoded = decode_inner(&packet);
            let interface = Some(captured.interface);
            if decoded.as_ref().is_ok_and(|found| repeats.is_repeated(interface, &packet, found)) {
                analyzer.count_repeated();
                continue;
            }
            *number += 1;
            take(analyzer, &packet, &decoded, saved, written);
        }
        Ok(latest)
    }

    fn ask_sockets(&mut self) -> anyhow::Result<()> {
        let Self { sources, analyzer, sockets: figures, pace, .. } = self;
        let Ok(sockets) = &mut sources.sockets else { return Ok(()) };
        pace.look(|| {
            let samples = sockets.sample()?;
            for (from, to, shift) in SocketFigures::window_scales(&samples) {
                analyzer.set_window_scale(from, to, shift);
            }
            figures.add(samples);
            Ok(())
        })
    }

    fn report(mut self) -> anyhow::Result<(PacketReport, L)> {
        let has_packets = match &mut self.sources.ring {
            Ok(ring) => {
                self.analyzer.set_dropped(Some(ring.statistics()?.drops));
                true
            }
            Err(_) => false,
        };
        let (mut report, listener) = self.analyzer.finish_listening();
        if !has_packets {
            report.capture = None;
            report.sizes.clear();
        }
        report.sockets_left_out = self.sockets.left_out();
        self.sockets.fill_round_trips(&mut report.connections);
        report.sockets = self.sockets.report();
        if let Some(Ok(counter)) = &self.sources.writes {
            report.writes = Some(write_sizes(counter)?);
        }
        Ok((report, listener))
    }
}

fn write_sizes(counter: &WriteCounter) -> Result<WriteSizes, PacketError> {
    let of = |direction| {
        let counts = counter.counts(direction)?;
        Ok::<_, PacketError>(
            counts.buckets().map(|bucket| (u64::from(bucket.first), bucket.calls)).collect(),
        )
    };
    Ok(WriteSizes { writes: of(WriteDirection::Sent)?, reads: of(WriteDirection::Received)? })
}
