//! A stable id for each window.

use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;

use crate::Window;

/// Computes a window's id: 128 bits of its node, event and start. The id is neither secret nor random, so a backend
/// can recognize a window that it already has.
pub(super) fn window_id(window: &Window) -> u128 {
    let half = |seed: u64| {
        let mut hasher = FxHasher::default();
        seed.hash(&mut hasher);
        window.labels.hash(&mut hasher);
        window.profile.event.hash(&mut hasher);
        window.started_unix_nanos.hash(&mut hasher);
        u128::from(hasher.finish())
    };
    half(1) << 64 | half(2)
}

/// Formats an id as a UUID of version 8 (RFC 9562), whose bits are free to choose.
pub(super) fn uuid(id: u128) -> String {
    let id = id & !(0xf << 76) | 0x8 << 76;
    let id = id & !(0x3 << 62) | 0x2 << 62;
    let hex = format!("{id:032x}");
    let parts = [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]];
    parts.join("-")
}
