//! Swapped memory of the machine and of a process.

use crate::{
    process::Status,
    text::{read, value},
};

/// Returns the number of pages that were swapped in since the boot (`proc_vmstat(5)`).
pub(super) fn swapped_in_pages() -> Option<u64> {
    swapped_in(&read("/proc/vmstat").ok()?)
}

fn swapped_in(text: &str) -> Option<u64> {
    value(text, "pswpin ")?.parse().ok()
}

/// Returns the bytes of a process in swap.
pub(super) fn bytes_in_swap(status: &Status) -> Option<u64> {
    let (kibibytes, _) = status.field("VmSwap:")?.split_once(' ')?;
    Some(kibibytes.parse::<u64>().ok()? * 1024)
}

#[cfg(test)]
mod tests {
    use super::swapped_in;

    #[test]
    fn pages_swapped_in() {
        assert_eq!(swapped_in("pgpgin 5\npswpin 17\npswpout 3\n"), Some(17));
        assert_eq!(swapped_in("pgpgin 5\n"), None);
    }
}
