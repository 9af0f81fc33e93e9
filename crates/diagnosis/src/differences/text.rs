//! Differences as lines for a terminal, at most twelve.

use rabbitscope_text::{counted, escapes};

use super::model::Differences;

/// Most lines.
const LINES: usize = 12;

/// Most conditions among them.
const CONDITIONS: usize = 4;

/// Most judgements among them.
const JUDGEMENTS: usize = 3;

impl Differences {
    /// Returns the lines, without line ends: conditions first, then judgements, then the largest differences. Foreign
    /// names stay on their line.
    pub fn lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = self.conditions.iter().take(CONDITIONS).cloned().collect();
        lines.extend(self.judgements.iter().take(JUDGEMENTS).cloned());
        let room = LINES - lines.len() - 1;
        let shown = self.largest.len().min(room);
        lines.extend(self.largest.iter().take(shown).map(|row| row.sentence.clone()));
        lines.push(self.end(shown));
        lines.iter().map(|line| escapes::value(line).into_owned()).collect()
    }

    /// Returns the last line.
    fn end(&self, shown: usize) -> String {
        let compared = counted(self.compared, "figure");
        let more = self.found.saturating_sub(shown as u64);
        match (self.found, more) {
            (_, _) if self.compared == 0 => "no figure is in both checks".to_owned(),
            (0, _) => format!("{compared} compared, none differs"),
            (_, 0) => format!("{compared} compared"),
            _ => format!(
                "{compared} compared; {} more in the JSON (--json)",
                counted(more, "difference")
            ),
        }
    }
}
