//! Pages as input: read or refused, and what is read is the same after it was written and read again.
#![no_main]

use std::io::Write;

use base64::{Engine, engine::general_purpose::STANDARD};
use flate2::{Compression, write::GzEncoder};
use libfuzzer_sys::fuzz_target;
use rabbitscope_profiles::ReadOptions;
use rabbitscope_web::{Report, read_page_with, write_report};

const LIMIT: u64 = 4 << 20;

fuzz_target!(|data: &[u8]| {
    let page = if data.starts_with(b"<!doctype") { data.to_vec() } else { page_of(data) };
    let Ok(profile) = read_page_with(page.as_slice(), ReadOptions::within(LIMIT)) else { return };
    let mut written = Vec::new();
    let report = Report { profile: Some(&profile), ..Report::default() };
    write_report(&mut written, &report).expect("what was read can be written");
    let again = read_page_with(written.as_slice(), ReadOptions::within(64 * LIMIT));
    let again = again.expect("what was written can be read");
    assert_eq!(again.total(), profile.total());
    assert_eq!(again.lines.len(), profile.lines.len());
});

/// Makes a page of its two elements, which a zero separates: compressed data is hardly ever damaged in a way that still
/// decompresses.
fn page_of(data: &[u8]) -> Vec<u8> {
    let zero = data.iter().position(|byte| *byte == 0).unwrap_or(data.len());
    let (json, columns) = data.split_at(zero);
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(columns.get(1..).unwrap_or_default()).expect("memory takes everything");
    let columns = STANDARD.encode(packed.finish().expect("memory takes everything"));
    let mut page = b"<!doctype html>\n<script type=\"application/json\" id=\"data\">".to_vec();
    page.extend_from_slice(json);
    page.extend_from_slice(b"</script>\n<script type=\"application/octet-stream\" id=\"columns\">");
    page.extend_from_slice(columns.as_bytes());
    page.extend_from_slice(b"</script>\n");
    page
}
