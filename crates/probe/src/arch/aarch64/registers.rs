//! The registers that the walks need, in the order of `bpf/aarch64/arch.h`.

/// Registers in a row: x29, x30, x20, x21.
pub(crate) const SAVED_REGISTERS: usize = 4;

/// Index of the frame pointer (x29) among them.
pub(crate) const FRAME: usize = 0;

/// Index of the link register (x30).
pub(crate) const LINK: usize = 1;

/// Index of x21, in which JIT code keeps the process.
pub(crate) const PROCESS: usize = 3;

/// Numbers of the kernel (`arch/arm64/include/uapi/asm/perf_regs.h`), in the order of its records: x20, x21, x29,
/// lr, sp, pc.
pub(crate) const IN_RECORDS: [u32; 6] = [20, 21, 29, 30, 31, 32];

/// Addresses of user space have 48 bits. The bits above may sign a return address (PAC).
pub(super) const ADDRESS_BITS: u64 = 0xffff_ffff_ffff;

/// Registers of a function that was interrupted or has called another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Registers {
    /// The next instruction.
    pub(crate) ip: u64,
    /// The stack pointer.
    pub(crate) sp: u64,
    /// See [`FRAME`], [`LINK`] and [`PROCESS`].
    pub(crate) saved: [u64; SAVED_REGISTERS],
}

impl Registers {
    /// Registers from the values of [`IN_RECORDS`].
    pub(crate) fn from_record(values: [u64; IN_RECORDS.len()]) -> Self {
        let [x20, x21, x29, link, sp, ip] = values;
        Self { ip, sp, saved: [x29, link, x20, x21] }
    }
}
