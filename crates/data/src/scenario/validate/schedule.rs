//! When a group of publishers sends: `rate`, `arrival`, `phases`, `after-phases`, `late`.

use super::{
    super::{
        error::{Problem, refuse},
        model::{AfterPhases, Demand, Phase},
        wire,
    },
    fields,
};

const FASTEST: f64 = 10_000_000.0;

/// The phases, once it is sure that all keys of the schedule go together.
pub(super) fn phases(wire: &wire::Publishers) -> Result<Vec<Phase>, Problem> {
    let rates = [("rate", wire.rate.is_some()), ("interval", wire.interval.is_some())];
    let given = rates.into_iter().find(|(_, is_there)| *is_there).map(|(key, _)| key);
    if let Some(key) = given.filter(|_| !wire.phases.is_empty()) {
        let reason = format!("give either `{key}` or `phases`, which have rates of their own");
        return refuse(key, reason);
    }
    if wire.phases.is_empty() && wire.after_phases.is_some() {
        return refuse("after-phases", "says what follows the last of `phases`: there are none");
    }
    let has_schedule = given.is_some() || !wire.phases.is_empty();
    for (key, is_there) in [("arrival", wire.arrival.is_some()), ("late", wire.late.is_some())] {
        if is_there && !has_schedule {
            return refuse(key, "needs a schedule: give `rate` or `phases`");
        }
    }
    let phases = wire.phases.iter().enumerate().map(|(index, wire)| {
        phase(wire).map_err(|problem| problem.under(index.to_string()).under("phases"))
    });
    let phases = phases.collect::<Result<Vec<_>, _>>()?;
    let is_silent = phases.iter().all(|phase| phase.demand == Demand::Rate { from: 0.0, to: 0.0 });
    if !phases.is_empty() && is_silent && wire.after_phases != Some(AfterPhases::Stop) {
        return refuse("phases", "are all pauses: nothing would ever be sent");
    }
    Ok(phases)
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
    refuse(key, "must be from 0 (a pause) to 10000000 messages a second for each publisher")
}
