//! Differences as lines for a terminal.

use rabbitscope_text::{counted, escapes};

use super::model::Differences;

impl Differences {
    /// Returns at most this number of lines, from 4 on, without line ends: conditions first, then judgements, then the
    /// largest differences. A third of the lines is for conditions, a quarter for judgements. The last one counts what has
    /// no room. Foreign names stay on their line.
    pub fn lines(&self, most: usize) -> Vec<String> {
        let (conditions, judgements) = (most / 3, most / 4);
        let mut lines: Vec<String> = self.conditions.iter().take(conditions).cloned().collect();
        lines.extend(self.judgements.iter().take(judgements).cloned());
        let room = most.saturating_sub(lines.len() + 1);
        lines.extend(self.largest.iter().take(room).map(|row| row.sentence.clone()));
        let said = self.conditions.len() + self.judgements.len();
        let shown = lines.len() as u64;
        lines.push(self.end((said as u64).saturating_add(self.found).saturating_sub(shown)));
        lines.iter().map(|line| escapes::value(line).into_owned()).collect()
    }

    /// Returns the last line. `more` is the number of differences without room.
    fn end(&self, more: u64) -> String {
        let compared = counted(self.compared, "figure");
        match (self.found, more) {
            (_, 0) if self.compared == 0 => "no figure is in both checks".to_owned(),
            (0, 0) => format!("{compared} compared, none differs"),
            (_, 0) => format!("{compared} compared"),
            _ => format!(
                "{compared} compared; {} more in the JSON (--json)",
                counted(more, "difference")
            ),
        }
    }
}
