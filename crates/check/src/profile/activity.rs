//! Activities of the emulator in the stack of a sample.

use rabbitscope_profiles::{FrameClass, FrameKind, Profile, Sample, ThreadKind};

/// Functions in which a scheduler without a process looks for work, spins before it sleeps, and falls asleep.
const LOOKING_FOR_WORK: [&str; 5] = [
    "scheduler_wait",
    "try_steal_task",
    "try_steal_task_from_victim",
    "check_balance",
    "sched_spin_suspended",
];

/// Work for other threads, which a scheduler does while it looks for processes.
const AUXILIARY_WORK: &str = "handle_aux_work";

/// Recognizes activities by the names of a profile's functions.
#[derive(Debug)]
pub(super) struct Activities<'a> {
    profile: &'a Profile,
    /// By number of the frame.
    classes: Vec<FrameClass>,
}

impl<'a> Activities<'a> {
    pub(super) fn new(profile: &'a Profile) -> Self {
        let classes = profile.frames.iter().map(|(_, frame)| FrameClass::of(frame)).collect();
        Self { profile, classes }
    }

    /// Returns the kind of thread, the root of the stack.
    pub(super) fn thread(&self, sample: &Sample) -> &'a str {
        let root = sample.stack.first().map(|entry| self.profile.frames.get(entry.frame));
        let root = root.filter(|frame| frame.kind == FrameKind::Thread);
        root.map_or(ThreadKind::Other.name(), |frame| frame.name.as_str())
    }

    /// Returns true if a scheduler ran no process and looked for work.
    pub(super) fn is_busy_wait(&self, sample: &Sample) -> bool {
        let kinds = [ThreadKind::Scheduler, ThreadKind::DirtyCpu, ThreadKind::DirtyIo];
        if sample.labels.process.is_some()
            || !kinds.iter().any(|kind| kind.name() == self.thread(sample))
        {
            return false;
        }
        let names =
            || sample.stack.iter().map(|entry| self.profile.frames.get(entry.frame).name.as_str());
        let looks =
            |name: &str| LOOKING_FOR_WORK.contains(&rabbitscope_profiles::without_suffix(name));
        names().any(looks) && !names().any(|name| name == AUXILIARY_WORK)
    }

    /// Returns true if a lock of the VM or of the C library was taken.
    pub(super) fn takes_lock(&self, sample: &Sample) -> bool {
        self.has(sample, FrameClass::LockWait)
    }

    /// Returns true if garbage was collected.
    pub(super) fn collects(&self, sample: &Sample) -> bool {
        self.has(sample, FrameClass::GarbageCollection)
    }

    fn has(&self, sample: &Sample, class: FrameClass) -> bool {
        sample.stack.iter().any(|entry| self.classes[entry.frame.0 as usize] == class)
    }
}
