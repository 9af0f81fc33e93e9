//! Converts a pid term of the VM's memory to its text, `<0.615.0>`.

use super::Layout;

/// How the VM encodes local pids.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pids {
    bits: u32,
    number_bits: u32,
    index: Option<TableIndex>,
}

/// How the VM spreads successive processes over the cache lines of its process table. The lowest bits of
/// the term are then an index into the table, from which the number has to be computed
/// (`erts_ptab_pixdata2data`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TableIndex {
    /// Bits of an index.
    bits: u32,
    /// The bits of an index within a cache line.
    line_bits: u32,
}

impl Pids {
    /// `table` is the VM's process table as words (`erts_proc`). `None` when pids contain an index and the
    /// table does not have the masks for it.
    pub(crate) fn read(layout: &Layout, table: &[u64]) -> Option<Self> {
        let index = if layout.pid_has_index { Some(TableIndex::find(table)?) } else { None };
        Some(Self { bits: layout.pid_bits, number_bits: layout.pid_number_bits, index })
    }

    /// A local pid as the shell prints it. `term` is `Process.common.id`.
    pub(crate) fn text(&self, term: u64) -> String {
        let data = low(term >> 4, self.bits);
        let data = self.index.map_or(data, |index| index.counted(data));
        format!("<0.{}.{}>", low(data, self.number_bits), data >> self.number_bits)
    }
}

impl TableIndex {
    /// The table holds its size and, in this order, masks of a place, of a line, of a place within a
    /// line, and in one word the two distances by which they are moved. All of them must agree.
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

/// The number of bits of `word`, when it is a mask of lowest bits.
fn ones(word: u64) -> Option<u32> {
    (word != 0 && word & word.wrapping_add(1) == 0 && word < u64::MAX).then(|| word.count_ones())
}

#[cfg(test)]
mod tests {
    use super::{Layout, Pids};

    /// `erts_proc` of Erlang 27.3.4 with room for 2^20 processes, from its size on.
    const TABLE: [u64; 6] = [0x10_0000, 0xf_ffff, 0x1_ffff, 7, 0x11_0000_0003, 0x1_ffff];

    fn check(release: &str, term: u64, expected: &str) {
        let layout = Layout::find(release, "x86_64").unwrap();
        let pids = Pids::read(layout, &TABLE).unwrap();
        assert_eq!(pids.text(term), expected, "{term:#x}");
    }

    #[test]
    fn pids_read_as_in_the_shell() {
        check("25", 0x16c0_0000_2d83, "<0.728.0>");
        check("25", 0x0022_32e3, "<0.9006.4>");
        check("27", 0x1_3383, "<0.615.0>");
        // The first place of the second line's worth, and a place that is used the second time.
        check("27", 0x13, "<0.131072.0>");
        check("27", 0x101_3383, "<0.1049191.0>");
        check("27", 0x1_0000_0000 + 0x1_3383, "<0.615.1>");
    }

    #[test]
    fn a_table_that_does_not_agree_with_itself_is_none() {
        let layout = Layout::find("27", "x86_64").unwrap();
        let mut other = TABLE;
        other[4] = 0x11_0000_0004;
        assert!(Pids::read(layout, &other).is_none());
        assert!(Pids::read(layout, &[]).is_none());
    }
}
