//! Kinds of messages: the properties that decide about their handling, together.

use std::fmt;

use super::Values;

/// Share of the messages below which a kind is left out.
const RARE: f64 = 0.005;
/// Most kinds of a mix, and the least share of the messages that they have together.
const KINDS_MAX: usize = 16;
const COVERED_MIN: f64 = 0.98;

/// Properties of a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Kind {
    pub(crate) priority: Option<u8>,
    /// Time to live in milliseconds.
    pub(crate) expiration: Option<u64>,
    pub(crate) is_persistent: bool,
    /// Number and bytes of headers.
    pub(crate) headers: Option<(u16, u32)>,
}

/// Writes priority, time to live and delivery mode.
impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_persistent { "persistent" } else { "transient" })?;
        if let Some(priority) = self.priority {
            write!(f, ", priority {priority}")?;
        }
        match self.expiration {
            Some(millis) => write!(f, ", expires after {millis} ms"),
            None => Ok(()),
        }
    }
}

/// Counts of kinds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kinds {
    all: Values<Kind>,
    /// Kinds without their headers, whose sizes are often different in each message.
    plain: Values<Kind>,
    headers: Values<Option<(u16, u32)>>,
}

/// Several kinds with their shares, most frequent first.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Mix {
    pub(crate) shares: Vec<(f64, Kind)>,
    /// True if the kinds have their own headers. Otherwise the most frequent headers stand for all.
    pub(crate) has_headers: bool,
}

impl Kinds {
    pub(crate) fn add(&mut self, kind: Kind) {
        self.all.add(kind);
        self.plain.add(Kind { headers: None, ..kind });
        self.headers.add(kind.headers);
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.all.merge(&other.all);
        self.plain.merge(&other.plain);
        self.headers.merge(&other.headers);
    }

    /// Returns the most frequent values, each by itself.
    pub(crate) fn usual(&self) -> Kind {
        Kind {
            priority: most(&self.plain, |kind| kind.priority),
            expiration: most(&self.plain, |kind| kind.expiration),
            is_persistent: most(&self.plain, |kind| kind.is_persistent),
            headers: self.headers.most_frequent().and_then(|(headers, _)| *headers),
        }
    }

    /// Returns the shares of messages with another priority, time to live or headers than the usual ones.
    pub(crate) fn unusual(&self) -> [f64; 3] {
        let usual = self.usual();
        let share = |is_usual: &dyn Fn(&Kind) -> bool| {
            let ranked = self.plain.ranked().into_iter();
            let count: u64 =
                ranked.filter(|(kind, _)| is_usual(kind)).map(|(_, count)| count).sum();
            if self.plain.total() == 0 {
                0.0
            } else {
                1.0 - count as f64 / self.plain.total() as f64
            }
        };
        let headers = self.headers.most_frequent().map_or(0.0, |(_, share)| 1.0 - share);
        [
            share(&|kind| kind.priority == usual.priority),
            share(&|kind| kind.expiration == usual.expiration),
            headers,
        ]
    }

    /// Returns the kinds with their shares if there are several, and not too many.
    pub(crate) fn mix(&self) -> Option<Mix> {
        let of_all = mix(&self.all).map(|shares| Mix { shares, has_headers: true });
        // With one kind of all, there is nothing to mix.
        if of_all.is_some() || self.all.ranked().len() < 2 {
            return of_all;
        }
        mix(&self.plain).map(|shares| Mix { shares, has_headers: false })
    }

    /// Returns the messages of each kind without its headers; none if there are too many kinds.
    pub(crate) fn plain(&self) -> Option<Vec<(Kind, u64)>> {
        let ranked = self.plain.ranked().into_iter().map(|(kind, count)| (*kind, count));
        self.plain.is_complete().then(|| ranked.collect())
    }
}

/// Returns the most frequent value of a property; the default one without messages.
fn most<T: Ord + Clone + Default>(kinds: &Values<Kind>, of: impl Fn(Kind) -> T) -> T {
    let values = kinds.clone().map(of);
    values.most_frequent().map(|(value, _)| value.clone()).unwrap_or_default()
}

fn mix(kinds: &Values<Kind>) -> Option<Vec<(f64, Kind)>> {
    let total = kinds.total().max(1) as f64;
    let shares = kinds.ranked().into_iter().map(|(kind, count)| (count as f64 / total, *kind));
    let shares: Vec<_> =
        shares.take_while(|(share, _)| *share >= RARE).take(KINDS_MAX + 1).collect();
    let covered: f64 = shares.iter().map(|(share, _)| share).sum();
    ((2..=KINDS_MAX).contains(&shares.len()) && covered >= COVERED_MIN).then_some(shares)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(priority: u8, headers: u32) -> Kind {
        let headers = Some((1, headers)).filter(|(_, bytes)| *bytes > 0);
        Kind { priority: Some(priority), headers, ..Kind::default() }
    }

    #[test]
    fn kinds_have_their_shares_also_if_headers_differ_in_each_message() {
        let (mut few, mut many) = (Kinds::default(), Kinds::default());
        for number in 0..1_000_u32 {
            let priority = if number % 4 == 0 { 9 } else { 1 };
            few.add(kind(priority, if priority == 9 { 40 } else { 0 }));
            many.add(kind(priority, number));
        }
        let mix = few.mix().unwrap();
        assert_eq!(
            mix,
            Mix { shares: vec![(0.75, kind(1, 0)), (0.25, kind(9, 40))], has_headers: true }
        );
        assert_eq!(few.usual(), kind(1, 0));
        let [priority, expiration, headers] = few.unusual();
        assert!((priority - 0.25).abs() + expiration + (headers - 0.25).abs() < 1e-9);
        let mix = many.mix().unwrap();
        assert_eq!((mix.shares.len(), mix.has_headers), (2, false));
        assert_eq!(mix.shares[1], (0.25, kind(9, 0)));
    }

    #[test]
    fn one_kind_and_very_many_are_no_mix() {
        let (mut one, mut many) = (Kinds::default(), Kinds::default());
        for number in 0..1_000_u64 {
            one.add(Kind { expiration: if number == 1 { Some(5) } else { None }, ..kind(1, 0) });
            many.add(Kind { expiration: Some(number), ..Kind::default() });
        }
        // One of a thousand is an exception.
        assert_eq!((one.mix(), many.mix()), (None, None));
        assert_eq!(many.plain(), None);
    }
}
