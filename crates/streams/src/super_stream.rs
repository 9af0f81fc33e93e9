//! Partitions of a super stream: which of them takes a message with a routing key.

/// Seed of RabbitMQ's Java client.
const SEED: u32 = 104_729;

/// Returns the partition, from 0, that takes messages with this key: `MurmurHash3` (x86, 32 bits) of the key, modulo the
/// number of partitions, as `RabbitMQ`'s Java client chooses it. 0 without partitions.
pub fn partition(key: &str, partitions: u32) -> u32 {
    murmur3(key.as_bytes(), SEED).checked_rem(partitions).unwrap_or(0)
}

/// `MurmurHash3` for x86 with 32 bits, by its author's reference.
fn murmur3(bytes: &[u8], seed: u32) -> u32 {
    const FIRST: u32 = 0xcc9e_2d51;
    const SECOND: u32 = 0x1b87_3593;
    let mix = |block: u32| block.wrapping_mul(FIRST).rotate_left(15).wrapping_mul(SECOND);
    let mut hash = seed;
    let mut blocks = bytes.chunks_exact(4);
    for block in &mut blocks {
        let block = block.iter().rev().fold(0, |sum, byte| sum << 8 | u32::from(*byte));
        hash = (hash ^ mix(block)).rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64);
    }
    let tail = blocks.remainder();
    if !tail.is_empty() {
        hash ^= mix(tail.iter().rev().fold(0, |sum, byte| sum << 8 | u32::from(*byte)));
    }
    hash ^= u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    hash = (hash ^ hash >> 16).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ hash >> 13).wrapping_mul(0xc2b2_ae35);
    hash ^ hash >> 16
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Vectors of the reference implementation.
    #[test]
    fn the_hash_is_murmur3() {
        for (text, seed, expected) in [
            ("", 0, 0),
            ("", 1, 0x514e_28b7),
            ("", u32::MAX, 0x81f1_6f39),
            ("test", 0, 0xba6b_d213),
            ("test", 0x9747_b28c, 0x704b_81dc),
            ("Hello, world!", 0x9747_b28c, 0x2488_4cba),
            ("The quick brown fox jumps over the lazy dog", 0x9747_b28c, 0x2fa8_26cd),
        ] {
            assert_eq!(murmur3(text.as_bytes(), seed), expected, "{text} {seed}");
        }
    }

    #[test]
    fn no_partition_is_no_error() {
        assert_eq!(partition("key", 0), 0);
        assert_eq!(partition("key", 1), 0);
    }
}
