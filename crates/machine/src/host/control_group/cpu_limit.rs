//! Limits of CPU time.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use crate::text::{read, value};

/// Limit of a control group's CPU time, and the time in which it applied since the group exists.
#[derive(Clone, Debug, PartialEq)]
pub struct CpuLimit {
    /// Directory of the group.
    pub directory: PathBuf,
    /// Limit in cores.
    pub quota_cores: f64,
    /// Periods in which the group had work.
    pub periods: u64,
    /// Periods in which the limit was reached.
    pub throttled_periods: u64,
    /// Time in which CPUs were kept from the group, added up over CPUs.
    pub throttled: Duration,
}

impl CpuLimit {
    /// Returns the limits of these groups. Groups without a limit have none.
    pub(in super::super) fn all(groups: &[PathBuf]) -> Vec<Self> {
        groups.iter().filter_map(|group| Self::read(group)).collect()
    }

    fn read(directory: &Path) -> Option<Self> {
        let text = |name: &str| read(directory.join(name)).ok();
        let quota_cores = match text("cpu.max") {
            Some(max) => quota(&max),
            None => quota(&format!("{} {}", text("cpu.cfs_quota_us")?, text("cpu.cfs_period_us")?)),
        }?;
        let stat = text("cpu.stat")?;
        let number = |key: &str| value(&stat, key)?.parse::<u64>().ok();
        let in_version_2 = number("throttled_usec ").map(Duration::from_micros);
        let in_version_1 = || number("throttled_time ").map(Duration::from_nanos);
        Some(Self {
            directory: directory.to_owned(),
            quota_cores,
            periods: number("nr_periods ")?,
            throttled_periods: number("nr_throttled ")?,
            throttled: in_version_2.or_else(in_version_1)?,
        })
    }
}

/// Parses quota and period in microseconds. `None` without a limit, which is `max` in version 2 and -1 in version 1.
fn quota(text: &str) -> Option<f64> {
    let mut fields = text.split_whitespace().map(str::parse::<f64>);
    let (quota, period) = (fields.next()?.ok()?, fields.next()?.ok()?);
    (quota > 0.0 && period > 0.0).then(|| quota / period)
}

#[cfg(test)]
mod tests {
    use std::{fs, process};

    use super::*;

    #[test]
    fn quotas_of_both_versions() {
        let check = |text: &str, expected: Option<f64>| assert_eq!(quota(text), expected, "{text}");
        check("150000 100000\n", Some(1.5));
        check("max 100000\n", None);
        check("50000\n 100000\n", Some(0.5));
        check("-1\n 100000\n", None);
        check("", None);
    }

    /// Writes the files of a group and reads its limit.
    fn check(name: &str, files: &[(&str, &str)], expected: Option<(f64, u64, u64, u64)>) {
        let directory = std::env::temp_dir().join(format!("rabbitscope-{name}-{}", process::id()));
        fs::create_dir_all(&directory).unwrap();
        for (name, text) in files {
            fs::write(directory.join(name), text).unwrap();
        }
        let found = CpuLimit::all(&[directory.clone(), directory.join("nothing")]).pop();
        fs::remove_dir_all(&directory).unwrap();
        let found = found.map(|limit| {
            let micros = u64::try_from(limit.throttled.as_micros()).unwrap();
            (limit.quota_cores, limit.periods, limit.throttled_periods, micros)
        });
        assert_eq!(found, expected, "{name}");
    }

    #[test]
    fn files_of_both_versions() {
        let version_2 = "usage_usec 900\nuser_usec 1\nsystem_usec 1\ncore_sched.force_idle_usec 0\n\
                         nr_periods 40\nnr_throttled 30\nthrottled_usec 1234567\nnr_bursts 0\n";
        check(
            "group-2",
            &[("cpu.max", "50000 100000\n"), ("cpu.stat", version_2)],
            Some((0.5, 40, 30, 1_234_567)),
        );
        check("group-max", &[("cpu.max", "max 100000\n"), ("cpu.stat", version_2)], None);
        let version_1 = "nr_periods 7\nnr_throttled 3\nthrottled_time 5000000\nnr_bursts 0\n";
        let files = [
            ("cpu.cfs_quota_us", "200000\n"),
            ("cpu.cfs_period_us", "100000\n"),
            ("cpu.stat", version_1),
        ];
        check("group-1", &files, Some((2.0, 7, 3, 5_000)));
        check("group-empty", &[], None);
    }
}
