//! Ctrl-C, SIGTERM, and the end of the terminal: the first asks for an early end, the second ends the
//! program at once. A throwaway broker ends in either case, its guard sees to that.

use std::{
    fs,
    sync::{Arc, atomic::AtomicBool},
};

use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGTERM},
    flag,
};

/// What a shell reports for a program that was ended by SIGINT.
const ENDED_BY_SIGINT: i32 = 130;

/// A flag that the first signal sets.
pub fn watch() -> anyhow::Result<Arc<AtomicBool>> {
    let asked = Arc::new(AtomicBool::new(false));
    let hang_up = (!ignores_hang_up()).then_some(SIGHUP);
    for signal in [SIGINT, SIGTERM].into_iter().chain(hang_up) {
        // In this order: the signal that sets the flag must not yet find it set.
        flag::register_conditional_shutdown(signal, ENDED_BY_SIGINT, Arc::clone(&asked))?;
        flag::register(signal, Arc::clone(&asked))?;
    }
    Ok(asked)
}

/// Under `nohup` the end of the terminal is to be ignored, and stays so.
fn ignores_hang_up() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    // Bit 0 is signal 1 (proc_pid_status(5)).
    mask.is_some_and(|mask| mask >> (SIGHUP - 1) & 1 == 1)
}
