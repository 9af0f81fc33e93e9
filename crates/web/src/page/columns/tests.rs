//! Columns written and read again, and columns that are refused.

use super::{Columns, Record, decode::ColumnsError, layout::COLUMNS, numbers::put};

/// Numbers that look random and are the same each time (Knuth's MMIX generator).
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).unwrap()
    }

    fn byte(&mut self, limit: u64) -> u8 {
        u8::try_from(self.below(limit)).unwrap()
    }

    fn small(&mut self, limit: u64) -> u32 {
        u32::try_from(self.below(limit)).unwrap()
    }
}

fn example(chance: &mut Chance) -> Columns {
    let (nodes, functions) = (chance.index(300), 1 + chance.index(200));
    let mut columns = Columns { counted: chance.below(2) == 0, ..Columns::default() };
    for number in 0..functions {
        columns.names.push(["</script>", "ä", ""][chance.index(3)].repeat(number % 3));
        columns.classes.push(chance.byte(12));
        columns.codes.push(chance.byte(9));
    }
    let mut depth = 0;
    for node in 0..u32::try_from(nodes).unwrap() {
        let climb = chance.small(u64::from(depth) + 1);
        depth = depth - climb + 1;
        columns.frames.push(chance.small(functions as u64));
        columns.climbs.push(climb);
        columns.self_weights.push(chance.below(3) * chance.below(1 << 31));
        if chance.below(5) == 0 {
            columns.runs.push((node, 2 + chance.small(1000)));
        }
        if chance.below(9) == 0 {
            columns.places.push((node, chance.byte(12)));
        }
        if chance.below(2) == 0 {
            columns.records.push(record(node, columns.counted, chance));
        }
    }
    if chance.below(2) == 0 {
        columns.sides = Some([(); 2].map(|()| (0..nodes).map(|_| chance.below(3)).collect()));
    }
    columns
}

fn record(node: u32, counted: bool, chance: &mut Chance) -> Record {
    let mut step = 0;
    let points = (0..chance.below(4)).map(|_| {
        step += chance.small(2000);
        (step, chance.below(1 << 20))
    });
    let points = points.collect();
    let (owner, label) = (chance.small(4000), chance.small(40));
    let weight = chance.below(1 << 31);
    let count = if counted { chance.below(9) } else { weight };
    Record { node, owner, label, weight, count, points }
}

#[test]
fn what_is_written_is_read() {
    let mut chance = Chance(1);
    for _ in 0..300 {
        let columns = example(&mut chance);
        assert_eq!(Columns::from_bytes(&columns.to_bytes()).as_ref(), Ok(&columns));
        let mut text = Vec::new();
        columns.write_text(&mut text).unwrap();
        assert!(!text.contains(&b'<'));
        assert_eq!(Columns::from_text(&text, 1 << 20), Ok(columns));
    }
}

#[test]
fn damaged_bytes_are_refused_or_read_as_others() {
    let mut chance = Chance(2);
    for _ in 0..300 {
        let bytes = example(&mut chance).to_bytes();
        let end = chance.index(bytes.len());
        assert!(Columns::from_bytes(&bytes[..end]).is_err());
        let mut changed = bytes.clone();
        changed[end] = chance.byte(256);
        if let Ok(read) = Columns::from_bytes(&changed) {
            assert_eq!(Columns::from_bytes(&read.to_bytes()), Ok(read));
        }
        assert_eq!(
            Columns::from_bytes(&[bytes, vec![0]].concat()),
            Err(ColumnsError::Damaged("header"))
        );
    }
}

/// Two nodes of two functions.
fn small() -> Columns {
    Columns {
        names: vec!["a".into(), "b".into()],
        classes: vec![0, 1],
        codes: vec![0, 1],
        frames: vec![0, 1],
        climbs: vec![0, 0],
        self_weights: vec![0, 5],
        ..Columns::default()
    }
}

#[test]
fn impossible_columns_are_refused() {
    let check = |change: &dyn Fn(&mut Columns), column: &'static str| {
        let mut columns = small();
        change(&mut columns);
        let read = Columns::from_bytes(&columns.to_bytes());
        assert_eq!(read, Err(ColumnsError::Damaged(column)));
    };
    check(&|columns| columns.frames[1] = 2, "frames");
    check(&|columns| columns.climbs = vec![0, 2], "climbs");
    check(&|columns| columns.climbs = vec![0], "climbs");
    check(&|columns| columns.classes[0] = 12, "classes");
    check(&|columns| columns.codes.push(0), "codes");
    check(&|columns| columns.self_weights.push(1), "self");
    check(&|columns| columns.self_weights = vec![u64::MAX, 1], "self");
    check(&|columns| columns.runs = vec![(2, 2)], "runs");
    check(&|columns| columns.runs = vec![(1, 2), (1, 3)], "runs");
    check(&|columns| columns.places = vec![(0, 12)], "places");
    check(&|columns| columns.records = vec![Record { node: 2, ..Record::default() }], "records");
    check(&|columns| columns.sides = Some([vec![0; 2], vec![0, 0, 7]]), "after");
}

#[test]
fn a_stack_may_be_deep_but_not_endless() {
    let deep = |nodes: usize| Columns {
        frames: vec![0; nodes],
        climbs: vec![0; nodes],
        self_weights: vec![0; nodes],
        ..small()
    };
    assert!(Columns::from_bytes(&deep(65_535).to_bytes()).is_ok());
    let refused = Columns::from_bytes(&deep(65_536).to_bytes());
    assert_eq!(refused, Err(ColumnsError::Damaged("climbs")));
}

#[test]
fn a_count_needs_its_bytes() {
    for place in 0..3 {
        let mut bytes = Vec::new();
        put(&mut bytes, 1);
        (0..3).for_each(|at| put(&mut bytes, if at == place { u64::MAX >> 1 } else { 0 }));
        bytes.extend([0; COLUMNS.len()]);
        assert!(matches!(Columns::from_bytes(&bytes), Err(ColumnsError::Damaged(_))));
    }
    assert_eq!(Columns::from_bytes(&[9, 0, 0, 0]), Err(ColumnsError::Version(9)));
}

#[test]
fn a_small_text_may_not_become_large_bytes() {
    let mut text = Vec::new();
    Columns { names: vec!["x".repeat(1 << 20)], ..small() }.write_text(&mut text).unwrap();
    assert!(text.len() < 1 << 15);
    let refused = Columns::from_text(&text, 1 << 16);
    assert_eq!(refused, Err(ColumnsError::TooLong { limit_bytes: 1 << 16 }));
    assert_eq!(Columns::from_text(b"AAAA", 1 << 16), Err(ColumnsError::Damaged("gzip")));
}
