//! Tracing that was left on.

use rabbitscope_text::escapes::shell_quoted;

use crate::{
    case::Case,
    finding::Severity,
    rules::{
        draft::{Advice, Aim, Draft},
        look::{self, Look},
        rule::{Judged, Minimum, Need, Rule},
    },
};

/// Messages per second from which the copies cost something.
const COSTLY_RATE: f64 = 1.0;

pub(crate) const RULE: Rule = Rule {
    name: "tracing",
    title: "tracing of virtual hosts",
    meaning: "tracing publishes a copy of each message of a virtual host",
    needs: &[Need::Broker],
    minimum: Minimum { seconds: 0, counts: "one look" },
    threshold: "a virtual host with tracing: note; warning from one message a second",
    change: "`rabbitmqctl trace_off`",
    source: "RabbitMQ documentation, firehose tracer",
    find,
};

fn find(case: &Case) -> Judged {
    let broker = case.broker.as_ref()?;
    if broker.traced_vhosts.is_empty() {
        return Ok(Vec::new());
    }
    let rates = [broker.rates.published, broker.rates.delivered];
    let messages: f64 = rates.into_iter().flatten().sum();
    let severity = if messages >= COSTLY_RATE { Severity::Warning } else { Severity::Note };
    let commands: Vec<String> = broker
        .traced_vhosts
        .iter()
        .map(|vhost| format!("rabbitmqctl trace_off -p {}", shell_quoted(vhost)))
        .collect();
    let advice = Advice::new(
        Aim::Settle,
        "trace_off",
        "switch tracing off where nobody reads the trace",
        "no more copies in amq.rabbitmq.trace",
    );
    let sentence =
        "tracing is on: the broker publishes a copy of each published and each delivered message";
    let figure =
        format!("{}, each copied in virtual hosts with tracing", look::rate(messages, "messages"));
    let draft = Draft::new(severity, broker.traced_vhosts.clone(), sentence)
        .evidence(Look::node(case).says(figure))
        .advice(advice.with_text(commands.join("\n")));
    Ok(vec![draft])
}
