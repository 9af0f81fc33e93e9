//! Copies of an encoded message at the end of the output.

use std::slice::ChunksExactMut;

/// Appends `count` copies of `message` to `out`, and returns them for the caller to change.
///
/// # Panics
///
/// Panics if `message` is empty.
#[inline]
pub fn append_copies<'a>(
    out: &'a mut Vec<u8>,
    message: &[u8],
    count: usize,
) -> ChunksExactMut<'a, u8> {
    let start = out.len();
    let end = start + count * message.len();
    out.reserve(end - start);
    if count > 0 {
        out.extend_from_slice(message);
    }
    // Few large copies are faster than many small ones.
    while out.len() < end {
        let more = (end - out.len()).min(out.len() - start);
        out.extend_from_within(start..start + more);
    }
    out[start..].chunks_exact_mut(message.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_count_has_that_many_copies() {
        for count in [0, 1, 2, 3, 64, 100] {
            let mut out = b"before".to_vec();
            assert_eq!(append_copies(&mut out, b"abc", count).len(), count);
            assert_eq!(out, [&b"before"[..], &b"abc".repeat(count)].concat());
        }
    }
}
