//! The distinct strings of a file. The first one is always empty.

use hashbrown::HashMap;

/// A string table. A profile has thousands of names, and a name occurs in thousands of samples, so strings are
/// borrowed.
pub(super) struct StringTable<'a> {
    texts: Vec<&'a str>,
    index: HashMap<&'a str, u64>,
    /// The last index at each position of a row, see [`StringTable::id_in_row`].
    row: Vec<u64>,
}

impl Default for StringTable<'_> {
    fn default() -> Self {
        Self { texts: vec![""], index: HashMap::from([("", 0)]), row: Vec::new() }
    }
}

impl<'a> StringTable<'a> {
    /// Returns the index of a string, and adds it if it is new.
    pub(super) fn id(&mut self, text: &'a str) -> u64 {
        let texts = &mut self.texts;
        *self.index.entry(text).or_insert_with(|| {
            texts.push(text);
            texts.len() as u64 - 1
        })
    }

    /// Like [`StringTable::id`], for a position in one of many rows, whose string often equals that of the previous
    /// row.
    pub(super) fn id_in_row(&mut self, position: usize, text: &'a str) -> u64 {
        if self.row.len() <= position {
            self.row.resize(position + 1, 0);
        }
        let last = self.row[position];
        if self.texts[usize::try_from(last).expect("a place of `texts`")] == text {
            return last;
        }
        let id = self.id(text);
        self.row[position] = id;
        id
    }

    /// All strings in order of their indexes.
    pub(super) fn texts(&self) -> impl Iterator<Item = &'a str> {
        self.texts.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::StringTable;

    #[test]
    fn a_string_has_one_place_however_it_is_asked_for() {
        let mut strings = StringTable::default();
        assert_eq!([strings.id(""), strings.id("a"), strings.id("a")], [0, 1, 1]);
        let rows = [["a", "b"], ["a", "c"], ["b", "c"], ["", "a"]];
        let ids = rows.map(|row| [0, 1].map(|position| strings.id_in_row(position, row[position])));
        assert_eq!(ids, [[1, 2], [1, 3], [2, 3], [0, 1]]);
        assert_eq!(strings.texts().collect::<Vec<_>>(), ["", "a", "b", "c"]);
    }
}
