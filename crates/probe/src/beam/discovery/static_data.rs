//! The data of the VM's executable in memory: constants, variables with and without initial value.

use std::collections::HashSet;

use crate::node::{Mapping, Process};

/// Limit for the data of all kinds together; the examined emulators have about 2 MiB.
const MAX_BYTES: u64 = 64 << 20;

/// A word of the executable's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct DataWord {
    /// Address of the word.
    pub(in super::super) at: u64,
    /// Value when the data was read.
    pub(in super::super) value: u64,
}

/// A copy of the executable's data. The VM runs on, so that variables may have changed since.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct StaticData {
    areas: Vec<Area>,
    /// The whole executable, its code included: first address and one past the last.
    span: (u64, u64),
}

#[derive(Clone, Debug)]
struct Area {
    start: u64,
    is_writable: bool,
    bytes: Vec<u8>,
}

impl StaticData {
    /// Reads the data of the file `program`, which is mapped in `process`. Variables without an initial value are
    /// in the anonymous mapping after it.
    pub(in super::super) fn read(process: &Process, mappings: &[Mapping], program: &str) -> Self {
        let mut data = Self::default();
        let mut left = MAX_BYTES;
        for mapping in mappings_of(mappings, program) {
            data.cover(mapping);
            if mapping.executable {
                continue;
            }
            // The heap of brk(2) may extend the mapping of the variables.
            let end = mapping.end.min(mapping.start + left);
            left -= end - mapping.start;
            let part = Mapping { end, ..mapping.clone() };
            if let Some(bytes) = process.mapped_bytes(&part, MAX_BYTES) {
                data.add(part.start, part.writable, bytes);
            }
        }
        data
    }

    fn cover(&mut self, mapping: &Mapping) {
        let first = if self.span.1 == 0 { mapping.start } else { self.span.0.min(mapping.start) };
        self.span = (first, self.span.1.max(mapping.end));
    }

    pub(super) fn add(&mut self, start: u64, is_writable: bool, bytes: Vec<u8>) {
        self.areas.push(Area { start, is_writable, bytes });
    }

    #[cfg(any(test, fuzzing))]
    pub(super) fn set_span(&mut self, first: u64, end: u64) {
        self.span = (first, end);
    }

    /// The words of variables, in order of address.
    pub(super) fn variables(&self) -> impl Iterator<Item = DataWord> {
        self.areas.iter().filter(|area| area.is_writable).flat_map(Area::words)
    }

    /// All words, constants included, in order of address.
    pub(super) fn words(&self) -> impl Iterator<Item = DataWord> {
        self.areas.iter().flat_map(Area::words)
    }

    /// Words from an address on, up to the end of its area.
    pub(super) fn words_from(&self, at: u64) -> impl Iterator<Item = u64> {
        let area = self.areas.iter().find(|area| area.contains(at));
        let words = area.into_iter().flat_map(Area::words);
        words.skip_while(move |word| word.at < at).map(|word| word.value)
    }

    /// Variables that may point to memory outside of the executable, each value once: multiples of `alignment`.
    pub(super) fn pointers(&self, alignment: u64) -> impl Iterator<Item = DataWord> {
        let mut seen = HashSet::new();
        let may_point = move |value: u64| value != 0 && value.is_multiple_of(alignment);
        self.variables()
            .filter(move |word| may_point(word.value) && !self.is_in_executable(word.value))
            .filter(move |word| seen.insert(word.value))
    }

    /// Returns whether `address` is in the executable's code or data.
    pub(super) fn is_in_executable(&self, address: u64) -> bool {
        (self.span.0..self.span.1).contains(&address)
    }

    /// The characters after a text of the executable, up to the first that `is_part` rejects.
    pub(super) fn text_after(&self, text: &str, is_part: fn(char) -> bool) -> Option<String> {
        self.areas.iter().find_map(|area| {
            let at = find(&area.bytes, text.as_bytes())? + text.len();
            let found = area.bytes[at..].iter().map(|&byte| char::from(byte));
            let found: String = found.take_while(|&character| is_part(character)).collect();
            (!found.is_empty()).then_some(found)
        })
    }

