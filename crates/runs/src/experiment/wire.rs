//! The experiment file as written.

use serde::Deserialize;
use toml::Value;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Experiment {
    pub(super) name: String,
    pub(super) description: Option<String>,
    pub(super) seed: Option<u64>,
    pub(super) base: String,
    pub(super) primary: String,
    #[serde(default)]
    pub(super) secondary: Vec<String>,
    pub(super) design: Option<Design>,
    #[serde(default)]
    pub(super) arms: Vec<Arm>,
    #[serde(default)]
    pub(super) sweep: Vec<Axis>,
    pub(super) known: Option<Known>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Design {
    pub(super) rounds: Option<u32>,
    pub(super) looks: Option<Vec<u32>>,
    pub(super) indifferent: Option<String>,
    pub(super) control: Option<bool>,
    pub(super) max_stolen: Option<String>,
    pub(super) live: Option<Live>,
    pub(super) capacity: Option<Capacity>,
    pub(super) max_others: Option<String>,
    pub(super) anchor: Option<usize>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Capacity {
    pub(super) limits: Vec<String>,
    pub(super) min: Option<f64>,
    pub(super) max: Option<f64>,
    pub(super) step: Option<String>,
    pub(super) warm_up: Option<String>,
    pub(super) crossings: Option<usize>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Live {
    pub(super) slice: Option<String>,
    pub(super) brokers: Option<u32>,
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

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Known {
    pub(super) expect: Vec<String>,
    pub(super) source: String,
}
