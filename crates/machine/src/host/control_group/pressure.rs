//! Pressure stall information: time in which tasks waited for a resource (Documentation/accounting/psi.rst).

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use crate::text::{read, value};

/// Returns the time in which a task of the machine waited for a resource, `cpu`, `io` or `memory`, since the boot.
pub(in super::super) fn machine_pressure(resource: &str) -> Option<Duration> {
    total(&Path::new("/proc/pressure").join(resource))
}

/// Returns the time in which a task of the innermost of these groups waited, or without groups of the machine.
pub(in super::super) fn pressure(resource: &str, groups: &[PathBuf]) -> Option<Duration> {
    let of_group =
        groups.first().and_then(|group| total(&group.join(format!("{resource}.pressure"))));
    of_group.or_else(|| machine_pressure(resource))
}

fn total(path: &Path) -> Option<Duration> {
    some_total(&read(path).ok()?)
}

fn some_total(text: &str) -> Option<Duration> {
    let (_, micros) = value(text, "some ")?.rsplit_once("total=")?;
    Some(Duration::from_micros(micros.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_of_some_tasks() {
        let text = "some avg10=70.46 avg60=71.41 avg300=64.75 total=24999932107\n\
                    full avg10=0.00 avg60=0.00 avg300=0.00 total=5\n";
        assert_eq!(some_total(text), Some(Duration::from_micros(24_999_932_107)));
        assert_eq!(some_total("full avg10=0.00 total=5\n"), None);
    }

    #[test]
    fn a_group_without_pressure_has_that_of_the_machine() {
        let nowhere = [PathBuf::from("/nowhere")];
        assert_eq!(pressure("cpu", &nowhere).is_some(), machine_pressure("cpu").is_some());
    }
}
