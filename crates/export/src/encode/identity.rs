//! A number for a window that is the same each time the window is sent.

use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;

use crate::Window;

/// 128 bits of node, event and start: no secret, and not random, so that a backend can see that it has a window
/// already.
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

/// The form of RFC 9562, version 8: bits of our own choice.
pub(super) fn uuid(id: u128) -> String {
    let id = id & !(0xf << 76) | 0x8 << 76;
    let id = id & !(0x3 << 62) | 0x2 << 62;
    let hex = format!("{id:032x}");
    let parts = [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]];
    parts.join("-")
}
