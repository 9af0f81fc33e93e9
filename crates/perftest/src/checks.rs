//! Checks of the options of a program: its table in the documentation, its lines and its notes.

use rabbitscope_runs::scenario::{Scenario, parse};

use crate::{
    Program,
    arguments::{ProgramOption, Support},
    scenario_of,
};

/// Returns the text of the scenario of a command line, with its notes.
pub(crate) fn text(program: Program, line: &str) -> String {
    scenario_of(program, line).unwrap_or_else(|error| panic!("{line}: {error:#}"))
}

/// Returns the scenario of a command line.
pub(crate) fn scenario(program: Program, line: &str) -> Scenario {
    parse(&text(program, line), "test", &[]).unwrap()
}

/// Checks that a table of the documentation has each option, and whether it has an equivalent.
pub(crate) fn check_table(table: &str, options: &[ProgramOption]) {
    for (short, long, _, support) in options {
        let start = match *short {
            "" => format!("| `--{long}` | "),
            short => format!("| `-{short}`, `--{long}` | "),
        };
        let row = table.lines().find(|line| line.starts_with(&start));
        let row = row.unwrap_or_else(|| panic!("the table has no row {start}"));
        assert_eq!(row.contains("no equivalent"), *support != Support::Supported, "{row}");
    }
}

/// Checks command lines whose scenario has a line because of an option.
pub(crate) fn check_lines(program: Program, lines: &[(&str, &str)]) {
    for (line, expected) in lines {
        let found = text(program, line);
        assert!(found.contains(expected), "{line}: {expected} is not in\n{found}");
    }
}

/// Checks command lines whose scenario has a note.
pub(crate) fn check_notes(program: Program, lines: &[(&str, &str)]) {
    for (line, part) in lines {
        let found = text(program, line);
        let has_note = found.lines().any(|row| row.starts_with("# ") && row.contains(part));
        assert!(has_note, "{line}: {found}");
    }
}

/// Checks command lines that are refused.
pub(crate) fn check_refusals(program: Program, lines: &[(&str, &str)]) {
    for (line, part) in lines {
        let error = format!("{:#}", scenario_of(program, line).unwrap_err());
        assert!(error.contains(part), "{line}: {error}");
    }
}
