//! The nodes at one clock, and the ends of their windows. When a window ends is the caller's decision.

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
const UNCHECKED: &str = "the node was idle so far: its layout was not compared with registers yet";

/// Windows after which memory that is free is given back. In the beginning it is given back sooner.
const RELEASE_INTERVAL: u32 = 30;

/// What is recorded of every node.
#[derive(Clone, Debug)]
pub struct ContinuousOptions {
    /// Ticks a second on each CPU.
    pub freq_hz: u32,
    /// Also the time that threads are off the CPU.
    pub has_off_cpu: bool,
}

/// What was recorded of a node in one window.
#[derive(Debug)]
pub struct NodeWindow {
    /// The node's process.
    pub pid: u32,
    /// A profile for each event, CPU time first; none where the last window was over as it began.
    pub profiles: Vec<Profile>,
    /// Clock ticks that fell on the node so far, by the kernel's count. They come with this window or the next.
    pub ticks: u64,
    /// The process has ended: this was its last window.
    pub has_ended: bool,
}

/// Records nodes until it is dropped.
pub struct ContinuousRecorder {
    clock: SharedClock,
    events: Vec<Event>,
    freq_hz: u32,
    nodes: Vec<Node>,
    pace: FetchPace,
    /// Ends of windows so far.
    windows: u32,
}

struct Node {
    recording: NodeRecording,
    /// Whether registers have confirmed the layout.
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

    /// The clock that ticks: `cycles` or `cpu-clock`.
    pub fn clock(&self) -> &'static str {
        self.clock.name()
    }

    /// Whether every CPU has the clock. Where not, because CPUs came or went or the machine was asleep, samples are missing
    /// until there is a new recorder.
    pub fn is_everywhere(&self) -> bool {
        self.clock.is_everywhere()
    }

    /// After what time [`ContinuousRecorder::fetch`] is to be called at the latest: half of the time for which there is room.
    pub fn fetch_interval(&self) -> Duration {
        let rings = self.pace.interval(ring_room(self.clock.cpus() * self.freq_hz) / 2);
        let counted = Duration::from_nanos(TIME_STEP_NANOS * TIME_SLOTS as u64) / 2;
        if self.events.contains(&Event::OffCpu) { rings.min(counted) } else { rings }
    }

    /// The processes that are recorded.
    pub fn pids(&self) -> impl Iterator<Item = u32> {
        self.nodes.iter().map(|node| node.recording.process.pid)
    }

    /// Records one more node.
    pub fn add(&mut self, pid: u32) -> Result<(), ProbeError> {
        let request = Request { events: &self.events, freq_hz: self.freq_hz };
        let clock = &mut self.clock;
        let process = open_process(pid)?;
        let attached = NodeRecording::attach(process, request, Detail::Stacks, |target| {
            Ok(Box::new(EbpfSampler::attach(target, request, Some(clock))?))
        });
        // What was read of the node and of the kernel's types is many times what is kept.
        memory::release_free();
        let mut recording = attached?;
        recording.begin_unchecked()?;
        self.nodes.push(Node { recording, is_checked: false });
        Ok(())
    }

    /// Takes the samples so far out of the kernel and gives them their names, while what they point at is still mapped.
    pub fn fetch(&mut self) {
        for node in &mut self.nodes {
            // What fails for good fails at the end of the window too, and is reported there.
            let _ = node.fetch();
        }
        self.note_fetch();
    }

    fn note_fetch(&mut self) {
        let fills = self.nodes.iter().map(|node| node.recording.sampler.ring_fill());
        let fullest = fills.fold(0.0, f64::max);
        self.pace.fetched(Instant::now(), fullest);
    }

    /// Whether a node has ended: its last window can be taken.
    pub fn has_ended(&self) -> bool {
        self.nodes.iter().any(|node| !node.recording.process.is_alive())
    }

    /// Ends the window of all nodes. Nodes that have ended, or that cannot be recorded any longer, are left out from now
    /// on. A window that began within this time step goes on: it would have no length.
    pub fn end_window(&mut self) -> Vec<Result<NodeWindow, (u32, ProbeError)>> {
        self.windows = self.windows.wrapping_add(1);
        // Names are learned in the first windows, by steps that need much memory for a short time.
        if self.windows.is_power_of_two() || self.windows.is_multiple_of(RELEASE_INTERVAL) {
            memory::release_free();
        }
        let windows = self.end_window_of(|_| true, false);
        self.note_fetch();
        windows
    }

    /// Ends the window of all nodes, also one that has just begun: no other follows. One that has nothing to say has no
    /// profiles.
    pub fn end_last_window(&mut self) -> Vec<Result<NodeWindow, (u32, ProbeError)>> {
        self.end_window_of(|_| true, true)
    }

    /// Ends the window of the nodes that have ended.
    pub fn end_ended(&mut self) -> Vec<Result<NodeWindow, (u32, ProbeError)>> {
        self.end_window_of(|node| !node.recording.process.is_alive(), false)
    }

    /// Records a node no longer. What was recorded since its last window is gone.
    pub fn remove(&mut self, pid: u32) {
        let gone: Vec<Node> =
            self.nodes.extract_if(.., |node| node.recording.process.pid == pid).collect();
        for node in gone {
            self.disconnect(&node);
        }
    }

    fn end_window_of(
        &mut self,
        is_meant: impl Fn(&Node) -> bool,
        is_last: bool,
    ) -> Vec<Result<NodeWindow, (u32, ProbeError)>> {
        let mut windows = Vec::new();
        let mut kept = Vec::new();
        for mut node in std::mem::take(&mut self.nodes) {
            let window = if is_meant(&node) { node.end_window(is_last).transpose() } else { None };
            let goes_on = match &window {
                None => true,
                Some(Ok(window)) => !window.has_ended,
                Some(Err(_)) => false,
            };
            let pid = node.recording.process.pid;
            windows.extend(window.map(|window| window.map_err(|error| (pid, error))));
            if goes_on {
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
            // The place is free even if the kernel kept its entries: they are overwritten by the next node.
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

    /// Absent: the window has just begun and goes on, with what was recorded and lost in it.
    fn end_window(&mut self, is_last: bool) -> Result<Option<NodeWindow>, ProbeError> {
        // Asked first: what is recorded until the process has ended is in this window.
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
        if !has_length && profiles.iter().all(says_nothing) {
            profiles.clear();
        }
        let (pid, ticks) = (self.recording.process.pid, self.recording.ticks()?);
        Ok(Some(NodeWindow { pid, profiles, ticks, has_ended }))
    }
}

fn says_nothing(profile: &Profile) -> bool {
    profile.samples.is_empty() && profile.quality.lost == 0
}
