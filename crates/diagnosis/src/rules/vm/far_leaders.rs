//! Clients that are connected to another node than that of their queues.

use crate::{
    case::{Broker, Case, Queues, Vm},
    finding::Severity,
    rules::{
        draft::{Advice, Aim, Draft},
        look::{self, Look},
        rule::{Judged, Minimum, Need, NotJudged, Rule},
    },
};

/// Bytes between nodes against those of clients.
const BETWEEN: f64 = 0.5;
/// Share of the published messages for queues with their leader here, below which clients are in the wrong place.
const LOCAL: f64 = 0.5;
/// Published messages per second below which the way costs nothing worth a change.
const RATE: f64 = 1_000.0;

pub(crate) const RULE: Rule = Rule {
    name: "far-leaders",
    title: "place of clients",
    meaning: "clients publish to a node that leads none of their queues: each message passes to another node",
    needs: &[Need::Broker, Need::Vm, Need::Queues, Need::Clients],
    minimum: Minimum {
        seconds: 5,
        counts: "1,000 published messages a second; statistics of all queues",
    },
    threshold: "bytes between nodes above half of the clients', and less than half of the messages for local leaders: warning",
    change: "connect to the leader's node",
    source: "rabbitmq-server#9014",
    find,
};

fn find(case: &Case) -> Judged {
    let (broker, vm) = (case.broker.as_ref()?, case.vm.as_ref()?);
    if broker.nodes.len() < 2 || vm.peers.is_empty() {
        return Ok(Vec::new());
    }
    let Some(published) = broker.rates.published else {
        return Err(NotJudged::new("published messages are not counted"));
    };
    let is_busy = published >= RATE;
    if !is_busy {
        return Ok(Vec::new());
    }
    let local = local_share(broker, case.queues.as_ref()?, published)?;
    let (between, of_clients) = (between(vm), client_bytes(case)?);
    let is_far = local < LOCAL && between >= BETWEEN * of_clients;
    if !is_far {
        return Ok(Vec::new());
    }
    let share = look::percent(1.0 - local);
    let sentence =
        format!("{share} of the messages that clients publish here go to leaders on other nodes");
    let advice = Advice::new(
        Aim::Settle,
        "address of the clients",
        "connect publishers and consumers to the node that leads their queues, or move the leaders here",
        "clients that know nodes, or a change of the balancer",
    );
    let bytes = format!(
        "{} between nodes, {} with clients",
        look::kilobytes(between),
        look::kilobytes(of_clients)
    );
    let look = Look::node(case);
    let figure = format!(
        "{}, {} of them for leaders here",
        look::rate(published, "messages"),
        look::percent(local)
    );
    let draft = Draft::new(Severity::Warning, vec![case.subject.node.clone()], sentence)
        .evidence(look.says(figure))
        .evidence(look.says(bytes))
        .advice(advice);
    Ok(vec![draft])
}

/// Returns the share of the published messages that go to leaders of this node.
fn local_share(broker: &Broker, queues: &Queues, published: f64) -> Result<f64, NotJudged> {
    let is_complete = queues.count <= queues.rows.len() as u64;
    let rates: Option<Vec<f64>> =
        queues.rows.iter().map(|queue| queue.published_per_second).collect();
    let lost = broker.rates.unroutable.unwrap_or(0.0);
    match rates.filter(|_| is_complete) {
        Some(rates) => Ok((rates.iter().sum::<f64>() + lost) / published),
        None => Err(NotJudged::new("the rates of some queues are unknown")),
    }
}

fn between(vm: &Vm) -> f64 {
    vm.peers.iter().map(|peer| peer.sent_bytes_per_second + peer.received_bytes_per_second).sum()
}

fn client_bytes(case: &Case) -> Result<f64, NotJudged> {
    let connections = &case.clients.as_ref()?.connections;
    let bytes = connections.iter().map(|connection| {
        let received = connection.received_bytes_per_second.unwrap_or(0.0);
        received + connection.sent_bytes_per_second.unwrap_or(0.0)
    });
    Ok(bytes.sum())
}
