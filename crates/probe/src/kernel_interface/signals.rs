//! Signals that wait while the kernel verifies a program.

use std::mem::MaybeUninit;

/// Holds back the signals that end the program, for the calling thread.
///
/// The kernel's verifier gives up when a signal waits. The loader would then repeat it up to ten times with a log of
/// each step, which took more than a minute on a slow machine. Its trials of the kernel's features must not be
/// interrupted either.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(unsafe_code, reason = "no safe function sends a signal to a thread or waits for one")]
    fn a_signal_waits_until_it_is_let_through() {
        let held = HeldSignals::new();
        let mut set = MaybeUninit::<libc::sigset_t>::uninit();
        let mut received = 0;
        // Not held back, the signal would end this process.
        // SAFETY: `sigemptyset` fills the set; this thread holds back the only signal in it.
        unsafe {
            libc::sigemptyset(set.as_mut_ptr());
            libc::sigaddset(set.as_mut_ptr(), libc::SIGHUP);
            assert_eq!(libc::raise(libc::SIGHUP), 0);
            assert_eq!(libc::sigwait(set.as_ptr(), &raw mut received), 0);
        }
        assert_eq!(received, libc::SIGHUP);
        drop(held);
        let mut after = MaybeUninit::<libc::sigset_t>::uninit();
        // SAFETY: without a new set, `pthread_sigmask` only fills the old one.
        let is_held = unsafe {
            libc::pthread_sigmask(libc::SIG_BLOCK, std::ptr::null(), after.as_mut_ptr());
            libc::sigismember(after.as_ptr(), libc::SIGHUP)
        };
        assert_eq!(is_held, 0);
    }
}
