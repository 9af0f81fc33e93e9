//! Folded stacks: read or refused, and what is read is the same after it was written and read again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rabbitscope_profiles::{read_folded, write_folded};

fuzz_target!(|data: &[u8]| {
    let Ok(profile) = read_folded(data) else { return };
    let mut first = Vec::new();
    write_folded(&profile, &mut first).expect("what was read can be written");
    let again = read_folded(first.as_slice()).expect("what was written can be read");
    let mut second = Vec::new();
    write_folded(&again, &mut second).expect("what was read can be written");
    assert_eq!(String::from_utf8_lossy(&first), String::from_utf8_lossy(&second));
});
