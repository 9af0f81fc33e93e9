//! Field tables as they come in the headers of a message: parsed or refused, and what is parsed is
//! the same after it was written and parsed again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rabbitscope_amqp::Properties;

/// Only `headers` is there.
const HEADERS: [u8; 2] = [0x20, 0x00];

fuzz_target!(|data: &[u8]| {
    drop(Properties::parse(data));
    let mut bytes = HEADERS.to_vec();
    bytes.extend_from_slice(&u32::try_from(data.len()).unwrap_or(0).to_be_bytes());
    bytes.extend_from_slice(data);
    let Ok(properties) = Properties::parse(&bytes) else { return };
    let mut written = Vec::new();
    properties.write(&mut written);
    let again = Properties::parse(&written).expect("what was written can be parsed");
    // As text: NaN is not equal to itself. What was not UTF-8 has been replaced and may have grown
    // beyond what a short string holds.
    let (again, first) = (format!("{again:?}"), format!("{properties:?}"));
    assert!(again == first || first.contains('\u{fffd}'), "{again}\n{first}");
});
