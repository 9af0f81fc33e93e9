//! The main figures of a run, for the tiles at the top of the page.

use rabbitscope_analysis::{Activity, LoadRates};
use rabbitscope_profiles::Profile;
use rabbitscope_runs::record::{Latency, RunRecord, SecondLatencies, SecondRow};
use rabbitscope_text::Unit;
use serde::Serialize;

use crate::checks::capitalised;

/// One tile: a headline with its details.
#[derive(Debug, Serialize)]
pub(crate) struct Figure {
    pub(crate) name: String,
    /// Definition of the value, in one sentence.
    pub(crate) meaning: &'static str,
    pub(crate) value: f64,
    /// Unit of the value. The page chooses digits and prefixes.
    pub(crate) unit: Unit,
    /// The whole that the value is a part of.
    pub(crate) of: Option<f64>,
    pub(crate) details: Vec<Detail>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Detail {
    name: &'static str,
    value: f64,
    unit: Unit,
}

/// Returns the figures that this run can show, in the order of the page.
pub(crate) fn figures(run: &RunRecord, series: &[SecondRow]) -> Vec<Figure> {
    let rates = LoadRates::from_series(series).unwrap_or_else(|| rates_of_totals(run));
    figures_at(run, &rates, series)
}

/// Returns the figures of a run at these rates.
pub(crate) fn figures_at(run: &RunRecord, rates: &LoadRates, series: &[SecondRow]) -> Vec<Figure> {
    [
        publish_rate(run, rates),
        consume_rate(run, rates),
        reply_rate(run, rates),
        churn_rate(run, rates),
        latency(run, Latency::Confirm, "Median time from write to confirm."),
        latency(run, Latency::EndToEnd, "Median time from write to delivery."),
        latency(run, Latency::Processed, "Median time from write to the start of processing."),
        latency(run, Latency::Settled, "Median time from write to acknowledgement or refusal."),
        latency(run, Latency::RoundTrip, "Median time from request to reply."),
        broker_cpu(run, rates, series),
        cost_of_message(rates),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Returns the figures of the load generator and its sockets.
pub(crate) fn more_figures(run: &RunRecord) -> Vec<Figure> {
    let shown = [client_cpu(run), batching(run, Direction::Write), batching(run, Direction::Read)];
    shown.into_iter().flatten().collect()
}

/// Returns the figures of a profile without a run.
pub(crate) fn figures_of_profile(profile: &Profile) -> Vec<Figure> {
    let activity = Activity::from_profile(profile);
    let figure = |cores| Figure {
        name: "CPU used".to_owned(),
        meaning: "Mean number of cores that the samples show busy.",
        value: cores,
        unit: Unit::Cores,
        of: activity.cores.map(f64::from).filter(|cpus| *cpus >= cores),
        details: vec![Detail::new("samples", profile.total() as f64, Unit::Things)],
    };
    activity.busy_cores.map(figure).into_iter().collect()
}

/// Computes the rates of a run without series.
fn rates_of_totals(run: &RunRecord) -> LoadRates {
    let seconds = run.duration_nanos.max(1) as f64 / 1e9;
    LoadRates {
        written: run.load.counts.published as f64 / seconds,
        accepted: run.load.counts.accepted.get().map(|count| count as f64 / seconds),
        confirmed: run.load.counts.confirmed as f64 / seconds,
        consumed: run.load.counts.consumed as f64 / seconds,
        replied: run.load.counts.replies as f64 / seconds,
        churned: run.load.counts.churn_opened as f64 / seconds,
        seconds,
        ..LoadRates::default()
    }
}

fn publish_rate(run: &RunRecord, rates: &LoadRates) -> Option<Figure> {
    let load = &run.load;
    let written = Detail::per_second("written", rates.written);
    if load.counts.confirmed == 0 {
        let meaning = match rates.accepted {
            Some(_) => {
                "Messages that the broker accepted per second under load: it answered a later request (confirms were \
                 off). Written messages are those that the sockets took."
            }
            None => "Messages written per second under load; confirms were off.",
        };
        return (load.counts.published > 0).then(|| Figure {
            name: "Published".to_owned(),
            meaning,
            value: rates.published(),
            unit: Unit::PerSecond,
            of: None,
            details: vec![written, Detail::messages("in all", load.counts.accepted_or_written())],
        });
    }
    Some(Figure {
        name: "Confirmed".to_owned(),
        meaning: "Messages that the broker confirmed per second under load. The total includes \
                  confirms that came after the publishers had stopped.",
        value: rates.confirmed,
        unit: Unit::PerSecond,
        of: None,
        details: vec![written, Detail::messages("in all", load.counts.confirmed)],
    })
}

fn consume_rate(run: &RunRecord, rates: &LoadRates) -> Option<Figure> {
    (run.load.counts.consumed > 0).then_some(())?;
    Some(Figure {
        name: "Consumed".to_owned(),
        meaning: "Messages delivered to consumers per second under load.",
        value: rates.consumed,
        unit: Unit::PerSecond,
        of: None,
        details: vec![Detail::messages("in all", run.load.counts.consumed)],
    })
}

fn reply_rate(run: &RunRecord, rates: &LoadRates) -> Option<Figure> {
    let counts = &run.load.counts;
    (counts.requests > 0).then_some(())?;
    let details = [
        ("in all", counts.replies),
        ("unanswered", counts.requests_unanswered),
        ("stray", counts.stray_replies),
    ];
    Some(Figure {
        name: "Replies".to_owned(),
        meaning: "Replies that callers received in time, per second under load. Requests and replies \
                  are messages, too, and count as published and consumed.",
        value: rates.replied,
        unit: Unit::PerSecond,
        of: None,
        details: some_messages(&details),
    })
}

fn churn_rate(run: &RunRecord, rates: &LoadRates) -> Option<Figure> {
    let counts = &run.load.counts;
    (counts.churn_opened + counts.churn_failed > 0).then_some(())?;
    let details = [
        ("opened", counts.churn_opened),
        ("closed", counts.churn_closed),
        ("failed", counts.churn_failed),
    ];
    Some(Figure {
        name: "Churn".to_owned(),
        meaning: "Connections, channels, queues, bindings and consumers opened per second under load, \
                  and then closed.",
        value: rates.churned,
        unit: Unit::PerSecond,
        of: None,
        details: some_messages(&details),
    })
}

/// Returns the first count and the others that are not zero.
fn some_messages(counts: &[(&'static str, u64)]) -> Vec<Detail> {
    let shown = counts.iter().enumerate().filter(|(at, (_, count))| *at == 0 || *count > 0);
    shown.map(|(_, (name, count))| Detail::messages(name, *count)).collect()
}

fn latency(run: &RunRecord, latency: Latency, meaning: &'static str) -> Option<Figure> {
    let summary = run.latency(latency)?.percentiles;
    if summary.count == 0 {
        return None;
    }
    let detail = |name, nanos: u64| Detail { name, value: nanos as f64, unit: Unit::Nanos };
    Some(Figure {
        name: capitalised(SecondLatencies::of(latency).id.title),
        meaning,
        value: summary.p50 as f64,
        unit: Unit::Nanos,
        of: None,
        details: vec![detail("p99", summary.p99), detail("max", summary.max)],
    })
}

fn broker_cpu(run: &RunRecord, rates: &LoadRates, series: &[SecondRow]) -> Option<Figure> {
    let cores = rates.broker_cpu_cores?;
    let mut details = Vec::new();
    if let Some(rss) = series.iter().filter_map(|row| row.broker_rss_bytes).max() {
        details.push(Detail { name: "peak memory", value: rss as f64, unit: Unit::Bytes });
    }
    Some(Figure {
        name: "Broker CPU".to_owned(),
        meaning: "Mean under load, user and system, as the kernel accounts it to the node.",
        value: cores,
        unit: Unit::Cores,
        of: Some(f64::from(run.machine.cpus)).filter(|cpus| *cpus >= cores),
        details,
    })
}

fn cost_of_message(rates: &LoadRates) -> Option<Figure> {
    let messages = rates.published() + rates.consumed;
    let nanos = rates.broker_cpu_cores? * 1e9;
    (messages > 0.0).then(|| Figure {
        name: "Broker CPU per message".to_owned(),
        meaning: "CPU time of the node for each message published or consumed.",
        value: nanos / messages,
        unit: Unit::Nanos,
        of: None,
        details: Vec::new(),
    })
}

fn client_cpu(run: &RunRecord) -> Option<Figure> {
    let load = &run.load;
    let messages = load.counts.published + load.counts.consumed;
    (messages > 0 && load.counts.client_cpu_nanos > 0).then_some(())?;
    let cores = load.counts.client_cpu_nanos as f64 / run.duration_nanos.max(1) as f64;
    Some(Figure {
        name: "Client CPU per message".to_owned(),
        meaning: "CPU time of the load threads for each message published or consumed.",
        value: load.counts.client_cpu_nanos as f64 / messages as f64,
        unit: Unit::Nanos,
        of: None,
        details: vec![Detail { name: "in all", value: cores, unit: Unit::Cores }],
    })
}

#[derive(Clone, Copy)]
enum Direction {
    Write,
    Read,
}

/// Returns the mean bytes and messages per system call on the socket.
fn batching(run: &RunRecord, direction: Direction) -> Option<Figure> {
    let load = &run.load;
    let (calls, bytes, messages, name, meaning) = match direction {
        Direction::Write => (
            load.counts.writes,
            load.counts.bytes_written,
            load.counts.published,
            "Per write",
            "Average number of bytes in one write to the kernel.",
        ),
        Direction::Read => (
            load.counts.reads,
            load.counts.bytes_read,
            load.counts.consumed,
            "Per read",
            "Average number of bytes in one read from the kernel.",
        ),
    };
    let value = ratio(bytes, calls as f64)?;
    let mut details = Vec::new();
    if messages > 0 {
        let value = ratio(messages, calls as f64)?;
        details.push(Detail { name: "messages", value, unit: Unit::Things });
    }
    if let Some(value) = ratio(calls, seconds(run)) {
        details.push(Detail::per_second("calls", value));
    }
    Some(Figure { name: name.to_owned(), meaning, value, unit: Unit::Bytes, of: None, details })
}

impl Detail {
    pub(crate) const fn new(name: &'static str, value: f64, unit: Unit) -> Self {
        Self { name, value, unit }
    }

    fn messages(name: &'static str, count: u64) -> Self {
        Self { name, value: count as f64, unit: Unit::Things }
    }

    fn per_second(name: &'static str, value: f64) -> Self {
        Self { name, value, unit: Unit::PerSecond }
    }
}

fn seconds(run: &RunRecord) -> f64 {
    run.duration_nanos as f64 / 1e9
}

fn ratio(part: u64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part as f64 / whole)
}
