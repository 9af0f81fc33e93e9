//! Limits of what is read.

/// Largest file of code that is read: the emulator has 4 MB, with debug information some 30.
pub(super) const MAX_CODE_BYTES: u64 = 512 << 20;
