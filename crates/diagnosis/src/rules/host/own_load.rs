//! The load of the check itself.

use crate::{
    case::Case,
    finding::Severity,
    rules::{
        draft::Draft,
        look::{self, Look},
        rule::{Judged, Minimum, Need, Rule},
    },
};

/// Share of the machine's CPUs.
const SHARE: f64 = 0.1;

pub(crate) const RULE: Rule = Rule {
    name: "own-load",
    title: "load of this program",
    meaning: "the check itself took so much CPU time that it may have changed the figures",
    needs: &[Need::Host],
    minimum: Minimum { seconds: 5, counts: "" },
    threshold: "a tenth of the machine: note",
    change: "none; a shorter check, or fewer sources",
    source: "a budget of this program",
    find,
};

fn find(case: &Case) -> Judged {
    let host = case.host.as_ref()?;
    let is_heavy = host.own_cores >= SHARE * host.cpus.max(1) as f64;
    if !is_heavy {
        return Ok(Vec::new());
    }
    let own = look::cores(host.own_cores);
    let sentence = format!("this program itself used {own}; read the other figures with care");
    let draft = Draft::new(Severity::Note, vec!["rabbitscope".to_owned()], sentence)
        .evidence(Look::host(host).says(format!("{own} of {} CPUs", host.cpus)));
    Ok(vec![draft])
}
