//! Signals that wait while the kernel verifies a program.

use std::mem::MaybeUninit;

/// Holds back the signals that end the program, for the calling thread.
///
/// The kernel's verifier gives up when a signal waits. The loader would then repeat it with a log of each step, ten
/// times, which takes minutes on a slow machine.
pub(crate) struct HeldSignals {
    /// Signals that were held back before.
    before: libc::sigset_t,
}

impl HeldSignals {
    #[expect(unsafe_code, reason = "no safe function changes the signals of a thread")]
    pub(crate) fn new() -> Self {
        let mut held = MaybeUninit::<libc::sigset_t>::uninit();
        let mut before = MaybeUninit::<libc::sigset_t>::uninit();
        // SAFETY: `sigemptyset` fills the set, and `pthread_sigmask` with a valid operation the one from before.
        let before = unsafe {
            libc::sigemptyset(held.as_mut_ptr());
            for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
                libc::sigaddset(held.as_mut_ptr(), signal);
            }
            libc::pthread_sigmask(libc::SIG_BLOCK, held.as_ptr(), before.as_mut_ptr());
            before.assume_init()
        };
        Self { before }
    }
}

impl Drop for HeldSignals {
    #[expect(unsafe_code, reason = "no safe function changes the signals of a thread")]
    fn drop(&mut self) {
        // SAFETY: the set is the one that the kernel has returned.
        unsafe {
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.before, std::ptr::null_mut())
        };
    }
}
