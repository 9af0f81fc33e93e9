//! A comparison as a table on the terminal.

use std::fmt;

use rabbitscope_analysis::{
    Change, ComparedNoise, FAMILY_ERROR_RATE, FAMILY_ERROR_RATE_OF_RUNS, RunPairing, Sides, share,
};
use rabbitscope_profiles::Event;

use rabbitscope_text::{escapes, grouped};
use rabbitscope_web::CostOfMessages;

use super::{ComparedProfile, Comparison};

/// Maximum number of rows of the table.
const ROWS: usize = 20;

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let totals = self.diff.totals;
        let rates = self.cost.as_ref().map(|cost| (cost.rates, cost.what));
        for (at, (side, named)) in
            [("before", &self.before), ("after", &self.after)].into_iter().enumerate()
        {
            let rate = rates.map(|(rates, what)| format!(", {:.0} messages {what}/s", rates[at]));
            writeln!(f, "{side:<8}{}{})", self.described(named), rate.unwrap_or_default())?;
        }
        let beyond = self.diff.changes.iter().filter(|change| change.is_beyond_noise());
        let shown: Vec<&Change> = beyond.clone().take(ROWS).collect();
        if shown.is_empty() {
            let noise = match self.diff.noise {
                ComparedNoise::Sampling => "the noise of sampling",
                ComparedNoise::BetweenRuns { .. } => "these runs differ by among themselves",
            };
            writeln!(f, "\nNo function changed by more than {noise}.")?;
        } else {
            writeln!(f, "\n{}", self.heads())?;
        }
        for change in &shown {
            writeln!(f, "{}", self.line(change, totals))?;
        }
        let more = beyond.count() - shown.len();
        if more > 0 {
            writeln!(f, "… and {more} more; --json has all of them")?;
        }
        write!(f, "\n{}", self.notes())
    }
}

impl Comparison {
    fn described(&self, side: &ComparedProfile) -> String {
        let total = side.profile.total();
        let amount = match self.diff.event {
            Event::OffCpu => format!("blocked for {:.3} s", total as f64 / 1e9),
            _ => format!("{} {}", grouped(total), side.profile.unit()),
        };
        format!("{} ({amount}", escapes::value(&side.name))
    }

    fn heads(&self) -> String {
        let cost = self.cost.as_ref().map(|cost| {
            let (_, unit) = scale(cost.unit);
            (format!("{unit} a message"), format!("{:>10}{:>10}", "before", "after"))
        });
        let (above, below) = cost.unwrap_or_default();
        let shares = format!("{:>9}{:>9}{:>9}", "before", "after", "change");
        format!(
            "{:^27} {:^27}         {above:^20}\n{shares} {shares}  moved  {below}",
            "own share", "total share"
        )
        .lines()
        .map(str::trim_end)
        .collect::<Vec<_>>()
        .join("\n")
    }

    fn line(&self, change: &Change, totals: Sides) -> String {
        let percent = |part, whole| 100.0 * share(part, whole);
        let columns = |sides: Sides| {
            format!(
                "{:>7.2} %{:>7.2} %{:>+9.2}",
                percent(sides.before, totals.before),
                percent(sides.after, totals.after),
                100.0 * sides.change(totals),
            )
        };
        let word = change.moved_in_words();
        let weight = if word == "total" { change.total } else { change.own };
        let cost = self.cost.as_ref().map(|cost| costs(cost, weight)).unwrap_or_default();
        format!(
            "{} {}  {word:<5}  {cost}{}",
            columns(change.own),
            columns(change.total),
            escapes::value(&change.name)
        )
    }

    /// Returns the explanation below the table.
    fn notes(&self) -> String {
        let of = match self.diff.event {
            Event::OffCpu => " Shares are of the blocked time, without idle and runnable time.",
            _ => "",
        };
        let cost = self.cost.as_ref().map(|cost| {
            format!(
                " Costs use the share that moved (own, if both did), per message {}. If a share grows but its cost \
                 does not, other work became cheaper.",
                cost.what
            )
        });
        format!(
            "Changes are in points, the greatest mover first, its callers after it.{of} {}{}\n",
            self.claim(),
            cost.unwrap_or_default(),
        )
    }

    /// Returns the sentence on the rate of false positives.
    fn claim(&self) -> String {
        let comparisons = grouped(self.diff.comparisons as u64);
        match self.diff.noise {
            ComparedNoise::Sampling => format!(
                "Of 1,000 pairs of equal recordings, {} would have any row here from sampling noise alone \
                 ({comparisons} comparisons). Only repeated runs can exclude a difference between equal runs.",
                FAMILY_ERROR_RATE * 1000.0,
            ),
            ComparedNoise::BetweenRuns { counts: [before, after], pairing, overdispersion } => {
                let how = match pairing {
                    RunPairing::Rounds => "within their rounds ",
                    RunPairing::None => "",
                };
                format!(
                    "This uses {before} and {after} runs: of 100 such sets of equal runs, {} would have any row here, \
                     as relabelling the runs {how}shows ({comparisons} comparisons). Shares scatter up to {:.1} times \
                     as much as from sampling alone.",
                    FAMILY_ERROR_RATE_OF_RUNS * 100.0,
                    // The factor is a ratio of variances.
                    overdispersion.sqrt(),
                )
            }
        }
    }
}

/// Returns a readable unit, and its size in the given unit.
fn scale(unit: &'static str) -> (f64, &'static str) {
    match unit {
        "nanoseconds" => (1000.0, "µs"),
        unit => (1.0, unit),
    }
}

fn costs(cost: &CostOfMessages, weight: Sides) -> String {
    let (size, _) = scale(cost.unit);
    let [before, after] = cost.for_each(weight).map(|value| value / size);
    format!("{before:>10.2}{after:>10.2}  ")
}
