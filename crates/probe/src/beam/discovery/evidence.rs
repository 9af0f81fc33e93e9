//! What was found of a VM's layout, and what could not be told.

/// A part of the layout, with its value and how it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Evidence {
    /// The part.
    pub(crate) what: &'static str,
    /// Value and source.
    pub(crate) found: String,
}

impl Evidence {
    pub(super) fn new(what: &'static str, found: impl Into<String>) -> Self {
        Self { what, found: found.into() }
    }
}

/// A part of the layout for which there is no reading, or more than one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct Unclear {
    /// The part.
    pub(in super::super) what: &'static str,
    /// All readings that were seen, or what was looked for.
    pub(in super::super) seen: String,
}

impl Unclear {
    pub(super) fn new(what: &'static str, seen: impl Into<String>) -> Self {
        Self { what, seen: seen.into() }
    }

    /// As a sentence of a refusal.
    pub(in super::super) fn sentence(&self) -> String {
        format!("{}: {}", self.what, self.seen)
    }
}

/// The only reading. Otherwise none, or those that were seen as `show` writes them.
pub(super) fn only<T>(
    what: &'static str,
    readings: Vec<T>,
    none: &str,
    show: impl Fn(&T) -> String,
) -> Result<T, Unclear> {
    const SHOWN: usize = 8;
    let count = readings.len();
    let texts: Vec<String> = readings.iter().take(SHOWN).map(show).collect();
    let mut all = readings.into_iter();
    match (all.next(), all.next()) {
        (Some(only), None) => Ok(only),
        (None, _) => Err(Unclear::new(what, none)),
        _ => Err(Unclear::new(what, format!("{count} readings: {}", texts.join("; ")))),
    }
}

#[cfg(test)]
mod tests {
    use super::only;

    #[test]
    fn two_readings_are_refused_with_both() {
        let check = |readings: &[u32], expected: Result<u32, &str>| {
            let found = only("offset", readings.to_vec(), "nothing fits", u32::to_string);
            assert_eq!(found.map_err(|it| it.sentence()), expected.map_err(str::to_owned));
        };
        check(&[7], Ok(7));
        check(&[], Err("offset: nothing fits"));
        check(&[7, 8], Err("offset: 2 readings: 7; 8"));
    }
}
