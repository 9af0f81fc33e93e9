//! Tests of the whole path of measurements: from the threads of several processes through bytes to one outcome.

use std::{sync::Arc, time::SystemTime};

use rabbitscope_runs::{
    Random,
    record::{Latency, Verdict},
    scenario::RunOptions,
};
use rabbitscope_timing::{LatencyHistogram, Nanos, RunInstant};

use super::{
    Collector, Merger, PartSize, PartWishes,
    update::{PartState, WorkerUpdate},
};
use crate::{
    aggregate::Aggregator,
    outcome::{LoadOutcome, Progress},
    report::{IntervalMeasurements, IntervalReport, PublisherCounts, Report},
    shared_state::SharedState,
};

const SECONDS: u32 = 4;

/// Random measurements of a thread in one second. Values cover every magnitude of a latency.
fn measured(random: &mut Random, all: &mut [LatencyHistogram]) -> IntervalMeasurements {
    let mut measured = IntervalMeasurements::default();
    for _ in 0..random.below(300) {
        let which = usize::try_from(random.below(3)).unwrap();
        let latency = [Latency::Confirm, Latency::EndToEnd, Latency::ClientDelay][which];
        let value = Nanos::new(random.next() >> random.below(64));
        // No run has values beyond 2^62, and histograms of such values take a mebibyte each.
        let value = value.min(Nanos::new(1 << 45));
        measured.slots.select(u16::try_from(random.below(5)).unwrap());
        measured.measure(latency, value, 1 + random.below(3) / 2);
    }
    measured.slots.store_selected();
    let by_slot = measured.slots.clone().take();
    for histograms in &by_slot {
        for (sum, part) in all.iter_mut().zip(histograms) {
            sum.add(part);
        }
    }
    measured.counts.published = random.below(1000);
    measured.counts.consumed = random.below(1000);
    measured.unstamped = random.below(2);
    if random.below(4) == 0 {
        measured.churn.opened(1, Nanos::new(random.below(1 << 30)));
    }
    measured
}

fn interval(worker: usize, turn: u32, measured: IntervalMeasurements) -> IntervalReport {
    let draining = turn == SECONDS;
    IntervalReport {
        worker,
        second: if draining { 0 } else { turn },
        start: RunInstant::of_second(turn),
        end: RunInstant::of_second(turn + 1),
        draining,
        is_last: draining,
        measured,
        publisher_counts: PublisherCounts { publishers: 1 + worker, connections: 1 },
    }
}

/// Reports of every thread of every process in the order of the seconds, and one histogram per latency with all
/// samples.
type Run = (Vec<Vec<Vec<IntervalReport>>>, Vec<LatencyHistogram>);

fn run(processes: usize, threads: usize, seed: u64) -> Run {
    let mut random = Random::new(seed);
    let mut all = vec![LatencyHistogram::default(); Latency::ALL.len()];
    let mut reports = Vec::new();
    for _ in 0..processes {
        let mut of_process = Vec::new();
        for turn in 0..=SECONDS {
            let mut second = Vec::new();
            for thread in 0..threads {
                second.push(interval(thread, turn, measured(&mut random, &mut all)));
            }
            of_process.push(second);
        }
        reports.push(of_process);
    }
    (reports, all)
}

/// Formats the progress of a second, bin for bin.
fn shown(told: Progress<'_>) -> String {
    match told {
        Progress::Latency { name, histogram } => format!("{name} {:?}", bins_of(histogram)),
        told => format!("{told:?}"),
    }
}

/// The outcome of the reports as threads of one process, and each row as text.
fn of_one(reports: &[Vec<Vec<IntervalReport>>], threads: usize) -> (LoadOutcome, Vec<String>) {
    let mut rows = Vec::new();
    let mut aggregator =
        Aggregator::new(reports.len() * threads, SystemTime::UNIX_EPOCH, &RunOptions::default());
    for (process, seconds) in reports.iter().enumerate() {
        for interval in seconds.iter().flatten() {
            let mut interval = interval.clone();
            interval.worker += process * threads;
            aggregator.add(interval, &mut |told| rows.push(shown(told)));
        }
    }
    let outcome = aggregator.finish(7, Verdict::Completed, &mut |_| {});
    (outcome, rows)
}

/// The same outcome for processes that send updates.
fn of_several(reports: &[Vec<Vec<IntervalReport>>], threads: usize) -> (LoadOutcome, Vec<String>) {
    let shared = SharedState::default();
    let size = PartSize { load_threads: threads, ..PartSize::default() };
    let mut merger = Merger::new(&vec![size; reports.len()], &shared);
    let mut rows = Vec::new();
    let mut aggregator =
        Aggregator::new(merger.threads(), SystemTime::UNIX_EPOCH, &RunOptions::default())
            .with_service(Arc::clone(&shared.service));
    for (process, seconds) in reports.iter().enumerate() {
        let (local, mut collector) = (SharedState::default(), Collector::new(threads));
        for second in seconds {
            for interval in second {
                collector.take(Report::Interval(Box::new(interval.clone())));
            }
            let now = second[0].end;
            let update = collector.update(now, &local).expect("every thread has reported").encode();
            // A repeated update changes nothing.
            for _ in 0..2 {
                for report in merger.take(process, &update, RunInstant::NEVER, &shared).unwrap() {
                    let Report::Interval(interval) = report else { panic!("only intervals") };
                    aggregator.add(*interval, &mut |told| rows.push(shown(told)));
                }
            }
        }
    }
    let outcome = aggregator.finish(7, Verdict::Completed, &mut |_| {});
    (outcome, rows)
}

