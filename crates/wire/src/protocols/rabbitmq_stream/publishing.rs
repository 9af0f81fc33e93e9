//! Publishing ids and entries of a frame, as runs.

use super::super::{
    arguments::{Arguments, KeptArguments},
    frame::IdentifierRun,
};

/// Maximum of runs that are kept per frame.
const RUNS_MAX: usize = 4096;

/// Publishing ids of a frame. The memory is reused for the next one.
#[derive(Clone, Debug, Default)]
pub(super) struct PublishingIds {
    runs: Vec<IdentifierRun>,
    left_out: u32,
}

impl PublishingIds {
    pub(super) fn clear(&mut self) {
        self.runs.clear();
        self.left_out = 0;
    }

    #[inline]
    pub(super) fn push(&mut self, id: u64) {
        match self.runs.last_mut() {
            Some(run) if run.first.checked_add(run.count) == Some(id) => run.count += 1,
            _ => self.begin_run(id),
        }
    }

    fn begin_run(&mut self, id: u64) {
        if self.runs.len() < RUNS_MAX {
            self.runs.push(IdentifierRun { first: id, count: 1 });
        } else {
            self.left_out += 1;
        }
    }

    pub(super) fn runs(&self) -> &[IdentifierRun] {
        &self.runs
    }

    pub(super) const fn left_out(&self) -> u32 {
        self.left_out
    }
}

/// Equal entries that follow each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Number of entries.
    pub(crate) count: u32,
    /// Messages in each; none for an entry that is a message.
    pub(crate) messages: Option<u16>,
    /// Compression of its messages, 0 for none.
    pub(crate) codec: u8,
    /// Bytes of a message's body; of a batch its bytes before compression.
    pub(crate) bytes: u32,
    /// True if a section of data is the whole message.
    pub(crate) is_data: bool,
}

impl Entry {
    pub(super) const fn message(bytes: u32, is_data: bool) -> Self {
        Self { count: 1, messages: None, codec: 0, bytes, is_data }
    }

    /// Creates a batch. `flags` are the four bytes from the flags on: codec, and the count of messages.
    pub(super) const fn batch(flags: u32, bytes: u32) -> Self {
        let [first, high, low, _] = flags.to_be_bytes();
        let messages = Some(u16::from_be_bytes([high, low]));
        Self { count: 1, messages, codec: first >> 4 & 7, bytes, is_data: true }
    }

    /// Reads a run.
    fn read(rest: &mut Arguments<'_>) -> Option<Self> {
        let (count, bytes, messages) = (rest.u32()?, rest.u32()?, rest.u16()?);
        let (codec, flags) = (rest.u8()?, rest.u8()?);
        let messages = (flags & 1 != 0).then_some(messages);
        Some(Self { count, messages, codec, bytes, is_data: flags & 2 != 0 })
    }

    fn keep(&self, arguments: &mut KeptArguments) {
        arguments.keep(&self.count.to_be_bytes());
        arguments.keep(&self.bytes.to_be_bytes());
        arguments.keep(&self.messages.unwrap_or_default().to_be_bytes());
        let flags = u8::from(self.messages.is_some()) | u8::from(self.is_data) << 1;
        arguments.keep(&[self.codec, flags]);
    }
}

/// Entries of a frame. The memory is reused for the next one.
#[derive(Clone, Debug, Default)]
pub(super) struct Entries(Vec<Entry>);

impl Entries {
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Adds an entry. Beyond [`RUNS_MAX`], it is taken for one like the last.
    #[inline]
    pub(super) fn push(&mut self, entry: Entry) {
        let is_full = self.0.len() == RUNS_MAX;
        match self.0.last_mut() {
            Some(last) if is_full || *last == (Entry { count: last.count, ..entry }) => {
                last.count += 1;
            }
            _ => self.0.push(entry),
        }
    }

    pub(super) fn keep(&self, arguments: &mut KeptArguments) {
        if arguments.is_on() {
            self.0.iter().for_each(|entry| entry.keep(arguments));
        }
    }
}

/// Returns the runs of entries in the arguments of a `publish`.
pub(crate) fn entries(arguments: &[u8]) -> impl Iterator<Item = Entry> {
    let mut rest = Arguments::new(arguments);
    core::iter::from_fn(move || Entry::read(&mut rest))
}

/// Returns the bytes before the body of a message of this size that is one section of data; none if it is not.
pub(super) fn data_section(size: u32, bytes: &[u8]) -> Option<u32> {
    match *bytes {
        [0, 0x53, 0x75, 0xa0, length, ..] if u32::from(length) + 5 == size => Some(5),
        [0, 0x53, 0x75, 0xb0, a, b, c, d] => {
            (u32::from_be_bytes([a, b, c, d]).checked_add(8) == Some(size)).then_some(8)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_that_follow_each_other_are_one_run() {
        let mut ids = PublishingIds::default();
        for id in [5, 6, 7, 9, u64::MAX, 0] {
            ids.push(id);
        }
        let runs: Vec<_> = ids.runs().iter().map(|run| (run.first, run.count)).collect();
        assert_eq!(runs, [(5, 3), (9, 1), (u64::MAX, 1), (0, 1)]);
        (0..10_000).for_each(|id| ids.push(id * 2));
        assert_eq!((ids.runs().len(), ids.left_out()), (RUNS_MAX, 10_000 + 4 - 4096));
    }
    #[test]
    fn entries_that_are_alike_are_one_run() {
        let mut kept = KeptArguments::default();
        kept.turn_on();
        let mut written = Entries::default();
        let batch = Entry::batch(0x9000_0a00, 70);
        for entry in
            [Entry::message(9, true), Entry::message(9, true), batch, Entry::message(9, false)]
        {
            written.push(entry);
        }
        written.keep(&mut kept);
        let runs: Vec<Entry> = entries(kept.bytes()).collect();
        assert_eq!((batch.messages, batch.codec), (Some(10), 1));
        assert_eq!(
            runs,
            [Entry { count: 2, ..Entry::message(9, true) }, batch, Entry::message(9, false)]
        );
    }

    #[test]
    fn a_message_of_one_section_has_the_body_behind_its_head() {
        fn check(size: u32, bytes: &[u8], expected: Option<u32>) {
            assert_eq!(data_section(size, bytes), expected, "{size} {bytes:?}");
        }
        check(17, b"\0\x53\x75\xa0\x0cabc", Some(5));
        check(18, b"\0\x53\x75\xa0\x0cabc", None);
        check(5, b"\0\x53\x75\xa0\0", Some(5));
        check(1_008, b"\0\x53\x75\xb0\0\0\x03\xe8", Some(8));
        check(9, b"\0\x53\x75\xb0\xff\xff\xff\xff", None);
        check(8, b"raw text", None);
        check(3, b"raw", None);
    }
}
