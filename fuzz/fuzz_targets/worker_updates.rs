//! What two workers of a run tell, one line of JSON each update, in turn: the run comes to its end, and what was measured
//! is a part of all that was counted.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rabbitscope_load::fuzzing::worker_updates(data));
