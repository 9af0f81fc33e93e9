//! Ctrl-C and SIGTERM: the first asks for an early end, the second ends the program at once. A
//! throwaway broker ends in either case, its guard sees to that.

use std::sync::{Arc, atomic::AtomicBool};

use signal_hook::{
    consts::{SIGINT, SIGTERM},
    flag,
};

/// What a shell reports for a program that was ended by SIGINT.
const ENDED_BY_SIGINT: i32 = 130;

/// A flag that the first signal sets.
pub fn watch() -> anyhow::Result<Arc<AtomicBool>> {
    let asked = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // In this order: the signal that sets the flag must not yet find it set.
        flag::register_conditional_shutdown(signal, ENDED_BY_SIGINT, Arc::clone(&asked))?;
        flag::register(signal, Arc::clone(&asked))?;
    }
    Ok(asked)
}
