//! What this process may do, and when it does it. The kernel's powers (capabilities(7)) come with the
//! program's file, as *permitted* ones: at the start of the program none of them is in effect, so that
//! every file is opened by the rights of whoever started it. [`raise`] puts a power into effect on the
//! calling thread, for the few system calls that need it; nothing else of the program can do that.
//!
//! Root without such a file has its powers in effect all the time; for root nothing here changes anything.

use std::marker::PhantomData;

use rustix::{
    process::{geteuid, getuid},
    thread::{
        CapabilitySet, CapabilitySets, capabilities, clear_ambient_capability_set,
        set_capabilities, set_no_new_privs,
    },
};

use crate::error::ProbeError;

/// Loads programs and maps; before Linux 5.19 every look into a map needs it as well.
pub(crate) const MAPS: CapabilitySet = CapabilitySet::BPF;

/// A clock on every CPU, or on threads of another user.
pub(crate) const CLOCK: CapabilitySet = CapabilitySet::PERFMON;

/// A program that looks at the node's memory, with its clock.
pub(crate) const PROGRAM: CapabilitySet = MAPS.union(CLOCK);

/// The memory and the mappings of another user's process. It opens no file: files are opened by the
/// rights of the user, whatever else is in effect.
pub(crate) const NODE: CapabilitySet = CapabilitySet::SYS_PTRACE;

/// Addresses of the kernel's functions.
pub(crate) const KERNEL_SYMBOLS: CapabilitySet = CapabilitySet::SYSLOG;

/// No other power is ever put into effect.
const KNOWN: CapabilitySet = PROGRAM.union(NODE).union(KERNEL_SYMBOLS);

/// Needed to load the program, to open the clock on every CPU and to read another user's memory.
const NEEDED: [(CapabilitySet, &str); 3] =
    [(MAPS, "CAP_BPF"), (CLOCK, "CAP_PERFMON"), (NODE, "CAP_SYS_PTRACE")];

/// Puts every power out of effect. To be called before anything is read and before there is another
/// thread. What was not asked for in [`crate::error::FILE_CAPABILITIES`] is given up for good, and so is what programs
/// could give that are started later.
pub fn lower_privileges() -> Result<(), ProbeError> {
    if geteuid().is_root() && !getuid().is_root() {
        return Err(ProbeError::SetUserId { program: own_program() });
    }
    keep(KNOWN)
}

/// Gives up all powers for good, on this thread and those that it starts from now on.
pub fn drop_privileges() -> Result<(), ProbeError> {
    keep(CapabilitySet::empty())
}

/// Gives up some powers for good, on this thread and those that it starts from now on.
pub(crate) fn give_up(powers: CapabilitySet) -> Result<(), ProbeError> {
    keep(KNOWN - powers)
}

fn keep(powers: CapabilitySet) -> Result<(), ProbeError> {
    if geteuid().is_root() {
        return Ok(());
    }
    let lower = || {
        let sets = capabilities(None)?;
        set_capabilities(
            None,
            CapabilitySets {
                effective: CapabilitySet::empty(),
                permitted: sets.permitted & powers,
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

/// Powers that are in effect on this thread for as long as the value lives. No thread may be started
/// meanwhile, for it would have them as well.
#[derive(Debug)]
#[must_use = "the powers go out of effect with this value"]
pub(crate) struct Raised {
    before: Option<CapabilitySets>,
    /// Capabilities belong to a thread.
    _of_this_thread: PhantomData<*const ()>,
}

/// Puts `powers` into effect, those of them that there are. Without them the system call that follows says
/// what is missing.
pub(crate) fn raise(powers: CapabilitySet) -> Raised {
    let raised = capabilities(None).ok().filter(|sets| !sets.effective.contains(powers));
    let before = raised.filter(|sets| {
        let effective = sets.effective | (powers & sets.permitted);
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
        capabilities(None).and_then(lower).expect("a thread may always lower its own powers");
    }
}

/// Refuses when a capability is missing that sampling a node of another user needs.
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

/// What an installation has to be given.
fn own_program() -> String {
    std::env::current_exe().map_or_else(|_| "rabbitscope".into(), |path| path.display().to_string())
}

/// Of root in a container `CAP_SYS_ADMIN` stands in for the two that were split off it, not for
/// `CAP_SYS_PTRACE`.
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
    fn what_is_missing() {
        check(CapabilitySet::all(), &[]);
        check(KNOWN, &[]);
        check(CapabilitySet::empty(), &["CAP_BPF", "CAP_PERFMON", "CAP_SYS_PTRACE"]);
    }

    #[test]
    fn sys_admin_does_not_open_other_processes() {
        check(CapabilitySet::SYS_ADMIN, &["CAP_SYS_PTRACE"]);
    }

    /// Those that open, change or give away files of others.
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
