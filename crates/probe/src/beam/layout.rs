//! Offsets of the VM's structures: one row for each OTP release and architecture.
//!
//! Offsets were read from the structures' definitions (`erl_process.h`) and measured on the
//! distribution's packages; they are checked against the running node before use
//! ([`super::Emulator::check`], [`super::check_layout`]), so that a wrong row is refused.

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
    /// The lower of these bits, which hold the number.
    pub(crate) pid_number_bits: u32,
    /// Whether the lowest of these bits are an index into the process table, from which the number is computed.
    pub(crate) pid_has_index: bool,
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
        pid_has_index: false,
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
        pid_has_index: true,
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

    /// Bytes at the beginning of a process that have all the fields above.
    pub(crate) fn process_bytes(&self) -> u32 {
        let last = [self.id, self.htop, self.stop, self.hend].into_iter().max();
        last.map_or(0, |offset| offset + 8)
    }

    /// All rows as text, for a refusal.
    pub(crate) fn known() -> String {
        let rows: Vec<String> =
            LAYOUTS.iter().map(|row| format!("OTP {} on {}", row.release, row.arch)).collect();
        rows.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::{LAYOUTS, Layout};

    #[test]
    fn all_of_a_process_is_read_at_once() {
        let bytes: Vec<u32> = LAYOUTS.iter().map(Layout::process_bytes).collect();
        assert_eq!(bytes, [144, 208]);
    }

    #[test]
    fn only_measured_layouts_are_known() {
        assert!(Layout::find("25", "x86_64").is_some());
        assert!(Layout::find("26", "x86_64").is_none());
        assert!(Layout::find("25", "aarch64").is_none());
    }
}
