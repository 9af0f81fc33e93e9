//! Offsets of the VM's structures. They come from the running VM ([`super::discovery`]) and are checked against it
//! before use ([`super::Emulator::schedulers`], [`super::check_layout`]).

/// Offsets in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    /// Distance between the `ErtsSchedulerData` of two schedulers of a kind.
    pub(crate) scheduler_stride: u64,
    /// Offset in `ErtsSchedulerData` of the pointer to its `ErtsSchedulerRegisters`. A call from JIT code into C
    /// leaves its return address in the word below that structure.
    pub(crate) registers: u32,
    /// `ErtsSchedulerData.current_process`
    pub(crate) current_process: u32,
    /// `ErtsSchedulerData.type`: 0 normal, 1 dirty CPU, 2 dirty I/O.
    pub(crate) scheduler_type: u32,
    /// `ErtsSchedulerData.no`, counting from 1 among the normal schedulers.
    pub(crate) number: u32,
    /// `ErtsSchedulerData.dirty_no`, counting from 1 among the dirty schedulers of its type.
    pub(crate) dirty_number: u32,
    /// `Process.common.id`
    pub(crate) id: u32,
    /// `Process.htop`, the first free word of the heap.
    pub(crate) htop: u32,
    /// `Process.stop`, the top of the stack, which grows down towards the heap.
    pub(crate) stop: u32,
    /// `Process.hend`, one past the bottom of the stack.
    pub(crate) hend: u32,
}

impl Layout {
    /// Bytes at the beginning of a process that have all the fields above.
    pub(crate) fn process_bytes(&self) -> u32 {
        let last = [self.id, self.htop, self.stop, self.hend].into_iter().max();
        last.map_or(0, |offset| offset + 8)
    }
}

/// Layouts by the definitions of the structures (`erl_process.h`), of the distribution's packages on x86-64. Only
/// tests use them, to check the discovery.
#[cfg(any(test, fuzzing))]
pub(crate) mod known {
    use super::Layout;

    pub(crate) const OTP_25: Layout = Layout {
        scheduler_stride: 41_728,
        registers: 0,
        current_process: 168,
        scheduler_type: 176,
        number: 184,
        dirty_number: 192,
        id: 0,
        htop: 80,
        stop: 88,
        hend: 136,
    };

    pub(crate) const OTP_27: Layout = Layout { scheduler_stride: 41_792, hend: 200, ..OTP_25 };

    #[cfg(test)]
    pub(crate) const OTP_29: Layout = OTP_27;

    /// The layout of an OTP release.
    #[cfg(test)]
    pub(crate) fn of_release(release: &str) -> Option<Layout> {
        match release {
            // One word less: Debian 12's package for arm64 has no frame pointer field before it.
            "25" if cfg!(target_arch = "aarch64") => Some(Layout { hend: 128, ..OTP_25 }),
            "25" => Some(OTP_25),
            "27" => Some(OTP_27),
            "29" => Some(OTP_29),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::known::{OTP_25, OTP_27};

    #[test]
    fn all_of_a_process_is_read_at_once() {
        assert_eq!([OTP_25.process_bytes(), OTP_27.process_bytes()], [144, 208]);
    }
}
