//! Memory of this process.

/// Gives memory that is free back to the system. Without it, a process that lives for months keeps what the largest
/// step of its life needed.
pub(crate) fn release_free() {
    #[cfg(target_env = "gnu")]
    #[expect(unsafe_code, reason = "a function of the C library for which there is no safe one")]
    // SAFETY: it may be called at any time, from any thread.
    unsafe {
        libc::malloc_trim(0);
    }
}
