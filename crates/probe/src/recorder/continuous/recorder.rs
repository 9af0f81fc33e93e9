//! The nodes at one clock, and the ends of their windows. The caller decides the time of each end.

use std::time::{Duration, Instant};

use rabbitscope_profiles::{Event, Profile};

use super::fetch_pace::FetchPace;
use crate::{
    error::ProbeError,
    kernel_interface::{TIME_SLOTS, TIME_STEP_NANOS},
    memory, permission,
    recorder::{
        ebpf::{EbpfSampler, SharedClock, ring_room},
        node_recording::{NodeRecording, open_process},
        recording::require_known_machine,
        sampler::Request,
        symbolizer::Detail,
    },
};

/// The note of windows before the first tick in JIT code.
const UNCHECKED: &str =
    "the node has been idle, so its layout is not yet verified against registers";

/// Windows between two releases of free memory. In the beginning releases are more frequent.
const RELEASE_INTERVAL: u32 = 30;

/// Options of the recording of every node.
#[derive(Clone, Debug)]
pub struct ContinuousOptions {
    /// Ticks per second on each CPU.
    pub freq_hz: u32,
    /// True to record also the time that threads are off the CPU.
    pub has_off_cpu: bool,
}

/// The recording of a node in one window.
#[derive(Debug)]
pub struct NodeWindow {
    /// The node's process.
    pub pid: u32,
    /// A profile for each event, CPU time first; none if the last window has no length.
    pub profiles: Vec<Profile>,
    /// Clock ticks during which the node ran so far, by the kernel's count. Their samples are in this window or the
    /// next.
    pub ticks: u64,
    /// True if the process has ended: this was its last window.
    pub has_ended: bool,
}

/// Records nodes until it is dropped.
pub struct ContinuousRecorder {
    clock: SharedClock,
    events: Vec<Event>,
    freq_hz: u32,
    nodes: Vec<Node>,
    pace: FetchPace,
    /// Number of ended windows.
    windows: u32,
}

struct Node {
    recording: NodeRecording,
    /// True once registers have confirmed the layout.
    is_checked: bool,
}

impl ContinuousRecorder {
    /// Starts the clock. No node is recorded yet.
    pub fn start(options: &ContinuousOptions) -> Result<Self, ProbeError> {
        require_known_machine()?;
        permission::require_sampling()?;
        let off_cpu = options.has_off_cpu.then_some(Event::OffCpu);
        Ok(Self {
            clock: SharedClock::start(options.freq_hz)?,
            events: [Event::Cpu].into_iter().chain(off_cpu).collect(),
            freq_hz: options.freq_hz,
            nodes: Vec::new(),
            pace: FetchPace::new(Instant::now()),
            windows: 0,
        })
    }

