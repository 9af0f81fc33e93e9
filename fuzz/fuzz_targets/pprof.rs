//! pprof, of this program and of others: read or refused, and what is read can be written and read.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rabbitscope_profiles::{read_pprof, write_pprof};

fuzz_target!(|data: &[u8]| {
    // Compressed data is hardly ever damaged in a way that still decompresses.
    if data.starts_with(&[0x1f, 0x8b]) {
        return;
    }
    let Ok(profile) = read_pprof(data) else { return };
    let mut written = Vec::new();
    if write_pprof(&profile, &mut written).is_err() {
        return;
    }
    let again = read_pprof(written.as_slice()).expect("what was written can be read");
    assert_eq!(again.samples.len(), profile.samples.len());
});
