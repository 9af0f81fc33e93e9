//! Updates of two workers of a run in turn, one line of JSON each: the run ends, and the measured part is within the counted
//! whole.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rabbitscope_load::fuzzing::worker_updates(data));
