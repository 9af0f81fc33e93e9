//! Renames native functions by names that were found after the recording.

use std::collections::HashMap;

use super::{Frame, FrameId, FrameKind, FrameTable, Profile, Sample, SampleSum, StackEntry};

impl Profile {
    /// Renames native functions from their present names. Functions and stacks that become equal are added up. A sample
    /// without any nameless function left no longer counts as unsymbolised.
    pub fn rename_native(&mut self, names: &HashMap<String, String>) {
        let is_renamed =
            |frame: &Frame| frame.kind == FrameKind::Native && names.contains_key(&frame.name);
        if !self.frames.iter().any(|(_, frame)| is_renamed(frame)) {
            return;
        }
        let before = self.with_nameless_frames();
        let mut frames = FrameTable::default();
        let renamed = |frame: &Frame| match names.get(&frame.name) {
            Some(name) if is_renamed(frame) => Frame { name: name.clone(), kind: frame.kind },
            _ => frame.clone(),
        };
        let ids: Vec<FrameId> =
            self.frames.iter().map(|(_, frame)| frames.intern(renamed(frame))).collect();
        self.frames = frames;
        let mut sum = SampleSum::default();
        for sample in std::mem::take(&mut self.samples) {
            let mut stack = Vec::with_capacity(sample.stack.len());
            for entry in &sample.stack {
                let StackEntry { frame, repeat } = entry.renamed(&ids);
                StackEntry::push(&mut stack, frame, repeat);
            }
            sum.add(Sample { stack, ..sample });
        }
        self.samples = sum.into_sorted();
        for line in &mut self.lines {
            line.frame = ids[line.frame.0 as usize];
        }
        let gain = before.saturating_sub(self.with_nameless_frames());
        self.quality.unsymbolised = self.quality.unsymbolised.saturating_sub(gain);
    }

    fn with_nameless_frames(&self) -> u64 {
        let nameless: Vec<bool> =
            self.frames.iter().map(|(_, frame)| frame.is_unsymbolised()).collect();
        let has_one =
            |sample: &&Sample| sample.stack.iter().any(|entry| nameless[entry.frame.0 as usize]);
        self.samples.iter().filter(has_one).map(|sample| sample.count).sum()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use crate::{Frame, FrameKind, Profile, Times, read_folded};

    /// Stacks of native functions, counted by weight.
    fn profile(stacks: &str) -> Profile {
        let mut profile = read_folded(stacks.as_bytes()).unwrap();
        let mut frames = crate::FrameTable::default();
        for (_, frame) in profile.frames.iter() {
            frames.intern(Frame { name: frame.name.clone(), kind: FrameKind::Native });
        }
        profile.frames = frames;
        profile.quality.unsymbolised = profile.with_nameless_frames();
        profile
    }

    fn stacks(profile: &Profile) -> Vec<String> {
        let stack = |sample: &crate::Sample| {
            let entries = sample
                .stack
                .iter()
                .map(|entry| format!("{}*{}", profile.frames.get(entry.frame).name, entry.repeat));
            format!("{} {}", entries.collect::<Vec<_>>().join(";"), sample.weight)
        };
        let mut all: Vec<String> = profile.samples.iter().map(stack).collect();
        all.sort();
        all
    }

    #[track_caller]
    fn check(before: &str, names: &[(&str, &str)], expected: &[&str], nameless: u64) {
        let names: HashMap<String, String> =
            names.iter().map(|&(from, to)| (from.to_owned(), to.to_owned())).collect();
        let mut profile = profile(before);
        let total = profile.total();
        profile.rename_native(&names);
        assert_eq!(stacks(&profile), expected);
        assert_eq!(profile.quality.unsymbolised, nameless);
        assert_eq!(profile.total(), total);
    }

    #[test]
    fn what_is_the_same_afterwards_is_added_up() {
        let before = "main;a.so+0x10 3\nmain;a.so+0x20 2\nmain;b.so+0x10 4";
        let names = [("a.so+0x10", "f"), ("a.so+0x20", "f")];
        check(before, &names, &["main*1;b.so+0x10*1 4", "main*1;f*1 5"], 4);
    }

    #[test]
    fn a_stack_keeps_the_frames_that_have_no_name() {
        let names = [("a.so+0x10", "f")];
        check("main;a.so+0x10;a.so+0x20 3", &names, &["main*1;f*1;a.so+0x20*1 3"], 3);
    }

    #[test]
    fn neighbours_of_the_same_name_are_one_entry() {
        let names = [("a.so+0x10", "f"), ("a.so+0x20", "f")];
        check("main;a.so+0x10;a.so+0x20 3", &names, &["main*1;f*2 3"], 0);
    }

    #[test]
    fn frames_that_are_not_native_keep_their_names() {
        let mut profile = read_folded("scheduler;lists:map/2 3".as_bytes()).unwrap();
        profile.rename_native(&HashMap::from([("lists:map/2".to_owned(), "f".to_owned())]));
        assert_eq!(stacks(&profile), ["scheduler*1;lists:map/2*1 3"]);
    }

    #[test]
    fn times_are_added_up_in_order() {
        let mut profile = profile("a.so+0x10 3\na.so+0x20 2");
        for (sample, step) in profile.samples.iter_mut().zip([7, 5]) {
            let mut times = Times::default();
            times.add(step, sample.weight);
            sample.times = times;
        }
        let names = ["a.so+0x10", "a.so+0x20"].map(|name| (name.to_owned(), "f".to_owned()));
        profile.rename_native(&HashMap::from(names));
        let times: Vec<_> = profile.samples[0].times.iter().collect();
        assert_eq!(times.iter().map(|&(step, _)| step).collect::<Vec<_>>(), [5, 7]);
        assert_eq!(times.iter().map(|&(_, weight)| weight).sum::<u64>(), 5);
    }
}
