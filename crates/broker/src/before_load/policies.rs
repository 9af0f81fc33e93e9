//! Policies of a node that was started for a run, set before it gets any load.

use rabbitscope_runs::scenario::Policy;

use super::{binary::binary, refusal::refusal};
use crate::{BrokerError, Node, install::Installation};

/// Sets all policies. Returns the first refusal of the broker as an error.
pub(crate) fn set(
    node: &Node,
    installation: &Installation,
    policies: &[Policy],
) -> Result<(), BrokerError> {
    for policy in policies {
        let answer = node.eval_by(installation, &expression(policy))?;
        if let Some(reason) = refusal(&answer) {
            return Err(BrokerError::Policy { name: policy.name.clone(), reason });
        }
    }
    Ok(())
}

/// The call behind `rabbitmqctl set_policy`.
fn expression(policy: &Policy) -> String {
    let text = |text: &str| binary(text.as_bytes());
    format!(
        "rabbit_policy:parse_set(<<\"/\">>, {}, {}, {}, {}, <<\"{}\">>, <<\"guest\">>)",
        text(&policy.name),
        text(&policy.pattern),
        text(&policy.definition),
        policy.priority,
        policy.apply_to.word()
    )
}
