//! Runtime parameters of a broker that was started for a run, set before it gets any load.

use rabbitscope_runs::scenario::Parameter;

use super::{binary::binary, refusal::refusal};
use crate::{BrokerError, Node, install::Installation};

/// Sets all of them, each at its node. The first that the broker does not take is the error.
pub(crate) fn set(
    nodes: &[Node],
    installation: &Installation,
    parameters: &[Parameter],
) -> Result<(), BrokerError> {
    let uris: Vec<String> = nodes.iter().map(Node::uri).collect();
    for parameter in parameters {
        let index = parameter.node.saturating_sub(1) as usize;
        let node = nodes.get(index).unwrap_or(&nodes[0]);
        let answer = node.eval_by(installation, &expression(parameter, &uris))?;
        if let Some(reason) = refusal(&answer) {
            let Parameter { component, name, .. } = parameter.clone();
            return Err(BrokerError::Parameter { component, name, reason });
        }
    }
    Ok(())
}

/// What `rabbitmqctl set_parameter` asks for.
fn expression(parameter: &Parameter, uris: &[String]) -> String {
    let text = |text: &str| binary(text.as_bytes());
    format!(
        "rabbit_runtime_parameters:parse_set(<<\"/\">>, {}, {}, {}, none)",
        text(&parameter.component),
        text(&parameter.name),
        text(&parameter.value_with(uris)),
    )
}
