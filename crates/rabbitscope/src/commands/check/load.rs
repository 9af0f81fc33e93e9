//! The observed load of a check as a scenario, which experiments start from, with its figures beside it.

use rabbitscope_check::ObservedLoad;
use rabbitscope_diagnosis::{BaseScenario, Case};
use rabbitscope_runner::fit;
use rabbitscope_terminal::output;
use rabbitscope_workload::{Measurements, Origin, RunLength, model, scenario};

/// Length of a run of an experiment, and the part of it without figures.
const LENGTH: RunLength = RunLength { seconds: 10, warm_up_seconds: 3 };

/// The scenario of an observed load, and its figures.
#[derive(Debug)]
pub(super) struct Base {
    pub(super) scenario: BaseScenario,
    /// Contents of the file for `workload --compare`.
    pub(super) likeness: String,
}

impl Base {
    /// Creates the scenario of an observed load, or says why no run can have that load.
    pub(super) fn new(load: ObservedLoad, case: &Case) -> Result<Self, String> {
        let ObservedLoad { mut flows, objects } = load;
        let objects = objects.map_err(|reason| format!("the node was not asked: {reason}"));
        let origin = origin(case, objects.as_ref().err());
        let model = model(&mut flows, objects.unwrap_or_default());
        if flows.messages().0 > 0 && !model.publishes() {
            let reason = "publishers began before the capture, and no source tells their queues";
            return Err(reason.to_owned());
        }
        let mut measured = Measurements::from_model(&model, &flows);
        let packets = case.packets.as_ref().ok().and_then(|report| report.capture.as_ref());
        measured.add_costs(packets.map(|capture| capture.packets), Vec::new());
        let scenario = BaseScenario::new(scenario(&model, &origin, LENGTH))?;
        Ok(Self { scenario, likeness: measured.to_json() })
    }

    /// Says which parts of the load do not fit this machine.
    pub(super) fn note_misfits(&self) {
        for misfit in fit::misfits(self.scenario.scenario()) {
            output::note(&format!("{}: {misfit}", BaseScenario::FILE_NAME));
        }
    }
}

fn origin(case: &Case, refusal: Option<&String>) -> Origin {
    let packets = case.packets.as_ref().ok().and_then(|report| report.capture.as_ref());
    let node = "exchanges, queues, bindings, policies and consumers of the node";
    let end = case.capture_end.as_ref();
    let dropped = packets.and_then(|capture| capture.dropped).filter(|dropped| *dropped > 0);
    Origin {
        name: "observed-load".to_owned(),
        sources: vec![
            format!(
                "{} packets of {}, which `rabbitscope check` captured",
                packets.map_or(0, |capture| capture.packets),
                case.subject.node
            ),
            refusal.map_or(node, String::as_str).to_owned(),
            "objects that clients declared meanwhile".to_owned(),
        ],
        notes: dropped
            .map(|dropped| {
                format!("the capture lost {dropped} packets: rates and counts are too low")
            })
            .into_iter()
            .chain(
                end.map(|end| {
                    format!("the capture ended after {:.1} s: {}", end.seconds, end.reason)
                }),
            )
            .collect(),
    }
}
