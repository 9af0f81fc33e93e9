//! Structures of the VM as words.

use crate::node::ReadMemory;

/// Reads a structure of the VM as words, from its address and length. `None` if it has more than `most` bytes: the
/// length comes from the VM's file and may be any number.
pub(super) fn words_at(
    memory: &impl ReadMemory,
    (address, size): (u64, u64),
    most: u64,
) -> Option<Vec<u64>> {
    if size > most {
        return None;
    }
    let mut bytes = vec![0; usize::try_from(size).ok()?];
    memory.read(address, &mut bytes).ok()?;
    Some(bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect())
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::{ReadMemory, words_at};

    /// Memory with readable bytes at every address.
    struct Endless;

    impl ReadMemory for Endless {
        fn read(&self, _address: u64, bytes: &mut [u8]) -> io::Result<()> {
            bytes.fill(1);
            Ok(())
        }
    }

    #[test]
    fn a_structure_that_is_larger_than_any_is_not_read() {
        let check = |size: u64, expected: Option<usize>| {
            assert_eq!(words_at(&Endless, (8, size), 1024).map(|words| words.len()), expected);
        };
        check(0, Some(0));
        check(1024, Some(128));
        check(1025, None);
        check(1 << 60, None);
        check(u64::MAX, None);
    }
}
