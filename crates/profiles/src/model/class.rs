//! The colour classes of frames, derived from a frame's kind, name and caller.
//!
//! Names identify functions of the emulator (`erl_gc.c`, `erl_process.c`, `erl_proc_sig_queue.c`, `ethread`). A
//! function that one of them calls takes its class from its place in the stack.

use serde::Serialize;

use super::{Frame, FrameKind};

/// The activity of a frame, which decides its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FrameClass {
    /// [`FrameKind::Thread`]
    Thread,
    /// [`FrameKind::Erlang`]
    Erlang,
    /// [`FrameKind::Bif`]
    Bif,
    /// [`FrameKind::VmFragment`] outside the classes below.
    VmFragment,
    /// [`FrameKind::Native`] outside the classes below.
    Native,
    /// [`FrameKind::Kernel`] outside the classes below.
    Kernel,
    /// Garbage collection of an Erlang process.
    GarbageCollection,
    /// Choosing the next process, distributing work, polling for input and output.
    Scheduling,
    /// Sending a message or a signal to a process.
    Sending,
    /// Taking a lock of the emulator or of the C library. Off the CPU and in the kernel this is waiting for the lock.
    LockWait,
    /// [`FrameKind::Waiting`]
    Waiting,
    /// [`FrameKind::Runnable`]
    Runnable,
}

impl FrameClass {
    /// All classes, in the order of a legend.
    pub const ALL: [Self; 12] = [
        Self::Thread,
        Self::Erlang,
        Self::Bif,
        Self::VmFragment,
        Self::Native,
        Self::Kernel,
        Self::GarbageCollection,
        Self::Scheduling,
        Self::Sending,
        Self::LockWait,
        Self::Waiting,
        Self::Runnable,
    ];

    /// The class of a frame, regardless of its place.
    pub fn of(frame: &Frame) -> Self {
        match frame.kind {
            FrameKind::Thread => Self::Thread,
            FrameKind::Erlang => Self::Erlang,
            FrameKind::Bif => Self::Bif,
            FrameKind::VmFragment => of_fragment(&frame.name),
            FrameKind::Native => of_native(&frame.name),
            FrameKind::Kernel => Self::Kernel,
            FrameKind::Waiting => Self::Waiting,
            FrameKind::Runnable => Self::Runnable,
            FrameKind::Collecting => Self::GarbageCollection,
        }
    }

    /// Returns the class of a frame of class `self` below a caller of class `caller`. C functions below a collector, a
    /// scheduler or a sender belong to it. Kernel functions do not, except below a lock, where the kernel does the
    /// waiting.
    #[must_use]
    pub fn below(self, caller: Self) -> Self {
        match (self, caller) {
            (Self::Native, Self::GarbageCollection | Self::Scheduling | Self::Sending)
            | (Self::Native | Self::Kernel, Self::LockWait) => caller,
            _ => self,
        }
    }
}

fn of_fragment(name: &str) -> FrameClass {
    match name {
        "global::garbage_collect" => FrameClass::GarbageCollection,
        // Its code switches processes.
        "global::process_main" => FrameClass::Scheduling,
        _ => FrameClass::VmFragment,
    }
}

fn of_native(name: &str) -> FrameClass {
    let is_any = |names: &[&str], starts: &[&str]| {
        names.contains(&name) || starts.iter().any(|start| name.starts_with(start))
    };
    if is_lock_wait(name) {
        FrameClass::LockWait
    } else if is_any(&COLLECTING, &COLLECTING_STARTS) {
        FrameClass::GarbageCollection
    } else if is_any(&SENDING, &SENDING_STARTS) {
        FrameClass::Sending
    } else if is_any(&SCHEDULING, &[]) {
        FrameClass::Scheduling
    } else {
        FrameClass::Native
    }
}

// Entry points of each activity; the frames below follow from these. Left out are `erts_gc_update_map_assoc` and its
// like, which make terms, and `erts_proc_sig_queue_…`, which receivers call as well.

const COLLECTING: [&str; 5] =
    ["garbage_collect", "minor_collection", "major_collection", "do_minor", "full_sweep_heaps"];

const COLLECTING_STARTS: [&str; 2] = ["erts_garbage_collect", "erts_gc_after_bif_call"];

const SENDING: [&str; 5] = ["erl_send", "ebif_bang_2", "send_2", "send_3", "enif_send"];

