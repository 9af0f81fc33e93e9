//! Reader of the bytes that [`layout`](super::layout) describes. It trusts nothing: a count is compared with the bytes
//! that must hold it before memory is allocated for it.

use rabbitscope_profiles::FrameClass;

use super::{
    layout::{CODES, COLUMNS, Columns, MAX_DEPTH, Record, VERSION},
    numbers::take,
};

/// Bytes that are no columns.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ColumnsError {
    /// Another version.
    #[error("its columns have version {0}, and this program reads version {known}", known = VERSION)]
    Version(u64),
    /// A column with contents that no page has.
    #[error("its column `{0}` is damaged")]
    Damaged(&'static str),
    /// A page that grows beyond the limit.
    #[error("its columns have more than {limit_bytes} bytes after decompression")]
    TooLong {
        /// The limit.
        limit_bytes: u64,
    },
}

impl Columns {
    /// Reads the bytes.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Self, ColumnsError> {
        let mut head = Part { name: "header", rest: bytes };
        let version = head.number()?;
        if version != VERSION {
            return Err(ColumnsError::Version(version));
        }
        let [nodes, functions, sides] = [head.length()?, head.length()?, head.length()?];
        let mut lengths = [0; COLUMNS.len()];
        for length in &mut lengths {
            *length = head.length()?;
        }
        let mut parts = [Part { name: "header", rest: &[] }; COLUMNS.len()];
        for ((part, name), length) in parts.iter_mut().zip(COLUMNS).zip(lengths) {
            let (column, rest) = head.rest.split_at_checked(length).ok_or(head.damaged())?;
            *part = Part { name, rest: column };
            head.rest = rest;
        }
        if !head.rest.is_empty() || ![0, 2].contains(&sides) {
            return Err(head.damaged());
        }
        Self::from_parts(&parts, nodes, functions, sides == 2)
    }

    fn from_parts(
        parts: &[Part<'_>; COLUMNS.len()],
        nodes: usize,
        functions: usize,
        has_sides: bool,
    ) -> Result<Self, ColumnsError> {
        let [names, classes, codes, frames, climbs, own, runs, places, before, after, records] =
            *parts;
        let classes = classes.bytes(functions, FrameClass::ALL.len())?;
        let (counted, records) = records.records(nodes)?;
        Ok(Self {
            names: names.names(functions)?,
            codes: codes.bytes(functions, CODES.len())?,
            frames: frames.frames(nodes, functions)?,
            climbs: climbs.climbs(nodes)?,
            self_weights: own.weights(nodes)?,
            runs: runs.pairs(nodes, u32::MAX.into(), |run| u32::try_from(run).ok())?,
            places: places
                .pairs(nodes, FrameClass::ALL.len() as u64 - 1, |class| u8::try_from(class).ok())?,
            sides: if has_sides {
                Some([before.weights(nodes)?, after.weights(nodes)?])
            } else {
                None
            },
            counted,
            records,
            classes,
        })
    }
}

/// The unread rest of a column.
#[derive(Clone, Copy)]
struct Part<'a> {
    name: &'static str,
    rest: &'a [u8],
}

