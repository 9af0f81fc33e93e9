//! Memory of the node in swap.

use rabbitscope_text::human_bytes;

use crate::{
    case::Case,
    finding::Severity,
    rules::{
        config::MEMORY,
        draft::{Advice, Aim, Draft},
        look::{self, Look},
        rule::{Judged, Minimum, Need, Rule},
    },
};

/// Pages per second that show that swapped memory is in use.
const PAGES: f64 = 10.0;
/// Bytes of the node in swap below which the pages belong to others.
const BYTES: u64 = 1 << 20;

pub(crate) const RULE: Rule = Rule {
    name: "swap",
    title: "swap",
    meaning: "memory of the node is in swap and is read back: each process that needs it waits for the disk",
    needs: &[Need::Host],
    minimum: Minimum { seconds: 5, counts: "1 MiB in swap" },
    threshold: "10 pages a second: warning",
    change: "more memory, a lower `vm_memory_high_watermark`, or no swap",
    source: "RabbitMQ documentation, production checklist; the threshold is a proposal",
    find,
};

fn find(case: &Case) -> Judged {
    let host = case.host.as_ref()?;
    let (Some(pages), Some(bytes)) = (host.swapped_in_per_second, host.node_swap_bytes) else {
        return Ok(Vec::new());
    };
    if !(pages >= PAGES && bytes >= BYTES) {
        return Ok(Vec::new());
    }
    let advice = Advice::new(
        Aim::Settle,
        MEMORY,
        "give the machine more memory, or fewer programs; without swap the alarm of memory acts in time",
        "memory",
    );
    let in_swap = human_bytes(bytes);
    let sentence = format!("{in_swap} of the node are in swap, and the machine reads from swap");
    let look = Look::host(host);
    let draft = Draft::new(Severity::Warning, vec![case.subject.node.clone()], sentence)
        .evidence(look.says(look::rate(pages, "pages swapped in")))
        .evidence(look.ends(format!("{in_swap} of the node in swap")))
        .advice(advice);
    Ok(vec![draft])
}
