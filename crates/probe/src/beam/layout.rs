//! Where the VM keeps what the sampler needs: one row for each OTP release and architecture.
//!
//! Offsets were read from the structures' definitions (`erl_process.h`) and measured on the
//! distribution's packages; they are checked against the running node before use
//! ([`super::Emulator::check`], [`super::judge`]), so a wrong row is refused, not believed.

/// Offsets in bytes for one OTP release on one architecture.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    /// OTP release as the VM names it (`etp_otp_release`).
    pub(crate) release: &'static str,
    /// As in [`std::env::consts::ARCH`].
    pub(crate) arch: &'static str,
    /// Distance between the `ErtsSchedulerData` of two schedulers of a kind.
    pub(crate) scheduler_stride: u64,
    /// `ErtsSchedulerData`: pointer to its `ErtsSchedulerRegisters`. The word below that structure
    /// is where a call from JIT code into C leaves its return address.
    pub(crate) registers: u32,
    /// `ErtsSchedulerData.current_process`
    pub(crate) current_process: u32,
    /// `ErtsSchedulerData.type`: 0 normal, 1 dirty CPU, 2 dirty I/O.
    pub(crate) scheduler_type: u32,
    /// `ErtsSchedulerData.no`, counting from 1 among the normal schedulers.
    pub(crate) number: u32,
    /// `ErtsSchedulerData.dirty_no`, counting from 1 among the dirty schedulers of its type.
    pub(crate) dirty_number: u32,
    /// Bits of a pid, above its tag of four bits, that hold number and serial.
    pub(crate) pid_bits: u32,
    /// Of those, the lower ones that hold the number.
    pub(crate) pid_number_bits: u32,
    /// `Process.common.id`
    pub(crate) id: u32,
    /// `Process.htop`, the first free word of the heap.
    pub(crate) htop: u32,
    /// `Process.stop`, the top of the stack, which grows down towards the heap.
    pub(crate) stop: u32,
    /// `Process.hend`, one past the bottom of the stack.
    pub(crate) hend: u32,
}

const LAYOUTS: [Layout; 2] = [
    Layout {
        release: "25",
        arch: "x86_64",
        scheduler_stride: 41_728,
        registers: 0,
        current_process: 168,
        scheduler_type: 176,
        number: 184,
        dirty_number: 192,
        // The upper half is an index into the process table.
        pid_bits: 28,
        pid_number_bits: 15,
        id: 0,
        htop: 80,
        stop: 88,
        hend: 136,
    },
    Layout {
        release: "27",
        arch: "x86_64",
        scheduler_stride: 41_792,
        registers: 0,
        current_process: 168,
        scheduler_type: 176,
        number: 184,
        dirty_number: 192,
        pid_bits: 60,
        pid_number_bits: 28,
        id: 0,
        htop: 80,
        stop: 88,
        hend: 200,
    },
];

impl Layout {
    /// The row for `release` on `arch`.
    pub(crate) fn find(release: &str, arch: &str) -> Option<&'static Self> {
        LAYOUTS.iter().find(|row| row.release == release && row.arch == arch)
    }

    /// A local pid as the shell prints it. `term` is `Process.common.id`.
    pub(crate) fn pid_text(&self, term: u64) -> String {
        let low = |word: u64, bits: u32| word & ((1 << bits) - 1);
        let data = low(term >> 4, self.pid_bits);
        let number = low(data, self.pid_number_bits);
        format!("<0.{number}.{}>", data >> self.pid_number_bits)
    }

    /// All rows in words, for a refusal.
    pub(crate) fn known() -> String {
        let rows: Vec<String> =
            LAYOUTS.iter().map(|row| format!("OTP {} on {}", row.release, row.arch)).collect();
        rows.join(", ")
    }
}

/// What a thread of the VM is for. Its word is the root of every stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum ThreadKind {
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

/// Endings and beginnings of thread names: those before OTP 26 count first (`1_scheduler`), those
/// since then last (`erts_sched_1`). The kernel keeps 15 bytes.
const THREAD_NAMES: [(&str, &str, ThreadKind); 6] = [
    ("_scheduler", "erts_sched_", ThreadKind::Scheduler),
    ("_dirty_cpu_sche", "erts_dcpus_", ThreadKind::DirtyCpu),
    ("_dirty_io_sche", "erts_dios_", ThreadKind::DirtyIo),
    ("_poller", "erts_poll_", ThreadKind::Poll),
    ("_aux", "erts_aux_", ThreadKind::Aux),
    ("_async", "async_", ThreadKind::Async),
];

impl ThreadKind {
    /// The kind of a thread and its number among its kind, from its name.
    pub(crate) fn from_name(name: &str) -> (Self, u32) {
        THREAD_NAMES
            .iter()
            .find_map(|&(ending, beginning, kind)| {
                numbered(name, ending, beginning).map(|number| (kind, number))
            })
            .unwrap_or((Self::Other, 0))
    }

    /// The word at the root of a stack.
    pub(crate) fn name(self) -> &'static str {
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

/// The number in `12_scheduler` or `erts_sched_12`. A long number cuts the ending short, so any
/// beginning of the ending that still holds its first seven letters counts.
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
    use super::{Layout, ThreadKind};

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

    #[test]
    fn pids_read_as_in_the_shell() {
        let check = |release: &str, term: u64, expected: &str| {
            assert_eq!(Layout::find(release, "x86_64").unwrap().pid_text(term), expected);
        };
        check("25", 0x16c0_0000_2d83, "<0.728.0>");
        check("25", 0x0022_32e3, "<0.9006.4>");
        check("27", 0x0022_3323, "<0.140082.0>");
    }

    #[test]
    fn only_measured_layouts_are_known() {
        assert!(Layout::find("25", "x86_64").is_some());
        assert!(Layout::find("26", "x86_64").is_none());
        assert!(Layout::find("25", "aarch64").is_none());
    }
}
