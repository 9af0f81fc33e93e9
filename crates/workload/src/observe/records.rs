//! Records of TLS that a client sent. Their sizes and times are those of its writes.

use rabbitscope_runs::Random;

use super::answers::Answers;
use crate::figures::{Buckets, CountsOverTime, GapSample, GapSamples, Values};

/// Records with data of the application.
#[derive(Clone, Debug, Default)]
pub(crate) struct Records {
    pub(crate) count: u64,
    /// Bytes of their encrypted content.
    pub(crate) bytes: u64,
    pub(crate) sizes: Values<u64>,
    pub(crate) gaps: Buckets,
    pub(crate) counts: CountsOverTime,
    /// The pauses between them, with the times since the broker's last record.
    pub(crate) samples: GapSamples,
    /// Bytes of the broker's records.
    pub(crate) answer_bytes: u64,
    last: u64,
}

impl Records {
    pub(super) fn add(&mut self, now: u64, bytes: u64, answers: &Answers, random: &mut Random) {
        if self.count > 0 {
            let nanos = now.saturating_sub(self.last);
            self.gaps.add(nanos);
            self.pause(nanos, now, answers, random);
        }
        self.count += 1;
        self.bytes += bytes;
        self.sizes.add(bytes);
        self.counts.add(now);
        self.last = self.last.max(now);
    }

    /// Keeps a pause. Records of one segment have none between them.
    fn pause(&mut self, nanos: u64, now: u64, answers: &Answers, random: &mut Random) {
        if nanos == 0 {
            return;
        }
        let moment = self.last + random.below(nanos);
        if let (Some(since_answer), Some(since_answer_at_random)) =
            (answers.since_last(now), answers.since_last(moment))
        {
            let unconfirmed = None;
            let sample = GapSample { nanos, since_answer, since_answer_at_random, unconfirmed };
            self.samples.add(sample, random);
        }
    }
}
