//! Limits for reads.

/// Largest readable file of code: the emulator has 4 MB, some 30 with debug information.
pub(super) const MAX_CODE_BYTES: u64 = 512 << 20;
