//! Erlang terms that can hold no text, so neither a password nor an address.

/// Longest term in bytes.
const MAX_BYTES: usize = 64;

/// Returns whether a text is one Erlang term of numbers, atoms and tuples, without spaces.
///
/// ```
/// assert!(rabbitscope_text::is_plain_term("{400,200}"));
/// assert!(!rabbitscope_text::is_plain_term("<<\"secret\">>"));
/// ```
pub fn is_plain_term(term: &str) -> bool {
    let is_letter = |letter: char| {
        letter.is_ascii_lowercase() || letter.is_ascii_digit() || "_{},.".contains(letter)
    };
    !term.is_empty() && term.len() <= MAX_BYTES && term.chars().all(is_letter) && is_closed(term)
}

fn is_closed(term: &str) -> bool {
    let depth = term.chars().try_fold(0_u32, |depth, letter| match letter {
        '{' => Some(depth + 1),
        '}' => depth.checked_sub(1),
        // It would be a second term.
        ',' if depth == 0 => None,
        _ => Some(depth),
    });
    depth == Some(0)
}
