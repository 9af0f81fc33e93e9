//! Messages between a controller and its workers, and records of their log: refused, or the same when they are written and
//! read again.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rabbitscope_fleet::fuzzing::fleet_message(data));
