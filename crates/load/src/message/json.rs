//! JSON documents of a given size, with generated fields or fields from a pool.

use rabbitscope_runs::Random;

/// Space for the last field, which fills the document to its size.
const LAST: usize = 64;

/// Returns a valid document of exactly `size` bytes. Below 10 bytes it is `{}` or a one-digit number.
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

/// Names and values for documents.
#[derive(Debug)]
pub(super) struct Pool {
    names: Vec<String>,
    values: Vec<String>,
}

impl Pool {
    /// Creates `fields` names of 5 to 30 characters, and as many values of 5 to 200 characters.
    pub(super) fn new(random: &mut Random, fields: u32) -> Self {
        let mut texts = |longest: u64| -> Vec<String> {
            let text = |_| {
                let length = 5 + random.below(longest - 4);
                random.hex(usize::try_from(length).unwrap_or(5))
            };
            (0..fields).map(text).collect()
        };
        Self { names: texts(30), values: texts(200) }
    }

    /// Returns a document of at least `size` bytes and at least one field. If there are too few names, they repeat.
    pub(super) fn document(&self, random: &mut Random, size: usize) -> Vec<u8> {
        let first = random.below(self.names.len() as u64);
        let names = self.names.iter().cycle().skip(usize::try_from(first).unwrap_or(0));
        let mut text = String::with_capacity(size + 256);
        for name in names {
            let at = usize::try_from(random.below(self.values.len() as u64)).unwrap_or(0);
            let opening = if text.is_empty() { "{\"" } else { ",\"" };
            text.extend([opening, name, "\":\"", &self.values[at], "\""]);
            if text.len() + 1 >= size {
                break;
            }
        }
        text.push('}');
        text.into_bytes()
    }
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

    #[test]
    fn documents_of_a_pool_are_at_least_as_large_as_asked_for() {
        let mut random = Random::new(7);
        for (fields, size) in [(1, 0), (1, 5000), (1000, 12), (1000, 4000)] {
            let pool = Pool::new(&mut random, fields);
            let body = pool.document(&mut random, size);
            let read = serde_json::from_slice::<serde_json::Value>(&body).unwrap();
            assert!(body.len() >= size && body.len() < size + 256, "{size}: {}", body.len());
            let names = read.as_object().unwrap().len();
            assert!(names >= 1 && names <= fields as usize, "{fields}: {names}");
        }
    }
}
