//! Connections with very many channels, as a leak leaves them.

use rabbitscope_text::grouped;

use crate::{
    case::{Case, ConnectionCase},
    finding::Severity,
    rules::{
        draft::{Advice, Aim, Draft},
        look::Look,
        names,
        rule::{Judged, Minimum, Need, Rule},
    },
};

/// Half of the channels that a connection may have by default (`channel_max` 2047).
const MANY: u64 = 1_024;

pub(crate) const RULE: Rule = Rule {
    name: "many-channels",
    title: "channels of connections",
    meaning: "a connection has very many channels: a leak, which ends at `channel_max`",
    needs: &[Need::Clients],
    minimum: Minimum { seconds: 0, counts: "one look" },
    threshold: "1,024 channels, half of the default limit: note",
    change: "close channels, or share them",
    source: "RabbitMQ documentation, channels: channel leaks; rabbitmq-server#1593",
    find,
};

fn find(case: &Case) -> Judged {
    let clients = case.clients.as_ref()?;
    let is_full = |connection: &&ConnectionCase| connection.channels >= MANY;
    let full: Vec<&ConnectionCase> = clients.connections.iter().filter(is_full).collect();
    let Some(worst) = full.iter().max_by_key(|connection| connection.channels) else {
        return Ok(Vec::new());
    };
    let channels = grouped(worst.channels);
    let sentence = format!("{} has {channels} channels", names::connection(worst));
    let advice = Advice::new(
        Aim::Settle,
        "number of channels of a connection",
        "close channels that are not used, and open one for each thread; channel_max ends a leak early",
        "a change of the client",
    );
    let subjects = full.iter().map(|connection| names::connection(connection)).collect();
    let draft = Draft::new(Severity::Note, subjects, sentence)
        .evidence(Look::node(case).ends(format!("{channels} channels of one connection")))
        .advice(advice.with_text("channel_max = 128"));
    Ok(vec![draft])
}
