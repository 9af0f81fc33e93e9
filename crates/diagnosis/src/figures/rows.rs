//! Threads, functions and Erlang processes with their CPU time.

use serde::{Deserialize, Serialize};

use super::bounds::{MOST_ROWS, finite};
use crate::case::{Cpu, FunctionCpu, ProcessCpu, ThreadCpu};

/// CPU time of a kind of thread.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ThreadFigure {
    /// Kind, such as `scheduler`.
    pub kind: String,
    /// CPU time in cores.
    pub cores: f64,
    /// Number of samples.
    pub samples: u64,
}

/// CPU time of a function itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct FunctionFigure {
    /// Name, `module:function/arity` for Erlang.
    pub name: String,
    /// Share of the node's CPU time, 0 to 1.
    pub share: f64,
    /// Number of samples.
    pub samples: u64,
}

/// CPU time of an Erlang process.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ProcessFigure {
    /// Role in RabbitMQ; empty if the node was not asked.
    pub role: String,
    /// Name; its pid without a name.
    pub name: String,
    /// Virtual host; empty for processes without one.
    pub vhost: String,
    /// CPU time in cores.
    pub cores: f64,
    /// Number of samples.
    pub samples: u64,
}

pub(super) fn threads(cpu: &Cpu) -> Vec<ThreadFigure> {
    let figure = |thread: &ThreadCpu| ThreadFigure {
        kind: thread.kind.clone(),
        cores: finite(thread.cores),
        samples: samples_of(cpu, thread.cores),
    };
    cpu.threads.iter().take(MOST_ROWS).map(figure).collect()
}

pub(super) fn functions(cpu: &Cpu) -> Vec<FunctionFigure> {
    let figure = |function: &FunctionCpu| FunctionFigure {
        name: function.name.clone(),
        share: if cpu.cores > 0.0 { finite(function.cores / cpu.cores) } else { 0.0 },
        samples: samples_of(cpu, function.cores),
    };
    cpu.functions.iter().take(MOST_ROWS).map(figure).collect()
}

pub(super) fn processes(cpu: &Cpu) -> Vec<ProcessFigure> {
    let figure = |process: &ProcessCpu| ProcessFigure {
        role: process.role.clone(),
        name: if process.name.is_empty() { &process.pid } else { &process.name }.clone(),
        vhost: process.vhost.clone(),
        cores: finite(process.cores),
        samples: process.samples,
    };
    cpu.processes.iter().take(MOST_ROWS).map(figure).collect()
}

/// Returns the number of samples behind a part of the CPU time: each stands for the same time.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "not negative, rounded"
)]
fn samples_of(cpu: &Cpu, cores: f64) -> u64 {
    if cpu.cores > 0.0 {
        (finite(cores / cpu.cores) * cpu.samples as f64).round() as u64
    } else {
        0
    }
}
