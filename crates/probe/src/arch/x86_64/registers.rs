//! The registers that the walks need, in the order of `bpf/x86_64/arch.h`.

/// Callee-saved registers in a row: rbx, rbp, r12 to r15.
pub(crate) const SAVED_REGISTERS: usize = 6;

/// Index of the frame pointer (rbp) among them.
pub(crate) const FRAME: usize = 1;

/// Index of r13, in which JIT code keeps the process.
pub(crate) const PROCESS: usize = 3;

/// Numbers of the kernel (`arch/x86/include/uapi/asm/perf_regs.h`), in the order of its records: bx, bp, sp, ip,
/// r12 to r15.
pub(crate) const IN_RECORDS: [u32; 8] = [1, 6, 7, 8, 20, 21, 22, 23];

/// Registers of a function that was interrupted or has called another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Registers {
    /// The next instruction.
    pub(crate) ip: u64,
    /// The stack pointer.
    pub(crate) sp: u64,
    /// See [`FRAME`] and [`PROCESS`].
    pub(crate) saved: [u64; SAVED_REGISTERS],
}

impl Registers {
    /// Registers from the values of [`IN_RECORDS`].
    pub(crate) fn from_record(values: [u64; IN_RECORDS.len()]) -> Self {
        let [bx, bp, sp, ip, r12, r13, r14, r15] = values;
        Self { ip, sp, saved: [bx, bp, r12, r13, r14, r15] }
    }
}
