//! Joins the faults of a run with its times without service, which gives the cost of each fault.

use rabbitscope_runs::{
    record::{
        Doubt, DoubtKind, FaultOutage, FaultRecord, FaultTimes, NearestRanks, RunRecord, Service,
        SpanKind,
    },
    scenario::FaultKind,
};

/// A part of the load's time, in nanoseconds from its start.
type Span = (u64, u64);

/// Time after the end of a fault in which what begins still counts as its consequence. Chosen: a cluster that heals
/// restarts nodes within seconds.
const CONSEQUENCES: u64 = 5_000_000_000;

/// Adds the costs of its faults to `record`, and a doubt if a fault did not happen. A fault accounts for the time from
/// its start until the broker has recovered: the fault is undone, and service, confirms and alarms are as before. The
/// next fault and the end of the load end that time, too.
pub fn with_outages(record: RunRecord) -> RunRecord {
    let mut faults = record.faults.clone();
    let begins: Vec<u64> = faults.iter().filter_map(|fault| fault.begun_nanos).collect();
    for fault in &mut faults {
        let Some(begin) = fault.begun_nanos.filter(|_| fault.happened_nanos.is_some()) else {
            continue;
        };
        let next = begins.iter().copied().filter(|next| *next > begin).min();
        let latest = next.unwrap_or(u64::MAX).min(record.duration_nanos);
        let end = recovery(&record.service, fault.undone_nanos, latest);
        fault.outage = Some(outage(&record.service, (begin, end)));
    }
    let fault_times = times(&faults);
    let mut doubts = record.doubts.clone();
    doubts.extend(doubt(&faults));
    RunRecord { faults, fault_times, doubts, ..record }
}

/// When the last consequence of a fault is over that was undone then.
fn recovery(service: &Service, undone: Option<u64>, latest: u64) -> u64 {
    let Some(undone) = undone else { return latest };
    let spans = service.spans.iter().map(|span| (span.from_nanos, span.to_nanos));
    let stalls = service.stalls.iter().map(|stall| (stall.from_nanos, stall.to_nanos));
    let mut all: Vec<Span> = spans.chain(stalls).collect();
    all.sort_unstable();
    let last = undone.saturating_add(CONSEQUENCES);
    let end = all.into_iter().fold(
        undone,
        |end, (from, to)| {
            if from <= end.max(last) { end.max(to) } else { end }
        },
    );
    end.min(latest)
}

fn outage(service: &Service, window: Span) -> FaultOutage {
    let spans = |is_meant: fn(SpanKind) -> bool| -> Vec<Span> {
        let meant = service.spans.iter().filter(|span| is_meant(span.kind));
        meant.map(|span| (span.from_nanos, span.to_nanos)).collect()
    };
    let without = spans(|kind| matches!(kind, SpanKind::Down | SpanKind::Silent));
    let stalls = service.stalls.iter().map(|stall| (stall.from_nanos, stall.to_nanos));
    let stalled: Vec<Span> = without.iter().copied().chain(stalls).collect();
    let touched = service
        .stalls
        .iter()
        .filter(|stall| stall.from_nanos < window.1 && stall.to_nanos > window.0);
    FaultOutage {
        without_service_nanos: covered(&without, window),
        stalled_nanos: covered(&stalled, window),
        // A wait may have begun before the fault, with the last confirm.
        longest_wait_nanos: touched.map(|stall| stall.longest_nanos).max().unwrap_or(0),
        blocked_nanos: covered(&spans(|kind| kind == SpanKind::Blocked), window),
        until_nanos: Some(window.1),
    }
}

/// Returns the time of `window` that at least one of these spans covers.
fn covered(spans: &[Span], window: Span) -> u64 {
    let clipped = spans.iter().map(|(from, to)| ((*from).max(window.0), (*to).min(window.1)));
    let mut clipped: Vec<Span> = clipped.filter(|(from, to)| from < to).collect();
    clipped.sort_unstable();
    let mut reached = window.0;
    clipped.into_iter().fold(0, |sum, (from, to)| {
        let more = to.saturating_sub(from.max(reached));
        reached = reached.max(to);
        sum + more
    })
}

