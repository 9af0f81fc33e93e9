//! Converts a pid term of the VM's memory to its text, `<0.615.0>`. The indices of processes in the VM's process
//! table show the form of its pids.

use std::fmt;

/// Encoding of the VM's local pids.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pids {
    bits: u32,
    number_bits: u32,
    index: Option<TableIndex>,
}

/// The VM's distribution of successive processes over the cache lines of its process table. The lowest bits of the
/// term are then an index into the table, from which the number is computed (`erts_ptab_pixdata2data`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TableIndex {
    /// Bits of an index.
    bits: u32,
    /// The bits of an index within a cache line.
    line_bits: u32,
}

/// An index into the process table, and the pid of the process there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    pub(super) index: u64,
    pub(super) term: u64,
}

/// Bits of a pid beside its index, which has the other half of the word, and bits of its number
/// (`erl_node_container_utils.h` until OTP 25).
const BESIDE: (u32, u32) = (28, 15);

/// Bits of a pid that contains its index, all above the tag, and bits of its number (since OTP 26).
const WITHIN: (u32, u32) = (60, 28);

/// Share of the slots that must agree: a process may have exited during the read.
const AGREEMENT: f64 = 0.9;

const TAG_BITS: u32 = 4;

/// The tag of a local pid is 0011 (`erl_term.h` of the emulator).
pub(super) fn is_pid(term: u64) -> bool {
    term & 0xf == 0x3
}

impl Pids {
    /// The form of the pids at `slots`. `head` is the head of the VM's process table as words (`ErtsPTab`). `Err`
    /// describes slots in neither form.
    pub(super) fn read(slots: &[Slot], head: &[u64]) -> Result<Self, String> {
        let agree = |is_so: &dyn Fn(&Slot) -> bool| {
            let count = slots.iter().filter(|slot| is_so(slot)).count();
            count > 0 && count as f64 >= AGREEMENT * slots.len() as f64
        };
        if agree(&|slot| slot.term >> 32 == slot.index) {
            let (bits, number_bits) = BESIDE;
            return Ok(Self { bits, number_bits, index: None });
        }
        let index = TableIndex::find(head);
        let is_within = |slot: &Slot| {
            index.is_some_and(|index| low(slot.term >> TAG_BITS, index.bits) == slot.index)
        };
        if agree(&is_within) {
            let (bits, number_bits) = WITHIN;
            return Ok(Self { bits, number_bits, index });
        }
        let shown: Vec<String> = slots
            .iter()
            .take(3)
            .map(|slot| format!("{:#x} at place {}", slot.term, slot.index))
            .collect();
        let masks = if index.is_some() { "" } else { ", and no masks in the table's head" };
        Err(format!("of no known form: {}{masks}", shown.join(", ")))
    }

    /// The index into the process table that a pid contains, at most 2^32.
    pub(super) fn place(&self, term: u64) -> u64 {
        self.index.map_or(term >> 32, |index| low(term >> TAG_BITS, index.bits))
    }

    /// A local pid in the shell's notation. `term` is `Process.common.id`.
    pub(crate) fn text(&self, term: u64) -> String {
        let data = low(term >> TAG_BITS, self.bits);
        let data = self.index.map_or(data, |index| index.counted(data));
        format!("<0.{}.{}>", low(data, self.number_bits), data >> self.number_bits)
    }
}

impl fmt::Display for Pids {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { bits, number_bits, .. } = self;
        match self.index {
            None => write!(
                to,
                "{bits} bits beside the place in the table, {number_bits} of them the number"
            ),
            Some(index) => write!(
                to,
                "{bits} bits with the place in the table in the lowest {}, {number_bits} of them the number",
                index.bits
            ),
        }
    }
}

impl TableIndex {
    /// Finds the index in the table's head. The head has the size, then the masks of an index, of a line and of an
    /// index within a line, then a word with the two shift distances. All of them must agree.
    fn find(table: &[u64]) -> Option<Self> {
        table.windows(4).find_map(|words| {
            let (bits, line_bits) = (ones(words[0])?, ones(words[2])?);
            let line_count_bits = bits.checked_sub(line_bits)?;
            let distances = u64::from(line_bits) | u64::from(line_count_bits) << 32;
            let agrees = ones(words[1]) == Some(line_count_bits) && words[3] == distances;
            agrees.then_some(Self { bits, line_bits })
        })
    }

    fn counted(self, data: u64) -> u64 {
        let place = low(data, self.bits);
        let line = place >> self.line_bits;
        let in_line = low(place, self.line_bits);
        data - place + line + (in_line << (self.bits - self.line_bits))
    }
}

fn low(word: u64, bits: u32) -> u64 {
    word & ((1 << bits) - 1)
}

/// The number of bits of `word`, if it is a mask of lowest bits.
fn ones(word: u64) -> Option<u32> {
    (word != 0 && word & word.wrapping_add(1) == 0 && word < u64::MAX).then(|| word.count_ones())
}

#[cfg(test)]
mod tests {
    use super::{Pids, Slot};

    /// The head of the process table of Erlang 27.3.4 with room for 2^20 processes, from its size on.
    const HEAD: [u64; 6] = [0x10_0000, 0xf_ffff, 0x1_ffff, 7, 0x11_0000_0003, 0x1_ffff];

    /// Indices and pids of Erlang 25.2.3 and of 27.3.4.
    const OF_25: [Slot; 2] =
        [Slot { index: 0x16c0, term: 0x16c0_0000_2d83 }, Slot { index: 8, term: 0x0008_0000_0013 }];
    const OF_27: [Slot; 2] =
        [Slot { index: 0x1338, term: 0x1_3383 }, Slot { index: 8, term: 0x83 }];

    #[track_caller]
    fn check(slots: &[Slot], term: u64, expected: &str) {
        let pids = Pids::read(slots, &HEAD).unwrap();
        assert_eq!(pids.text(term), expected, "{term:#x}");
    }

    #[test]
    fn pids_read_as_in_the_shell() {
        check(&OF_25, 0x16c0_0000_2d83, "<0.728.0>");
        check(&OF_25, 0x0022_32e3, "<0.9006.4>");
        check(&OF_27, 0x1_3383, "<0.615.0>");
        assert_eq!(Pids::read(&OF_25, &HEAD).unwrap().place(0x16c0_0000_2d83), 0x16c0);
        assert_eq!(Pids::read(&OF_27, &HEAD).unwrap().place(0x101_3383), 0x1338);
        // The first index of the second line's worth, and an index used for the second time.
        check(&OF_27, 0x13, "<0.131072.0>");
        check(&OF_27, 0x101_3383, "<0.1049191.0>");
        check(&OF_27, 0x1_0000_0000 + 0x1_3383, "<0.615.1>");
    }

    #[test]
    fn a_table_that_does_not_agree_with_itself_is_refused() {
        let mut other = HEAD;
        other[4] = 0x11_0000_0004;
        assert!(Pids::read(&OF_27, &other).unwrap_err().contains("no masks"));
        assert!(Pids::read(&OF_27, &[]).is_err());
        assert!(Pids::read(&[], &HEAD).is_err());
    }

    #[test]
    fn pids_that_have_nothing_to_do_with_their_places_are_refused() {
        let moved = OF_27.map(|slot| Slot { index: slot.index + 1, ..slot });
        assert!(Pids::read(&moved, &HEAD).unwrap_err().contains("0x13383 at place 4921"));
    }
}
