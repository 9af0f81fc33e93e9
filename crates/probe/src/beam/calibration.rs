//! Checks the layout against registers. In JIT code one register is the current process and another the top of its
//! stack, so both must be in memory at the offsets of the layout.

use super::{layout::Layout, pids::is_pid};
use crate::kernel_interface::Snapshot;

/// Minimum share of agreeing snapshots. Below 1, because the node runs while a snapshot is taken.
const MIN_AGREEMENT: f64 = 0.8;

/// Compares snapshots with the layout. Returns the number of compared snapshots, 0 on an idle node; `Err` describes
/// a disagreement.
pub(crate) fn check_layout(layout: &Layout, snapshots: &[Snapshot]) -> Result<usize, String> {
    let valid: Vec<&Snapshot> = snapshots
        .iter()
        .filter(|snapshot| snapshot.valid == 1 && !is_on_c_stack(layout, snapshot))
        .collect();
    let mut disagreements: Vec<String> =
        valid.iter().filter_map(|snapshot| disagreement(layout, snapshot)).collect();
    let agreeing = valid.len() - disagreements.len();
    if valid.is_empty() || agreeing as f64 >= MIN_AGREEMENT * valid.len() as f64 {
        return Ok(valid.len());
    }
    let example = disagreements.swap_remove(0);
    Err(format!("{agreeing} of {} snapshots agree; {example}", valid.len()))
}

/// Returns whether the snapshot is of JIT code that is about to call C. Such code has left the Erlang stack: its
/// stack register points to the scheduler's registers, not to the process.
fn is_on_c_stack(layout: &Layout, snapshot: &Snapshot) -> bool {
    snapshot.stack == snapshot.scheduler_words[layout.registers as usize / 8]
}

fn disagreement(layout: &Layout, snapshot: &Snapshot) -> Option<String> {
    let scheduler = |offset: u32| snapshot.scheduler_words[offset as usize / 8];
    let process = |offset: u32| snapshot.process_words[offset as usize / 8];
    let current = scheduler(layout.current_process);
    if current != snapshot.process {
        return Some(format!("current process {current:#x}, register {:#x}", snapshot.process));
    }
    let id = process(layout.id);
    if !is_pid(id) {
        return Some(format!("{id:#x} is not the id of a process"));
    }
    let (htop, stop, hend) = (process(layout.htop), process(layout.stop), process(layout.hend));
    let inside = |address: u64| (htop..=hend).contains(&address);
    if !inside(stop) || !inside(snapshot.stack) {
        return Some(format!(
            "stack {:#x} and saved stack {stop:#x} are not within {htop:#x}..{hend:#x}",
            snapshot.stack
        ));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{Snapshot, check_layout};
    use crate::{
        beam::layout::{Layout, known},
        kernel_interface::SNAPSHOT_WORDS,
    };

    fn layout() -> &'static Layout {
        &known::OTP_25
    }

    fn snapshot(layout: &Layout) -> Snapshot {
        let mut snapshot = Snapshot {
            valid: 1,
            process: 0x7000,
            stack: 0x9100,
            scheduler_data: 0x1000,
            scheduler_words: [0; SNAPSHOT_WORDS],
            process_words: [0; SNAPSHOT_WORDS],
        };
        snapshot.scheduler_words[layout.current_process as usize / 8] = 0x7000;
        for (offset, word) in [
            (layout.id, 0x1233),
            (layout.htop, 0x9000),
            (layout.stop, 0x9200),
            (layout.hend, 0x9800),
        ] {
            snapshot.process_words[offset as usize / 8] = word;
        }
        snapshot
    }

    #[test]
    fn an_idle_node_is_not_compared() {
        assert_eq!(check_layout(layout(), &[]), Ok(0));
    }

    #[test]
    fn agreement() {
        assert_eq!(check_layout(layout(), &[snapshot(layout()); 4]), Ok(4));
    }

    #[test]
    fn code_about_to_call_c_is_not_compared() {
        let mut calling = snapshot(layout());
        calling.stack = 0x5000;
        calling.scheduler_words[layout().registers as usize / 8] = 0x5000;
        assert_eq!(check_layout(layout(), &[calling]), Ok(0));
        assert_eq!(check_layout(layout(), &[calling, snapshot(layout())]), Ok(1));
    }

    #[test]
    fn a_foreign_layout_is_refused() {
        let error = check_layout(&known::OTP_27, &[snapshot(layout()); 4]).unwrap_err();
        assert!(error.contains("0 of 4"), "{error}");
    }

    #[test]
    fn a_stack_register_outside_the_stack_is_refused() {
        let mut wrong = snapshot(layout());
        wrong.stack = 0x1000;
        assert!(check_layout(layout(), &[wrong; 3]).is_err());
    }
}
