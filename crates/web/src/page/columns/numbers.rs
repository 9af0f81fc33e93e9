//! Numbers of variable length (LEB128): seven bits a byte, the lowest first.

/// Appends a number.
pub(super) fn put(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    bytes.push(number.to_le_bytes()[0]);
}

/// Takes a number from the front; `None` if the bytes end before it, or if it needs more than 64 bits.
pub(super) fn take(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0_u64;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        let bits = u64::from(byte & 0x7f);
        if bits << shift >> shift != bits {
            return None;
        }
        number |= bits << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_seven_bits_a_byte() {
        let mut bytes = Vec::new();
        for number in [0, 127, 128, 300] {
            put(&mut bytes, number);
        }
        assert_eq!(bytes, [0, 127, 128, 1, 172, 2]);
    }

    #[test]
    fn damage_is_refused() {
        let check = |mut bytes: &[u8], expected| assert_eq!(take(&mut bytes), expected);
        check(&[172, 2], Some(300));
        check(&[], None);
        check(&[0x80], None);
        check(&[0xff; 11], None);
        check(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1], Some(u64::MAX));
        check(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2], None);
    }
}
