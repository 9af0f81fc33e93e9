//! Reads another process's memory (`process_vm_readv(2)`). Each call needs the right to trace the process, but no
//! right to a file of `/proc`.

#![expect(unsafe_code, reason = "a system call without a safe wrapper")]

use std::{ffi::c_void, io};

/// Fills `buf` from `address` of the process `pid`, or fails.
pub(super) fn read(pid: u32, address: u64, buf: &mut [u8]) -> io::Result<()> {
    let pid = i32::try_from(pid).map_err(|_| io::ErrorKind::InvalidInput)?;
    let mut done = 0;
    while done < buf.len() {
        let rest = &mut buf[done..];
        let start = usize::try_from(address.wrapping_add(done as u64));
        let theirs = start.map_err(|_| io::ErrorKind::InvalidInput)?;
        let local = libc::iovec { iov_base: rest.as_mut_ptr().cast(), iov_len: rest.len() };
        let remote = libc::iovec { iov_base: theirs as *mut c_void, iov_len: rest.len() };
        // SAFETY: the kernel writes at most `rest.len()` bytes to `rest`, which is borrowed until then. The other
        // address is resolved in the other process and never used here.
        let count =
            unsafe { libc::process_vm_readv(pid, &raw const local, 1, &raw const remote, 1, 0) };
        done += match usize::try_from(count) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => count,
            Err(_) => return Err(io::Error::last_os_error()),
        };
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn own_memory() {
        let bytes = *b"some bytes";
        let mut found = [0; 10];
        read(std::process::id(), bytes.as_ptr() as u64, &mut found).unwrap();
        assert_eq!(found, bytes);
        assert!(read(std::process::id(), 8, &mut found).is_err(), "nothing is there");
    }
}
