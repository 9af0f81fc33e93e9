//! The axes of a sweep, and the resulting cells.

use toml::Value;

use super::{Arm, SweepAxis};

/// Maximum number of values of one axis; more do not make a readable curve.
const MAX_VALUES: usize = 1000;

/// Maximum number of cells of a sweep. The program asks for confirmation at far fewer.
const MAX_CELLS: usize = 100_000;

impl SweepAxis {
    /// Reads a list, or `{ from, to, steps, scale }`. The error states the allowed forms.
    pub(super) fn from_value(key: String, values: &Value) -> Result<Self, String> {
        let values = match values {
            Value::Array(values) => values.iter().map(ToString::to_string).collect(),
            Value::Table(range) => range_of(range)?,
            _ => return Err(FORMS.to_owned()),
        };
        Self::checked(key, values)
    }

    /// Parses values from the command line: `1,10,100`, or `1..1000:10` with ten steps, `1..1000:10:log`. The error
    /// states the allowed forms.
    pub fn parse(key: &str, text: &str) -> Result<Self, String> {
        let Some((from, rest)) = text.split_once("..") else {
            let values = text.split(',').map(|value| value.trim().to_owned());
            return Self::checked(
                key.to_owned(),
                values.filter(|value| !value.is_empty()).collect(),
            );
        };
        let (to, rest) = rest.split_once(':').unwrap_or((rest, ""));
        let (steps, scale) = rest.split_once(':').unwrap_or((rest, "linear"));
        let refusal =
            || format!("`{text}` is not a range: write FROM..TO:STEPS or FROM..TO:STEPS:log");
        let number = |text: &str| text.trim().parse::<f64>().map_err(|_| refusal());
        let steps = steps.trim().parse().map_err(|_| refusal())?;
        let values = spaced(number(from)?, number(to)?, steps, scale == "log")?;
        Self::checked(key.to_owned(), values)
    }

    fn checked(key: String, values: Vec<String>) -> Result<Self, String> {
        let mut distinct = values.clone();
        distinct.sort();
        distinct.dedup();
        match values.len() {
            0 | 1 => Err("needs two values or more".to_owned()),
            count if count > MAX_VALUES => {
                Err(format!("has {count} values; the limit is {MAX_VALUES}"))
            }
            count if count > distinct.len() => Err("has a value twice".to_owned()),
            _ => Ok(Self { key, values }),
        }
    }
}

const FORMS: &str = "must be a list of values, or a table such as \
                     `{ from = 1, to = 1000, steps = 10, scale = \"log\" }`";

fn range_of(range: &toml::Table) -> Result<Vec<String>, String> {
    let known = ["from", "to", "steps", "scale"];
    if let Some(key) = range.keys().find(|key| !known.contains(&key.as_str())) {
        return Err(format!("has an unknown key `{key}`; it {FORMS}"));
    }
    let number = |key: &str| match range.get(key) {
        Some(Value::Integer(number)) => Ok(*number as f64),
        Some(Value::Float(number)) => Ok(*number),
        _ => Err(FORMS.to_owned()),
    };
    let is_log = match range.get("scale").map(Value::as_str) {
        None | Some(Some("linear")) => false,
        Some(Some("log")) => true,
        Some(_) => return Err("has a scale that is neither \"linear\" nor \"log\"".to_owned()),
    };
    let steps = range.get("steps").and_then(Value::as_integer);
    let steps =
        steps.and_then(|steps| usize::try_from(steps).ok()).ok_or_else(|| FORMS.to_owned())?;
    spaced(number("from")?, number("to")?, steps, is_log)
}

/// Returns evenly spaced values, rounded if both ends are whole numbers; equal neighbours count once.
fn spaced(from: f64, to: f64, steps: usize, is_log: bool) -> Result<Vec<String>, String> {
    let is_valid = from.is_finite() && to.is_finite() && from < to && (!is_log || from > 0.0);
    if !is_valid || !(2..=MAX_VALUES).contains(&steps) {
        return Err(format!(
            "needs `from` below `to`, above 0 for \"log\", and 2 to {MAX_VALUES} steps"
        ));
    }
    let is_whole = from.fract() == 0.0 && to.fract() == 0.0;
    let value = |step: usize| {
        let share = step as f64 / (steps - 1) as f64;
        let exact =
            if is_log { from * (to / from).powf(share) } else { from + share * (to - from) };
        if is_whole { exact.round().to_string() } else { exact.to_string() }
    };
    let mut values: Vec<String> = (0..steps).map(value).collect();
    values.dedup();
    Ok(values)
}

/// Returns all combinations of the axes' values, the last axis fastest. Fails if there are too many.
pub(super) fn cells(axes: &[SweepAxis]) -> Result<Vec<Arm>, String> {
    let count = axes.iter().try_fold(1_usize, |count, axis| {
        count.checked_mul(axis.values.len()).filter(|count| *count <= MAX_CELLS)
    });
    let count = count.ok_or_else(|| format!("the sweep has more than {MAX_CELLS} cells"))?;
    let cell = |number: usize| {
        let mut rest = number;
        let mut places: Vec<usize> = axes
            .iter()
            .rev()
            .map(|axis| {
                let place = rest % axis.values.len();
                rest /= axis.values.len();
                place
            })
            .collect();
        places.reverse();
        places
    };
    let arm = |cell: Vec<usize>| {
        let values: Vec<(&SweepAxis, &String)> =
            axes.iter().zip(&cell).map(|(axis, place)| (axis, &axis.values[*place])).collect();
        let name = |(axis, value): &(&SweepAxis, &String)| {
            let key = axis.key.rsplit('.').next().unwrap_or_default();
            format!("{key}={}", value.trim_matches('"'))
        };
        Arm {
            name: values.iter().map(name).collect::<Vec<_>>().join(" "),
            overrides: values.iter().map(|(axis, value)| format!("{}={value}", axis.key)).collect(),
            cell,
            ..Arm::default()
        }
    };
    Ok((0..count).map(|number| arm(cell(number))).collect())
}
