//! Microstate accounting of the VM's threads: shares of the interval in each state.

use std::{collections::BTreeMap, fmt};

use rabbitscope_erlang::Term;
use serde::Serialize;

/// The share of each state (`emulator`, `gc`, `sleep` …) per type of thread (`scheduler`, `dirty_io_scheduler`, `poll`
/// …). The shares of a type add up to 1.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub(crate) struct Microstates(BTreeMap<String, BTreeMap<String, f64>>);

/// The working states of a scheduler, in the order of the text.
const STATES: [(&str, &str); 6] = [
    ("emulator", "Erlang"),
    ("gc", "garbage collection"),
    ("port", "ports"),
    ("check_io", "polling"),
    ("aux", "timers and memory"),
    ("other", "other"),
];

/// Smallest share in the text; smaller ones would be rounded to 0 %.
const MIN_SHOWN: f64 = 0.005;

impl Microstates {
    /// Reads sums per type and state.
    pub(crate) fn from_term(term: &Term) -> Option<Self> {
        let Term::Map(types) = term else { return None };
        let shares = types.iter().map(|(kind, counts)| Some((name(kind)?, shares(counts)?)));
        shares.collect::<Option<_>>().map(Self)
    }

    /// Returns the share of each state of the schedulers for Erlang code.
    pub(crate) fn of_schedulers(&self) -> Vec<(String, f64)> {
        let states = self.0.get("scheduler").into_iter().flatten();
        states.map(|(state, share)| (state.clone(), *share)).collect()
    }

    fn share(&self, kind: &str, state: &str) -> f64 {
        self.0.get(kind).and_then(|states| states.get(state)).copied().unwrap_or_default()
    }

    fn busy(&self, kind: &str) -> f64 {
        if self.0.contains_key(kind) { 1.0 - self.share(kind, "sleep") } else { 0.0 }
    }
}

fn name(term: &Term) -> Option<String> {
    term.as_atom().map(str::to_owned)
}

fn shares(counts: &Term) -> Option<BTreeMap<String, f64>> {
    let Term::Map(states) = counts else { return None };
    let counts = states.iter().map(|(state, count)| Some((name(state)?, count.as_f64()?)));
    let counts: BTreeMap<String, f64> = counts.collect::<Option<_>>()?;
    let all = counts.values().sum::<f64>();
    let share = |count: f64| if all > 0.0 { count / all } else { 0.0 };
    Some(counts.into_iter().map(|(state, count)| (state, share(count))).collect())
}

impl fmt::Display for Microstates {
    /// `schedulers: Erlang 43 %, ports 12 %, asleep 45 %; dirty CPU 3 %, dirty I/O 1 %`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("schedulers: ")?;
        for (state, word) in STATES {
            let share = self.share("scheduler", state);
            if share >= MIN_SHOWN {
                write!(f, "{word} {:.0} %, ", share * 100.0)?;
            }
        }
        write!(f, "asleep {:.0} %", self.share("scheduler", "sleep") * 100.0)?;
        let [cpu, io] = ["dirty_cpu_scheduler", "dirty_io_scheduler"].map(|kind| self.busy(kind));
        write!(f, "; busy: dirty CPU {:.0} %, dirty I/O {:.0} %", cpu * 100.0, io * 100.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_what_was_counted() {
        let counts = |emulator: i64, sleep: i64| {
            Term::map([("emulator", emulator.into()), ("gc", 0.into()), ("sleep", sleep.into())])
        };
        let of = Microstates::from_term(&Term::map([
            ("scheduler", counts(300, 700)),
            ("dirty_io_scheduler", counts(1, 9)),
            ("aux", counts(0, 0)),
        ]));
        let text = of.unwrap().to_string();
        assert_eq!(
            text,
            "schedulers: Erlang 30 %, asleep 70 %; busy: dirty CPU 0 %, dirty I/O 10 %"
        );
        assert_eq!(Microstates::from_term(&Term::Integer(1)), None);
    }
}
