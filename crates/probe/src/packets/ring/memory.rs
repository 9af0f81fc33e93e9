//! The memory of a ring, which kernel and user space hand over to each other block by block. A word in each block
//! names its owner. While user space owns a block, the kernel does not write to it.

#![expect(unsafe_code, reason = "memory shared with the kernel")]

use std::{
    ffi::c_void,
    io,
    os::fd::BorrowedFd,
    ptr,
    sync::atomic::{AtomicU32, Ordering},
};

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap, munmap};

use super::block::{AFTER_STATUS, BlockBytes};

/// Offset of the word that names the owner of the block.
const STATUS: usize = 8;

/// The mapped blocks.
#[derive(Debug)]
pub(super) struct RingMemory {
    base: *mut u8,
    block_bytes: usize,
    blocks: usize,
}

// SAFETY: the memory belongs to the value alone, and no thread has a part of its own in it. `&self` reaches it by
// atomic words and by blocks that were handed over.
unsafe impl Send for RingMemory {}

impl RingMemory {
    /// Maps the ring of a socket, which has this size.
    pub(super) fn map(socket: BorrowedFd<'_>, block_bytes: u32, blocks: u32) -> io::Result<Self> {
        let (block_bytes, blocks) = (block_bytes as usize, blocks as usize);
        let length = block_bytes * blocks;
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: no address is requested, so that no memory in use is replaced.
        let base = unsafe { mmap(ptr::null_mut(), length, access, MapFlags::SHARED, socket, 0)? };
        for advice in [Advice::LinuxDontDump, Advice::LinuxDontFork] {
            // Packets hold secrets, so that they stay out of core dumps and children. All else works without the
            // advice.
            // SAFETY: this is the mapping made above; neither advice changes its content.
            let _ = unsafe { madvise(base, length, advice) };
        }
        Ok(Self { base: base.cast(), block_bytes, blocks })
    }

    /// Number of blocks.
    pub(super) fn blocks(&self) -> usize {
        self.blocks
    }

    fn start(&self, block: usize) -> *mut u8 {
        let offset = (block % self.blocks) * self.block_bytes;
        // SAFETY: the remainder is below the number of blocks, so that the address lies in the mapping.
        unsafe { self.base.add(offset) }
    }

    fn status(&self, block: usize) -> &AtomicU32 {
        let word = self.start(block).wrapping_add(STATUS).cast();
        // SAFETY: the word lies in the block, which begins at a page. It is mapped as long as `self`, and both
        // sides change it atomically. No other reference covers it: `bytes` begins after it.
        unsafe { AtomicU32::from_ptr(word) }
    }

    /// Returns whether the kernel has handed the block over.
    pub(super) fn is_ours(&self, block: usize) -> bool {
        self.status(block).load(Ordering::Acquire) & libc::TP_STATUS_USER != 0
    }

    /// The bytes of a block. `None` while the kernel owns it.
    pub(super) fn bytes(&self, block: usize) -> Option<BlockBytes<'_>> {
        if !self.is_ours(block) {
            return None;
        }
        let (start, length) = (self.start(block), self.block_bytes - AFTER_STATUS);
        // SAFETY: these bytes lie in the block, after its status word. User space owns the block, so that the
        // kernel does not write there until `give_back`. That needs `&mut self` and so the end of this borrow.
        Some(BlockBytes(unsafe { std::slice::from_raw_parts(start.add(AFTER_STATUS), length) }))
    }

    /// Returns a block to the kernel.
    pub(super) fn give_back(&mut self, block: usize) {
        self.status(block).store(libc::TP_STATUS_KERNEL, Ordering::Release);
    }
}

impl Drop for RingMemory {
    fn drop(&mut self) {
        let length = self.block_bytes * self.blocks;
        // SAFETY: mapped by `map` and not used after this. It can fail only for unmapped memory.
        let _ = unsafe { munmap(self.base.cast::<c_void>(), length) };
    }
}
