//! The choice of a file's values for weights, counts and event.

use prost::Message;

use super::{
    super::{Event, Profile, UnknownValue, ValueName},
    PprofError,
    fields::fields_of,
    message,
    read::{Import, SAMPLE},
};

/// Names of values that count samples of a CPU clock.
const SAMPLES: [&str; 2] = ["samples", "sample"];

/// Values with their counts, for files in which the count does not directly precede the value.
const COUNTS: [(&str, &str); 6] = [
    ("alloc_space", "alloc_objects"),
    ("inuse_space", "inuse_objects"),
    ("space", "objects"),
    ("delay", "contentions"),
    ("cpu", "samples"),
    ("cpu", "sample"),
];

/// The interpretation of a file's values.
#[derive(Clone, Debug)]
pub(super) struct Values {
    /// True if the file is rabbitscope's own, read with the values that it was written with.
    pub(super) is_own: bool,
    /// True if the chosen value is the one that source lines weigh.
    pub(super) is_usual: bool,
    pub(super) event: Event,
    /// Name and unit of a value that is not one of our events.
    pub(super) value: Option<ValueName>,
    /// Index of the value for weights.
    pub(super) weight: usize,
    /// Index of the value for counts.
    pub(super) count: Option<usize>,
    /// Weight of one occurrence, in the unit of the weight; 0 if unknown.
    period: u64,
    /// Weight of one occurrence in nanoseconds, for weights that are numbers of samples.
    pub(super) period_nanos: u64,
    pub(super) notes: Vec<String>,
}

impl Values {
    /// Chooses the value that the caller asks for. The default is the weight of our own files. For other files it is
    /// `pprof`'s choice: the file's default, or else the last value. A value of 0 in all samples is passed over.
    pub(super) fn choose(import: &Import<'_>, asked: Option<&str>) -> Result<Self, PprofError> {
        let types = names(import)?;
        let last = types
            .len()
            .checked_sub(1)
            .ok_or_else(|| PprofError::Broken("it has no sample type".to_owned()))?;
        let own = import.event()?;
        let known = own.map(|event| usual_of_own(event, &types, last));
        let index = match (asked, known) {
            (Some(asked), _) => index_of(&types, asked)?,
            (None, Some(weight)) => weight,
            (None, None) => usual(import, &types, last)?,
        };
        if let (Some(event), true) = (own, known == Some(index)) {
            let count = if event.is_weighted() { 0 } else { index };
            return Ok(Self::own(event, index, count));
        }
        Self::foreign(import, &types, index)
    }

    fn own(event: Event, weight: usize, count: usize) -> Self {
        Self {
            is_own: true,
            is_usual: true,
            event,
            value: None,
            weight,
            count: Some(count),
            period: 0,
            period_nanos: 0,
            notes: Vec::new(),
        }
    }

    fn foreign(import: &Import<'_>, types: &[ValueName], index: usize) -> Result<Self, PprofError> {
        let value = &types[index];
        let period = period(import)?;
        let is_ticks = SAMPLES.contains(&value.name.as_str())
            && value.unit == "count"
            && period
                .as_ref()
                .is_none_or(|(measured, _)| measured.name.is_empty() || measured.is_cpu());
        let is_nanos = |measured: &ValueName| measured.unit == "nanoseconds";
        let period_nanos = match &period {
            Some((measured, period)) if is_ticks && is_nanos(measured) => *period,
            _ => 0,
        };
        let of_weight =
            period.filter(|(measured, _)| measured == value).map_or(0, |(_, period)| period);
        Ok(Self {
            is_own: false,
            is_usual: import.event()?.is_none(),
            event: if is_ticks { Event::Cpu } else { Event::Imported },
            value: (!is_ticks).then(|| ValueName::new(&value.name, plural(&value.unit))),
            weight: index,
            count: count_index(import, types, index)?,
            period: of_weight,
            period_nanos,
            notes: note(types, index).into_iter().collect(),
        })
    }

    /// Estimates the number of occurrences from a weight; 1 without a known period.
    pub(super) fn count_of(&self, weight: u64) -> u64 {
        let times = |period: u64| (weight.saturating_add(period / 2) / period).max(1);
        let known = Some(self.period).filter(|&period| period > 0).map_or(1, times);
        known.min(weight)
    }
}

/// Turns CPU time that consists of whole samples into numbers of samples, as in our own recordings.
pub(super) fn normalised(mut profile: Profile, values: &Values) -> Profile {
    let nanos = ValueName::new("cpu", "nanoseconds");
    let Some(period) = (profile.capture.value.as_ref() == Some(&nanos))
        .then(|| common_period(&profile, values.period))
        .flatten()
    else {
        return profile;
    };
    profile.event = Event::Cpu;
    profile.capture.value = None;
    profile.capture.period_nanos = period;
    for sample in &mut profile.samples {
        sample.weight = sample.count;
    }
    profile
}

