//! The VM's tables of its machine code, read out of a process that changes them: parsed or refused.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rabbitscope_probe::fuzzing::symbol_blob(data));
