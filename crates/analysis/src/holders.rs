//! Holders of the weight of a profile that no Erlang function has, and activity of the VM besides Erlang.

use std::{cmp::Reverse, collections::HashMap};

use rabbitscope_profiles::{Event, FrameClass, FrameKind, Profile, Sample};
use serde::Serialize;

use crate::functions::share;

/// The work of stacks without any Erlang function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Holder {
    /// Ports: sockets, files and drivers, which have no Erlang stack.
    PortTasks,
    /// Garbage collection of a process that runs nothing else.
    GarbageCollection,
    /// Choosing what runs next, and looking for work and input.
    Scheduling,
    /// Other code of the VM on the schedulers' threads.
    SchedulerThreads,
    /// Dirty schedulers without a function.
    DirtySchedulers,
    /// Waiting for file descriptors.
    PollThreads,
    /// Housekeeping of the VM.
    AuxThreads,
    /// Threads of drivers.
    AsyncThreads,
    /// The kernel alone: no frame of the VM was found.
    Kernel,
    /// All others.
    OtherThreads,
}

/// Runs the tasks of ports in the emulator.
const PORT_TASK: &str = "erts_port_task_execute";

impl Holder {
    /// Its words in a list.
    pub fn words(self) -> &'static str {
        match self {
            Self::PortTasks => "port tasks: sockets, files, drivers",
            Self::GarbageCollection => "garbage collection beside any function",
            Self::Scheduling => "schedulers: choosing what runs, and looking for work",
            Self::SchedulerThreads => "schedulers: other code of the VM",
            Self::DirtySchedulers => "dirty schedulers beside any function",
            Self::PollThreads => "threads that poll file descriptors",
            Self::AuxThreads => "auxiliary threads of the VM",
            Self::AsyncThreads => "asynchronous threads of drivers",
            Self::Kernel => "kernel, with no frame of the VM",
            Self::OtherThreads => "other threads",
        }
    }

    /// Returns the holder of a sample; absent where an Erlang function has the weight.
    fn from_sample(profile: &Profile, sample: &Sample) -> Option<Self> {
        let frames = || sample.stack.iter().map(|entry| profile.frames.get(entry.frame));
        if frames().any(|frame| frame.kind.is_erlang_function()) {
            return None;
        }
        if frames().any(|frame| frame.name == PORT_TASK) {
            return Some(Self::PortTasks);
        }
        let has = |class| frames().any(|frame| FrameClass::of(frame) == class);
        if has(FrameClass::GarbageCollection) {
            return Some(Self::GarbageCollection);
        }
        let thread = frames().find(|frame| frame.kind == FrameKind::Thread);
        Some(match thread.map_or("", |frame| frame.name.as_str()) {
            "scheduler" if has(FrameClass::Scheduling) => Self::Scheduling,
            "scheduler" => Self::SchedulerThreads,
            "dirty_cpu_scheduler" | "dirty_io_scheduler" => Self::DirtySchedulers,
            "poll" => Self::PollThreads,
            "aux" => Self::AuxThreads,
            "async" => Self::AsyncThreads,
            "" if frames().all(|frame| frame.kind == FrameKind::Kernel) => Self::Kernel,
            _ => Self::OtherThreads,
        })
    }
}

/// The weight of stacks without any Erlang function by its holder, the largest first. With the own weight of all
/// Erlang functions it adds up to the whole.
pub fn holders(profile: &Profile) -> Vec<(Holder, u64)> {
    let mut found: HashMap<Holder, u64> = HashMap::new();
    for sample in &profile.samples {
        if let Some(holder) = Holder::from_sample(profile, sample) {
            *found.entry(holder).or_default() += sample.weight;
        }
    }
    let mut found: Vec<_> = found.into_iter().filter(|(_, weight)| *weight > 0).collect();
    found.sort_by_key(|&(holder, weight)| (Reverse(weight), holder.words()));
    found
}