const SENDING_STARTS: [&str; 4] =
    ["erts_send_message", "erts_queue_message", "erts_queue_proc_message", "erts_proc_sig_send"];

const SCHEDULING: [&str; 13] = [
    "erts_schedule",
    "erts_schedule_process",
    "schedule_process",
    "scheduler_wait",
    "sched_thread_func",
    "erts_sched_finish_poke",
    "try_steal_task",
    "check_balance",
    "erts_check_io",
    "erts_check_io_interrupt",
    "erts_poll_wait",
    "erts_poll_interrupt",
    "erts_poll_interrupt_flbk",
];

/// Returns whether a native function takes a lock of the VM or of the C library. A thread that leaves the CPU in it
/// waits for the lock.
pub fn is_lock_wait(name: &str) -> bool {
    let is_other =
        ["unlock", "trylock", "_init", "_destroy"].iter().any(|part| name.contains(part));
    let waits = [
        "mutex_lock",
        "rwmutex_r",
        "rwlock_rdlock",
        "rwlock_wrlock",
        "lll_lock_wait",
        "erts_proc_lock_failed",
    ];
    !is_other && waits.iter().any(|part| name.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(name: &str, kind: FrameKind) -> FrameClass {
        FrameClass::of(&Frame { name: name.into(), kind })
    }

    #[test]
    fn what_the_emulator_does_by_its_functions() {
        let check = |name: &str, expected: FrameClass| {
            assert_eq!(class(name, FrameKind::Native), expected, "{name}");
        };
        check("erts_garbage_collect_nobump", FrameClass::GarbageCollection);
        check("erts_gc_after_bif_call_lhf", FrameClass::GarbageCollection);
        // Makes a map, and may collect garbage first.
        check("erts_gc_update_map_assoc", FrameClass::Native);
        check("erts_schedule", FrameClass::Scheduling);
        check("erts_schedule_thr_prgr_later_cleanup_op", FrameClass::Native);
        check("erts_proc_sig_queue_flush_buffers", FrameClass::Native);
        check("erts_send_message", FrameClass::Sending);
        check("erts_queue_message_token", FrameClass::Sending);
        check("ethr_mutex_lock", FrameClass::LockWait);
        check("erts_proc_lock_failed", FrameClass::LockWait);
        check("___pthread_mutex_lock", FrameClass::LockWait);
        check("ethr_rwmutex_rwlock", FrameClass::LockWait);
        check("ethr_rwmutex_runlock", FrameClass::Native);
        check("ethr_rwmutex_rwunlock", FrameClass::Native);
        check("pthread_mutex_trylock", FrameClass::Native);
        check("pthread_mutex_unlock", FrameClass::Native);
        check("ets_select_2", FrameClass::Native);
        check("beam.smp+0x203470", FrameClass::Native);
    }

    #[test]
    fn names_count_for_their_kind_only() {
        assert_eq!(class("erts_schedule", FrameKind::Kernel), FrameClass::Kernel);
        assert_eq!(class("sweep_:f/1", FrameKind::Erlang), FrameClass::Erlang);
        assert_eq!(class("lists:member/2", FrameKind::Bif), FrameClass::Bif);
        let fragment = |name| class(name, FrameKind::VmFragment);
        assert_eq!(fragment("global::garbage_collect"), FrameClass::GarbageCollection);
        assert_eq!(fragment("global::plus_body_shared"), FrameClass::VmFragment);
    }

    #[test]
    fn what_is_called_belongs_to_its_caller() {
        use FrameClass::{GarbageCollection, Kernel, LockWait, Native, Scheduling, Sending};
        let check = |own: FrameClass, caller: FrameClass, expected: FrameClass| {
            assert_eq!(own.below(caller), expected, "{own:?} below {caller:?}");
        };
        check(Native, GarbageCollection, GarbageCollection);
        check(Native, Native, Native);
        check(Native, FrameClass::Bif, Native);
        check(Kernel, GarbageCollection, Kernel);
        check(Kernel, LockWait, LockWait);
        check(Sending, Scheduling, Sending);
        check(FrameClass::Erlang, Scheduling, FrameClass::Erlang);
    }

    #[test]
    fn every_class_is_in_the_legend_once() {
        for (index, class) in FrameClass::ALL.into_iter().enumerate() {
            assert_eq!(FrameClass::ALL.iter().position(|other| *other == class), Some(index));
        }
    }
}
