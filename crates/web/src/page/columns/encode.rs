//! Writer of the bytes that [`layout`](super::layout) describes.

use super::{
    layout::{COLUMNS, Columns, Record, VERSION},
    numbers::put,
};

impl Columns {
    /// Returns the bytes.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let columns = self.encoded();
        let mut bytes = Vec::with_capacity(columns.iter().map(Vec::len).sum::<usize>() + 64);
        let sides = if self.sides.is_some() { 2 } else { 0 };
        for number in [VERSION, self.frames.len() as u64, self.names.len() as u64, sides] {
            put(&mut bytes, number);
        }
        for column in &columns {
            put(&mut bytes, column.len() as u64);
        }
        for column in &columns {
            bytes.extend_from_slice(column);
        }
        bytes
    }

    fn encoded(&self) -> [Vec<u8>; COLUMNS.len()] {
        let side =
            |which: usize| self.sides.as_ref().map_or_else(Vec::new, |it| weights(&it[which]));
        [
            names(&self.names),
            self.classes.clone(),
            self.codes.clone(),
            numbers(self.frames.iter().map(|&frame| frame.into())),
            numbers(self.climbs.iter().map(|&climb| climb.into())),
            weights(&self.self_weights),
            sparse(self.runs.iter().map(|&(node, run)| (node, run.into()))),
            sparse(self.places.iter().map(|&(node, class)| (node, class.into()))),
            side(0),
            side(1),
            records(&self.records, self.counted),
        ]
    }
}

fn names(names: &[String]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for name in names {
        put(&mut bytes, name.len() as u64);
        bytes.extend_from_slice(name.as_bytes());
    }
    bytes
}

fn numbers(numbers: impl Iterator<Item = u64>) -> Vec<u8> {
    let mut bytes = Vec::new();
    numbers.for_each(|number| put(&mut bytes, number));
    bytes
}

/// Encodes the nodes that have weight.
fn weights(weights: &[u64]) -> Vec<u8> {
    sparse((0..).zip(weights.iter().copied()).filter(|&(_, weight)| weight > 0))
}

fn sparse(pairs: impl Iterator<Item = (u32, u64)>) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut before = 0;
    for (node, value) in pairs {
        put(&mut bytes, (node - before).into());
        put(&mut bytes, value);
        before = node;
    }
    bytes
}

fn records(records: &[Record], counted: bool) -> Vec<u8> {
    let mut bytes = Vec::new();
    let points: usize = records.iter().map(|record| record.points.len()).sum();
    put(&mut bytes, records.len() as u64);
    put(&mut bytes, points as u64);
    put(&mut bytes, counted.into());
    let mut before = 0;
    for record in records {
        for number in [record.node - before, record.owner, record.label] {
            put(&mut bytes, number.into());
        }
        before = record.node;
        put(&mut bytes, record.weight);
        if counted {
            put(&mut bytes, record.count);
        }
        put(&mut bytes, record.points.len() as u64);
        let mut last = 0;
        for &(step, part) in &record.points {
            put(&mut bytes, (step - last).into());
            put(&mut bytes, part);
            last = step;
        }
    }
    bytes
}
