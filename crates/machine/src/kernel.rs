//! The running kernel: its settings, its boot and its clocks.

use std::{io, str::FromStr};

use crate::text::{read, value};

/// Reads a setting from `/proc/sys/kernel`. Returns `None` if the kernel lacks it or its form is another one.
pub fn kernel_setting<T: FromStr>(name: &str) -> Option<T> {
    read(format!("/proc/sys/kernel/{name}")).ok()?.trim().parse().ok()
}

/// Returns the number of ports from which the kernel chooses for connections to one address and port.
pub fn local_ports() -> Option<u64> {
    let range = read("/proc/sys/net/ipv4/ip_local_port_range").ok()?;
    let mut ends = range.split_whitespace().map(str::parse::<u64>);
    let (first, last) = (ends.next()?.ok()?, ends.next()?.ok()?);
    (last + 1).checked_sub(first)
}

/// Returns the hard limit of open files of this process. Absent without a limit.
pub fn descriptor_limit() -> Option<u64> {
    let limits = read("/proc/self/limits").ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// Returns the id of the kernel's boot.
pub fn boot_id() -> Option<String> {
    kernel_setting("random/boot_id")
}

/// Returns the name of the machine or container.
pub fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// Returns the time since the boot, in the unit of [`crate::process::Stat::start_ticks`] (`proc_uptime(5)`). That are
/// hundredths of a second on every supported machine (`USER_HZ`).
pub fn uptime_ticks() -> io::Result<u64> {
    let text = read("/proc/uptime")?;
    let seconds = text.split_whitespace().next().unwrap_or_default();
    seconds.replace('.', "").parse().map_err(|_| io::ErrorKind::InvalidData.into())
}

/// Returns the difference between the monotonic clock of this process and the kernel's, in nanoseconds. A container
/// may have a time namespace (`time_namespaces(7)`), which does not apply to kernel programs.
pub fn monotonic_offset_nanos() -> i64 {
    read("/proc/self/timens_offsets").ok().and_then(|text| monotonic_offset(&text)).unwrap_or(0)
}

/// Parses the line `monotonic SECONDS NANOSECONDS`, beside which there is `boottime …`.
fn monotonic_offset(text: &str) -> Option<i64> {
    let mut fields = value(text, "monotonic")?.split_whitespace().map(str::parse::<i64>);
    let (seconds, nanos) = (fields.next()?.ok()?, fields.next()?.ok()?);
    seconds.checked_mul(1_000_000_000)?.checked_add(nanos)
}

/// Returns the CPU time of the calling thread in nanoseconds. Returns `None` if the kernel does not report it.
pub fn thread_cpu_nanos() -> Option<u64> {
    thread_schedule(0)
}

/// Returns the time for which the calling thread was runnable but had no CPU, in nanoseconds. Returns `None` if the
/// kernel does not report it.
pub fn thread_wait_nanos() -> Option<u64> {
    thread_schedule(1)
}

/// Returns a field of the calling thread: time on a CPU, time waiting for one, number of turns
/// (Documentation/scheduler/sched-stats.rst).
fn thread_schedule(field: usize) -> Option<u64> {
    read("/proc/thread-self/schedstat").ok()?.split_whitespace().nth(field)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{host_name, kernel_setting, monotonic_offset};

    #[test]
    fn the_offset_of_a_time_namespace() {
        let text = "monotonic           -3600         7\nboottime             12         0\n";
        assert_eq!(monotonic_offset(text), Some(-3_599_999_999_993));
        assert_eq!(monotonic_offset("boottime 12 0"), None);
    }

    #[test]
    fn settings() {
        assert_eq!(kernel_setting::<String>("hostname"), Some(host_name()));
        assert_eq!(kernel_setting::<u32>("ostype"), None);
    }
}
