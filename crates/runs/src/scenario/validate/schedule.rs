//! Send times of the members of a group: `rate`, `arrival`, `phases`, `after-phases`.

use super::{
    super::{
        error::{Problem, refuse},
        model::{AfterPhases, Arrival, Demand, Phase},
    },
    context::check_each,
    fields,
};

const FASTEST: f64 = 10_000_000.0;

pub(super) const NEEDS_SCHEDULE: &str = "needs a schedule: give `rate` or `phases`";

/// The keys of a schedule.
pub(super) struct Keys<'a> {
    pub(super) rate: Option<f64>,
    pub(super) arrival: &'a mut Option<Arrival>,
    pub(super) phases: &'a mut [Phase],
    pub(super) after_phases: &'a mut Option<AfterPhases>,
}

impl Keys<'_> {
    /// Checks that the keys go together, and fills in defaults. Returns whether there is a schedule.
    pub(super) fn check(self) -> Result<bool, Problem> {
        let has_phases = !self.phases.is_empty();
        if self.rate.is_some() && has_phases {
            return refuse("rate", "give either `rate` or `phases`, which have rates of their own");
        }
        if !has_phases && self.after_phases.is_some() {
            return refuse(
                "after-phases",
                "applies after the last of `phases`, and there are none",
            );
        }
        check_each("phases", self.phases, |_, part| phase(part))?;
        let is_set = self.rate.is_some() || has_phases;
        if self.arrival.is_some() && !is_set {
            return refuse("arrival", NEEDS_SCHEDULE);
        }
        *self.arrival = is_set.then(|| self.arrival.unwrap_or_default());
        *self.after_phases = has_phases.then(|| self.after_phases.unwrap_or_default());
        let pause = Demand::Rate { from: 0.0, to: 0.0 };
        let is_silent = self.phases.iter().all(|phase| phase.demand() == pause);
        if has_phases && is_silent && *self.after_phases != Some(AfterPhases::Stop) {
            return refuse("phases", "are all pauses: nothing would ever be sent");
        }
        Ok(is_set)
    }
}

fn phase(phase: &mut Phase) -> Result<(), Problem> {
    match (phase.rate, phase.burst) {
        (Some(_), Some(_)) => refuse("burst", "give either `rate` or `burst` to a phase"),
        (None, None) => refuse("rate", "is missing: give `rate`, or `burst` with `every`"),
        (Some(from), None) => {
            if phase.every.is_some() {
                return refuse("every", "goes with `burst`: leave it out");
            }
            phase_rate("rate", from)?;
            phase_rate("to", *phase.to.get_or_insert(from))
        }
        (None, Some(messages)) => {
            if phase.to.is_some() {
                return refuse("to", "goes with `rate`: leave it out");
            }
            fields::at_least_one("burst", Some(messages))?;
            if phase.every.is_none() {
                return refuse("every", "is missing: the time from one burst to the next");
            }
            Ok(())
        }
    }
}

fn phase_rate(key: &str, rate: f64) -> Result<(), Problem> {
    if (0.0..=FASTEST).contains(&rate) {
        return Ok(());
    }
    refuse(
        key,
        "must be from 0 (a pause) to 10000000 messages a second for each member of the group",
    )
}
