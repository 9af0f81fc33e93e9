//! Patterns of node names, with `*` for any text.

/// A pattern such as `rabbit@*`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pattern(String);

impl Pattern {
    /// Accepts any text except an empty one.
    pub(super) fn parse(text: String) -> Result<Self, String> {
        if text.is_empty() {
            return Err("must name a node, such as `rabbit@host` or `rabbit@*`".to_owned());
        }
        Ok(Self(text))
    }

    /// Returns whether the name matches the pattern.
    pub(super) fn has(&self, name: &str) -> bool {
        let mut parts = self.0.split('*');
        let first = parts.next().unwrap_or_default();
        let Some(mut rest) = name.strip_prefix(first) else { return false };
        let Some(last) = parts.next_back() else { return rest.is_empty() };
        for part in parts {
            let Some(at) = rest.find(part) else { return false };
            rest = &rest[at + part.len()..];
        }
        rest.ends_with(last)
    }
}

#[cfg(test)]
mod tests {
    use super::Pattern;

    #[test]
    fn a_star_is_any_text() {
        let has = |pattern: &str, name| Pattern::parse(pattern.to_owned()).unwrap().has(name);
        for (pattern, name, expected) in [
            ("rabbit@a", "rabbit@a", true),
            ("rabbit@a", "rabbit@ab", false),
            ("rabbit@*", "rabbit@", true),
            ("rabbit@*", "hare@a", false),
            ("*@a", "rabbit@a", true),
            ("r*t@*.x", "rabbit@a.x", true),
            ("r*t@*.x", "rabbit@a.y", false),
            ("a*a", "a", false),
            ("*", "", true),
        ] {
            assert_eq!(has(pattern, name), expected, "{pattern} {name}");
        }
        assert!(Pattern::parse(String::new()).is_err());
    }
}
