//! Message stores that are the limit of classic queues.

use super::chain::{Root, roots};
use crate::{
    case::{Case, Flow},
    finding::Severity,
    rules::{
        attribution,
        config::{DISK, advanced},
        draft::{Advice, Aim, Draft},
        look::Look,
        names,
        rule::{Judged, Minimum, Need, Rule},
        version::Version,
    },
};

pub(crate) const RULE: Rule = Rule {
    name: "store-bound",
    title: "message stores",
    meaning: "classic queues wait for the message store of their virtual host, which writes bodies from 4 KiB on",
    needs: &[Need::Flow],
    minimum: Minimum { seconds: 5, counts: "20 looks at a process" },
    threshold: "a queue waits in 30 % of the looks for the store: warning",
    change: "a faster disk; `msg_store_credit_disc_bound` before 4.0",
    source: "RabbitMQ blog, 2014-04-14, on flow control; rabbitmq-server#227",
    find,
};

fn find(case: &Case) -> Judged {
    let flow = case.flow.as_ref()?;
    let roots = roots(flow);
    let stores = roots.iter().filter(|root| root.has_role(&["msg_store"]));
    Ok(stores.map(|root| draft(case, flow, root)).collect())
}

fn draft(case: &Case, flow: &Flow, root: &Root<'_>) -> Draft {
    let queues: Vec<String> =
        root.blocked.iter().map(|(queue, _)| names::in_vhost(&queue.name, &queue.vhost)).collect();
    let sentence = format!("the message store is the limit: {} for it", waiting(queues.len()));
    let works_for = root
        .process
        .zip(case.cpu.as_ref().ok())
        .and_then(|(own, cpu)| Some(Look::cpu(cpu).says(attribution::words(case, cpu, &own.pid)?)));
    Draft::new(Severity::Warning, queues, sentence)
        .all_evidence(root.evidence(case, flow))
        .all_evidence(works_for)
        .advice(advice(case))
}

fn advice(case: &Case) -> Advice {
    let version = case.broker.as_ref().ok().and_then(|broker| Version::parse(&broker.version));
    if version.is_some_and(|version| version < Version::new(4, 0)) {
        let sentence = "put the data on a faster disk; short peaks pass with more credit of the store, in advanced.config";
        let cost = "a disk; with more credit, more messages wait in memory";
        return Advice::new(Aim::Settle, DISK, sentence, cost)
            .with_text(advanced("msg_store_credit_disc_bound", "{16000, 3200}"));
    }
    let sentence = "put the data on a faster disk, or divide the queues among virtual hosts, each with a store";
    Advice::new(Aim::Settle, DISK, sentence, "a disk, or queues in another virtual host")
}

fn waiting(queues: usize) -> String {
    if queues == 1 { "a queue waits".to_owned() } else { format!("{queues} queues wait") }
}
