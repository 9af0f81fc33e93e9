//! Bytes as a term: what is read is written and read again as the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rabbitscope_erlang::term::{Limits, decode, encode};

fuzz_target!(|bytes: &[u8]| {
    let Ok(term) = decode(bytes, Limits::default()) else { return };
    let _ = term.to_string();
    let external = encode(&term);
    // Compared as bytes: a float may be no number, which does not equal itself.
    let again = decode(&external, Limits::default()).expect("what was written can be read");
    assert_eq!(encode(&again), external);
});