    /// The ticking clock: `cycles` or `cpu-clock`.
    pub fn clock(&self) -> &'static str {
        self.clock.name()
    }

    /// Returns whether every CPU has the clock. If CPUs came or went or the machine slept, samples are missing
    /// until a new recorder starts.
    pub fn is_everywhere(&self) -> bool {
        self.clock.is_everywhere()
    }

    /// The longest time until the next [`ContinuousRecorder::fetch`]: half of the time for which there is room.
    pub fn fetch_interval(&self) -> Duration {
        let rings = self.pace.interval(ring_room(self.clock.cpus() * self.freq_hz) / 2);
        let counted = Duration::from_nanos(TIME_STEP_NANOS * TIME_SLOTS as u64) / 2;
        if self.events.contains(&Event::OffCpu) { rings.min(counted) } else { rings }
    }

    /// The recorded processes.
    pub fn pids(&self) -> impl Iterator<Item = u32> {
        self.nodes.iter().map(|node| node.recording.process.pid)
    }

    /// Adds a node to the recording.
    pub fn add(&mut self, pid: u32) -> Result<(), ProbeError> {
        let request = Request { events: &self.events, freq_hz: self.freq_hz };
        let clock = &mut self.clock;
        let process = open_process(pid)?;
        let attached = NodeRecording::attach(process, request, Detail::Stacks, |target| {
            Ok(Box::new(EbpfSampler::attach(target, request, Some(clock))?))
        });
        // Attaching reads much more of the node and of the kernel's types than it keeps.
        memory::release_free();
        let mut recording = attached?;
        recording.begin_unchecked()?;
        self.nodes.push(Node { recording, is_checked: false });
        Ok(())
    }

    /// Takes the samples so far out of the kernel and names them, while their addresses are still mapped.
    pub fn fetch(&mut self) {
        for node in &mut self.nodes {
            // A permanent failure recurs at the end of the window, and is reported there.
            let _ = node.fetch();
        }
        self.note_fetch();
    }

    fn note_fetch(&mut self) {
        let fills = self.nodes.iter().map(|node| node.recording.sampler.ring_fill());
        let fullest = fills.fold(0.0, f64::max);
        self.pace.fetched(Instant::now(), fullest);
    }

    /// Returns whether a node has ended, so that its last window is ready.
    pub fn has_ended(&self) -> bool {
        self.nodes.iter().any(|node| !node.recording.process.is_alive())
    }

    /// Ends the window of all nodes. Drops nodes that have ended or cannot be recorded any longer. A window that
    /// began within this time step continues, because it would have no length.
    pub fn end_window(&mut self) -> Vec<Result<NodeWindow, (u32, ProbeError)>> {
        self.windows = self.windows.wrapping_add(1);
        // Names are learned in the first windows, in steps that briefly need much memory.
        if self.windows.is_power_of_two() || self.windows.is_multiple_of(RELEASE_INTERVAL) {
            memory::release_free();
        }
        let windows = self.end_window_of(|_| true, false);
        self.note_fetch();
        windows
    }

    /// Ends the last window of all nodes, even one that has just begun. An empty one has no profiles.
    pub fn end_last_window(&mut self) -> Vec<Result<NodeWindow, (u32, ProbeError)>> {
        self.end_window_of(|_| true, true)
    }

    /// Ends the window of the nodes that have ended.
    pub fn end_ended(&mut self) -> Vec<Result<NodeWindow, (u32, ProbeError)>> {
        self.end_window_of(|node| !node.recording.process.is_alive(), false)
    }

    /// Removes a node. Samples since its last window are discarded.
    pub fn remove(&mut self, pid: u32) {
        let gone: Vec<Node> =
            self.nodes.extract_if(.., |node| node.recording.process.pid == pid).collect();
        for node in gone {
            self.disconnect(&node);
        }
    }

    fn end_window_of(
        &mut self,
        is_selected: impl Fn(&Node) -> bool,
        is_last: bool,
    ) -> Vec<Result<NodeWindow, (u32, ProbeError)>> {
        let mut windows = Vec::new();
        let mut kept = Vec::new();
        for mut node in std::mem::take(&mut self.nodes) {
            let window =
                if is_selected(&node) { node.end_window(is_last).transpose() } else { None };
            let continues = match &window {
                None => true,
                Some(Ok(window)) => !window.has_ended,
                Some(Err(_)) => false,
            };
            let pid = node.recording.process.pid;
            windows.extend(window.map(|window| window.map_err(|error| (pid, error))));
            if continues {
                kept.push(node);
            } else {
                self.disconnect(&node);
            }
        }
        self.nodes = kept;
        windows
    }

    fn disconnect(&mut self, node: &Node) {
        if let Some(place) = node.recording.sampler.clock_place() {
            // The place is free even if the kernel keeps its entries: the next node overwrites them.
            let _ = self.clock.disconnect(place);
        }
        memory::release_free();
    }
}

impl Node {
    fn fetch(&mut self) -> Result<(), ProbeError> {
        if self.recording.process.is_alive() {
            self.recording.follow_code()?;
        }
        self.recording.fetch()
    }

    /// Ends the window. `None` if it has just begun: it continues, with its samples and losses.
    fn end_window(&mut self, is_last: bool) -> Result<Option<NodeWindow>, ProbeError> {
        // Checked first: samples until the end of the process are in this window.
        let has_ended = !self.recording.process.is_alive();
        let has_length = self.recording.has_length();
        if !(has_length || has_ended || is_last) {
            return Ok(None);
        }
        if !has_ended {
            self.recording.follow_code()?;
        }
        if !self.is_checked {
            self.is_checked = self.recording.check_snapshots()? > 0;
        }
        if !self.is_checked {
            self.recording.notes.push(UNCHECKED.into());
        }
        let mut profiles = self.recording.end_window()?;
        if !has_length && profiles.iter().all(is_empty) {
            profiles.clear();
        }
        let (pid, ticks) = (self.recording.process.pid, self.recording.ticks()?);
        Ok(Some(NodeWindow { pid, profiles, ticks, has_ended }))
    }
}

fn is_empty(profile: &Profile) -> bool {
    profile.samples.is_empty() && profile.quality.lost == 0
}
