//! Patterns of `java.lang.String.format` with one integer.

/// The equivalent of a pattern.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Pattern {
    /// A name with the placeholder of scenarios, `{}` or `{:05}`.
    Placeholder(String),
    /// A pattern without a placeholder in scenarios: the name for each number must be listed.
    Parts { front: String, width: usize, end: String, verb: char },
}

impl Pattern {
    /// Parses a pattern. Returns none if it has no number, or anything else to format.
    pub(super) fn read(pattern: &str) -> Option<Self> {
        let (front, rest) = split(pattern)?;
        let rest = rest.strip_prefix("1$").unwrap_or(rest);
        let digits = rest.find(|c: char| !c.is_ascii_digit())?;
        let verb = rest[digits..].chars().next().filter(|verb| "dsxXo".contains(*verb))?;
        let (flags, end) = (&rest[..digits], &rest[digits + 1..]);
        if split(end).is_some() {
            return None;
        }
        let (front, end) = (front.replace("%%", "%"), end.replace("%%", "%"));
        let has_braces = [&front, &end].iter().any(|text| text.contains(['{', '}']));
        let is_padded = flags.starts_with('0');
        let width: usize = if flags.is_empty() { 0 } else { flags.parse().ok()? };
        if "ds".contains(verb) && !has_braces && (flags.is_empty() || is_padded && verb == 'd') {
            let colon = if is_padded { format!(":{width:02}") } else { String::new() };
            return Some(Self::Placeholder(format!("{front}{{{colon}}}{end}")));
        }
        (!is_padded).then_some(Self::Parts { front, width, end, verb })
    }

    /// Returns the name for a number; for a placeholder, the placeholder.
    pub(super) fn name(&self, number: u32) -> String {
        match self {
            Self::Placeholder(name) => name.clone(),
            Self::Parts { front, width, end, verb } => {
                let digits = match verb {
                    'x' => format!("{number:x}"),
                    'X' => format!("{number:X}"),
                    'o' => format!("{number:o}"),
                    _ => number.to_string(),
                };
                format!("{front}{digits:>width$}{end}")
            }
        }
    }
}

impl Pattern {
    /// Returns the name for a number, also where scenarios have a placeholder.
    pub(super) fn expand(&self, number: u32) -> String {
        let Self::Placeholder(name) = self else { return self.name(number) };
        let Some((front, rest)) = name.split_once('{') else { return name.clone() };
        let (width, end) = rest.split_once('}').unwrap_or(("", rest));
        let width = width.trim_start_matches(':').parse().unwrap_or(0);
        format!("{front}{number:0width$}{end}")
    }
}

/// Splits a text at the first `%` that is not `%%`.
fn split(text: &str) -> Option<(&str, &str)> {
    let mut from = 0;
    loop {
        let percent = from + text[from..].find('%')?;
        if !text[percent + 1..].starts_with('%') {
            return Some((&text[..percent], &text[percent + 1..]));
        }
        from = percent + 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_become_placeholders() {
        fn check(pattern: &str, expected: Option<&str>) {
            let expected = expected.map(|name| Pattern::Placeholder(name.to_owned()));
            assert_eq!(Pattern::read(pattern), expected, "{pattern}");
        }
        check("q-%d", Some("q-{}"));
        check("q-%s", Some("q-{}"));
        check("%05d.x", Some("{:05}.x"));
        check("100%%-%1$d", Some("100%-{}"));
        check("q", None);
        check("q%%", None);
        check("%d-%d", None);
        check("%f", None);
        check("%05x", None);
    }

    #[test]
    fn other_patterns_are_written_out() {
        fn check(pattern: &str, expected: &str) {
            assert_eq!(Pattern::read(pattern).unwrap().name(26), expected);
        }
        check("q-%5d", "q-   26");
        check("q-%x", "q-1a");
        check("{%d}", "{26}");
    }
}
