//! A comparison as a table for people.

use std::fmt;

use rabbitscope_analysis::{Change, FAMILY_ERROR_RATE, Sides, share};
use rabbitscope_profiles::Event;

use super::{ComparedProfile, Comparison, MessageCost, record::moved};
use rabbitscope_text::escapes;

use rabbitscope_text::grouped;

/// Rows of the table.
const ROWS: usize = 20;

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let totals = self.diff.totals;
        let rates = self.cost.as_ref().map(|cost| (cost.counts.rates, cost.counts.what));
        for (at, (side, named)) in
            [("before", &self.before), ("after", &self.after)].into_iter().enumerate()
        {
            let rate = rates.map(|(rates, what)| format!(", {:.0} messages {what}/s", rates[at]));
            writeln!(f, "{side:<8}{}{})", self.described(named), rate.unwrap_or_default())?;
        }
        let beyond = self.diff.changes.iter().filter(|change| change.is_beyond_noise());
        let shown: Vec<&Change> = beyond.clone().take(ROWS).collect();
        if shown.is_empty() {
            writeln!(f, "\nNo function changed by more than the noise of sampling.")?;
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
            event => format!("{} {}", grouped(total), event.unit()),
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
        let moved = moved(change);
        let word = if moved.len() == 2 { "both" } else { moved[0] };
        let weight = if word == "total" { change.total } else { change.own };
        let cost = self.cost.as_ref().map(|cost| costs(cost, weight)).unwrap_or_default();
        format!(
            "{} {}  {word:<5}  {cost}{}",
            columns(change.own),
            columns(change.total),
            escapes::value(&change.name)
        )
    }

    /// How to read it.
    fn notes(&self) -> String {
        let of = match self.diff.event {
            Event::OffCpu => " Shares are of the blocked time; idle and runnable time is left out.",
            _ => "",
        };
        let cost = self.cost.as_ref().map(|cost| {
            format!(
                " Costs are of the share that moved (own, if both did) for each message {}; where a \
                 share grows and the cost does not, something else became cheaper.",
                cost.counts.what
            )
        });
        format!(
            "Changes are in points, the greatest mover first, its callers after it.{of} Of two recordings \
             of the same thing {} in 1,000 would have any row here by the noise of sampling ({} \
             comparisons). That two runs of the same thing differ too, only repeated runs can rule out.{}\n",
            FAMILY_ERROR_RATE * 1000.0,
            grouped(self.diff.comparisons as u64),
            cost.unwrap_or_default(),
        )
    }
}

/// A unit that people read, and how many of the other it is.
fn scale(unit: &'static str) -> (f64, &'static str) {
    match unit {
        "nanoseconds" => (1000.0, "µs"),
        unit => (1.0, unit),
    }
}

fn costs(cost: &MessageCost, weight: Sides) -> String {
    let (size, _) = scale(cost.unit);
    let [before, after] = cost.for_each(weight).map(|value| value / size);
    format!("{before:>10.2}{after:>10.2}  ")
}
