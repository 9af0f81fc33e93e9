//! The machine's CPUs and memory, and its distribution.

use crate::text::read;

/// Description of the machine. Unknown facts are empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hardware {
    /// Name, release and architecture of the kernel.
    pub kernel: String,
    /// Name of the distribution.
    pub distribution: String,
    /// Name of the CPU.
    pub cpu: String,
    /// Number of CPUs.
    pub cpus: u32,
    /// Size of the memory.
    pub memory_bytes: u64,
}

impl Hardware {
    /// Reads the description from `/proc` and `/etc/os-release`.
    pub fn read() -> Self {
        let uname = rustix::system::uname();
        let words = [uname.sysname(), uname.release(), uname.machine()];
        let text = |path| read(path).unwrap_or_default();
        let cpuinfo = text("/proc/cpuinfo");
        let cpus = cpuinfo.lines().filter(|line| line.starts_with("processor")).count();
        Self {
            kernel: words.map(|word| word.to_string_lossy().into_owned()).join(" "),
            distribution: value(&text("/etc/os-release"), "PRETTY_NAME", '='),
            cpu: value(&cpuinfo, "model name", ':'),
            cpus: u32::try_from(cpus).unwrap_or(0),
            memory_bytes: kibibytes(&value(&text("/proc/meminfo"), "MemTotal", ':')) * 1024,
        }
    }
}

/// Returns the value of the first line `key separator value`, without quotes.
fn value(text: &str, key: &str, separator: char) -> String {
    let pairs = text.lines().filter_map(|line| line.split_once(separator));
    let found = pairs.into_iter().find(|(name, _)| name.trim() == key);
    found.map_or_else(String::new, |(_, value)| value.trim().trim_matches('"').to_owned())
}

/// Reads the number in `16384 kB`.
fn kibibytes(text: &str) -> u64 {
    text.split_whitespace().next().and_then(|number| number.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_lines() {
        fn check(text: &str, key: &str, separator: char, expected: &str) {
            assert_eq!(value(text, key, separator), expected);
        }
        check("A=1\nPRETTY_NAME=\"Debian\"\n", "PRETTY_NAME", '=', "Debian");
        check("model name\t: Some: CPU\n", "model name", ':', "Some: CPU");
        check("", "x", ':', "");
        assert_eq!(kibibytes("2048 kB"), 2048);
    }
}