/// Activity of the node, on behalf of any function.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Activity {
    /// Cores that the node's threads had on average: samples on the CPU by the time that each stands for. Absent
    /// for other events, and where the recording does not say either.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub busy_cores: Option<f64>,
    /// Cores that were sampled; absent where that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cores: Option<u32>,
    /// Share of the weight with a frame of the garbage collector in its stack, 0 to 1.
    pub garbage_collection_share: f64,
    /// Share of the weight with a function that takes a lock in its stack: spinning, or waiting.
    pub locks_share: f64,
}

impl Activity {
    /// Computes the activity of a whole profile.
    pub fn from_profile(profile: &Profile) -> Self {
        let capture = &profile.capture;
        let is_timed = profile.event == Event::Cpu
            && profile.capture.value.is_none()
            && capture.period_nanos > 0
            && capture.duration_nanos > 0;
        let cores =
            || profile.total() as f64 * capture.period_nanos as f64 / capture.duration_nanos as f64;
        Self {
            busy_cores: is_timed.then(cores),
            cores: (capture.cpus > 0).then_some(capture.cpus),
            garbage_collection_share: share_with(profile, FrameClass::GarbageCollection),
            locks_share: share_with(profile, FrameClass::LockWait),
        }
    }
}

/// The share of the weight whose stack has a frame of this class.
fn share_with(profile: &Profile, class: FrameClass) -> f64 {
    let has = |sample: &&Sample| {
        let mut frames = sample.stack.iter().map(|entry| profile.frames.get(entry.frame));
        frames.any(|frame| FrameClass::of(frame) == class)
    };
    let weight: u64 = profile.samples.iter().filter(has).map(|sample| sample.weight).sum();
    share(weight, profile.total())
}

#[cfg(test)]
mod tests {
    use rabbitscope_profiles::read_folded;

    use super::*;
    use crate::functions::function_table;

    const STACKS: &str = "\
scheduler;m:f/1;erts_garbage_collect_nobump;full_sweep_heaps 40
scheduler;m:f/1;ethr_mutex_lock;futex_wait_[k] 5
scheduler;m:f/1 5
scheduler;erts_schedule;erts_port_task_execute;tcp_inet_input 20
scheduler;erts_schedule;scheduler_wait 6
scheduler;sched_thread_func;erts_schedule;erts_garbage_collect 3
scheduler;other_code 2
dirty_cpu_scheduler;delay 1
poll;erts_poll_wait 4
aux;handle_aux_work 3
async;async_main 2
other;sigwait 2
page_fault_[k] 7";

    #[test]
    fn what_no_function_has_is_held_by_something() {
        let mut profile = read_folded(STACKS.as_bytes()).unwrap();
        let found = holders(&profile);
        let of = |holder: Holder| found.iter().find(|row| row.0 == holder).map(|row| row.1);
        assert_eq!(found[0], (Holder::PortTasks, 20));
        assert_eq!(of(Holder::GarbageCollection), Some(3));
        assert_eq!(of(Holder::Scheduling), Some(6));
        assert_eq!(of(Holder::SchedulerThreads), Some(2));
        assert_eq!(of(Holder::DirtySchedulers), Some(1));
        assert_eq!(of(Holder::PollThreads), Some(4));
        assert_eq!(of(Holder::AuxThreads), Some(3));
        assert_eq!(of(Holder::AsyncThreads), Some(2));
        assert_eq!(of(Holder::OtherThreads), Some(2));
        assert_eq!(of(Holder::Kernel), Some(7));
        let table = function_table(&profile);
        let own = table.iter().filter(|row| row.kind.is_erlang_function()).map(|row| row.own);
        let held: u64 = found.iter().map(|row| row.1).sum();
        assert_eq!(own.sum::<u64>() + held, profile.total());
        profile.capture.period_nanos = 10_000_000;
        profile.capture.duration_nanos = 500_000_000;
        let activity = Activity::from_profile(&profile);
        assert!((activity.garbage_collection_share - 0.43).abs() < 1e-9, "{activity:?}");
        assert!((activity.locks_share - 0.05).abs() < 1e-9, "{activity:?}");
    }
}
