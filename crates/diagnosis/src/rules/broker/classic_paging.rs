//! Classic queues of version 1 that write their messages to disk because memory is short.

use rabbitscope_text::{grouped, human_bytes};

use crate::{
    case::{Case, QueueCase, QueueKind},
    finding::Severity,
    rules::{
        draft::{Advice, Aim, Draft},
        look::{self, Look},
        names,
        rule::{Judged, Minimum, Need, NotJudged, Rule},
        version::Version,
    },
};

/// Share of the watermark from which version 1 pages messages out (`vm_memory_high_watermark_paging_ratio`).
const PAGING_RATIO: f64 = 0.5;
/// Ready messages below which a queue has nothing to page.
const LONG: u64 = 10_000;

pub(crate) const RULE: Rule = Rule {
    name: "classic-paging",
    title: "memory of classic queues",
    meaning: "classic queues of version 1 write messages to disk and collect garbage, because memory is short",
    needs: &[Need::Broker, Need::Queues],
    minimum: Minimum { seconds: 5, counts: "10,000 ready messages; a version" },
    threshold: "half of the watermark used, before 3.12: warning",
    change: "`classic_queue.default_version = 2` from 3.10, lazy queues before",
    source: "RabbitMQ documentation 3.11, memory use; vm_memory_high_watermark_paging_ratio",
    find,
};

fn find(case: &Case) -> Judged {
    let (broker, queues) = (case.broker.as_ref()?, case.queues.as_ref()?);
    let version = Version::of(broker)?;
    if version >= Version::new(3, 12) {
        return Ok(Vec::new());
    }
    let memory = broker.memory.filter(|memory| memory.limit > 0);
    let memory = memory.ok_or_else(|| NotJudged::new("the memory is unknown"))?;
    let is_paged = |queue: &&QueueCase| {
        queue.kind == QueueKind::Classic
            && queue.classic_version.is_none_or(|version| version == 1)
            && queue.ready >= LONG
    };
    let paged: Vec<&QueueCase> = queues.rows.iter().filter(is_paged).collect();
    if memory.share() < PAGING_RATIO || paged.is_empty() {
        return Ok(Vec::new());
    }
    let sentence = format!(
        "memory is at {} of the watermark, so classic queues of version 1 page messages out",
        look::percent(memory.share())
    );
    let longest = paged.iter().map(|queue| queue.ready).max().unwrap_or(0);
    let look = Look::node(case);
    let subjects = paged.iter().map(|queue| names::queue(queue)).collect();
    let used = format!("{} of {}", human_bytes(memory.used), human_bytes(memory.limit));
    let draft = Draft::new(Severity::Warning, subjects, sentence)
        .evidence(look.ends(format!("memory {used}")))
        .evidence(look.ends(format!("the longest has {} ready messages", grouped(longest))))
        .advice(advice(version));
    Ok(vec![draft])
}

fn advice(version: Version) -> Advice {
    if version >= Version::new(3, 10) {
        let sentence = "use version 2 for classic queues: in rabbitmq.conf for new queues, by the policy key queue-version for existing ones";
        let cost = "existing queues are converted when the policy changes, during which they do not answer";
        return Advice::new(Aim::Settle, "classic_queue.default_version", sentence, cost)
            .with_text("classic_queue.default_version = 2");
    }
    let sentence = "make long queues lazy by a policy";
    Advice::new(Aim::Settle, "queue-mode", sentence, "each message is written to disk").with_text(
        "rabbitmqctl set_policy lazy '^NAME$' '{\"queue-mode\":\"lazy\"}' --apply-to queues",
    )
}