#[test]
fn several_processes_measure_what_one_would_bin_for_bin() {
    for (processes, threads, seed) in [(1, 1, 1), (4, 1, 2), (4, 3, 3), (2, 5, 4), (8, 2, 5)] {
        let (reports, all) = run(processes, threads, seed);
        let (one, rows_of_one) = of_one(&reports, threads);
        let (several, rows_of_several) = of_several(&reports, threads);
        assert_eq!(rows_of_several, rows_of_one, "{processes} processes");
        assert_eq!(without_logs(&several), without_logs(&one), "{processes} processes");
        for (latency, samples) in Latency::ALL.iter().zip(&all) {
            let records = &several.latencies;
            let record =
                records.iter().find(|record| record.summary.figures.name == latency.name());
            let Some(samples) = samples.measured() else { continue };
            let figures = &record.unwrap().summary.figures.percentiles;
            assert_eq!((figures.count, figures.max), (samples.len(), samples.max()));
            assert_eq!(figures.p9999, samples.value_at_quantile(0.9999));
            let records = record.unwrap();
            assert_eq!(bins(&records.hlog), bins_of(samples), "{latency:?}");
        }
    }
}

/// Removes the logs, which are compared by their bins.
fn without_logs(outcome: &LoadOutcome) -> LoadOutcome {
    let mut outcome = outcome.clone();
    outcome.latencies.iter_mut().for_each(|latency| latency.hlog.clear());
    outcome
}

/// Sums every bin over the intervals of a log.
fn bins(hlog: &[u8]) -> Vec<(u64, u64)> {
    use base64::Engine;
    use hdrhistogram::{
        Histogram,
        serialization::{
            Deserializer,
            interval_log::{IntervalLogIterator, LogEntry},
        },
    };
    let mut sum = Histogram::<u64>::new(3).unwrap();
    for entry in IntervalLogIterator::new(hlog) {
        let LogEntry::Interval(interval) = entry.unwrap() else { continue };
        let decoder = base64::engine::general_purpose::STANDARD;
        let bytes = decoder.decode(interval.encoded_histogram()).unwrap();
        let read: Histogram<u64> = Deserializer::new().deserialize(&mut bytes.as_slice()).unwrap();
        sum.add(&read).unwrap();
    }
    bins_of(&sum)
}

fn bins_of(histogram: &hdrhistogram::Histogram<u64>) -> Vec<(u64, u64)> {
    histogram.iter_recorded().map(|bin| (bin.value_iterated_to(), bin.count_at_value())).collect()
}

#[test]
fn what_a_lost_process_did_not_tell_is_not_waited_for() {
    let (reports, _) = run(3, 2, 9);
    let shared = SharedState::default();
    let size = PartSize { load_threads: 2, ..PartSize::default() };
    let mut merger = Merger::new(&[size; 3], &shared);
    let mut aggregator = Aggregator::new(6, SystemTime::UNIX_EPOCH, &RunOptions::default());
    let mut seconds = Vec::new();
    for (process, of_process) in reports.iter().enumerate() {
        let (local, mut collector) = (SharedState::default(), Collector::new(2));
        // The last process dies after a second.
        for second in of_process.iter().take(if process == 2 { 1 } else { 9 }) {
            for interval in second {
                collector.take(Report::Interval(Box::new(interval.clone())));
            }
            let update = collector.update(second[0].end, &local).unwrap().encode();
            for report in merger.take(process, &update, RunInstant::NEVER, &shared).unwrap() {
                let Report::Interval(interval) = report else { panic!("only intervals") };
                aggregator.add(*interval, &mut |told| seconds.push(shown(told)));
            }
        }
    }
    let is_row = |told: &&String| told.starts_with("Second");
    assert_eq!(seconds.iter().filter(is_row).count(), 1, "the others wait for it");
    let lost = merger.give_up(2, &shared);
    assert_eq!((lost.threads.clone(), lost.running), (4..6, 2));
    for thread in lost.threads {
        aggregator.give_up(thread, &mut |told| seconds.push(shown(told)));
    }
    assert_eq!(seconds.iter().filter(is_row).count(), SECONDS as usize + 1);
    assert_eq!(merger.give_up(2, &shared).running, 0, "once");
}

#[test]
fn a_process_cannot_end_more_threads_than_it_has() {
    let shared = SharedState::default();
    let size = PartSize { load_threads: 2, ..PartSize::default() };
    let mut merger = Merger::new(&[size; 2], &shared);
    let state = PartState { ended: usize::MAX, confirming: usize::MAX, ..PartState::default() };
    for process in 0..2 {
        let update = WorkerUpdate { number: 1, state, ..WorkerUpdate::default() };
        let reports = merger.take(process, &update.encode(), RunInstant::NEVER, &shared).unwrap();
        assert_eq!(reports.len(), 2);
        assert!(!merger.is_running(process));
    }
}

/// The refused process is dropped: the run does not wait for it, and nothing counts twice.
#[test]
fn an_impossible_update_is_refused_and_changes_nothing() {
    let shared = SharedState::default();
    let size = PartSize { load_threads: 1, ..PartSize::default() };
    let mut merger = Merger::new(&[size; 2], &shared);
    let mut wrong = interval(0, 0, IntervalMeasurements::default());
    wrong.second = u32::MAX;
    let state = PartState { ended: 1, confirming: 1, ..PartState::default() };
    let intervals = vec![wrong];
    let update = WorkerUpdate { number: 1, intervals, state, ..WorkerUpdate::default() };
    let refused =
        merger.take(1, &update.encode(), RunInstant::NEVER, &shared).err().unwrap().to_string();
    assert!(refused.contains("second 4294967295 begins in second 0"), "{refused}");
    assert!(refused.contains("Check its machine"), "{refused}");
    assert!(merger.is_running(1));
    assert_eq!(merger.give_up(1, &shared).running, 1);
    assert_eq!(merger.wishes(&shared), PartWishes::default());
}
