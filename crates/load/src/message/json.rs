//! JSON documents of a given size.

use super::Random;

/// What is left for the last field, which fills the document up.
const LAST: usize = 64;

/// A valid document of exactly `size` bytes; below 10 bytes it is `{}`, or a number of one digit.
pub(super) fn document(random: &mut Random, size: usize) -> Vec<u8> {
    let mut text = String::with_capacity(size);
    text.push('{');
    while text.len() + LAST < size {
        let number = random.next();
        let name = random.hex(6);
        let value = match number % 4 {
            0 => format!("{}", number >> 40),
            1 => format!("{}.{}", number >> 50, number % 89 + 10),
            2 => (number % 8 < 4).to_string(),
            _ => format!("\"{number:016x}\""),
        };
        text.extend(["\"", &name, "\":", &value, ","]);
    }
    match size.checked_sub(text.len() + r#""p":""}"#.len()) {
        Some(rest) => {
            let rest = random.hex(rest);
            text.extend(["\"p\":\"", &rest, "\"}"]);
        }
        None if size < 2 => return b"1".to_vec(),
        None => text.push('}'),
    }
    text.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_valid_and_as_large_as_asked_for() {
        let mut random = Random::new(7);
        for size in (0..300).chain([1000, 10_000]) {
            let body = document(&mut random, size);
            let read = serde_json::from_slice::<serde_json::Value>(&body);
            assert!(read.is_ok(), "{size}: {}", String::from_utf8_lossy(&body));
            if size >= 8 {
                assert_eq!(body.len(), size);
            }
        }
        assert_ne!(document(&mut random, 200), document(&mut random, 200));
    }
}
