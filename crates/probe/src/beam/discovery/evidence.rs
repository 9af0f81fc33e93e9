//! Found parts of a VM's layout with their evidence, and parts that are unclear.

/// A part of the layout, with its value and its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Evidence {
    /// Name of the part.
    pub(crate) part: &'static str,
    /// Value and source.
    pub(crate) found: String,
}

impl Evidence {
    pub(super) fn new(part: &'static str, found: impl Into<String>) -> Self {
        Self { part, found: found.into() }
    }
}

/// A part of the layout with no reading, or with more than one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct Unclear {
    /// Name of the part.
    pub(in super::super) part: &'static str,
    /// All readings, or a description of the search.
    pub(in super::super) seen: String,
}

impl Unclear {
    pub(super) fn new(part: &'static str, seen: impl Into<String>) -> Self {
        Self { part, seen: seen.into() }
    }

    /// The sentence for a refusal.
    pub(in super::super) fn sentence(&self) -> String {
        format!("{}: {}", self.part, self.seen)
    }
}

/// The only reading. Without one the error is `none`; with several it lists them in the form of `show`.
pub(super) fn only<T>(
    part: &'static str,
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
        (None, _) => Err(Unclear::new(part, none)),
        _ => Err(Unclear::new(part, format!("{count} readings: {}", texts.join("; ")))),
    }
}

#[cfg(test)]
mod tests {
    use super::only;

    #[test]
    fn two_readings_are_refused_with_both() {
        let check = |readings: &[u32], expected: Result<u32, &str>| {
            let found = only("offset", readings.to_vec(), "nothing fits", u32::to_string);
            assert_eq!(
                found.map_err(|unclear| unclear.sentence()),
                expected.map_err(str::to_owned)
            );
        };
        check(&[7], Ok(7));
        check(&[], Err("offset: nothing fits"));
        check(&[7, 8], Err("offset: 2 readings: 7; 8"));
    }
}
