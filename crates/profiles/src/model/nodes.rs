//! Simultaneous recordings of several nodes as one profile.

use super::{
    Capture, FrameKind, Profile, Sample, StackEntry, Times, lines::LineSum, samples::sort,
};

/// Merges the recordings of these nodes. The node's name becomes the outermost frame of each stack and part of each
/// process, because nodes give the same pid to different processes. `None` without a recording, or when events or units
/// differ.
pub fn by_node(recordings: Vec<(String, Profile)>) -> Option<Profile> {
    let first = &recordings.first()?.1;
    let unit = |profile: &Profile| {
        (profile.event, profile.capture.period_nanos, profile.capture.time_step_nanos)
    };
    if recordings.iter().any(|(_, profile)| unit(profile) != unit(first)) {
        return None;
    }
    let mut whole =
        Profile { event: first.event, capture: capture(&recordings), ..Profile::default() };
    let mut lines = LineSum::default();
    for (node, profile) in recordings {
        add(&mut whole, &mut lines, &node, profile);
    }
    whole.lines = lines.into_lines();
    sort(&mut whole.samples);
    Some(whole)
}

fn add(whole: &mut Profile, lines: &mut LineSum, node: &str, profile: Profile) {
    let root = whole.frames.intern_named(node, FrameKind::Thread);
    let ids = whole.frames.intern_all(&profile.frames);
    let later = steps_between(&whole.capture, &profile.capture);
    let process = |pid: &str| format!("{pid} {node}");
    for mut sample in profile.samples {
        let below = sample.stack.iter().map(|entry| entry.renamed(&ids));
        let stack = std::iter::once(StackEntry { frame: root, repeat: 1 }).chain(below).collect();
        sample.labels.process = sample.labels.process.map(|pid| process(&pid).into());
        let times = delayed(&sample.times, later);
        whole.samples.push(Sample { stack, times, ..sample });
    }
    let identities = profile.identities.into_iter();
    whole.identities.extend(identities.map(|(pid, identity)| (process(&pid), identity)));
    lines.add(&profile.lines, &ids);
    whole.quality = whole.quality.plus(profile.quality);
}

/// Number of steps between the starts of the first recording and of this one.
fn steps_between(first: &Capture, later: &Capture) -> u32 {
    let nanos = later.started_unix_nanos.saturating_sub(first.started_unix_nanos);
    u32::try_from(nanos.checked_div(first.time_step_nanos).unwrap_or(0)).unwrap_or(u32::MAX)
}

fn delayed(times: &Times, steps: u32) -> Times {
    let mut delayed = Times::default();
    times.iter().for_each(|(step, weight)| delayed.add(step.saturating_add(steps), weight));
    delayed
}

/// The capture from the first start to the last end, with each note under its node's name.
fn capture(recordings: &[(String, Profile)]) -> Capture {
    let all = || recordings.iter().map(|(_, profile)| &profile.capture);
    let started = all().map(|capture| capture.started_unix_nanos).min().unwrap_or(0);
    let ended = all()
        .map(|capture| capture.started_unix_nanos.saturating_add(capture.duration_nanos))
        .max();
    let pids = recordings
        .iter()
        .map(|(node, profile)| format!("{node} (pid {})", profile.capture.node_pid));
    let summary =
        format!("{} nodes as one: {}.", recordings.len(), pids.collect::<Vec<_>>().join(", "));
    let notes = recordings.iter().flat_map(|(node, profile)| {
        profile.capture.notes.iter().map(move |note| format!("{node}: {note}"))
    });
    Capture {
        started_unix_nanos: started,
        duration_nanos: ended.unwrap_or(0).saturating_sub(started),
        cpus: all().map(|capture| capture.cpus).max().unwrap_or(0),
        node: String::new(),
        notes: std::iter::once(summary).chain(notes).collect(),
        ..recordings[0].1.capture.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Event, Identity, read_folded};

    fn recording(folded: &str, started_unix_nanos: u64) -> Profile {
        let mut profile = read_folded(folded.as_bytes()).unwrap();
        profile.capture.started_unix_nanos = started_unix_nanos;
        profile.capture.duration_nanos = 100;
        profile.capture.time_step_nanos = 10;
        for sample in &mut profile.samples {
            sample.labels.process = Some("<0.9.0>".into());
            sample.times.add(1, sample.weight);
        }
        let queue = Identity { role: "queue".to_owned(), ..Identity::default() };
        profile.identities.insert("<0.9.0>".to_owned(), queue);
        profile
    }

    #[test]
    fn the_node_is_the_outermost_frame_and_part_of_the_process() {
        let one = recording("scheduler;m:f/1 3", 1000);
        let two = recording("scheduler;m:f/1 4\nscheduler;m:g/0 1", 1035);
        let whole = by_node(vec![("a@h".to_owned(), one), ("b@h".to_owned(), two)]).unwrap();
        let text = |sample: &Sample| {
            let names =
                sample.stack.iter().map(|entry| whole.frames.get(entry.frame).name.as_str());
            let names = names.collect::<Vec<_>>().join(";");
            let times: Vec<_> = sample.times.iter().collect();
            let process = sample.labels.process.as_deref().unwrap();
            format!("{names} {process} {} {times:?}", sample.weight)
        };
        let mut all: Vec<_> = whole.samples.iter().map(text).collect();
        all.sort();
        let expected = [
            "a@h;scheduler;m:f/1 <0.9.0> a@h 3 [(1, 3)]",
            "b@h;scheduler;m:f/1 <0.9.0> b@h 4 [(4, 4)]",
            "b@h;scheduler;m:g/0 <0.9.0> b@h 1 [(4, 1)]",
        ];
        assert_eq!(all, expected);
        assert_eq!(whole.identities.len(), 2);
        assert_eq!((whole.capture.started_unix_nanos, whole.capture.duration_nanos), (1000, 135));
        assert!(whole.capture.notes[0].starts_with("2 nodes as one: a@h"), "{:?}", whole.capture);
    }

    #[test]
    fn different_events_are_not_one_profile() {
        let one = recording("a 1", 0);
        let other = Profile { event: Event::OffCpu, ..one.clone() };
        let named = |profile| ("n".to_owned(), profile);
        assert!(by_node(vec![named(one), named(other)]).is_none());
        assert!(by_node(Vec::new()).is_none());
    }
}
