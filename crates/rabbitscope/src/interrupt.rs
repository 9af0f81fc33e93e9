//! Handling of Ctrl-C, SIGTERM and the end of the terminal. The first signal asks for an early end, the second ends
//! the program at once. A throwaway broker ends in either case, because its guard ends it.

use std::sync::{Arc, atomic::AtomicBool};

use rabbitscope_machine::process::Status;
use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGTERM},
    flag,
};

/// The exit code that a shell reports for a program ended by SIGINT.
const ENDED_BY_SIGINT: i32 = 130;

/// Returns a flag that the first signal sets.
pub fn watch() -> anyhow::Result<Arc<AtomicBool>> {
    let asked = Arc::new(AtomicBool::new(false));
    let hang_up = (!ignores_hang_up()).then_some(SIGHUP);
    for signal in [SIGINT, SIGTERM].into_iter().chain(hang_up) {
        // This order is required: the signal that sets the flag must not find it set already.
        flag::register_conditional_shutdown(signal, ENDED_BY_SIGINT, Arc::clone(&asked))?;
        flag::register(signal, Arc::clone(&asked))?;
    }
    Ok(asked)
}

/// Returns whether the program ignores SIGHUP, as under `nohup`. It then continues to ignore it.
fn ignores_hang_up() -> bool {
    Status::own().is_ok_and(|status| status.ignores(SIGHUP))
}
