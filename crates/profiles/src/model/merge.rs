//! Several recordings merged into one profile.

use std::{collections::BTreeMap, time::Duration};

use super::{
    Capture, Event, FrameTable, Identities, Labels, Profile, Sample, SampleSum, StackQuality,
    Times, lines::LineSum, windows::WindowTimes,
};

/// Merges the recordings, and adds up the weights of equal stacks on the same thread. The result leaves out times and
/// processes, which belong to one recording: nodes give the same pid to different processes. `None` without a
/// recording, or when their events differ.
pub fn merged(profiles: &[Profile]) -> Option<Profile> {
    let mut sum = ProfileSum::default();
    profiles.iter().all(|profile| sum.add(profile)).then(|| sum.finish())?
}

/// An incremental form of [`merged`], which does not need all recordings in memory.
#[derive(Debug, Default)]
pub struct ProfileSum {
    /// Event and capture of the first recording, with the length of all.
    first: Option<(Event, Capture)>,
    quality: StackQuality,
    /// Notes, each by what makes it distinct.
    notes: BTreeMap<String, String>,
    count: usize,
    frames: FrameTable,
    samples: SampleSum,
    lines: LineSum,
    /// Identities of processes, if they are kept apart.
    identities: Option<Identities>,
    /// The places of the recordings in time, if times are kept.
    times: Option<WindowTimes>,
}

impl ProfileSum {
    /// Creates a sum that keeps processes apart. All recordings must be of the same process of the system.
    pub fn with_processes() -> Self {
        Self { identities: Some(Identities::new()), ..Self::default() }
    }

    /// Creates a sum of windows of one recording, in their order. It keeps processes and times, as one recording of the
    /// whole time would.
    pub fn of_windows() -> Self {
        Self { times: Some(WindowTimes::default()), ..Self::with_processes() }
    }

    /// Creates a sum of windows that may be of several nodes, in the order of their starts. It keeps times in steps of
    /// at least this length, and no processes.
    pub fn by_clock(step: Duration) -> Self {
        let step = u64::try_from(step.as_nanos()).unwrap_or(u64::MAX);
        Self { times: Some(WindowTimes::by_clock(step)), ..Self::default() }
    }

    /// Returns whether the recordings are windows of one recording.
    fn is_one_recording(&self) -> bool {
        self.times.as_ref().is_some_and(WindowTimes::are_of_one_recording)
    }

    /// Adds a recording. Returns false, without adding it, if its event or value differs from the first.
    pub fn add(&mut self, profile: &Profile) -> bool {
        match &mut self.first {
            None => self.first = Some((profile.event, profile.capture.clone())),
            Some((event, capture))
                if *event != profile.event || capture.value != profile.capture.value =>
            {
                return false;
            }
            Some((_, capture)) => {
                capture.duration_nanos =
                    capture.duration_nanos.saturating_add(profile.capture.duration_nanos);
            }
        }
        self.count += 1;
        if let Some(times) = &mut self.times {
            times.begin(&profile.capture);
        }
        self.quality = self.quality.plus(profile.quality);
        let is_one_recording = self.is_one_recording();
        for note in &profile.capture.notes {
            // Notes of windows differ in counts that grow; the latest has them all.
            let is_digit = |c: char| is_one_recording && c.is_ascii_digit();
            self.notes.insert(note.replace(is_digit, ""), note.clone());
        }
        self.add_stacks(profile);
        true
    }

    fn add_stacks(&mut self, profile: &Profile) {
        let ids = self.frames.intern_all(&profile.frames);
        if let Some(identities) = &mut self.identities {
            let known = profile.identities.iter();
            identities.extend(known.map(|(pid, identity)| (pid.clone(), identity.clone())));
        }
        for sample in &profile.samples {
            let stack = sample.stack.iter().map(|entry| entry.renamed(&ids)).collect();
            let count = self.samples.len();
            let has_room = |times: &mut WindowTimes| times.has_room(count);
            let keeps_processes =
                self.identities.is_some() && self.times.as_mut().is_none_or(has_room);
            let process = sample.labels.process.clone().filter(|_| keeps_processes);
            let labels = Labels { process, ..sample.labels.clone() };
            let times = self.times.as_mut().map_or_else(Times::default, |times| times.of(sample));
            self.samples.add(Sample { stack, labels, times, ..*sample });
        }
        self.lines.add(&profile.lines, &ids);
    }

    /// Number of recordings so far.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Returns whether there is no recording yet.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the merged profile; `None` without a recording.
    pub fn finish(self) -> Option<Profile> {
        let several = of_several(self.count).filter(|_| !self.is_one_recording());
        let (event, capture) = self.first?;
        let time_step_nanos = self.times.as_ref().map_or(0, WindowTimes::step_nanos);
        let dropped = self.times.iter().flat_map(WindowTimes::notes);
        let notes = several.into_iter().chain(self.notes.into_values()).chain(dropped).collect();
        Some(Profile {
            event,
            capture: Capture { time_step_nanos, notes, ..capture },
            quality: self.quality,
            frames: self.frames,
            samples: self.samples.into_samples(),
            lines: self.lines.into_lines(),
            identities: self.identities.unwrap_or_default(),
        })
    }
}

/// The note of a sum of several recordings.
fn of_several(count: usize) -> Option<String> {
    let note = || format!("{count} recordings combined; start and pid are from the first.");
    (count > 1).then(note)
}

