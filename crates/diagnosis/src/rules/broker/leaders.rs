//! Leaders of queues that gather on one node of a cluster.

use rabbitscope_text::grouped;

use crate::{
    case::Case,
    finding::Severity,
    rules::{
        draft::{Advice, Aim, Draft},
        look::{self, Look},
        rule::{Judged, Minimum, Need, NotJudged, Rule},
        version::Version,
    },
};

/// Leaders of the fullest node against the mean.
const MOST_TO_MEAN: f64 = 1.5;
/// Leaders for each node below which the difference may be chance.
const LEADERS_PER_NODE: u64 = 10;
/// Use of the schedulers from which the gathering costs throughput.
const BUSY: f64 = 0.7;

pub(crate) const RULE: Rule = Rule {
    name: "leaders",
    title: "leaders among nodes",
    meaning: "one node leads most queues and does their work",
    needs: &[Need::Broker, Need::Queues],
    minimum: Minimum { seconds: 0, counts: "10 leaders for each node" },
    threshold: "1.5 times the mean: note; warning if this node has them and its schedulers are busy 70 % of the time",
    change: "`queue_leader_locator = balanced` (before 3.10 `queue_master_locator = min-masters`); rebalance",
    source: "RabbitMQ documentation, clustering: queue leader location",
    find,
};

fn find(case: &Case) -> Judged {
    let (broker, queues) = (case.broker.as_ref()?, case.queues.as_ref()?);
    let nodes = broker.nodes.len().max(queues.leaders.len());
    if nodes < 2 {
        return Ok(Vec::new());
    }
    let sum: u64 = queues.leaders.iter().map(|(_, leaders)| *leaders).sum();
    if sum < LEADERS_PER_NODE * nodes as u64 {
        let least = LEADERS_PER_NODE * nodes as u64;
        return Err(NotJudged::new(format!("it takes {least} leaders; there were {sum}")));
    }
    let Some((node, most)) = queues.leaders.iter().max_by_key(|(_, leaders)| *leaders) else {
        return Ok(Vec::new());
    };
    let ratio = *most as f64 / (sum as f64 / nodes as f64);
    if ratio <= MOST_TO_MEAN {
        return Ok(Vec::new());
    }
    let is_busy =
        case.vm.as_ref().is_ok_and(|vm| vm.scheduler_use.is_some_and(|share| share >= BUSY));
    let is_costly = is_busy && *node == case.subject.node;
    let severity = if is_costly { Severity::Warning } else { Severity::Note };
    let share = look::percent(*most as f64 / sum as f64);
    let sentence = format!("{node} leads {share} of the queues, {ratio:.1} times the mean");
    let of_all: Vec<String> = queues
        .leaders
        .iter()
        .map(|(node, leaders)| format!("{node}: {}", grouped(*leaders)))
        .collect();
    let draft = Draft::new(severity, vec![node.clone()], sentence)
        .evidence(Look::node(case).ends(format!("leaders by node: {}", of_all.join(", "))))
        .advice(advice(Version::of(broker)?));
    Ok(vec![draft])
}

fn advice(version: Version) -> Advice {
    let (setting, line) = if version >= Version::new(3, 10) {
        ("queue_leader_locator", "queue_leader_locator = balanced")
    } else {
        ("queue_master_locator", "queue_master_locator = min-masters")
    };
    let sentence = "place new leaders evenly, in rabbitmq.conf, and move existing ones by rabbitmq-queues rebalance all";
    let cost = "queues do not answer for a moment while their leader moves";
    Advice::new(Aim::Settle, setting, sentence, cost).with_text(line)
}
