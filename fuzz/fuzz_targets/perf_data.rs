//! Recordings of perf: read or refused, and what is read can be written.
#![no_main]

use std::io::{Cursor, sink};

use libfuzzer_sys::fuzz_target;
use rabbitscope_profiles::{
    CodeNames, RecordedFile, RecordedKernel, read_perf_data, write_firefox, write_folded,
    write_speedscope,
};

struct Names;

impl CodeNames for Names {
    fn in_file(&mut self, file: &RecordedFile, offset: u64) -> Option<String> {
        offset.is_multiple_of(2).then(|| format!("{}+{offset}", file.path))
    }

    fn in_kernel(&mut self, _: &RecordedKernel, address: u64) -> Option<String> {
        address.is_multiple_of(3).then(|| "k".to_owned())
    }

    fn generated(&mut self, _: u32, address: u64) -> Option<String> {
        address.is_multiple_of(2).then(|| format!("$m:f/{}", address % 7))
    }
}

fuzz_target!(|data: &[u8]| {
    let Ok(profile) = read_perf_data(Cursor::new(data), &mut Names) else { return };
    write_folded(&profile, sink()).expect("what was read can be written");
    write_speedscope(&profile, sink()).expect("what was read can be written");
    write_firefox(&profile, sink()).expect("what was read can be written");
});
