//! The capabilities of this process (capabilities(7)), and the time that they are in effect. The installed program
//! has them as *permitted* capabilities. At its start none is effective, so that every file is opened with the
//! rights of the user. [`raise`] makes a capability effective on the calling thread for the few system calls that
//! need it. No other code does that.
//!
//! For root all capabilities are always effective; this module does not change that.

use std::marker::PhantomData;

use rustix::{
    process::{geteuid, getuid},
    thread::{
        CapabilitySet, CapabilitySets, capabilities, clear_ambient_capability_set,
        set_capabilities, set_no_new_privs,
    },
};

use crate::error::ProbeError;

/// Right to load programs and maps; before Linux 5.19 also for every access to a map.
pub(crate) const MAPS: CapabilitySet = CapabilitySet::BPF;

/// Right to open a clock on every CPU, or on threads of another user.
pub(crate) const CLOCK: CapabilitySet = CapabilitySet::PERFMON;

/// Right to load a program that reads the node's memory, and to attach it to a clock.
pub(crate) const PROGRAM: CapabilitySet = MAPS.union(CLOCK);

/// Right to read the memory and the mappings of another user's process. It gives no right to files.
pub(crate) const NODE: CapabilitySet = CapabilitySet::SYS_PTRACE;

/// Right to read the addresses of the kernel's functions.
pub(crate) const KERNEL_SYMBOLS: CapabilitySet = CapabilitySet::SYSLOG;

/// Right to open a socket for packets. [`crate::error::FILE_CAPABILITIES`] does not include it: packets hold
/// messages and passwords, so that a group gets it only if an administrator names it.
pub(crate) const PACKETS: CapabilitySet = CapabilitySet::NET_RAW;

/// All capabilities that are ever made effective.
const KNOWN: CapabilitySet = PROGRAM.union(NODE).union(KERNEL_SYMBOLS).union(PACKETS);

/// The capabilities that eBPF needs for a node of another user.
const NEEDED: [(CapabilitySet, &str); 3] =
    [(MAPS, "CAP_BPF"), (CLOCK, "CAP_PERFMON"), (NODE, "CAP_SYS_PTRACE")];

/// Makes no capability effective. Call it before anything is read and before another thread starts. The process
/// permanently gives up all capabilities beyond [`crate::error::FILE_CAPABILITIES`] and the one for packets, and
/// any gain of capabilities by executing other programs.
pub fn lower_privileges() -> Result<(), ProbeError> {
    if geteuid().is_root() && !getuid().is_root() {
        return Err(ProbeError::SetUserId { program: own_program() });
    }
    keep(KNOWN)
}

/// Permanently gives up all capabilities, on this thread and on threads that it starts later.
pub fn drop_privileges() -> Result<(), ProbeError> {
    keep(CapabilitySet::empty())
}

/// Permanently gives up the right to open sockets for packets, on this thread and on threads that it starts later.
/// Open captures continue.
pub fn give_up_capturing() -> Result<(), ProbeError> {
    give_up(PACKETS)
}

/// Permanently gives up some capabilities, on this thread and on threads that it starts later.
pub(crate) fn give_up(unneeded: CapabilitySet) -> Result<(), ProbeError> {
    keep(KNOWN - unneeded)
}

fn keep(kept: CapabilitySet) -> Result<(), ProbeError> {
    if geteuid().is_root() {
        return Ok(());
    }
    let lower = || {
        let sets = capabilities(None)?;
        set_capabilities(
            None,
            CapabilitySets {
                effective: CapabilitySet::empty(),
                permitted: sets.permitted & kept,
                inheritable: CapabilitySet::empty(),
            },
        )?;
        clear_ambient_capability_set()?;
        set_no_new_privs(true)
    };
    lower().map_err(|errno| ProbeError::Io {
        action: "giving up capabilities".into(),
        source: errno.into(),
    })
}

