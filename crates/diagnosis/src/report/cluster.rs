//! The results of a cluster's nodes, the most limited node first.

use std::fmt;

use rabbitscope_text::escapes;
use serde::{Deserialize, Serialize};

use super::CheckReport;
use crate::{
    finding::Severity,
    limit::{Certainty, Limit, LimitKind},
};

/// The results of a cluster's nodes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ClusterReport {
    /// Name of the most limited node.
    pub node: String,
    /// Its limit.
    pub limit: Limit,
    /// The result of each node, the most limited one first.
    pub nodes: Vec<CheckReport>,
    /// Nodes without a result.
    pub missing: Vec<MissingMember>,
}

/// A node without a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct MissingMember {
    /// Name of the node.
    pub node: String,
    /// The reason.
    pub reason: String,
}

impl ClusterReport {
    /// Joins the results of nodes. `None` without any.
    pub fn from_reports(mut nodes: Vec<CheckReport>, missing: Vec<MissingMember>) -> Option<Self> {
        nodes.sort_by(|one, other| rank(&other.limit).total_cmp(&rank(&one.limit)));
        let first = nodes.first()?;
        Some(Self { node: first.node.clone(), limit: first.limit.clone(), nodes, missing })
    }

    /// Returns the severity of the worst finding.
    pub fn worst(&self) -> Option<Severity> {
        self.nodes.iter().filter_map(CheckReport::worst).max()
    }
}

/// Orders limits: an alarm, then others by certainty and share, then unknown ones, then none.
fn rank(limit: &Limit) -> f64 {
    let kind = match limit.kind {
        LimitKind::Alarm => 100.0,
        LimitKind::Unknown => 1.0,
        LimitKind::Nothing => 0.0,
        _ => 10.0,
    };
    let certainty = match limit.certainty {
        Certainty::Certain => 3.0,
        Certainty::Likely => 2.0,
        Certainty::Uncertain => 0.0,
    };
    kind + if kind > 1.0 { certainty + limit.share } else { 0.0 }
}

impl fmt::Display for ClusterReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, node) in self.nodes.iter().enumerate() {
            if number > 0 {
                f.write_str("\n\n")?;
            }
            write!(f, "node      {}\n{node}", escapes::value(&node.node))?;
        }
        for missing in &self.missing {
            let (node, reason) = (escapes::value(&missing.node), escapes::value(&missing.reason));
            write!(f, "\nmissing   {node}: {reason}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::case::{Broker, Case, Queues, Subject, Vm};

    fn report(node: &str, alarms: &[&str]) -> CheckReport {
        let subject = Subject {
            node: node.to_owned(),
            duration: Duration::from_secs(15),
            ..Subject::default()
        };
        let alarms = alarms.iter().map(|&alarm| alarm.to_owned()).collect();
        CheckReport::from_case(&Case {
            broker: Ok(Broker { alarms, ..Broker::default() }),
            vm: Ok(Vm::default()),
            queues: Ok(Queues::default()),
            ..Case::unread(subject)
        })
    }

    #[test]
    fn the_node_with_an_alarm_is_first() {
        let nodes = vec![report("a@h", &[]), report("b@h", &["disk"])];
        let missing =
            vec![MissingMember { node: "c@h".to_owned(), reason: "it is not running".to_owned() }];
        let cluster = ClusterReport::from_reports(nodes, missing).unwrap();
        assert_eq!((cluster.node.as_str(), cluster.limit.kind), ("b@h", LimitKind::Alarm));
        let text = cluster.to_string();
        assert!(text.starts_with("node      b@h\nlimit     an alarm"), "{text}");
        assert!(text.ends_with("missing   c@h: it is not running"), "{text}");
        assert_eq!(ClusterReport::from_reports(Vec::new(), Vec::new()), None);
    }
}
