//! The limit on an import's memory and decompressed size. A few bytes of a file can expand to many in memory, so the
//! size of the file bounds nothing.

use rabbitscope_text::display_size;

use super::model::{Frame, FrameId, FrameTable};

/// Default limit of an import. A ten-minute recording of a busy node needs a tenth of it.
pub const USUAL_PROFILE_BYTES: u64 = 256 << 20;

/// An import that exceeds its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "it needs more than {} of memory, the limit of a profile; `flamegraph` and `diff` accept more with --max-size",
    display_size(*limit_bytes)
)]
pub struct TooLarge {
    /// The limit.
    pub limit_bytes: u64,
}

/// The unspent part of a limit.
#[derive(Debug)]
pub(super) struct Budget {
    limit_bytes: u64,
    left: u64,
}

/// Average overhead of a map, a vector or an allocation around a kept value.
const OVERHEAD_BYTES: usize = 32;

impl Budget {
    pub(super) fn new(limit_bytes: u64) -> Self {
        Self { limit_bytes, left: limit_bytes }
    }

    /// Spends this many bytes.
    pub(super) fn spend(&mut self, bytes: usize) -> Result<(), TooLarge> {
        let left = self.left.checked_sub(bytes as u64);
        self.left = left.ok_or(TooLarge { limit_bytes: self.limit_bytes })?;
        Ok(())
    }

    /// Spends the bytes of a value with an allocation of its own.
    pub(super) fn spend_on<T>(&mut self, more_bytes: usize) -> Result<(), TooLarge> {
        self.spend(size_of::<T>() + OVERHEAD_BYTES + more_bytes)
    }

    /// Returns the id of a frame in a table, and spends its bytes if it is new.
    pub(super) fn intern(
        &mut self,
        frames: &mut FrameTable,
        frame: Frame,
    ) -> Result<FrameId, TooLarge> {
        let (before, length) = (frames.len(), frame.name.len());
        let id = frames.intern(frame);
        if frames.len() > before {
            // The name counts once for the table and once for its index.
            self.spend_on::<[Frame; 2]>(2 * length)?;
        }
        Ok(id)
    }
}

impl Default for Budget {
    fn default() -> Self {
        Self::new(USUAL_PROFILE_BYTES)
    }
}

#[cfg(test)]
mod tests {
    use super::{Budget, TooLarge};

    #[test]
    fn what_is_spent_is_gone() {
        let mut budget = Budget::new(100);
        assert_eq!(budget.spend(60), Ok(()));
        assert_eq!(budget.spend_on::<u64>(0), Ok(()));
        let refused = budget.spend(1).unwrap_err();
        assert_eq!(refused, TooLarge { limit_bytes: 100 });
        assert!(refused.to_string().contains("more than 100B of memory"), "{refused}");
    }
}
