//! Samples of a pprof file, decoded one at a time with their labels.

use std::collections::HashMap;

use prost::Message;

use super::{
    super::{
        Frame, FrameKind, Identity, Labels, Mode, Sample, StackEntry, StackOutcome, Times, TooLarge,
    },
    KEPT_LABELS, LABEL_CHANNEL, LABEL_CONNECTION, LABEL_MODE, LABEL_NAME, LABEL_OUTCOME,
    LABEL_PROCESS, LABEL_QUEUE, LABEL_ROLE, LABEL_THREAD, LABEL_VHOST, MODES, OUTCOMES, PprofError,
    fields::fields_of,
    message,
    read::{Import, SAMPLE, short},
    values::Values,
};

/// Size limit of a stack, in bytes of its names.
const MAX_STACK_BYTES: usize = 16 << 20;

impl Import<'_> {
    pub(super) fn samples(&mut self, values: &Values) -> Result<Vec<Sample>, PprofError> {
        let mut samples = Vec::new();
        let mut total = 0_u64;
        for field in fields_of(self.bytes, SAMPLE) {
            let sample = message::Sample::decode(field?.small()?)?;
            let value = |index: usize| {
                let value = sample.value.get(index).and_then(|value| u64::try_from(*value).ok());
                value
                    .ok_or_else(|| PprofError::Broken("a sample without a proper value".to_owned()))
            };
            let weight = value(values.weight)?;
            let count = match values.count {
                Some(count) => value(count)?,
                None => values.count_of(weight),
            };
            // A sample may have only other types' values.
            if !values.is_own && weight == 0 {
                continue;
            }
            total = total
                .checked_add(weight)
                .ok_or_else(|| PprofError::Broken("the sum of values is too large".to_owned()))?;
            let stack = self.stack(&sample.location_id)?;
            let labels = self.labels(&sample.label, &stack)?;
            let texts =
                labels.thread.len() + labels.process.as_ref().map_or(0, |process| process.len());
            self.budget.spend(texts + sample.times.len())?;
            let times = Times::from_bytes(sample.times)
                .ok_or_else(|| PprofError::Broken("a sample with broken times".to_owned()))?;
            samples.push(Sample { stack, labels, weight, count, times });
        }
        Ok(samples)
    }

    fn stack(&mut self, leaf_first: &[u64]) -> Result<Vec<StackEntry>, PprofError> {
        let mut stack: Vec<StackEntry> = Vec::new();
        let mut text_bytes = 0_usize;
        for id in leaf_first.iter().rev() {
            let frames = self
                .locations
                .get(id)
                .ok_or_else(|| PprofError::Broken(format!("there is no location {id}")))?;
            self.frames_left = self.frames_left.checked_sub(frames.len()).ok_or_else(|| {
                PprofError::Broken("its stacks have far more frames than it has bytes".to_owned())
            })?;
            for &frame in frames {
                text_bytes += self.frames.get(frame).name.len();
                let before = stack.len();
                StackEntry::push(&mut stack, frame, 1);
                self.budget.spend((stack.len() - before) * size_of::<StackEntry>())?;
            }
            if text_bytes > MAX_STACK_BYTES {
                let problem = format!("a stack with more than {MAX_STACK_BYTES} bytes of names");
                return Err(PprofError::Broken(problem));
            }
        }
        if stack.is_empty() {
            let name = "[no stack]".to_owned();
            let frame = Frame { name, kind: FrameKind::Native };
            let frame = self.budget.intern(&mut self.frames, frame)?;
            stack.push(StackEntry { frame, repeat: 1 });
        }
        Ok(stack)
    }

    fn labels(
        &mut self,
        labels: &[message::Label],
        stack: &[StackEntry],
    ) -> Result<Labels, PprofError> {
        let mut texts: HashMap<&str, &str> = HashMap::new();
        for label in labels {
            let (key, text) = (self.string(label.key)?, self.string(label.str)?);
            if KEPT_LABELS.contains(&key) {
                texts.insert(key, short(text)?);
            }
        }
        self.add_identity(&texts)?;
        let mode = texts.get(LABEL_MODE);
        let outcome = texts.get(LABEL_OUTCOME);
        Ok(Labels {
            process: texts.get(LABEL_PROCESS).map(|text| (*text).into()),
            thread: texts.get(LABEL_THREAD).map(|text| (*text).into()).unwrap_or_default(),
            mode: MODES
                .iter()
                .find(|(_, name)| Some(name) == mode)
                .map_or_else(|| Mode::from_stack(stack, &self.frames), |(mode, _)| *mode),
            outcome: OUTCOMES
                .into_iter()
                .find(|known| Some(&known.name()) == outcome)
                .unwrap_or(StackOutcome::Unknown),
        })
    }

    /// Stores the identity of a sample's process, from its labels.
    fn add_identity(&mut self, texts: &HashMap<&str, &str>) -> Result<(), TooLarge> {
        let text = |key| texts.get(key).map(|text| (*text).to_owned());
        let Some((process, role)) = text(LABEL_PROCESS).zip(text(LABEL_ROLE)) else {
            return Ok(());
        };
        if self.identities.contains_key(&process) {
            return Ok(());
        }
        let length = texts.values().map(|text| text.len()).sum();
        self.budget.spend_on::<(String, Identity)>(length)?;
        let name = [LABEL_QUEUE, LABEL_CHANNEL, LABEL_NAME].into_iter().find_map(text);
        let identity = Identity {
            role,
            name: name.unwrap_or_default(),
            vhost: text(LABEL_VHOST).unwrap_or_default(),
            connection: text(LABEL_CONNECTION).unwrap_or_default(),
            ..Identity::default()
        };
        self.identities.insert(process, identity);
        Ok(())
    }
}
