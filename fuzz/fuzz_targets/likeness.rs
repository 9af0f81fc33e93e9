//! Figures of a load, as a file beside a scenario has them: refused, or the same after writing and reading again. A load is
//! like itself.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rabbitscope_workload::{Measurements, Verdict, compare};

fuzz_target!(|text: &str| {
    let Ok(measured) = Measurements::from_json(text) else { return };
    let again = Measurements::from_json(&measured.to_json()).expect("it was just written");
    assert_eq!(again.to_json(), measured.to_json());
    let likeness = compare(&measured, &measured);
    assert!(likeness.verdict() != Verdict::Differs, "{}", likeness.text());
});
