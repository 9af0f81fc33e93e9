//! The memory of a VM, altered: its layout is found as it was or refused.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rabbitscope_probe::fuzzing::memory_image(data));
