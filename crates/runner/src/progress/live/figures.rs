//! The figures of the live view: a name, a value, some words, and the values for a curve.

use rabbitscope_runs::record::{
    Counter, Counters, Gauge, LiveForm, Percentiles, SecondLatencies, SecondRow, gauges,
};

use rabbitscope_text::{MetricId, Unit, grouped, short_time};

/// One line of the view.
#[derive(Debug, PartialEq)]
pub(super) struct Figure {
    pub(super) name: String,
    pub(super) value: String,
    pub(super) detail: String,
    /// One value per second, the latest last, on the figure's own scale.
    pub(super) curve: Vec<u64>,
}

/// Returns the figures of the seconds, in the order of the view.
pub(super) fn figures(rows: &[SecondRow]) -> Vec<Figure> {
    let Some(last) = rows.last() else { return Vec::new() };
    let mut all: Vec<_> = of_form(LiveForm::Rate).map(|counter| rate(rows, counter)).collect();
    all.extend(
        SecondLatencies::ALL
            .iter()
            .map(|kind| latency(rows, kind.id.title, |row| (kind.value)(&row.latencies))),
    );
    let gauges = gauges().filter(|gauge| gauge.is_live);
    let (waiting, usage): (Vec<Gauge>, Vec<Gauge>) =
        gauges.partition(|gauge| gauge.id.unit == Unit::Things);
    all.extend(waiting.into_iter().map(|gauge| level(rows, gauge.id, |row| gauge.value(row))));
    all.extend(
        of_form(LiveForm::Count).map(|counter| {
            level(rows, counter.id, |row| Some((counter.value)(&row.counts) as f64))
        }),
    );
    all.extend(of_form(LiveForm::Time).map(|counter| lapse(rows, counter)));
    for (index, poll) in last.polls.iter().enumerate() {
        let point = |row: &SecondRow| row.polls.get(index).and_then(|poll| poll.latency);
        all.push(latency(rows, &format!("HTTP {}", poll.name), point));
    }
    all.extend(usage.into_iter().map(|gauge| level(rows, gauge.id, |row| gauge.value(row))));
    all.into_iter().flatten().collect()
}

fn of_form(form: LiveForm) -> impl Iterator<Item = &'static Counter> {
    Counters::ALL.iter().filter(move |counter| counter.live == form)
}

fn rate(rows: &[SecondRow], counter: &Counter) -> Option<Figure> {
    let of = |row: &SecondRow| per_second((counter.value)(&row.counts), row);
    let curve: Vec<u64> = rows.iter().map(of).collect();
    let most = *curve.iter().max().filter(|most| **most > 0)?;
    let value = format!("{}/s", grouped(*curve.last()?));
    let detail = format!("at most {}/s", grouped(most));
    Some(Figure { name: counter.id.title.to_owned(), value, detail, curve })
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rate, rounded")]
fn per_second(count: u64, row: &SecondRow) -> u64 {
    (count as f64 * 1e9 / row.interval_nanos.max(1) as f64).round() as u64
}

/// Makes a latency's figure. The curve is the 99th percentile.
fn latency(
    rows: &[SecondRow],
    name: &str,
    point: impl Fn(&SecondRow) -> Option<Percentiles>,
) -> Option<Figure> {
    let curve: Vec<u64> = rows.iter().map(|row| point(row).map_or(0, |point| point.p99)).collect();
    rows.iter().find_map(&point)?;
    let last = point(rows.last()?);
    let value = last.map_or("–".to_owned(), |point| short_time(point.p99));
    let detail = last.map_or(String::new(), |point| {
        format!("p99; p50 {}, max {}", short_time(point.p50), short_time(point.max))
    });
    Some(Figure { name: name.to_owned(), value, detail, curve })
}

/// Makes the figure of a value, once it was above 0.
fn level(
    rows: &[SecondRow],
    id: MetricId,
    value: impl Fn(&SecondRow) -> Option<f64>,
) -> Option<Figure> {
    let values: Vec<f64> = rows.iter().map(|row| value(row).unwrap_or(0.0)).collect();
    let most = values.iter().copied().max_by(f64::total_cmp).filter(|most| *most > 0.0)?;
    Some(Figure {
        name: id.title.to_owned(),
        value: value(rows.last()?).map_or("–".to_owned(), |value| id.unit.display(value)),
        detail: format!("at most {}", id.unit.display(most)),
        curve: values.into_iter().map(thousandths).collect(),
    })
}

/// Makes the figure of a counter that measures a part of each second.
fn lapse(rows: &[SecondRow], counter: &Counter) -> Option<Figure> {
    let curve: Vec<u64> = rows.iter().map(|row| (counter.value)(&row.counts)).collect();
    let sum = Some(curve.iter().sum()).filter(|sum| *sum > 0)?;
    let value = short_time(*curve.last()?);
    Some(Figure {
        name: counter.id.title.to_owned(),
        value,
        detail: format!("{} in all", short_time(sum)),
        curve,
    })
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not negative")]
fn thousandths(value: f64) -> u64 {
    (value.max(0.0) * 1000.0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(published: u64, nanos: u64, p99: Option<u64>) -> SecondRow {
        let point = |p99| Percentiles { p50: p99 / 2, p99, max: 2 * p99, ..Percentiles::default() };
        SecondRow {
            counts: Counters { published, ..Counters::default() },
            interval_nanos: nanos,
            latencies: SecondLatencies {
                confirm_latency: p99.map(point),
                ..SecondLatencies::default()
            },
            ..SecondRow::default()
        }
    }

    #[test]
    fn only_what_there_is_is_shown() {
        assert_eq!(figures(&[]), []);
        let rows = [row(3000, 1_000_000_000, Some(2_000_000)), row(1000, 500_000_000, None)];
        let figures = figures(&rows);
        let names: Vec<_> = figures.iter().map(|figure| figure.name.as_str()).collect();
        assert_eq!(names, ["written", "confirm latency"]);
        let [published, confirm] = &figures[..] else { panic!("two figures") };
        assert_eq!(
            (published.value.as_str(), published.detail.as_str()),
            ("2,000/s", "at most 3,000/s")
        );
        assert_eq!(published.curve, [3000, 2000]);
        assert_eq!((confirm.value.as_str(), confirm.curve.as_slice()), ("–", &[2_000_000, 0][..]));
    }
}
