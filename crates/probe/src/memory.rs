//! Memory of this process.

/// Returns free memory to the system. Otherwise a process that runs for months keeps the memory of its largest
/// step.
pub(crate) fn release_free() {
    #[cfg(target_env = "gnu")]
    #[expect(unsafe_code, reason = "a function of the C library without a safe wrapper")]
    // SAFETY: it may be called at any time, from any thread.
    unsafe {
        libc::malloc_trim(0);
    }
}
