//! Packing of items into bodies.

use std::fmt;

use rabbitscope_runs::scenario::Packing;

use super::codec::Compressor;

/// Builds the bodies of one publisher, anew for each message, because the measurement includes this cost.
pub(crate) struct Packer {
    items: usize,
    compressor: Option<Compressor>,
    joined: Vec<u8>,
    compressed: Vec<u8>,
}

impl Packer {
    pub(crate) fn new(packing: Packing) -> Self {
        Self {
            items: packing.items as usize,
            compressor: packing.compression.map(Compressor::new),
            joined: Vec::new(),
            compressed: Vec::new(),
        }
    }

    /// Number of items in each message.
    pub(crate) fn items(&self) -> usize {
        self.items
    }

    /// Returns a body with items in rotation from `next` on, and the bytes of these items. Advances `next`.
    pub(crate) fn pack(&mut self, items: &[Vec<u8>], next: &mut usize) -> (&[u8], u64) {
        self.joined.clear();
        let mut bytes = 0;
        for _ in 0..self.items {
            let item = items.get(*next).or(items.first()).map_or(&[][..], Vec::as_slice);
            *next = if *next + 1 < items.len() { *next + 1 } else { 0 };
            bytes += item.len() as u64;
            if self.items > 1 {
                let length = u32::try_from(item.len()).expect("items are at most 512 MiB");
                self.joined.extend_from_slice(&length.to_be_bytes());
            }
            self.joined.extend_from_slice(item);
        }
        match &mut self.compressor {
            Some(compressor) => {
                compressor.compress(&self.joined, &mut self.compressed);
                (&self.compressed, bytes)
            }
            None => (&self.joined, bytes),
        }
    }
}

impl fmt::Debug for Packer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Packer").field("items", &self.items).finish_non_exhaustive()
    }
}
