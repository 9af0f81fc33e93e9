//! Schedules of publishers and `[run]` as written.

use rabbitscope_text::{display_duration, display_utc};
use serde::{Deserialize, Serialize};

use crate::scenario::model::{self, Demand, Until, WarmUp};

#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(in crate::scenario) struct Run {
    pub(in crate::scenario) duration: Option<String>,
    pub(in crate::scenario) until: Option<UntilKind>,
    pub(in crate::scenario) idle_time: Option<String>,
    pub(in crate::scenario) empty_timeout: Option<String>,
    pub(in crate::scenario) start_at: Option<String>,
    pub(in crate::scenario) warm_up: Option<String>,
    pub(in crate::scenario) verify: Option<bool>,
    pub(in crate::scenario) trace_every: Option<u64>,
    pub(in crate::scenario) step: Option<String>,
    pub(in crate::scenario) self_check: Option<bool>,
    pub(in crate::scenario) stop_on_failure: Option<bool>,
    pub(in crate::scenario) latency_by_queue: Option<bool>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::scenario) enum UntilKind {
    Empty,
    Idle,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(in crate::scenario) struct Phase {
    #[serde(rename = "for")]
    pub(in crate::scenario) length: String,
    pub(in crate::scenario) rate: Option<f64>,
    pub(in crate::scenario) to: Option<f64>,
    pub(in crate::scenario) burst: Option<u32>,
    pub(in crate::scenario) every: Option<String>,
}

impl From<&model::Scenario> for Run {
    fn from(scenario: &model::Scenario) -> Self {
        let model::RunOptions {
            warm_up,
            start_at,
            verify,
            trace_every,
            step,
            self_check,
            stop_on_failure,
            latency_by_queue,
        } = scenario.run;
        let time = |time| display_duration(time).to_string();
        let (until, idle_time, empty_timeout) = match scenario.stop.until {
            None => (None, None, None),
            Some(Until::Empty(timeout)) => (Some(UntilKind::Empty), None, Some(time(timeout))),
            Some(Until::Idle(length)) => (Some(UntilKind::Idle), Some(time(length)), None),
        };
        Self {
            duration: scenario.stop.duration.map(time),
            until,
            idle_time,
            empty_timeout,
            start_at: start_at.map(|time| display_utc(time).to_string()),
            warm_up: warm_up.map(|warm_up| match warm_up {
                WarmUp::Auto => "auto".to_owned(),
                WarmUp::Time(length) => time(length),
            }),
            verify: Some(verify),
            trace_every,
            step: step.map(time),
            self_check: Some(self_check),
            stop_on_failure: Some(stop_on_failure),
            latency_by_queue: Some(latency_by_queue),
        }
    }
}

impl From<&model::Phase> for Phase {
    fn from(phase: &model::Phase) -> Self {
        let length = display_duration(phase.length).to_string();
        let empty = Self { length, rate: None, to: None, burst: None, every: None };
        match phase.demand {
            Demand::Rate { from, to } => Self { rate: Some(from), to: Some(to), ..empty },
            Demand::Bursts { messages, every } => {
                let every = Some(display_duration(every).to_string());
                Self { burst: Some(messages), every, ..empty }
            }
        }
    }
}
