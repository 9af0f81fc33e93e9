//! Kinds of threads of the Erlang VM, from the names that the VM gives them.

/// The kind of a VM thread. Its word is the root of every stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ThreadKind {
    /// Runs Erlang processes.
    Scheduler,
    /// Runs long CPU-bound native functions and garbage collections of large heaps.
    DirtyCpu,
    /// Runs native functions that may block.
    DirtyIo,
    /// Waits for file descriptors.
    Poll,
    /// Housekeeping of the VM.
    Aux,
    /// Works for drivers.
    Async,
    /// Signal and message dispatchers and threads of native libraries.
    Other,
}

/// Suffixes and prefixes of thread names. Names before OTP 26 begin with the number (`1_scheduler`), later ones end
/// with it (`erts_sched_1`). The kernel keeps 15 bytes.
const THREAD_NAMES: [(&str, &str, ThreadKind); 6] = [
    ("_scheduler", "erts_sched_", ThreadKind::Scheduler),
    ("_dirty_cpu_sche", "erts_dcpus_", ThreadKind::DirtyCpu),
    ("_dirty_io_sche", "erts_dios_", ThreadKind::DirtyIo),
    ("_poller", "erts_poll_", ThreadKind::Poll),
    ("_aux", "erts_aux_", ThreadKind::Aux),
    ("_async", "async_", ThreadKind::Async),
];

impl ThreadKind {
    /// Returns the kind of a thread and its number within that kind.
    pub fn from_name(name: &str) -> (Self, u32) {
        THREAD_NAMES
            .iter()
            .find_map(|&(ending, beginning, kind)| {
                numbered(name, ending, beginning).map(|number| (kind, number))
            })
            .unwrap_or((Self::Other, 0))
    }

    /// The word at the root of a stack.
    pub fn name(self) -> &'static str {
        match self {
            Self::Scheduler => "scheduler",
            Self::DirtyCpu => "dirty_cpu_scheduler",
            Self::DirtyIo => "dirty_io_scheduler",
            Self::Poll => "poll",
            Self::Aux => "aux",
            Self::Async => "async",
            Self::Other => "other",
        }
    }
}

/// Returns the number in `12_scheduler` or `erts_sched_12`. A long number truncates the suffix, so a prefix of the
/// suffix with at least nine bytes is accepted.
fn numbered(name: &str, ending: &str, beginning: &str) -> Option<u32> {
    if let Some(number) = name.strip_prefix(beginning) {
        return number.parse().ok();
    }
    let digits = name.find(|c: char| !c.is_ascii_digit())?;
    let (number, rest) = name.split_at(digits);
    let cut = name.len() >= 14 && rest.len() >= 9 && ending.starts_with(rest);
    if rest == ending || cut { number.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::ThreadKind;

    fn check(name: &str, kind: ThreadKind, number: u32) {
        assert_eq!(ThreadKind::from_name(name), (kind, number), "{name}");
    }

    #[test]
    fn names_of_otp_25() {
        check("1_scheduler", ThreadKind::Scheduler, 1);
        check("128_scheduler", ThreadKind::Scheduler, 128);
        check("2_dirty_cpu_sch", ThreadKind::DirtyCpu, 2);
        check("10_dirty_cpu_sc", ThreadKind::DirtyCpu, 10);
        check("100_dirty_cpu_s", ThreadKind::DirtyCpu, 100);
        check("1_dirty_io_sche", ThreadKind::DirtyIo, 1);
        check("10_dirty_io_sch", ThreadKind::DirtyIo, 10);
        check("0_poller", ThreadKind::Poll, 0);
        check("1_aux", ThreadKind::Aux, 1);
        check("async_1", ThreadKind::Async, 1);
        check("sys_sig_dispatc", ThreadKind::Other, 0);
        check("beam.smp", ThreadKind::Other, 0);
    }

    #[test]
    fn names_of_otp_27() {
        check("erts_sched_12", ThreadKind::Scheduler, 12);
        check("erts_dcpus_1", ThreadKind::DirtyCpu, 1);
        check("erts_dios_10", ThreadKind::DirtyIo, 10);
        check("erts_poll_0", ThreadKind::Poll, 0);
        check("erts_aux_1", ThreadKind::Aux, 1);
    }
}