    /// Text of an address for messages: relative to the executable if it lies there.
    pub(super) fn place(&self, address: u64) -> String {
        if self.is_in_executable(address) {
            format!("executable+{:#x}", address - self.span.0)
        } else {
            format!("{address:#x}")
        }
    }
}

impl Area {
    fn contains(&self, address: u64) -> bool {
        (self.start..self.start + self.bytes.len() as u64).contains(&address)
    }

    fn words(&self) -> impl Iterator<Item = DataWord> {
        let words = self.bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word));
        (self.start..).step_by(8).zip(words).map(|(at, value)| DataWord { at, value })
    }
}

/// The mappings of the file, and the anonymous one after them.
fn mappings_of<'a>(mappings: &'a [Mapping], program: &str) -> Vec<&'a Mapping> {
    let name = |path: &str| path.trim_end_matches(" (deleted)").to_owned();
    let own = |mapping: &&Mapping| name(&mapping.path) == name(program);
    let is_anonymous = |mapping: &Mapping| mapping.path.is_empty() || mapping.path == "[heap]";
    let mut found: Vec<&Mapping> = mappings.iter().filter(own).collect();
    if let Some(end) = found.last().map(|last| last.end) {
        let is_next = |mapping: &&Mapping| mapping.start == end && is_anonymous(mapping);
        found.extend(mappings.iter().find(is_next));
    }
    found
}

fn find(bytes: &[u8], text: &[u8]) -> Option<usize> {
    let first = *text.first()?;
    let mut from = 0;
    loop {
        from += bytes[from..].iter().position(|&byte| byte == first)?;
        if bytes[from..].starts_with(text) {
            return Some(from);
        }
        from += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::{DataWord, Mapping, StaticData, mappings_of};

    fn mapping(start: u64, end: u64, path: &str) -> Mapping {
        let path = path.to_owned();
        Mapping { start, end, file_offset: 0, path, executable: false, writable: true }
    }

    #[test]
    fn variables_without_initial_value_follow_the_file() {
        let all = [
            mapping(0, 8, ""),
            mapping(8, 16, "/beam.smp (deleted)"),
            mapping(16, 24, "/beam.smp (deleted)"),
            mapping(24, 32, ""),
            mapping(32, 40, ""),
            mapping(40, 48, "/lib.so"),
        ];
        let starts: Vec<u64> =
            mappings_of(&all, "/beam.smp").iter().map(|mapping| mapping.start).collect();
        assert_eq!(starts, [8, 16, 24]);
        assert_eq!(mappings_of(&all[..1], "/beam.smp"), Vec::<&Mapping>::new());
    }

    #[test]
    fn pointers_lead_out_of_the_executable_and_count_once() {
        let mut data = StaticData::default();
        data.set_span(0x1000, 0x2000);
        let words = [0x5000_u64, 0, 0x1008, 0x5004, 0x5000, 0x6000];
        let bytes = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        data.add(0x1800, true, bytes);
        data.add(0x1900, false, 0x7000_u64.to_le_bytes().to_vec());
        let word = |at, value| DataWord { at, value };
        let found: Vec<DataWord> = data.pointers(8).collect();
        assert_eq!(found, [word(0x1800, 0x5000), word(0x1828, 0x6000)]);
        assert_eq!(data.words_from(0x1820).collect::<Vec<_>>(), [0x5000, 0x6000]);
        assert_eq!(data.place(0x1808), "executable+0x808");
    }

    #[test]
    fn a_text_ends_where_it_ends() {
        let mut data = StaticData::default();
        data.add(0, false, b"..(Erlang/OTP 2\0(Erlang/OTP 29).".to_vec());
        let digits = |text| data.text_after(text, |letter| letter.is_ascii_digit());
        assert_eq!(digits("\0(Erlang/OTP ").as_deref(), Some("29"));
        assert_eq!(digits("Elixir "), None);
    }
}
