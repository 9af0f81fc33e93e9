//! Copies of an encoded message in the output.

use std::slice::ChunksExactMut;

/// Makes `out` from `start` on at least `count` copies of `message`, and returns these for the caller to change. Copies
/// that are there already stay as they are, and further ones are made of them.
///
/// # Panics
///
/// Panics if `message` is empty.
#[inline]
pub fn fill_with_copies<'a>(
    out: &'a mut Vec<u8>,
    start: usize,
    message: &[u8],
    count: usize,
) -> ChunksExactMut<'a, u8> {
    let end = start + count * message.len();
    if out.len() < end {
        out.reserve(end - out.len());
        if out.len() < start + message.len() {
            out.truncate(start);
            out.extend_from_slice(message);
        }
        // Few large copies are faster than many small ones.
        while out.len() < end {
            let more = (end - out.len()).min(out.len() - start);
            out.extend_from_within(start..start + more);
        }
    }
    out[start..end].chunks_exact_mut(message.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_count_has_that_many_copies() {
        for count in [0, 1, 2, 3, 64, 100] {
            let mut out = b"before".to_vec();
            assert_eq!(fill_with_copies(&mut out, 6, b"abc", count).len(), count);
            assert_eq!(out, [&b"before"[..], &b"abc".repeat(count)].concat());
        }
    }

    #[test]
    fn copies_that_are_there_stay() {
        for (there, count, expected) in [
            ("abXabY", 1, "abXabY"),
            ("abXabY", 2, "abXabY"),
            ("abXabY", 5, "abXabYabXabYabX"),
            ("abX", 3, "abXabXabX"),
            ("ab", 2, "abcabc"),
        ] {
            let mut out = there.as_bytes().to_vec();
            assert_eq!(fill_with_copies(&mut out, 0, b"abc", count).len(), count);
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        }
    }
}
