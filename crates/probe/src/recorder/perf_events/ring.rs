//! The ring buffer into which the kernel writes records (`perf_event_open(2)`, "MMAP layout").

#![expect(unsafe_code, reason = "memory shared with the kernel")]

use std::{
    ffi::c_void,
    io,
    os::fd::{BorrowedFd, OwnedFd},
    ptr,
    sync::atomic::{AtomicU64, Ordering},
};

use perf_event_open_sys::bindings::{perf_event_header, perf_event_mmap_page};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

/// The ring of one CPU.
pub(super) struct Ring {
    /// The event that owns the memory. Other events write into it too.
    event: OwnedFd,
    page: *mut perf_event_mmap_page,
    mapped_bytes: usize,
    data: *const u8,
    /// A power of two.
    data_bytes: usize,
    /// Buffer for the current record, kept to reuse its memory.
    record: Vec<u8>,
}

impl Ring {
    /// Maps the ring of `event` with `data_pages` pages for records, a power of two. Fails with `EPERM` if that is
    /// more memory than the user may lock.
    pub(super) fn map(event: OwnedFd, data_pages: usize) -> io::Result<Self> {
        let page_bytes = rustix::param::page_size();
        let mapped_bytes = (1 + data_pages) * page_bytes;
        let (access, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED);
        // SAFETY: no address is requested, so that no memory in use is replaced.
        let base = unsafe { mmap(ptr::null_mut(), mapped_bytes, access, flags, &event, 0)? };
        Ok(Self {
            event,
            page: base.cast(),
            mapped_bytes,
            // SAFETY: the mapping has at least one page more than this.
            data: unsafe { base.cast::<u8>().add(page_bytes) },
            data_bytes: data_pages * page_bytes,
            record: Vec::new(),
        })
    }

    /// The event that owns the ring, to which other events of the same CPU are redirected.
    pub(super) fn event(&self) -> BorrowedFd<'_> {
        use std::os::fd::AsFd;
        self.event.as_fd()
    }

    fn head(&self) -> &AtomicU64 {
        // SAFETY: the page is mapped as long as `self`, the field is aligned, and the kernel changes it atomically.
        unsafe { AtomicU64::from_ptr(&raw mut (*self.page).data_head) }
    }

    fn tail(&self) -> &AtomicU64 {
        // SAFETY: as above; the kernel reads it.
        unsafe { AtomicU64::from_ptr(&raw mut (*self.page).data_tail) }
    }

    /// Returns whether there are records to read.
    pub(super) fn has_records(&self) -> bool {
        self.head().load(Ordering::Relaxed) != self.tail().load(Ordering::Relaxed)
    }

    /// Passes kind, flags and body of each record to `each`, and frees their room.
    pub(super) fn drain(&mut self, mut each: impl FnMut(u32, u16, &[u8])) {
        let head = self.head().load(Ordering::Acquire);
        let mut at = self.tail().load(Ordering::Relaxed);
        let mut record = std::mem::take(&mut self.record);
        while at < head {
            let mut header = [0; size_of::<perf_event_header>()];
            self.copy(at, &mut header);
            let [k0, k1, k2, k3, m0, m1, s0, s1] = header;
            let bytes = usize::from(u16::from_ne_bytes([s0, s1]));
            if bytes < header.len() {
                // The kernel writes no such record. If it does, no record after it can be found.
                at = head;
                break;
            }
            record.resize(bytes - header.len(), 0);
            self.copy(at + header.len() as u64, &mut record);
            at += bytes as u64;
            each(u32::from_ne_bytes([k0, k1, k2, k3]), u16::from_ne_bytes([m0, m1]), &record);
        }
        self.record = record;
        self.tail().store(at, Ordering::Release);
    }

    /// Copies bytes between tail and head, which may wrap at the end of the memory.
    fn copy(&self, from: u64, to: &mut [u8]) {
        let mask = self.data_bytes as u64 - 1;
        let at = usize::try_from(from & mask).expect("below a length");
        let first = to.len().min(self.data_bytes - at);
        let rest = (to.len() - first).min(at);
        // SAFETY: both parts lie within the memory, and the kernel does not write there before the tail has passed.
        unsafe {
            ptr::copy_nonoverlapping(self.data.add(at), to.as_mut_ptr(), first);
            ptr::copy_nonoverlapping(self.data, to.as_mut_ptr().add(first), rest);
        }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: mapped by `map` and not used after this. It can fail only for unmapped memory.
        let _ = unsafe { munmap(self.page.cast::<c_void>(), self.mapped_bytes) };
    }
}