/// Returns the period by which every weight is a multiple of its count.
fn common_period(profile: &Profile, stated: u64) -> Option<u64> {
    let first = profile.samples.iter().find(|sample| sample.count > 0)?;
    let period = if stated > 0 { stated } else { first.weight / first.count };
    let holds = profile
        .samples
        .iter()
        .all(|sample| sample.count.checked_mul(period) == Some(sample.weight));
    let counts = profile.samples.iter().map(|sample| u128::from(sample.count)).sum::<u128>();
    // A count of one for each stack may stand for missing counts.
    let is_known = stated > 0 || counts > profile.samples.len() as u128;
    (period > 0 && holds && is_known).then_some(period)
}

fn names(import: &Import<'_>) -> Result<Vec<ValueName>, PprofError> {
    let types = import.head.sample_type.iter();
    types
        .map(|value| Ok(ValueName::new(import.string(value.r#type)?, import.string(value.unit)?)))
        .collect()
}

fn period(import: &Import<'_>) -> Result<Option<(ValueName, u64)>, PprofError> {
    let Some(value_type) = import.head.period_type else { return Ok(None) };
    let name = ValueName::new(import.string(value_type.r#type)?, import.string(value_type.unit)?);
    let period = u64::try_from(import.head.period).ok().filter(|&period| period > 0);
    Ok(period.map(|period| (name, period)))
}

/// Finds a value by name, or by number as in `pprof`.
fn index_of(types: &[ValueName], asked: &str) -> Result<usize, UnknownValue> {
    let by_name = types.iter().position(|value| value.name == asked);
    let by_number = || asked.parse().ok().filter(|&index: &usize| index < types.len());
    by_name.or_else(by_number).ok_or_else(|| UnknownValue {
        asked: asked.to_owned(),
        known: types.iter().map(|value| value.name.clone()).collect(),
    })
}

/// Index of the weight in our own files.
fn usual_of_own(event: Event, types: &[ValueName], last: usize) -> usize {
    let counts = types.iter().position(|value| value.name == event.occurrences());
    if event.is_weighted() { last } else { counts.unwrap_or(last) }
}

fn usual(import: &Import<'_>, types: &[ValueName], last: usize) -> Result<usize, PprofError> {
    let default = import.string(import.head.default_sample_type)?;
    let default = types.iter().position(|value| value.name == default);
    if types.len() == 1 {
        return Ok(0);
    }
    let used = used_values(import, types.len())?;
    let mut candidates = default.into_iter().chain((0..types.len()).rev());
    Ok(candidates.find(|&index| used[index]).unwrap_or(default.unwrap_or(last)))
}

/// Returns for each value whether any sample has it.
fn used_values(import: &Import<'_>, count: usize) -> Result<Vec<bool>, PprofError> {
    let mut used = vec![false; count];
    for field in fields_of(import.bytes, SAMPLE) {
        let sample = message::Sample::decode(field?.small()?)?;
        for (used, value) in used.iter_mut().zip(&sample.value) {
            *used |= *value != 0;
        }
        if used.iter().all(|used| *used) {
            break;
        }
    }
    Ok(used)
}

/// Returns the index of the value that counts the occurrences of another.
fn count_index(
    import: &Import<'_>,
    types: &[ValueName],
    index: usize,
) -> Result<Option<usize>, PprofError> {
    if types[index].unit == "count" {
        return Ok(Some(index));
    }
    let of_name =
        |name: &str| types.iter().position(|value| value.name == name && value.unit == "count");
    let mut pairs = COUNTS.iter().filter(|(value, _)| *value == types[index].name);
    let known = pairs.find_map(|(_, count)| of_name(count));
    let before = || index.checked_sub(1).filter(|&before| types[before].unit == "count");
    let Some(found) = known.or_else(before) else { return Ok(None) };
    Ok(used_values(import, types.len())?[found].then_some(found))
}

fn note(types: &[ValueName], index: usize) -> Option<String> {
    let text = |value: &ValueName| format!("`{}` in {}", value.name, plural(&value.unit));
    let is_other = |(other, value): &(usize, &ValueName)| {
        *other != index && !SAMPLES.contains(&value.name.as_str())
    };
    let others = types.iter().enumerate().filter(is_other);
    let others: Vec<String> = others.map(|(_, value)| text(value)).collect();
    let note = format!(
        "Weights are {}; the file also has {}: select with `flamegraph --value NAME`.",
        text(&types[index]),
        others.join(", ")
    );
    (!others.is_empty()).then_some(note)
}

/// Returns the unit as a plural noun.
fn plural(unit: &str) -> &str {
    match unit {
        "count" | "" => "units",
        "byte" => "bytes",
        other => other,
    }
}
