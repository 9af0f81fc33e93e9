//! Bytes as what a node sends after the handshake, in pieces of every size.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rabbitscope_erlang::{FrameReader, Incoming};

fuzz_target!(|bytes: &[u8]| {
    let Some((&size, bytes)) = bytes.split_first() else { return };
    let mut frames = FrameReader::default();
    for piece in bytes.chunks(usize::from(size) + 1) {
        frames.push(piece);
        while let Ok(Some(frame)) = frames.next_frame() {
            let _ = Incoming::parse(frame);
        }
    }
});
