//! Tens of thousands of names, each kept once, in one text: separate allocations would take as much memory as the
//! names.

use std::hash::BuildHasher;

use rustc_hash::{FxBuildHasher, FxHashMap};

pub(crate) type TextId = u32;

/// Texts, each kept once.
#[derive(Debug, Default)]
pub(super) struct Texts {
    /// All texts, one after the other.
    text: String,
    /// End of each text.
    ends: Vec<u32>,
    /// Ids by hash. Of texts with the same hash, the later ones have the next free number. The index takes more
    /// memory than the texts, so that it is emptied after use and rebuilt for the next additions.
    index: FxHashMap<u64, TextId>,
}

impl Texts {
    /// The id of a text, which is added if it is new.
    pub(super) fn id(&mut self, text: &str) -> TextId {
        if self.index.len() < self.ends.len() {
            self.make_index();
        }
        let free = match self.look_up(text) {
            Ok(id) => return id,
            Err(free) => free,
        };
        let id = TextId::try_from(self.ends.len()).expect("fewer than 2^32 functions");
        self.text.push_str(text);
        self.ends.push(u32::try_from(self.text.len()).expect("names of less than 4 GiB"));
        self.index.insert(free, id);
        id
    }

    /// The id of a text, if it was added.
    pub(super) fn find(&self, text: &str) -> Option<TextId> {
        if self.index.is_empty() {
            return (0..).take(self.ends.len()).find(|&id| self.get(id) == text);
        }
        self.look_up(text).ok()
    }

    /// A text by its id.
    pub(super) fn get(&self, id: TextId) -> &str {
        let place = id as usize;
        let start = place.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start as usize..self.ends[place] as usize]
    }

    /// The number of texts, above every id.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Frees memory that only additions need.
    pub(super) fn shrink(&mut self) {
        self.text.shrink_to_fit();
        self.ends.shrink_to_fit();
        self.index = FxHashMap::default();
    }

    /// The id of a text, or the free number for it in the index.
    fn look_up(&self, text: &str) -> Result<TextId, u64> {
        let mut number = FxBuildHasher.hash_one(text);
        while let Some(&id) = self.index.get(&number) {
            if self.get(id) == text {
                return Ok(id);
            }
            number = number.wrapping_add(1);
        }
        Err(number)
    }

    fn make_index(&mut self) {
        self.index.clear();
        self.index.reserve(self.ends.len());
        for id in (0..).take(self.ends.len()) {
            if let Err(free) = self.look_up(self.get(id)) {
                self.index.insert(free, id);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::hash::BuildHasher;

    use rustc_hash::FxBuildHasher;

    use super::Texts;

    #[test]
    fn a_text_has_one_id_also_after_the_index_was_given_back() {
        let mut texts = Texts::default();
        assert_eq!(["a", "", "bc", "a"].map(|text| texts.id(text)), [0, 1, 2, 0]);
        texts.shrink();
        assert_eq!(["bc", "", "x"].map(|text| texts.find(text)), [Some(2), Some(1), None]);
        assert_eq!(["bc", "d", "a", "d"].map(|text| texts.id(text)), [2, 3, 0, 3]);
        assert_eq!([0, 1, 2, 3].map(|id| texts.get(id)), ["a", "", "bc", "d"]);
        assert_eq!(texts.find("d"), Some(3));
    }

    #[test]
    fn texts_with_the_same_hash_are_distinct() {
        let mut texts = Texts::default();
        texts.id("a");
        let number = FxBuildHasher.hash_one("b");
        texts.index.insert(number, 0);
        assert_eq!(texts.id("b"), 1);
        assert_eq!(texts.index.get(&number.wrapping_add(1)), Some(&1));
    }
}
