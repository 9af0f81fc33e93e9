//! Sets of CPUs as the kernel prints them.

use std::collections::BTreeSet;

/// Highest number of a CPU that is accepted; the kernel supports fewer (`NR_CPUS`).
const MAX_CPU: u32 = 1 << 16;

/// A set of CPUs by number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CpuList(BTreeSet<u32>);

impl CpuList {
    /// Parses a list such as `0-3,8` (`cpuset(7)`, "List format").
    pub fn parse(text: &str) -> Option<Self> {
        let parts = text.trim().split(',').filter(|part| !part.is_empty());
        let mut cpus = BTreeSet::new();
        for part in parts {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last) = (first.parse::<u32>().ok()?, last.parse::<u32>().ok()?);
            if last > MAX_CPU {
                return None;
            }
            cpus.extend(first..=last);
        }
        Some(Self(cpus))
    }

    /// Returns the number of CPUs.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns true without any CPU.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the only CPU, if there is exactly one.
    pub fn only(&self) -> Option<u32> {
        self.0.first().copied().filter(|_| self.0.len() == 1)
    }

    /// Adds the CPUs of another set.
    pub fn add(&mut self, other: &Self) {
        self.0.extend(&other.0);
    }
}

#[cfg(test)]
mod tests {
    use super::CpuList;

    #[test]
    fn lists_of_the_kernel() {
        let check = |text: &str, expected: &[u32]| {
            let found = CpuList::parse(text).unwrap();
            assert_eq!(found.0.iter().copied().collect::<Vec<_>>(), expected, "{text}");
        };
        check("0-1\n", &[0, 1]);
        check("0-2,8,10-11", &[0, 1, 2, 8, 10, 11]);
        check("7", &[7]);
        check("\n", &[]);
        assert_eq!(CpuList::parse("0-4000000000"), None);
        assert_eq!(CpuList::parse("x"), None);
    }

    #[test]
    fn the_only_cpu() {
        let only = |text| CpuList::parse(text).unwrap().only();
        assert_eq!((only("3"), only("0-1"), only("")), (Some(3), None, None));
        let mut union = CpuList::parse("0-1").unwrap();
        union.add(&CpuList::parse("1-2").unwrap());
        assert_eq!(union.len(), 3);
    }
}
