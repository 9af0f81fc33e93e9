//! Several recordings merged into one profile.

use std::collections::BTreeMap;

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
        for note in &profile.capture.notes {
            // Notes of windows differ in counts that grow; the latest has them all.
            let is_digit = |c: char| self.times.is_some() && c.is_ascii_digit();
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
            let keeps_processes = match &mut self.times {
                Some(times) => times.has_room(self.samples.len()),
                None => self.identities.is_some(),
            };
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
        let (event, capture) = self.first?;
        let distinct = self.notes.into_values();
        let (time_step_nanos, notes) = match self.times {
            Some(times) => (capture.time_step_nanos, distinct.chain(times.notes()).collect()),
            None => (0, of_several(self.count).into_iter().chain(distinct).collect()),
        };
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
    fn different_events_are_not_added_up() {
        let one = read_folded("a 1".as_bytes()).unwrap();
        let other = Profile { event: Event::OffCpu, ..one.clone() };
        assert!(merged(&[one, other]).is_none());
        assert!(merged(&[]).is_none());
    }
}