/// Capabilities that are effective on this thread while the value lives. Do not start a thread meanwhile, because
/// it would have them too.
#[derive(Debug)]
#[must_use = "the capabilities are effective only as long as this value lives"]
pub(crate) struct Raised {
    before: Option<CapabilitySets>,
    /// Keeps the value on its thread: capabilities belong to a thread.
    _of_this_thread: PhantomData<*const ()>,
}

/// Makes the capabilities effective as far as they are permitted. Without one, the system call that needs it fails.
pub(crate) fn raise(wanted: CapabilitySet) -> Raised {
    let raised = capabilities(None).ok().filter(|sets| !sets.effective.contains(wanted));
    let before = raised.filter(|sets| {
        let effective = sets.effective | (wanted & sets.permitted);
        effective != sets.effective
            && set_capabilities(None, CapabilitySets { effective, ..*sets }).is_ok()
    });
    Raised { before, _of_this_thread: PhantomData }
}

impl Drop for Raised {
    fn drop(&mut self) {
        let Some(CapabilitySets { effective, .. }) = self.before else { return };
        let lower = |sets: CapabilitySets| {
            set_capabilities(None, CapabilitySets { effective: effective & sets.permitted, ..sets })
        };
        capabilities(None).and_then(lower).expect("a thread may always lower its own capabilities");
    }
}

/// Fails without a capability that eBPF needs for a node of another user.
pub(crate) fn require_sampling() -> Result<(), ProbeError> {
    let sets = capabilities(None).map_err(|errno| ProbeError::Io {
        action: "reading the capabilities of this process".into(),
        source: errno.into(),
    })?;
    let missing = missing_of(sets.permitted);
    if missing.is_empty() {
        return Ok(());
    }
    Err(ProbeError::MissingCapabilities { missing, program: own_program() })
}

/// The path of this program, for the command that installs the capabilities.
fn own_program() -> String {
    std::env::current_exe().map_or_else(|_| "rabbitscope".into(), |path| path.display().to_string())
}

/// The needed capabilities that are not permitted. `CAP_SYS_ADMIN` (of root in a container) includes the two that
/// were split off it, but not `CAP_SYS_PTRACE`.
fn missing_of(permitted: CapabilitySet) -> Vec<&'static str> {
    let split_off =
        if permitted.contains(CapabilitySet::SYS_ADMIN) { PROGRAM } else { CapabilitySet::empty() };
    let has = permitted | split_off;
    NEEDED.into_iter().filter(|&(one, _)| !has.contains(one)).map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(permitted: CapabilitySet, expected: &[&str]) {
        assert_eq!(missing_of(permitted), expected);
    }

    #[test]
    fn missing_capabilities() {
        check(CapabilitySet::all(), &[]);
        check(KNOWN, &[]);
        check(CapabilitySet::empty(), &["CAP_BPF", "CAP_PERFMON", "CAP_SYS_PTRACE"]);
    }

    #[test]
    fn sys_admin_does_not_open_other_processes() {
        check(CapabilitySet::SYS_ADMIN, &["CAP_SYS_PTRACE"]);
    }

    /// Capabilities to open, change or give away files of others.
    #[test]
    fn no_power_over_files_is_ever_kept() {
        let over_files = CapabilitySet::DAC_OVERRIDE
            | CapabilitySet::DAC_READ_SEARCH
            | CapabilitySet::FOWNER
            | CapabilitySet::CHOWN
            | CapabilitySet::SYS_ADMIN;
        assert!((KNOWN & over_files).is_empty());
    }

    #[test]
    fn a_raised_power_ends_with_its_value() {
        let effective = || capabilities(None).unwrap().effective;
        let before = capabilities(None).unwrap();
        let lowered = CapabilitySets { effective: before.effective - NODE, ..before };
        set_capabilities(None, lowered).unwrap();
        {
            let _outer = raise(NODE);
            assert_eq!(effective().contains(NODE), before.permitted.contains(NODE));
            drop(raise(NODE));
            assert_eq!(effective().contains(NODE), before.permitted.contains(NODE));
        }
        assert_eq!(effective(), lowered.effective);
        set_capabilities(None, before).unwrap();
    }
}
