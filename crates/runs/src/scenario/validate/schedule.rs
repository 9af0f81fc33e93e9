//! Send times of the members of a group: `rate`, `arrival`, `phases`, `after-phases`.

use super::{
    super::{
        error::{Problem, refuse},
        model::{AfterPhases, Arrival, Demand, Phase, Schedule},
        wire,
    },
    fields,
};

const FASTEST: f64 = 10_000_000.0;

pub(super) const NEEDS_SCHEDULE: &str = "needs a schedule: give `rate` or `phases`";

/// The keys of a schedule as written.
pub(super) struct Keys<'a> {
    pub(super) rate: Option<f64>,
    pub(super) arrival: Option<Arrival>,
    pub(super) phases: &'a [wire::Phase],
    pub(super) after_phases: Option<AfterPhases>,
}

impl Keys<'_> {
    /// Checks that the keys go together, and returns the schedule.
    pub(super) fn check(self) -> Result<Schedule, Problem> {
        if self.rate.is_some() && !self.phases.is_empty() {
            return refuse("rate", "give either `rate` or `phases`, which have rates of their own");
        }
        if self.phases.is_empty() && self.after_phases.is_some() {
            return refuse(
                "after-phases",
                "applies after the last of `phases`, and there are none",
            );
        }
        let phases = self.phases.iter().enumerate().map(|(index, wire)| {
            phase(wire).map_err(|problem| problem.under(index.to_string()).under("phases"))
        });
        let schedule = Schedule {
            rate: self.rate,
            arrival: self.arrival.unwrap_or_default(),
            phases: phases.collect::<Result<_, _>>()?,
            after_phases: self.after_phases.unwrap_or_default(),
        };
        if self.arrival.is_some() && !schedule.is_set() {
            return refuse("arrival", NEEDS_SCHEDULE);
        }
        let pause = Demand::Rate { from: 0.0, to: 0.0 };
        let is_silent = schedule.phases.iter().all(|phase| phase.demand == pause);
        if !schedule.phases.is_empty() && is_silent && !schedule.ends() {
            return refuse("phases", "are all pauses: nothing would ever be sent");
        }
        Ok(schedule)
    }
}

fn phase(wire: &wire::Phase) -> Result<Phase, Problem> {
    let length = fields::duration("for", Some(&wire.length))?.unwrap_or_default();
    let demand = match (wire.rate, wire.burst) {
        (Some(_), Some(_)) => return refuse("burst", "give either `rate` or `burst` to a phase"),
        (None, None) => return refuse("rate", "is missing: give `rate`, or `burst` with `every`"),
        (Some(from), None) => {
            if wire.every.is_some() {
                return refuse("every", "goes with `burst`: leave it out");
            }
            let to = wire.to.unwrap_or(from);
            Demand::Rate { from: phase_rate("rate", from)?, to: phase_rate("to", to)? }
        }
        (None, Some(messages)) => {
            if wire.to.is_some() {
                return refuse("to", "goes with `rate`: leave it out");
            }
            fields::at_least_one("burst", Some(messages))?;
            match fields::duration("every", wire.every.as_deref())? {
                Some(every) => Demand::Bursts { messages, every },
                None => return refuse("every", "is missing: the time from one burst to the next"),
            }
        }
    };
    Ok(Phase { length, demand })
}

fn phase_rate(key: &str, rate: f64) -> Result<f64, Problem> {
    if (0.0..=FASTEST).contains(&rate) {
        return Ok(rate);
    }
    refuse(
        key,
        "must be from 0 (a pause) to 10000000 messages a second for each member of the group",
    )
}