fn times(faults: &[FaultRecord]) -> Vec<FaultTimes> {
    let mut kinds: Vec<FaultKind> = faults.iter().map(|fault| fault.kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds.into_iter().map(|kind| times_of(kind, faults)).collect()
}

fn times_of(kind: FaultKind, faults: &[FaultRecord]) -> FaultTimes {
    let all: Vec<&FaultRecord> = faults.iter().filter(|fault| fault.kind == kind).collect();
    let percentiles = |time: fn(&FaultOutage) -> u64| {
        NearestRanks::from_values(
            all.iter().filter_map(|fault| fault.outage.as_ref()).map(time).collect(),
        )
    };
    let back = all
        .iter()
        .filter_map(|fault| Some(fault.undone_nanos?.saturating_sub(fault.undo_begun_nanos?)));
    FaultTimes {
        kind,
        planned: all.len() as u64,
        as_planned: all.iter().filter(|fault| fault.failure.is_none()).count() as u64,
        without_service: percentiles(|outage| outage.without_service_nanos),
        stalled: percentiles(|outage| outage.stalled_nanos),
        longest_wait: percentiles(|outage| outage.longest_wait_nanos),
        return_to_service: NearestRanks::from_values(back.collect()),
    }
}

/// Returns the doubt that the run differs from its scenario.
fn doubt(faults: &[FaultRecord]) -> Option<Doubt> {
    let failed: Vec<&FaultRecord> = faults.iter().filter(|fault| fault.failure.is_some()).collect();
    let first = failed.first()?;
    let reason = format!(
        "{} of {} faults did not go as planned; the first, `{}` at {:.1} s: {}",
        failed.len(),
        faults.len(),
        first.kind.as_str(),
        first.planned_nanos as f64 / 1e9,
        first.failure.as_deref().unwrap_or_default()
    );
    Some(Doubt { kind: DoubtKind::FaultFailed, reason })
}

#[cfg(test)]
mod tests {
    use rabbitscope_runs::record::{ServiceSpan, Stall};

    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn fault(kind: FaultKind, begun: u64, failure: Option<&str>) -> FaultRecord {
        FaultRecord {
            kind,
            planned_nanos: begun * SECOND,
            begun_nanos: Some(begun * SECOND),
            happened_nanos: failure.is_none().then_some(begun * SECOND + 1),
            undo_begun_nanos: Some((begun + 1) * SECOND),
            undone_nanos: Some((begun + 3) * SECOND),
            failure: failure.map(str::to_owned),
            ..FaultRecord::default()
        }
    }

    fn record(faults: Vec<FaultRecord>) -> RunRecord {
        let span = |kind, from: u64, to: u64| ServiceSpan {
            kind,
            from_nanos: from * SECOND,
            to_nanos: to * SECOND,
            reason: String::new(),
        };
        let stall = |from: u64, to: u64| Stall {
            from_nanos: from * SECOND,
            to_nanos: to * SECOND,
            waits: 1,
            longest_nanos: (to - from) * SECOND,
        };
        let spans = vec![
            span(SpanKind::Down, 11, 13),
            span(SpanKind::Blocked, 12, 14),
            span(SpanKind::Silent, 29, 40),
        ];
        let service =
            Service { spans, stalls: vec![stall(9, 12), stall(21, 22)], ..Service::default() };
        RunRecord { duration_nanos: 35 * SECOND, service, faults, ..RunRecord::default() }
    }

    #[test]
    fn a_fault_answers_for_the_time_until_the_next() {
        let kills = vec![
            fault(FaultKind::Kill, 10, None),
            fault(FaultKind::Kill, 20, None),
            fault(FaultKind::Kill, 30, None),
        ];
        let joined = with_outages(record(kills));
        let found: Vec<_> = joined
            .faults
            .iter()
            .map(|fault| fault.outage.unwrap())
            .map(|outage| {
                [
                    outage.without_service_nanos,
                    outage.stalled_nanos,
                    outage.longest_wait_nanos,
                    outage.blocked_nanos,
                ]
                .map(|nanos| nanos / SECOND)
            })
            .collect();
        assert_eq!(found, [[2, 3, 3, 2], [0, 1, 1, 0], [5, 5, 0, 0]]);
        let [times] = &joined.fault_times[..] else { panic!("{:?}", joined.fault_times) };
        let without = &times.without_service;
        assert_eq!((times.planned, times.as_planned, without.count), (3, 3, 3));
        assert_eq!((without.p50, without.max), (2 * SECOND, 5 * SECOND));
        assert_eq!(times.return_to_service.p50, 2 * SECOND);
        assert!(joined.doubts.is_empty());
    }

    /// What is wrong with a broker later is not the fault's.
    #[test]
    fn a_fault_answers_until_the_broker_has_recovered() {
        let joined = with_outages(record(vec![fault(FaultKind::Kill, 10, None)]));
        let outage = joined.faults[0].outage.unwrap();
        assert_eq!(outage.until_nanos, Some(14 * SECOND));
        assert_eq!(outage.without_service_nanos, 2 * SECOND);
        assert_eq!(outage.stalled_nanos, 3 * SECOND);
        let never = FaultRecord { undone_nanos: None, ..fault(FaultKind::Kill, 10, None) };
        let outage = with_outages(record(vec![never])).faults[0].outage.unwrap();
        assert_eq!(outage.until_nanos, Some(35 * SECOND));
        assert_eq!(outage.without_service_nanos, 8 * SECOND);
    }

    #[test]
    fn what_did_not_happen_has_no_outage_and_is_doubted() {
        let faults =
            vec![fault(FaultKind::Pause, 10, None), fault(FaultKind::Stop, 20, Some("it did not"))];
        let joined = with_outages(record(faults));
        assert_eq!((joined.faults[1].outage, joined.fault_times.len()), (None, 2));
        let stops = &joined.fault_times[0];
        assert_eq!((stops.kind, stops.as_planned, stops.stalled.count), (FaultKind::Stop, 0, 0));
        assert_eq!(joined.doubts[0].kind, DoubtKind::FaultFailed);
        let reason = "1 of 2 faults did not go as planned; the first, `stop` at 20.0 s: it did not";
        assert_eq!(joined.doubts[0].reason, reason);
        assert!(with_outages(RunRecord::default()).doubts.is_empty());
    }
}
