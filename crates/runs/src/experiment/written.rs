//! The experiment file as written. Its arms and axes become the arms of an [`Experiment`](super::Experiment).

use serde::Deserialize;
use toml::Value;

use super::{Design, Known, RunMetric};

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Experiment {
    pub(super) name: String,
    #[serde(default)]
    pub(super) description: String,
    #[serde(default = "first")]
    pub(super) seed: u64,
    pub(super) base: String,
    pub(super) primary: RunMetric,
    #[serde(default)]
    pub(super) secondary: Vec<RunMetric>,
    #[serde(default)]
    pub(super) design: Design,
    #[serde(default)]
    pub(super) arms: Vec<Arm>,
    #[serde(default)]
    pub(super) sweep: Vec<Axis>,
    pub(super) known: Option<Known>,
}

fn first() -> u64 {
    1
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Arm {
    pub(super) name: String,
    pub(super) scenario: Option<String>,
    pub(super) set: Option<Value>,
    pub(super) config: Option<String>,
    pub(super) advanced_config: Option<String>,
    pub(super) erl_args: Option<String>,
    pub(super) plugins: Option<Vec<String>>,
    pub(super) environment: Option<Value>,
    pub(super) root: Option<String>,
    pub(super) patches: Option<Vec<String>>,
    pub(super) modules: Option<Vec<String>>,
    pub(super) policies: Option<Value>,
    pub(super) parameters: Option<Value>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Axis {
    pub(super) set: String,
    pub(super) values: Value,
}
