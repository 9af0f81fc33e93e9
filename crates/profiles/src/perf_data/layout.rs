//! Layout of single records: the attributes of events, and the fields of samples. `perf_event_open(2)` documents both.

use super::super::perf_events::Spaces;

/// Fields of a sample (`sample_type`), in the order of their positions.
mod field {
    pub(super) const IP: u64 = 1;
    pub(super) const TID: u64 = 1 << 1;
    pub(super) const TIME: u64 = 1 << 2;
    pub(super) const ADDR: u64 = 1 << 3;
    pub(super) const READ: u64 = 1 << 4;
    pub(super) const CALLCHAIN: u64 = 1 << 5;
    pub(super) const ID: u64 = 1 << 6;
    pub(super) const CPU: u64 = 1 << 7;
    pub(super) const PERIOD: u64 = 1 << 8;
    pub(super) const STREAM_ID: u64 = 1 << 9;
    pub(super) const RAW: u64 = 1 << 10;
    pub(super) const STACK_USER: u64 = 1 << 13;
    pub(super) const IDENTIFIER: u64 = 1 << 16;
}

/// Bits of `read_format`.
const READ_ENABLED: u64 = 1;
const READ_RUNNING: u64 = 1 << 1;
const READ_ID: u64 = 1 << 2;
const READ_GROUP: u64 = 1 << 3;
const READ_LOST: u64 = 1 << 4;

/// Flags of the attributes: excluded spaces, `sample_period` as a frequency, and identifying fields at the end of
/// records other than samples.
const FLAG_EXCLUDE_USER: u64 = 1 << 4;
const FLAG_EXCLUDE_KERNEL: u64 = 1 << 5;
const FLAG_FREQUENCY: u64 = 1 << 10;
const FLAG_ALL_HAVE_ID: u64 = 1 << 18;

/// The note for recordings of `perf record --call-graph dwarf`.
pub(super) const NOT_UNWOUND: &str = "callers are in copies of the stack (perf record --call-graph dwarf), which \
                                      rabbitscope does not read: in user space, each stack is only the interrupted \
                                      function. For C functions, convert with perf script > FILE. For Erlang callers \
                                      of C, record with -g";

/// Size of the attributes' first version, with which all later versions begin.
const SMALLEST_ATTRIBUTES: usize = 64;

/// Bytes that are read front to back.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bytes<'a>(pub(super) &'a [u8]);

impl<'a> Bytes<'a> {
    pub(super) fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?))
    }

    pub(super) fn u64(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }

    /// Reads the text before the first zero byte.
    pub(super) fn text(&mut self) -> String {
        let end = self.0.iter().position(|&byte| byte == 0).unwrap_or(self.0.len());
        String::from_utf8_lossy(&self.0[..end]).into_owned()
    }
}

/// The layout of one recorded event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct EventLayout {
    /// The name that perf gave it, if the file has one.
    pub(super) name: Option<String>,
    /// Ids of its samples; empty if it is the only event.
    pub(super) ids: Vec<u64>,
    kind: u32,
    config: u64,
    sample_type: u64,
    read_format: u64,
    period: u64,
    flags: u64,
    /// Offset of another record's time from its end, if it has one.
    time_before_end: usize,
    /// Offset of a sample's id.
    id_offset: Option<usize>,
}

impl EventLayout {
    /// Parses `perf_event_attr`, which needs at least its first version.
    pub(super) fn parse(attributes: &[u8]) -> Option<Self> {
        let mut bytes = Bytes(attributes.get(..SMALLEST_ATTRIBUTES)?);
        let (kind, _size) = (bytes.u32()?, bytes.u32()?);
        let (config, period) = (bytes.u64()?, bytes.u64()?);
        let (sample_type, read_format, flags) = (bytes.u64()?, bytes.u64()?, bytes.u64()?);
        // Each field takes a word.
        let bytes_of = |fields: u64| 8 * (sample_type & fields).count_ones() as usize;
        Some(Self {
            name: None,
            ids: Vec::new(),
            kind,
            config,
            sample_type,
            read_format,
            period,
            flags,
            time_before_end: bytes_of(
                field::TIME | field::ID | field::STREAM_ID | field::CPU | field::IDENTIFIER,
            ),
            id_offset: match sample_type & (field::ID | field::IDENTIFIER) {
                0 => None,
                field::ID => Some(bytes_of(field::IP | field::TID | field::TIME | field::ADDR)),
                _ => Some(0),
            },
        })
    }

