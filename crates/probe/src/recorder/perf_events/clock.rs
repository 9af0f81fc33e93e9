//! Opens clocks on the threads of a node (`perf_event_open(2)`), with no more privilege than the kernel requires.

#![expect(unsafe_code, reason = "system calls without a safe wrapper")]

use std::{
    io,
    os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd},
};

use perf_event_open_sys::{
    bindings::{self as sys, perf_event_attr},
    ioctls, perf_event_open,
};

use super::records::{STACK_BYTES, register_mask};
use crate::permission::{CLOCK, raise};

/// Clocks by name, type and config, best first.
const CLOCKS: [(&str, u32, u64); 2] = [
    ("cycles", sys::PERF_TYPE_HARDWARE, sys::PERF_COUNT_HW_CPU_CYCLES as u64),
    ("cpu-clock", sys::PERF_TYPE_SOFTWARE, sys::PERF_COUNT_SW_CPU_CLOCK as u64),
];

/// A clock that the kernel lets this process put on a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Clock {
    /// `cycles` or `cpu-clock`.
    pub(crate) name: &'static str,
    /// True if it ticks while the node is in the kernel.
    pub(crate) sees_kernel: bool,
    kind: u32,
    config: u64,
}

/// The best permitted clock on the process `pid`.
pub(crate) fn permitted_clock(pid: u32) -> io::Result<Clock> {
    let _raised = raise(CLOCK);
    let mut refusal = None;
    for (name, kind, config) in CLOCKS {
        for sees_kernel in [true, false] {
            let clock = Clock { name, sees_kernel, kind, config };
            match open(&clock, 1, pid, None) {
                Ok(_) => return Ok(clock),
                Err(error) => refusal = Some(error),
            }
        }
    }
    Err(refusal.expect("each clock was refused"))
}

/// Opens a clock on a thread while it runs on `cpu`, or on any CPU, and on all threads that it starts later. The
/// clock does not tick before [`start`].
pub(super) fn open(clock: &Clock, freq_hz: u32, tid: u32, cpu: Option<u32>) -> io::Result<OwnedFd> {
    let mut attributes = attributes(clock, freq_hz);
    let number = |id: u32| i32::try_from(id).map_err(|_| io::ErrorKind::InvalidInput);
    let (tid, cpu) = (number(tid)?, cpu.map_or(Ok(-1), number)?);
    let close_on_exec = sys::PERF_FLAG_FD_CLOEXEC.into();
    // SAFETY: the structure is complete, lives during the call, and requests samples only.
    let descriptor = unsafe { perf_event_open(&raw mut attributes, tid, cpu, -1, close_on_exec) };
    if descriptor < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just created the descriptor for this process.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

fn attributes(clock: &Clock, freq_hz: u32) -> perf_event_attr {
    let mut attributes = perf_event_attr {
        type_: clock.kind,
        size: u32::try_from(size_of::<perf_event_attr>()).expect("a small structure"),
        config: clock.config,
        sample_type: u64::from(
            sys::PERF_SAMPLE_TID
                | sys::PERF_SAMPLE_TIME
                | sys::PERF_SAMPLE_CALLCHAIN
                | sys::PERF_SAMPLE_REGS_USER
                | sys::PERF_SAMPLE_STACK_USER,
        ),
        sample_regs_user: register_mask(),
        sample_stack_user: STACK_BYTES,
        clockid: MONOTONIC,
        ..perf_event_attr::default()
    };
    attributes.__bindgen_anon_1.sample_freq = freq_hz.into();
    attributes.set_disabled(1);
    attributes.set_freq(1);
    attributes.set_use_clockid(1);
    attributes.set_inherit(1);
    // Programs that a thread starts are not the node.
    attributes.set_inherit_thread(1);
    attributes.set_exclude_hv(1);
    attributes.set_exclude_kernel((!clock.sees_kernel).into());
    attributes
}

/// `CLOCK_MONOTONIC`, the clock of [`crate::kernel_interface::KernelTime`].
const MONOTONIC: i32 = 1;

/// Redirects the samples of `event` into the ring of another event of its CPU.
pub(super) fn redirect(event: &OwnedFd, ring: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: two open descriptors; the kernel checks that they fit.
    match unsafe { ioctls::SET_OUTPUT(event.as_raw_fd(), ring.as_raw_fd()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Starts a clock, also on threads started since it was opened.
pub(super) fn start(event: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: an open descriptor; only the clock changes.
    match unsafe { ioctls::ENABLE(event.as_raw_fd(), 0) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
