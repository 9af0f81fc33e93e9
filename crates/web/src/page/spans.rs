//! Spans of a run behind all its charts: the profile, times without service, alarms, and injected faults.

use rabbitscope_runs::record::{FaultRecord, RunRecord, SpanKind};

use crate::document::{Hue, Mark, MarkKind};

/// Returns the spans by kind; a kind without spans is left out.
pub(super) fn spans(run: &RunRecord) -> Vec<Mark> {
    let mark = |name, hue| Mark::new(MarkKind::Spans, name, hue);
    let mut window = mark("profile", Hue::WINDOW);
    if let Some(profile) = &run.profile {
        let (from, length) = (profile.offset_nanos, profile.capture.duration_nanos);
        window.span(from as f64, (from + length) as f64, "the profile".to_owned());
    }
    let mut without = mark("without service", Hue::BAD);
    let mut blocked = mark("blocked by an alarm", Hue::WARN);
    for span in &run.service.spans {
        let of_kind = match span.kind {
            SpanKind::Blocked => &mut blocked,
            SpanKind::Down | SpanKind::Silent => &mut without,
        };
        add(of_kind, (span.from_nanos, span.to_nanos), &span.reason);
    }
    let mut faults = mark("under an injected fault", Hue::SOFT);
    run.faults.iter().for_each(|fault| add_fault(&mut faults, fault));
    let marks = [window, without, blocked, faults];
    marks.into_iter().filter(|mark| !mark.x.is_empty()).collect()
}

fn add(mark: &mut Mark, (from, to): (u64, u64), reason: &str) {
    let [begin, end] = [from, to].map(|nanos| nanos as f64 / 1e9);
    let text = format!("{}, {begin:.1} to {end:.1} s: {reason}", mark.name);
    mark.span(from as f64, to as f64, text);
}

/// Adds the span from the start of a fault until it was undone. A fault that never began has none.
fn add_fault(mark: &mut Mark, fault: &FaultRecord) {
    let Some(from) = fault.begun_nanos else { return };
    let to = fault.undone_nanos.or(fault.undo_begun_nanos).unwrap_or(from);
    let failure = fault.failure.as_ref().map(|failure| format!("; {failure}")).unwrap_or_default();
    add(mark, (from, to), &format!("{} of {}{failure}", fault.kind.as_str(), fault.node));
}
