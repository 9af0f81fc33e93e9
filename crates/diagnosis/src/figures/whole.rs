//! All figures of a case, bounded, as a saved check has them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{
    ClientFigure, FunctionFigure, METRICS, Metric, ProcessFigure, ThreadFigure, bounds::MOST_ROWS,
    clients, rows,
};
use crate::case::Case;

/// The figures of a case. Lists have at most 50 rows, the largest first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct Figures {
    /// Single figures by the name of their [`Metric`], in its unit.
    pub values: BTreeMap<String, f64>,
    /// Number of samples of the CPU; 0 without.
    pub samples: u64,
    /// Kinds of threads.
    pub threads: Vec<ThreadFigure>,
    /// Functions by their own CPU time.
    pub functions: Vec<FunctionFigure>,
    /// Erlang processes.
    pub processes: Vec<ProcessFigure>,
    /// Clients.
    pub clients: Vec<ClientFigure>,
    /// Is true if every client has a row, and every connection and channel of the node is in one.
    pub has_all_clients: bool,
}

impl Figures {
    /// Reads the figures of a case.
    pub fn from_case(case: &Case) -> Self {
        let read = |metric: &Metric| {
            let value = (metric.value)(case).filter(|value| value.is_finite() && *value >= 0.0)?;
            Some((metric.id.name.to_owned(), value))
        };
        let cpu = case.cpu.as_ref().ok();
        let clients = case.clients.as_ref().ok().map(clients::by_client).unwrap_or_default();
        Self {
            values: METRICS.iter().filter_map(read).collect(),
            samples: cpu.map_or(0, |cpu| cpu.samples),
            threads: cpu.map(rows::threads).unwrap_or_default(),
            functions: cpu.map(rows::functions).unwrap_or_default(),
            processes: cpu.map(rows::processes).unwrap_or_default(),
            has_all_clients: clients.len() <= MOST_ROWS && clients::are_complete(case),
            clients: clients.into_iter().take(MOST_ROWS).collect(),
        }
    }
}