impl Part<'_> {
    fn damaged(&self) -> ColumnsError {
        ColumnsError::Damaged(self.name)
    }

    fn number(&mut self) -> Result<u64, ColumnsError> {
        take(&mut self.rest).ok_or(self.damaged())
    }

    /// Reads a number below 2^32.
    fn small(&mut self) -> Result<u32, ColumnsError> {
        u32::try_from(self.number()?).map_err(|_| self.damaged())
    }

    fn length(&mut self) -> Result<usize, ColumnsError> {
        usize::try_from(self.number()?).map_err(|_| self.damaged())
    }

    /// Refuses a count of elements, each of `least` bytes or more, that the rest cannot hold.
    fn holds(&self, count: usize, least: usize) -> Result<(), ColumnsError> {
        if count > self.rest.len() / least { Err(self.damaged()) } else { Ok(()) }
    }

    fn end<T>(self, value: T) -> Result<T, ColumnsError> {
        if self.rest.is_empty() { Ok(value) } else { Err(self.damaged()) }
    }

    fn names(mut self, count: usize) -> Result<Vec<String>, ColumnsError> {
        self.holds(count, 1)?;
        let mut names = Vec::with_capacity(count);
        for _ in 0..count {
            let length = self.length()?;
            let (name, rest) = self.rest.split_at_checked(length).ok_or(self.damaged())?;
            self.rest = rest;
            names.push(std::str::from_utf8(name).map_err(|_| self.damaged())?.to_owned());
        }
        self.end(names)
    }

    /// Reads bytes below `limit`.
    fn bytes(self, count: usize, limit: usize) -> Result<Vec<u8>, ColumnsError> {
        let fits =
            self.rest.len() == count && self.rest.iter().all(|&byte| usize::from(byte) < limit);
        if fits { Ok(self.rest.to_vec()) } else { Err(self.damaged()) }
    }

    fn frames(mut self, nodes: usize, functions: usize) -> Result<Vec<u32>, ColumnsError> {
        self.holds(nodes, 1)?;
        let mut frames = Vec::with_capacity(nodes);
        for _ in 0..nodes {
            let frame = self.small()?;
            if frame as usize >= functions {
                return Err(self.damaged());
            }
            frames.push(frame);
        }
        self.end(frames)
    }

    fn climbs(mut self, nodes: usize) -> Result<Vec<u32>, ColumnsError> {
        self.holds(nodes, 1)?;
        let mut climbs = Vec::with_capacity(nodes);
        let mut depth = 0;
        for _ in 0..nodes {
            let climb = self.small()?;
            depth = u32::checked_sub(depth, climb).ok_or(self.damaged())? + 1;
            if depth > MAX_DEPTH {
                return Err(self.damaged());
            }
            climbs.push(climb);
        }
        self.end(climbs)
    }

    /// Reads weights whose sum is a number.
    fn weights(self, nodes: usize) -> Result<Vec<u64>, ColumnsError> {
        let name = self.name;
        let mut weights = vec![0; nodes];
        let mut sum = 0_u64;
        for (node, weight) in self.pairs(nodes, u64::MAX, Some)? {
            weights[node as usize] = weight;
            sum = sum.checked_add(weight).ok_or(ColumnsError::Damaged(name))?;
        }
        Ok(weights)
    }

    /// Reads sparse values of 1 to `most`, in ascending order of their nodes.
    fn pairs<T>(
        mut self,
        nodes: usize,
        most: u64,
        convert: impl Fn(u64) -> Option<T>,
    ) -> Result<Vec<(u32, T)>, ColumnsError> {
        let mut pairs = Vec::new();
        let mut node = 0_u32;
        while !self.rest.is_empty() {
            let distance = self.small()?;
            let is_first = pairs.is_empty();
            node = node.checked_add(distance).ok_or(self.damaged())?;
            let value = self.number()?;
            if node as usize >= nodes || value > most || (distance == 0 && !is_first) {
                return Err(self.damaged());
            }
            pairs.push((node, convert(value).ok_or(self.damaged())?));
        }
        Ok(pairs)
    }

    fn records(mut self, nodes: usize) -> Result<(bool, Vec<Record>), ColumnsError> {
        let (count, points) = (self.length()?, self.length()?);
        let counted = self.number()?;
        self.holds(count, 5)?;
        self.holds(points, 2)?;
        let mut records = Vec::with_capacity(count);
        let (mut node, mut left) = (0_u32, points);
        for _ in 0..count {
            node = node.checked_add(self.small()?).ok_or(self.damaged())?;
            let [owner, label] = [self.small()?, self.small()?];
            let weight = self.number()?;
            let count = if counted == 1 { self.number()? } else { weight };
            let length = self.length()?;
            left = left.checked_sub(length).ok_or(self.damaged())?;
            if node as usize >= nodes {
                return Err(self.damaged());
            }
            let points = self.points(length)?;
            records.push(Record { node, owner, label, weight, count, points });
        }
        if left > 0 || counted > 1 {
            return Err(self.damaged());
        }
        self.end((counted == 1, records))
    }

    fn points(&mut self, count: usize) -> Result<Vec<(u32, u64)>, ColumnsError> {
        self.holds(count, 2)?;
        let mut points = Vec::with_capacity(count);
        let mut step = 0_u32;
        for _ in 0..count {
            step = step.checked_add(self.small()?).ok_or(self.damaged())?;
            points.push((step, self.number()?));
        }
        Ok(points)
    }
}
