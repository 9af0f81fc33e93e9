//! Distribution ports at their limit, which suspends processes.

use rabbitscope_text::human_bytes;

use crate::{
    case::{Case, PeerNode, Vm},
    finding::{Evidence, Severity},
    rules::{
        draft::{Advice, Aim, Draft},
        look::{self, Look},
        names,
        rule::{Judged, Minimum, Need, Rule},
    },
};

/// Fewest looks at the limit.
const LOOKS: f64 = 2.0;

pub(crate) const RULE: Rule = Rule {
    name: "distribution-buffer",
    title: "buffers between nodes",
    meaning: "the buffer to another node is full, and processes that send to it are suspended",
    needs: &[Need::Looks],
    minimum: Minimum { seconds: 5, counts: "2 looks at the limit" },
    threshold: "any suspension: warning",
    change: "`RABBITMQ_DISTRIBUTION_BUFFER_SIZE`, unless the network or the other node is slow",
    source: "RabbitMQ documentation, runtime: inter-node buffer; cluster-operator#742",
    find,
};

fn find(case: &Case) -> Judged {
    let vm = case.vm.as_ref()?;
    let is_full = |peer: &&PeerNode| peer.busy_share * vm.looks as f64 >= LOOKS;
    let mut full: Vec<&PeerNode> = vm.peers.iter().filter(is_full).collect();
    full.sort_by(|one, other| other.busy_share.total_cmp(&one.busy_share));
    Ok(full.first().map(|worst| draft(case, vm, &full, worst)).into_iter().collect())
}

fn draft(case: &Case, vm: &Vm, full: &[&PeerNode], worst: &PeerNode) -> Draft {
    let share = look::percent(worst.busy_share);
    let sentence = format!(
        "the buffer to {} is full {share} of the time, and suspends its senders",
        worst.node
    );
    let kibibytes = (worst.limit_bytes / 1024).max(128_000).saturating_mul(2);
    let advice = Advice::new(
        Aim::Raise,
        "RABBITMQ_DISTRIBUTION_BUFFER_SIZE",
        "enlarge the buffer in rabbitmq-env.conf (in KiB) if bursts fill it; if it stays full, the network or the other node is the limit",
        "a restart; as much memory for each other node",
    );
    let subjects = full.iter().map(|peer| peer.node.clone()).collect();
    Draft::new(Severity::Warning, subjects, sentence)
        .evidence(figure(Look::node(case), worst))
        .all_evidence(senders(case))
        .evidence(Look::node(case).says(format!("{} looks", vm.looks)))
        .advice(advice.with_text(format!("DISTRIBUTION_BUFFER_SIZE={kibibytes}")))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
fn figure(look: Look, peer: &PeerNode) -> Evidence {
    let bytes = |figure: f64| human_bytes(figure.max(0.0) as u64);
    let (queued, sent) = (bytes(peer.queued_bytes), bytes(peer.sent_bytes_per_second));
    let limit = human_bytes(peer.limit_bytes);
    look.says(format!("{}: {queued} of {limit} wait, {sent}/s are sent", peer.node))
}

/// Returns the process that calls the distribution most, as far as samples show it.
fn senders(case: &Case) -> Option<Evidence> {
    let cpu = case.cpu.as_ref().ok()?;
    let sending = cpu.processes.iter().filter_map(|process| {
        let functions = process.functions.iter();
        let found = functions.filter(|function| function.name.contains("dsend"));
        Some((process, found.map(|function| function.cores).reduce(f64::max)?))
    });
    let (process, cores) = sending.max_by(|one, other| one.1.total_cmp(&other.1))?;
    let name = names::process(process);
    Some(Look::cpu(cpu).says(format!("{name} sends most: {}", look::cores(cores))))
}
