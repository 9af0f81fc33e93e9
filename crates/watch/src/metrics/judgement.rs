//! Metrics of the judgement of a node's latest window.

use std::sync::Arc;

use rabbitscope_export::{MetricsSnapshot, NodeLabels, catalog};

use crate::judgements::Judgement;

/// Adds the limit and the number of findings.
pub(crate) fn write_judgement(
    snapshot: &mut MetricsSnapshot,
    node: &Arc<NodeLabels>,
    judgement: &Judgement,
) {
    let labels = vec![
        ("certainty", Arc::from(judgement.certainty.name())),
        ("kind", Arc::from(judgement.kind.name())),
    ];
    snapshot.add(&catalog::NODE_LIMIT, Some(node), labels, judgement.share);
    for ((rule, severity), count) in &judgement.findings {
        let labels =
            vec![("rule", Arc::from(rule.as_str())), ("severity", Arc::from(severity.name()))];
        snapshot.add(&catalog::NODE_FINDINGS, Some(node), labels, *count as f64);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use rabbitscope_diagnosis::{Certainty, LimitKind, Severity};

    use super::*;

    #[test]
    fn an_unknown_limit_is_a_value_of_its_own() {
        let judgement = Judgement {
            kind: LimitKind::Unknown,
            certainty: Certainty::Uncertain,
            share: 0.0,
            findings: BTreeMap::from([(("memory-alarm".to_owned(), Severity::Critical), 2)]),
        };
        let mut snapshot = MetricsSnapshot::new(0);
        write_judgement(&mut snapshot, &Arc::default(), &judgement);
        let of = |index: usize| {
            let point = &snapshot.points()[index];
            let labels: Vec<String> =
                point.labels.iter().map(|(name, value)| format!("{name}={value}")).collect();
            (point.metric.name, labels.join(","), point.value)
        };
        assert_eq!(of(0), ("limit", "certainty=uncertain,kind=unknown".to_owned(), 0.0));
        assert_eq!(of(1), ("findings", "rule=memory-alarm,severity=critical".to_owned(), 2.0));
    }
}
