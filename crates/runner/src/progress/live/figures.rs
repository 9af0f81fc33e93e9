//! The figures of the live view: a name, a value, some words, and the values for a curve.

use rabbitscope_runs::record::{
    Counter, Counters, LiveForm, Percentiles, SecondLatencies, SecondRow,
};

use rabbitscope_text::{grouped, short_time};

const MIB: f64 = 1024.0 * 1024.0;

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
            .map(|kind| latency(rows, kind.title, |row| (kind.value)(&row.latencies))),
    );
    all.push(count(rows, "confirms in flight", |row| Some(row.unconfirmed)));
    all.push(count(rows, "messages in queues", |row| row.queue_messages));
    all.extend(
        of_form(LiveForm::Count)
            .map(|counter| count(rows, &title(counter), |row| Some((counter.value)(&row.counts)))),
    );
    all.extend(of_form(LiveForm::Time).map(|counter| lapse(rows, counter)));
    for (index, poll) in last.polls.iter().enumerate() {
        let point = |row: &SecondRow| row.polls.get(index).and_then(|poll| poll.latency);
        all.push(latency(rows, &format!("HTTP {}", poll.name), point));
    }
    all.push(cores(rows, "broker CPU", |row| row.broker_cpu_cores));
    all.push(memory(rows));
    all.push(cores(rows, "client CPU", |row| row.client_cpu_cores));
    all.into_iter().flatten().collect()
}

fn of_form(form: LiveForm) -> impl Iterator<Item = &'static Counter> {
    Counters::ALL.iter().filter(move |counter| counter.live == form)
}

/// Returns the counter's name as words: `late by client`.
fn title(counter: &Counter) -> String {
    // The name `published` is older than the counter of accepted messages.
    let name = if counter.name == "published" { "written" } else { counter.name };
    name.strip_suffix("_nanos").unwrap_or(name).replace('_', " ")
}

fn rate(rows: &[SecondRow], counter: &Counter) -> Option<Figure> {
    let of = |row: &SecondRow| per_second((counter.value)(&row.counts), row);
    let curve: Vec<u64> = rows.iter().map(of).collect();
    let most = *curve.iter().max().filter(|most| **most > 0)?;
    let value = format!("{}/s", grouped(*curve.last()?));
    let detail = format!("at most {}/s", grouped(most));
    Some(Figure { name: title(counter), value, detail, curve })
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

fn count(
    rows: &[SecondRow],
    name: &str,
    count: impl Fn(&SecondRow) -> Option<u64>,
) -> Option<Figure> {
    let curve: Vec<u64> = rows.iter().map(|row| count(row).unwrap_or(0)).collect();
    let most = *curve.iter().max().filter(|most| **most > 0)?;
    let value = grouped(count(rows.last()?).unwrap_or(0));
    let detail = format!("at most {}", grouped(most));
    Some(Figure { name: name.to_owned(), value, detail, curve })
}

/// Makes the figure of a counter that measures a part of each second.
fn lapse(rows: &[SecondRow], counter: &Counter) -> Option<Figure> {
    let curve: Vec<u64> = rows.iter().map(|row| (counter.value)(&row.counts)).collect();
    let sum = Some(curve.iter().sum()).filter(|sum| *sum > 0)?;
    let value = short_time(*curve.last()?);
    Some(Figure {
        name: title(counter),
        value,
        detail: format!("{} in all", short_time(sum)),
        curve,
    })
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "thousandths of a core"
)]
fn cores(rows: &[SecondRow], name: &str, cores: fn(&SecondRow) -> Option<f64>) -> Option<Figure> {
    let curve =
        rows.iter().map(|row| (cores(row).unwrap_or(0.0).max(0.0) * 1000.0) as u64).collect();
    let value = format!("{:.2}", cores(rows.last()?)?);
    Some(Figure { name: name.to_owned(), value, detail: "cores".to_owned(), curve })
}

fn memory(rows: &[SecondRow]) -> Option<Figure> {
    let bytes = rows.last()?.broker_rss_bytes?;
    Some(Figure {
        name: "broker memory".to_owned(),
        value: format!("{:.0} MiB", bytes as f64 / MIB),
        detail: "resident".to_owned(),
        curve: rows.iter().map(|row| row.broker_rss_bytes.unwrap_or(0)).collect(),
    })
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
