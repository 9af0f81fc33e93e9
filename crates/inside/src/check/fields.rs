//! Fields of a map that the agent sends. Fields without a value of the expected kind are absent.

use rabbitscope_erlang::Term;

/// A map with atoms as keys.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fields<'t>(pub(super) &'t Term);

impl<'t> Fields<'t> {
    pub(super) fn term(self, key: &str) -> Option<&'t Term> {
        self.0.get(key)
    }

    pub(super) fn number(self, key: &str) -> Option<u64> {
        self.term(key)?.as_u64()
    }

    pub(super) fn float(self, key: &str) -> Option<f64> {
        self.term(key)?.as_f64()
    }

    /// Returns the text of a binary; empty if there is none.
    pub(super) fn text(self, key: &str) -> String {
        self.term(key).and_then(Term::to_text).unwrap_or_default()
    }

    /// Returns the name of an atom; empty if there is none.
    pub(super) fn word(self, key: &str) -> String {
        self.term(key).and_then(Term::as_atom).unwrap_or_default().to_owned()
    }

    pub(super) fn is_true(self, key: &str) -> bool {
        self.term(key).is_some_and(|term| term.is_atom("true"))
    }

    /// Returns a pid as the node prints it; empty if there is none.
    pub(super) fn pid(self, key: &str) -> String {
        self.term(key).and_then(Term::as_pid).map(ToString::to_string).unwrap_or_default()
    }

    pub(super) fn list(self, key: &str) -> &'t [Term] {
        self.term(key).and_then(Term::as_list).unwrap_or_default()
    }

    pub(super) fn rows(self, key: &str) -> impl Iterator<Item = Fields<'t>> {
        self.list(key).iter().map(Fields)
    }

    /// Returns a list of counts as rates per second.
    pub(super) fn rates(self, key: &str, seconds: f64) -> Option<Vec<f64>> {
        let counts = self.term(key)?.as_list()?.iter();
        counts.map(|count| Some(count.as_f64()? / seconds)).collect()
    }
}
