//! Runs the discovery on images of small VMs: with known, moved and altered fields.

use super::image::{Image, Plan};
use crate::beam::layout::{
    Layout,
    known::{OTP_25, OTP_27},
};

fn plan(layout: Layout) -> Plan {
    Plan { layout, counts: [2, 2, 10], processes: 60, has_place_within: true, is_busy: true }
}

/// Pseudo-random numbers, the same in every run (xorshift of Marsaglia).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % below
    }
}

#[track_caller]
fn check(plan: &Plan) {
    let found = Image::build(plan).discovered();
    assert_eq!(found.map(|found| found.layout), Ok(plan.layout), "{plan:?}");
}

#[test]
fn layouts_that_were_measured() {
    check(&plan(OTP_25));
    check(&plan(OTP_27));
    check(&Plan { has_place_within: false, ..plan(OTP_25) });
    check(&Plan { is_busy: false, ..plan(OTP_27) });
}

#[test]
fn machines_of_all_sizes() {
    for counts in [[1, 1, 10], [1, 1, 3], [4, 4, 10], [40, 40, 10], [2, 2, 1], [3, 1, 1]] {
        check(&Plan { counts, ..plan(OTP_27) });
    }
}

/// Takes one of the places, at random.
fn place(places: &mut Vec<u32>, numbers: &mut Numbers) -> u32 {
    let at = numbers.next(places.len() as u64);
    places.swap_remove(usize::try_from(at).unwrap())
}

/// A layout with fields in other places, as a later release may have. A process begins with its id.
fn moved(numbers: &mut Numbers) -> Layout {
    let mut free: Vec<u32> = (1..60).map(|index| 8 * index).collect();
    let [htop, stop, hend] = [(); 3].map(|()| place(&mut free, numbers));
    let mut free: Vec<u32> = (0..60).map(|index| 8 * index).collect();
    let [registers, current_process, scheduler_type, number, dirty_number] =
        [(); 5].map(|()| place(&mut free, numbers));
    Layout {
        scheduler_stride: 64 * (700 + numbers.next(1000)),
        registers,
        current_process,
        scheduler_type,
        number,
        dirty_number,
        id: 0,
        htop,
        stop,
        hend,
    }
}

#[test]
fn fields_may_lie_anywhere() {
    let mut numbers = Numbers(0x2545_f491_4f6c_dd1d);
    for _ in 0..200 {
        let layout = moved(&mut numbers);
        let plan = Plan { has_place_within: numbers.next(2) == 0, ..plan(layout) };
        check(&plan);
    }
}

/// The offsets on which stacks depend.
fn of_stacks(layout: Layout) -> [u32; 5] {
    let Layout { registers, id, htop, stop, hend, .. } = layout;
    [registers, id, htop, stop, hend]
}

#[test]
fn altered_memory_is_read_as_before_or_refused() {
    let whole = Image::build(&plan(OTP_27));
    let places = whole.places();
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    let (mut same, mut refused) = (0, 0);
    for _ in 0..2_000 {
        let mut image = whole.clone();
        for _ in 0..=numbers.next(16) {
            let at = places[usize::try_from(numbers.next(places.len() as u64)).unwrap()];
            let value = match numbers.next(4) {
                0 => 0,
                1 => numbers.next(1 << 12),
                2 => places[usize::try_from(numbers.next(places.len() as u64)).unwrap()],
                _ => numbers.next(u64::MAX),
            };
            image.set(at, value);
        }
        match image.discovered() {
            Ok(found) => {
                assert_eq!(of_stacks(found.layout), of_stacks(OTP_27));
                same += 1;
            }
            Err(_) => refused += 1,
        }
    }
    assert!(same > 100, "{same} read, {refused} refused");
}

/// Swaps fields in every process at once, while the code still has their old offsets.
#[test]
fn fields_that_the_code_does_not_agree_with_are_refused() {
    let whole = Image::build(&plan(OTP_27));
    for (field, other) in [(OTP_27.stop, 400), (OTP_27.htop, 408), (OTP_27.hend, 416)] {
        let mut image = whole.clone();
        image.swap_in_processes(field, other);
        let found = image.discovered();
        if field == OTP_27.hend {
            assert_eq!(found.unwrap().layout.hend, other, "the end is found where it is");
        } else {
            let refused = found.unwrap_err().sentence();
            assert!(refused.contains("process"), "{refused}");
        }
    }
}

#[test]
fn two_tables_of_processes_are_refused_with_both() {
    let mut image = Image::build(&plan(OTP_27));
    image.copy_the_table();
    let refused = image.discovered().unwrap_err().sentence();
    assert!(refused.contains("2 readings: executable+"), "{refused}");
}