    /// The name in the file, or else the name of the kernel's numbers.
    pub(super) fn name(&self) -> String {
        let known = match (self.kind, self.config) {
            (0, 0) => "cycles",
            (0, 1) => "instructions",
            (1, 0) => "cpu-clock",
            (1, 1) => "task-clock",
            (1, 2) => "page-faults",
            (1, 3) => "context-switches",
            _ => "",
        };
        match &self.name {
            Some(name) if !name.is_empty() => name.clone(),
            _ if known.is_empty() => format!("event type {} config {:#x}", self.kind, self.config),
            _ => known.to_owned(),
        }
    }

    /// Time that a sample stands for, in nanoseconds; 0 if the event does not measure time.
    pub(super) fn period_nanos(&self) -> u64 {
        if self.is_frequency() {
            return 1_000_000_000_u64.checked_div(self.period).unwrap_or(0);
        }
        if self.kind == 1 && self.config <= 1 { self.period } else { 0 }
    }

    fn is_frequency(&self) -> bool {
        self.flags & FLAG_FREQUENCY != 0
    }

    /// The parts of memory in which it counts.
    pub(super) fn spaces(&self) -> Spaces {
        let includes = |flag| self.flags & flag == 0;
        Spaces { user: includes(FLAG_EXCLUDE_USER), kernel: includes(FLAG_EXCLUDE_KERNEL) }
    }

    /// Returns whether all kernel records have a time.
    pub(super) fn times_all_records(&self) -> bool {
        self.flags & FLAG_ALL_HAVE_ID != 0 && self.has(field::TIME)
    }

    /// Returns the time of a record other than a sample, which is among its last fields.
    pub(super) fn time_in_change(&self, body: &[u8]) -> Option<u64> {
        Bytes(body.get(body.len().checked_sub(self.time_before_end)?..)?).u64()
    }

    /// Returns the id of a sample, if it has one.
    pub(super) fn id_of(&self, body: &[u8]) -> Option<u64> {
        Bytes(body.get(self.id_offset?..)?).u64()
    }

    /// Returns whether its samples have copies of the user's stack in place of callers (`--call-graph dwarf`).
    pub(super) fn copies_stacks(&self) -> bool {
        self.has(field::STACK_USER)
    }

    fn has(&self, bit: u64) -> bool {
        self.sample_type & bit != 0
    }

    /// Reads the fields of a sample that the import uses; `None` if it is shorter than it states.
    pub(super) fn sample<'a>(&self, body: &'a [u8]) -> Option<RawSample<'a>> {
        let mut bytes = Bytes(body);
        let mut word = |bit| if self.has(bit) { bytes.u64().map(Some) } else { Some(None) };
        word(field::IDENTIFIER)?;
        let address = word(field::IP)?;
        let who = word(field::TID)?.unwrap_or(0);
        let time = word(field::TIME)?;
        for bit in [field::ADDR, field::ID, field::STREAM_ID, field::CPU] {
            word(bit)?;
        }
        let fixed = (!self.is_frequency()).then_some(self.period);
        let period = word(field::PERIOD)?.or(fixed).filter(|&period| period > 0);
        if self.has(field::READ) {
            self.skip_read(&mut bytes)?;
        }
        let chain = if self.has(field::CALLCHAIN) {
            let words = usize::try_from(bytes.u64()?).ok()?;
            bytes.take(words.checked_mul(8)?)?
        } else {
            &[]
        };
        let raw = if self.has(field::RAW) {
            let size = usize::try_from(bytes.u32()?).ok()?;
            bytes.take(size)?
        } else {
            &[]
        };
        #[expect(clippy::cast_possible_truncation, reason = "two halves of a word")]
        let (pid, tid) = (who as u32, (who >> 32) as u32);
        Some(RawSample { address, pid, tid, time, period, chain, raw })
    }

    fn skip_read(&self, bytes: &mut Bytes<'_>) -> Option<()> {
        let has = |bit| usize::from(self.read_format & bit != 0);
        let words_per_event = 1 + has(READ_ID) + has(READ_LOST);
        let times = has(READ_ENABLED) + has(READ_RUNNING);
        let words = if has(READ_GROUP) == 1 {
            let events = usize::try_from(bytes.u64()?).ok()?;
            events.checked_mul(words_per_event)?.checked_add(times)?
        } else {
            words_per_event + times
        };
        bytes.take(words.checked_mul(8)?).map(drop)
    }
}

/// A sample in the file's form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RawSample<'a> {
    /// The interrupted instruction, for samples without a chain.
    pub(super) address: Option<u64>,
    pub(super) pid: u32,
    pub(super) tid: u32,
    /// Time in nanoseconds since the clock's unknown origin.
    pub(super) time: Option<u64>,
    /// Number of occurrences that it stands for, if known.
    pub(super) period: Option<u64>,
    /// Little-endian words, innermost first, with marks between kernel and user space.
    pub(super) chain: &'a [u8],
    /// The tracepoint's record.
    pub(super) raw: &'a [u8],
}
