//! `[expect]` as serde reads and writes it: bounds such as `"< 20ms"` under the names of their metrics.

use std::{collections::BTreeMap, fmt, sync::LazyLock};

use rabbitscope_text::{Unit, parse_duration, parse_size};
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{DeserializeSeed, Error, MapAccess, Visitor},
    ser::SerializeMap,
};

use super::{Comparison, Expect, Expectation, Limit};
use crate::{
    record::Metric,
    scenario::error::{Problem, quoted},
};

const STEADY: &str = "steady";

/// The keys of each table by its path: `confirm.`; empty for `[expect]` itself.
static KEYS: LazyLock<BTreeMap<&str, Vec<&str>>> = LazyLock::new(|| {
    let mut tables = BTreeMap::from([("", vec![STEADY])]);
    for name in Metric::all().map(Metric::name) {
        let below = name.match_indices('.').map(|(point, _)| point + 1);
        for start in [0].into_iter().chain(below) {
            let (table, rest) = name.split_at(start);
            let key = rest.split('.').next().unwrap_or_default();
            let keys = tables.entry(table).or_default();
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
    }
    tables
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
        write_bounds(&mut map, &self.that, 0)?;
        map.end()
    }
}

/// The bounds of a table, and the length of its path.
struct Bounds<'a>(&'a [Expectation], usize);

impl Serialize for Bounds<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        write_bounds(&mut map, self.0, self.1)?;
        map.end()
    }
}

fn write_bounds<M: SerializeMap>(
    map: &mut M,
    bounds: &[Expectation],
    path_length: usize,
) -> Result<(), M::Error> {
    let keys = |one: &Expectation| &one.metric.name()[path_length..];
    let key = |one: &Expectation| keys(one).split('.').next();
    for of_key in bounds.chunk_by(|one, other| key(one) == key(other)) {
        match keys(&of_key[0]).split_once('.') {
            Some((key, _)) => {
                map.serialize_entry(key, &Bounds(of_key, path_length + key.len() + 1))?;
            }
            None => map.serialize_entry(keys(&of_key[0]), &of_key[0].bound())?,
        }
    }
    Ok(())
}

impl<'de> Deserialize<'de> for Expect {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut expect = Self::default();
        Table { path: "", expect: &mut expect }.deserialize(deserializer)?;
        let place = |one: &Expectation| Metric::all().position(|metric| metric == one.metric);
        expect.that.sort_by_cached_key(place);
        Ok(expect)
    }
}

/// Reader of a table of bounds.
struct Table<'a> {
    /// The path of [`KEYS`].
    path: &'a str,
    expect: &'a mut Expect,
}

impl<'de> DeserializeSeed<'de> for Table<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Table<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Self { path, expect } = self;
        let keys = KEYS.get(path).map_or(&[][..], Vec::as_slice);
        while let Some(key) = map.next_key::<String>()? {
            let name = format!("{path}{key}");
            match Metric::from_name(&name) {
                _ if !keys.contains(&key.as_str()) => {
                    return Err(A::Error::unknown_field(&key, keys));
                }
                _ if name == STEADY => expect.steady = map.next_value()?,
                Some(metric) => expect.that.push(map.next_value_seed(Bound(metric))?),
                None => map.next_value_seed(Table { path: &(name + "."), expect })?,
            }
        }
        Ok(())
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
    let has_share = matches!(metric, Metric::Count(_) | Metric::Time(_));
    if let Some(share) = text.strip_suffix('%').filter(|_| has_share) {
        return plain_number(share.trim()).map(Limit::Percent);
    }
    match metric.unit() {
        Unit::Nanos => nanos(text),
        Unit::PerSecond => plain_number(text).map(Limit::PerSecond),
        Unit::Bytes => parse_size(text).ok().map(Limit::Bytes),
        _ if matches!(metric, Metric::Count(_)) => text.parse().ok().map(Limit::Count),
        _ => plain_number(text).map(Limit::Number),
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
        Metric::Gauge(..) if metric.unit() == Unit::Bytes => "< 1GiB".to_owned(),
        Metric::Gauge(..) => "< 1.5".to_owned(),
    }
}
