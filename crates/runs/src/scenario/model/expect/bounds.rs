//! `[expect]` as serde reads and writes it: bounds such as `"< 20ms"` under the names of their metrics.

use std::{fmt, sync::LazyLock};

use rabbitscope_text::parse_duration;
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{DeserializeSeed, Error, MapAccess, Visitor},
    ser::SerializeMap,
};

use super::{Comparison, Expect, Expectation, Limit};
use crate::{
    record::{ExpectedLatency, ExpectedRate, Metric, Quantile},
    scenario::error::{Problem, quoted},
};

const STEADY: &str = "steady";

/// All keys of `[expect]`.
static KEYS: LazyLock<Vec<&str>> = LazyLock::new(|| {
    let mut keys: Vec<_> =
        [STEADY].into_iter().chain(Metric::all().map(|metric| metric.keys().0)).collect();
    keys.dedup();
    keys
});

impl Expect {
    pub(in crate::scenario) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Serialize for Expect {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if self.steady {
            map.serialize_entry(STEADY, &true)?;
        }
        let mut rest = &self.that[..];
        while let Some(first) = rest.first() {
            let (key, figure) = first.metric.keys();
            let is_other = |one: &Expectation| one.metric.keys().0 != key;
            let (table, others) =
                rest.split_at(rest.iter().position(is_other).unwrap_or(rest.len()));
            rest = others;
            match figure {
                Some(_) => map.serialize_entry(key, &Bounds(table))?,
                None => map.serialize_entry(key, &first.bound())?,
            }
        }
        map.end()
    }
}

/// The bounds of one table.
struct Bounds<'a>(&'a [Expectation]);

impl Serialize for Bounds<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(
            self.0.iter().map(|one| (one.metric.keys().1.unwrap_or_default(), one.bound())),
        )
    }
}

impl<'de> Deserialize<'de> for Expect {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(WholeTable)
    }
}

struct WholeTable;

impl<'de> Visitor<'de> for WholeTable {
    type Value = Expect;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Expect, A::Error> {
        let mut expect = Expect::default();
        while let Some(key) = map.next_key::<String>()? {
            let plain = Metric::all().find(|metric| metric.keys() == (key.as_str(), None));
            let (latency, rate) = (ExpectedLatency::from_name(&key), ExpectedRate::from_name(&key));
            match (plain, latency, rate) {
                _ if key == STEADY => expect.steady = map.next_value()?,
                (Some(metric), ..) => expect.that.push(map.next_value_seed(Bound(metric))?),
                (_, Some(latency), _) => {
                    let metric = |name: &str| {
                        Quantile::from_name(name).map(|quantile| Metric::Latency(latency, quantile))
                    };
                    expect.that.extend(map.next_value_seed(Table(Quantile::NAMES, metric))?);
                }
                (_, _, Some(messages)) => {
                    let metric = |name: &str| (name == "rate").then_some(Metric::Rate(messages));
                    expect.that.extend(map.next_value_seed(Table(&["rate"], metric))?);
                }
                _ => return Err(A::Error::unknown_field(&key, &KEYS)),
            }
        }
        let place = |one: &Expectation| Metric::all().position(|metric| metric == one.metric);
        expect.that.sort_by_cached_key(place);
        Ok(expect)
    }
}

/// Reader of a table of bounds: its keys, and the metric of a key.
struct Table<F>(&'static [&'static str], F);

impl<'de, F: Fn(&str) -> Option<Metric>> DeserializeSeed<'de> for Table<F> {
    type Value = Vec<Expectation>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de, F: Fn(&str) -> Option<Metric>> Visitor<'de> for Table<F> {
    type Value = Vec<Expectation>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut expectations = Vec::new();
        while let Some(key) = map.next_key::<String>()? {
            match (self.1)(&key) {
                Some(metric) => expectations.push(map.next_value_seed(Bound(metric))?),
                None => return Err(A::Error::unknown_field(&key, self.0)),
            }
        }
        Ok(expectations)
    }
}

/// Reader of the bound of a metric.
struct Bound(Metric);

impl<'de> DeserializeSeed<'de> for Bound {
    type Value = Expectation;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Expectation, D::Error> {
        let bound = String::deserialize(deserializer)?;
        expectation(self.0, bound.trim()).map_err(D::Error::custom)
    }
}

fn expectation(metric: Metric, bound: &str) -> Result<Expectation, Problem> {
    let known = Comparison::ALL.iter().find_map(|comparison| {
        Some((*comparison, bound.strip_prefix(comparison.symbol())?.trim()))
    });
    let Some((comparison, limit)) = known else {
        return Err(Problem::new(format!(
            "{} does not say how to compare: write `<`, `<=`, `==`, `>=` or `>` and a limit, such \
             as `{}`",
            quoted(bound),
            example(metric)
        )));
    };
    match read_limit(metric, limit) {
        Some(limit) => Ok(Expectation { metric, comparison, limit }),
        None => Err(Problem::new(format!(
            "{} is not a limit for this; write a value such as `{}`",
            quoted(limit),
            example(metric)
        ))),
    }
}

fn read_limit(metric: Metric, text: &str) -> Option<Limit> {
    match metric {
        Metric::Latency(..) => nanos(text),
        Metric::Time(_) => match text.strip_suffix('%') {
            Some(share) => plain_number(share.trim()).map(Limit::Percent),
            None => nanos(text),
        },
        Metric::Rate(_) => plain_number(text).map(Limit::PerSecond),
        Metric::Count(_) => match text.strip_suffix('%') {
            Some(share) => plain_number(share.trim()).map(Limit::Percent),
            None => text.parse().ok().map(Limit::Count),
        },
    }
}

fn nanos(text: &str) -> Option<Limit> {
    let limit = parse_duration(text).ok()?;
    Some(Limit::Nanos(u64::try_from(limit.as_nanos()).ok()?))
}

/// Parses digits with at most one point, without a sign, an exponent or `inf`.
fn plain_number(text: &str) -> Option<f64> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    is_plain.then(|| text.parse().ok())?
}

fn example(metric: Metric) -> String {
    match metric {
        Metric::Latency(..) => "< 20ms".to_owned(),
        Metric::Rate(_) => ">= 10000".to_owned(),
        Metric::Count(_) => "== 0` or `< 1%".to_owned(),
        Metric::Time(_) => "< 2s` or `< 10%".to_owned(),
    }
}
