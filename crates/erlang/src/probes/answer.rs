//! Decoder of the agent's replies: fields of maps, functions, names.

use super::target::FunctionName;
use crate::{ErlangError, Term};

/// A map in a reply.
pub(super) struct Fields<'t> {
    asked: &'static str,
    term: &'t Term,
}

impl<'t> Fields<'t> {
    pub(super) fn new(asked: &'static str, term: &'t Term) -> Self {
        Self { asked, term }
    }

    pub(super) fn get(&self, key: &str) -> Result<&'t Term, ErlangError> {
        self.term.get(key).ok_or_else(|| self.unexpected())
    }

    pub(super) fn number(&self, key: &str) -> Result<u64, ErlangError> {
        self.get(key)?.as_u64().ok_or_else(|| self.unexpected())
    }

    pub(super) fn flag(&self, key: &str) -> Result<bool, ErlangError> {
        Ok(self.get(key)?.is_atom("true"))
    }

    pub(super) fn word(&self, key: &str) -> Result<String, ErlangError> {
        self.get(key)?.as_atom().map(ToOwned::to_owned).ok_or_else(|| self.unexpected())
    }

    pub(super) fn text(&self, key: &str) -> Result<String, ErlangError> {
        self.get(key)?.to_text().ok_or_else(|| self.unexpected())
    }

    pub(super) fn function(&self, key: &str) -> Result<FunctionName, ErlangError> {
        function(self.get(key)?).ok_or_else(|| self.unexpected())
    }

    pub(super) fn unexpected(&self) -> ErlangError {
        ErlangError::unexpected(self.asked, self.term)
    }
}

/// Decodes a function `{M, F, Arity}`.
pub(super) fn function(term: &Term) -> Option<FunctionName> {
    let [module, name, arity] = term.as_tuple()? else { return None };
    Some(FunctionName {
        module: module.as_atom()?.to_owned(),
        name: name.as_atom()?.to_owned(),
        arity: u32::try_from(arity.as_u64()?).ok()?,
    })
}

/// Decodes an event `{What, Rows}`.
pub(super) fn rows<'t>(
    asked: &'static str,
    event: &'t Term,
) -> Result<(&'t str, &'t [Term]), ErlangError> {
    let parts = event.as_tuple().and_then(|parts| {
        let [what, rows] = parts else { return None };
        Some((what.as_atom()?, rows.as_list()?))
    });
    parts.ok_or_else(|| ErlangError::unexpected(asked, event))
}
