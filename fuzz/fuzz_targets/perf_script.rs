//! The text of `perf script`: read or refused; as folded stacks it keeps its weight.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rabbitscope_profiles::{read_folded, read_perf_script, write_folded};

fuzz_target!(|data: &[u8]| {
    let Ok(profile) = read_perf_script(data) else { return };
    let mut written = Vec::new();
    write_folded(&profile, &mut written).expect("what was read can be written");
    let total = profile.samples.iter().fold(0_u128, |sum, it| sum + u128::from(it.weight));
    let Ok(again) = read_folded(written.as_slice()) else {
        assert!(total > u128::from(u64::MAX), "what was written can be read");
        return;
    };
    let again = again.samples.iter().fold(0_u128, |sum, it| sum + u128::from(it.weight));
    assert_eq!(again, total);
});
