//! Counts at the ends of lines, with or without a fraction.

/// A count of one, in millionths, the unit of sums.
pub(super) const ONE: u128 = 1_000_000;

/// Limit of the sum of all counts, in millionths.
pub(super) const MAX_TOTAL: u128 = u64::MAX as u128 * ONE;

/// Returns the largest power of ten, at most one, that divides all counts.
pub(super) fn largest_piece<'a>(counts: impl Iterator<Item = &'a u128>) -> u128 {
    let mut piece = ONE;
    for count in counts {
        while !count.is_multiple_of(piece) {
            piece /= 10;
        }
    }
    piece
}

pub(super) fn piece_name(piece: u128) -> &'static str {
    match piece {
        100_000 => "tenths",
        10_000 => "hundredths",
        1000 => "thousandths",
        100 => "ten-thousandths",
        10 => "hundred-thousandths",
        _ => "millionths",
    }
}

/// Parses a count into millionths. A fraction counts with its first six digits.
pub(super) fn read_count(text: &str) -> Option<u128> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let is_number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !is_number(whole) || !is_number(fraction) {
        return None;
    }
    let digits: String = fraction.chars().chain("000000".chars()).take(6).collect();
    let whole: u64 = whole.parse().ok()?;
    Some(u128::from(whole) * ONE + digits.parse::<u128>().ok()?)
}

#[cfg(test)]
mod tests {
    use crate::read_folded;

    #[test]
    fn fractions_of_counts_are_kept() {
        let check = |text: &str, unit: &str, expected: &[(u64, u64)]| {
            let profile = read_folded(text.as_bytes()).unwrap();
            let samples = profile.samples.iter().map(|sample| (sample.weight, sample.count));
            assert_eq!((profile.unit(), &samples.collect::<Vec<_>>()[..]), (unit, expected));
        };
        check("a 1.5\nb 2\n", "tenths", &[(15, 2), (20, 2)]);
        check("a 0.25\na 0.25\n", "tenths", &[(5, 1)]);
        check("a 1.0\nb 2.\n", "samples", &[(1, 1), (2, 2)]);
        check("a 0.0000014\n", "millionths", &[(1, 1)]);
    }

    #[test]
    fn a_sum_that_fits_in_no_unit_is_refused() {
        let text = format!("a {}\nb 0.000001\n", u64::MAX / 2);
        let error = read_folded(text.as_bytes()).unwrap_err().to_string();
        assert!(error.contains("too large in millionths"), "{error}");
    }
}
