//! Evaluation of Erlang expressions on the node.

use std::time::Duration;

use super::Connection;
use crate::{ErlangError, Term};

impl Connection {
    /// Returns the value of Erlang expressions, which `erl_eval` interprets on the node with these variables bound.
    pub fn evaluate(
        &self,
        expressions: &str,
        bindings: &[(&str, Term)],
        within: Duration,
    ) -> Result<Term, ErlangError> {
        let text = expressions.chars().map(|c| Term::from(u32::from(c))).collect::<Vec<_>>();
        let scanned = self.call("erl_scan", "string", vec![text.into()], within)?;
        let Some([tokens, _]) = scanned.as_tagged("ok") else {
            return Err(ErlangError::unexpected("erl_scan:string/1", &scanned));
        };
        let parsed = self.call("erl_parse", "parse_exprs", vec![tokens.clone()], within)?;
        let Some([expressions]) = parsed.as_tagged("ok") else {
            return Err(ErlangError::unexpected("erl_parse:parse_exprs/1", &parsed));
        };
        let binding = |(name, value): &(&str, Term)| Term::tuple([Term::atom(name), value.clone()]);
        let bindings: Vec<Term> = bindings.iter().map(binding).collect();
        let arguments = vec![expressions.clone(), bindings.into()];
        let value = self.call("erl_eval", "exprs", arguments, within)?;
        match value.as_tagged("value") {
            Some([value, _]) => Ok(value.clone()),
            _ => Err(ErlangError::unexpected("erl_eval:exprs/2", &value)),
        }
    }
}
