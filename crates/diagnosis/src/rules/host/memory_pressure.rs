//! Tasks that wait for memory.

use crate::{
    case::Case,
    finding::Severity,
    rules::{
        config::MEMORY,
        draft::{Advice, Aim, Draft},
        look::{self, Look},
        rule::{Judged, Minimum, Need, NotJudged, Rule},
    },
};

/// Share of the time in which a task waited for memory.
const HIGH: f64 = 0.1;

pub(crate) const RULE: Rule = Rule {
    name: "memory-pressure",
    title: "memory of the machine",
    meaning: "tasks of the node's control group, or the machine, wait for memory to be freed",
    needs: &[Need::Host],
    minimum: Minimum { seconds: 5, counts: "" },
    threshold: "10 % of the time: warning",
    change: "more memory, or fewer programs",
    source: "Linux documentation, pressure stall information; the threshold is a proposal",
    find,
};

fn find(case: &Case) -> Judged {
    let host = case.host.as_ref()?;
    let pressure = host
        .memory_pressure
        .ok_or_else(|| NotJudged::new("the kernel does not show the pressure on memory"))?;
    let is_high = pressure >= HIGH;
    if !is_high {
        return Ok(Vec::new());
    }
    let waiting = look::percent(pressure);
    let advice = Advice::new(
        Aim::Settle,
        MEMORY,
        "give the machine or the control group more memory, or run fewer programs beside the node",
        "memory",
    );
    let sentence = format!("tasks wait for memory {waiting} of the time");
    let draft = Draft::new(Severity::Warning, vec![case.subject.node.clone()], sentence)
        .evidence(Look::host(host).says(format!("pressure on memory {waiting}")))
        .advice(advice);
    Ok(vec![draft])
}
