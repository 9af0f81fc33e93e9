//! Runtime parameters of a broker that was started for a run, set before it gets any load.

use rabbitscope_runs::scenario::Parameter;

use super::{binary::binary, refusal::refusal};
use crate::{BrokerError, Node, install::Installation};

/// Sets all parameters, each on its node. Returns the first refusal of the broker as an error.
pub(crate) fn set(
    nodes: &[Node],
    installation: &Installation,
    parameters: &[Parameter],
) -> Result<(), BrokerError> {
    let uris: Vec<String> = nodes.iter().map(Node::uri).collect();
    for parameter in parameters {
        let refused = |reason: &str| {
            let Parameter { component, name, .. } = parameter.clone();
            BrokerError::Parameter { component, name, reason: without_addresses(reason, &uris) }
        };
        let index = (parameter.node as usize).checked_sub(1);
        let node = index.and_then(|index| nodes.get(index));
        let node = node.ok_or_else(|| refused("the broker has no node with this number"))?;
        let reason = match node.eval_by(installation, &expression(parameter, &uris)) {
            Ok(answer) => refusal(&answer),
            // The expression is left out, because it has passwords.
            Err(BrokerError::Eval { answer, .. }) => Some(answer),
            Err(error) => return Err(error),
        };
        if let Some(reason) = reason {
            return Err(refused(&reason));
        }
    }
    Ok(())
}

/// Replaces the nodes' URIs, which have passwords, in an answer of the broker that may quote them.
fn without_addresses(words: &str, uris: &[String]) -> String {
    let named = (1..).zip(uris);
    named.fold(words.to_owned(), |words, (number, uri)| {
        words.replace(uri, &format!("$uri-{number}"))
    })
}

/// The call behind `rabbitmqctl set_parameter`.
fn expression(parameter: &Parameter, uris: &[String]) -> String {
    let text = |text: &str| binary(text.as_bytes());
    format!(
        "rabbit_runtime_parameters:parse_set(<<\"/\">>, {}, {}, {}, none)",
        text(&parameter.component),
        text(&parameter.name),
        text(&parameter.value_with(uris)),
    )
}

#[cfg(test)]
mod tests {
    use super::without_addresses;

    #[test]
    fn words_of_a_broker_have_no_password() {
        let uris = ["amqp://g:one@h:1".to_owned(), "amqp://g:two@h:2".to_owned()];
        let words = "no: amqp://g:two@h:2 after amqp://g:one@h:1";
        assert_eq!(without_addresses(words, &uris), "no: $uri-2 after $uri-1");
    }
}