impl StackQuality {
    /// The sum of both.
    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            complete: self.complete + other.complete,
            truncated: self.truncated + other.truncated,
            broken: self.broken + other.broken,
            no_process: self.no_process + other.no_process,
            no_function: self.no_function + other.no_function,
            unsymbolised: self.unsymbolised + other.unsymbolised,
            native_cut: self.native_cut + other.native_cut,
            not_unwound: self.not_unwound + other.not_unwound,
            lost: self.lost + other.lost,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Event, Identity, read_folded};

    #[test]
    fn weights_of_the_same_stack_are_added_up() {
        let read = |text: &str| read_folded(text.as_bytes()).unwrap();
        let profiles = [read("s;m:f/1 3\ns;m:g/0 1"), read("s;m:h/0 2\ns;m:f/1 4")];
        let all = merged(&profiles).unwrap();
        let name = |sample: &Sample| {
            let names = sample.stack.iter().map(|entry| all.frames.get(entry.frame).name.as_str());
            (names.collect::<Vec<_>>().join(";"), sample.weight, sample.count)
        };
        let mut named: Vec<_> = all.samples.iter().map(name).collect();
        named.sort();
        let expected = [("s;m:f/1", 7, 7), ("s;m:g/0", 1, 1), ("s;m:h/0", 2, 2)];
        assert_eq!(named, expected.map(|(stack, weight, count)| (stack.to_owned(), weight, count)));
        assert_eq!(all.total(), 10);
    }

    #[test]
    fn processes_are_kept_apart_on_request() {
        let of = |pid: &str| {
            let mut profile = read_folded("s;m:f/1 3".as_bytes()).unwrap();
            profile.samples[0].labels.process = Some(pid.into());
            profile.identities.insert(pid.to_owned(), Identity::default());
            profile
        };
        let summed = |mut sum: ProfileSum| {
            for pid in ["<0.1.0>", "<0.2.0>", "<0.1.0>"] {
                sum.add(&of(pid));
            }
            let profile = sum.finish().unwrap();
            let mut weights: Vec<u64> =
                profile.samples.iter().map(|sample| sample.weight).collect();
            weights.sort_unstable();
            (weights, profile.identities.len())
        };
        assert_eq!(summed(ProfileSum::with_processes()), (vec![3, 6], 2));
        assert_eq!(summed(ProfileSum::default()), (vec![9], 0));
    }

    #[test]
    fn windows_keep_their_places_in_time() {
        const STEP: u64 = 50_000_000;
        let window = |at: u64, steps: u64, points: &[(u32, u64)]| {
            let mut profile = read_folded("s;m:f/1 3".as_bytes()).unwrap();
            profile.capture.time_step_nanos = STEP;
            // The clock of the day is exact to some microseconds.
            profile.capture.started_unix_nanos = 1_000 * STEP + at * STEP + 3_000;
            profile.capture.duration_nanos = steps * STEP;
            profile.capture.notes = vec![format!("{at} samples were cut")];
            profile.samples[0].labels.process = Some("<0.1.0>".into());
            for &(step, weight) in points {
                profile.samples[0].times.add(step, weight);
            }
            profile
        };
        let mut sum = ProfileSum::of_windows();
        // The last one begins after a gap.
        for one in [
            window(0, 40, &[(0, 1), (39, 2)]),
            window(40, 40, &[(0, 3)]),
            window(90, 10, &[(5, 3)]),
        ] {
            assert!(sum.add(&one));
        }
        let all = sum.finish().unwrap();
        let [sample] = &all.samples[..] else { panic!("{:?}", all.samples) };
        assert_eq!((sample.weight, sample.labels.process.as_deref()), (9, Some("<0.1.0>")));
        let points: Vec<_> = sample.times.iter().collect();
        assert_eq!(points, [(0, 1), (39, 2), (40, 3), (95, 3)]);
        assert_eq!((all.capture.time_step_nanos, all.capture.duration_nanos), (STEP, 90 * STEP));
        assert_eq!(all.capture.notes, ["90 samples were cut"]);
    }

    #[test]
    fn windows_of_several_nodes_become_bars_of_their_time() {
        let window = |second: u64, points: &[(u32, u64)]| {
            let mut profile = read_folded("s;m:f/1 3".as_bytes()).unwrap();
            profile.capture.time_step_nanos = 50_000_000;
            profile.capture.started_unix_nanos = 1_000_000_000 * (7 + second);
            profile.samples[0].labels.process = Some("<0.1.0>".into());
            profile.samples[0].times = Times::default();
            for &(step, weight) in points {
                profile.samples[0].times.add(step, weight);
            }
            profile
        };
        let mut sum = ProfileSum::by_clock(Duration::from_secs(10));
        // The third node's window reaches over two bars, and the fourth begins in the first of them.
        for one in [
            window(0, &[(0, 1), (199, 2)]),
            window(0, &[(7, 3)]),
            window(16, &[(0, 2), (100, 1)]),
            window(18, &[(0, 3)]),
        ] {
            assert!(sum.add(&one));
        }
        let all = sum.finish().unwrap();
        let [sample] = &all.samples[..] else { panic!("{:?}", all.samples) };
        let mut bars = [0; 3];
        sample.times.iter().for_each(|(step, weight)| bars[step as usize] += weight);
        assert_eq!((bars, sample.weight, sample.labels.process.as_deref()), ([6, 5, 1], 12, None));
        assert_eq!(all.capture.time_step_nanos, 10_000_000_000);
        assert!(all.capture.notes[0].starts_with("4 recordings combined"));
    }

    #[test]
    fn different_events_are_not_added_up() {
        let one = read_folded("a 1".as_bytes()).unwrap();
        let other = Profile { event: Event::OffCpu, ..one.clone() };
        assert!(merged(&[one, other]).is_none());
        assert!(merged(&[]).is_none());
    }
}
