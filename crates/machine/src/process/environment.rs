//! The environment of a process of the same user.

use std::{fs::File, io::Read};

use rustix::io::Errno;

/// Returns the environment with which the program was started. It is empty while the program is being replaced or the
/// process ends; `None` if it may not be read.
///
/// A single read takes all of it: between two reads the program may be replaced, and the second read would return
/// nothing more.
pub fn environment(pid: u32) -> Option<Vec<u8>> {
    let path = format!("/proc/{pid}/environ");
    let mut room = 64 * 1024;
    loop {
        let mut bytes = vec![0; room];
        match File::open(&path).and_then(|mut file| file.read(&mut bytes)) {
            Ok(length) if length == room => room *= 2,
            Ok(length) => {
                bytes.truncate(length);
                return Some(bytes);
            }
            // The process has freed its memory but still exists.
            Err(error) if error.raw_os_error() == Some(Errno::SRCH.raw_os_error()) => {
                return Some(Vec::new());
            }
            Err(_) => return None,
        }
    }
}
