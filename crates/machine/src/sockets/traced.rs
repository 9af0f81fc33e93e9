//! Sockets of a process that this process may trace. Only the owner may read `/proc/PID/fd`. A process that may trace
//! another may read `/proc/PID/fdinfo`, which has the inode of each open file since Linux 5.14.

use std::{fs, io, net::UdpSocket, os::fd::AsRawFd};

use crate::text::{read, value};

/// Returns the inodes of a process's sockets. Each is read when it is asked for.
pub fn traced_sockets(pid: u32) -> io::Result<impl Iterator<Item = u64>> {
    // Files of other mounts may have the same inode number.
    let mount = mount_of_sockets()?;
    let entries = fs::read_dir(format!("/proc/{pid}/fdinfo"))?;
    let facts = entries.filter_map(|entry| read(entry.ok()?.path()).ok());
    Ok(facts.filter_map(move |text| {
        let is_socket = number(&text, "mnt_id:")? == mount;
        is_socket.then(|| number(&text, "ino:"))?
    }))
}

/// Returns the id of the kernel's internal mount that has all sockets.
fn mount_of_sockets() -> io::Result<u64> {
    let own = UdpSocket::bind("127.0.0.1:0")?;
    let text = read(format!("/proc/self/fdinfo/{}", own.as_raw_fd()))?;
    number(&text, "mnt_id:").ok_or_else(|| io::ErrorKind::Unsupported.into())
}

fn number(text: &str, key: &str) -> Option<u64> {
    value(text, key)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn facts_about_a_descriptor() {
        let text = "pos:\t0\nflags:\t02004002\nmnt_id:\t8\nino:\t4711\n";
        assert_eq!((number(text, "mnt_id:"), number(text, "ino:")), (Some(8), Some(4711)));
        assert_eq!(number("pos:\t0\n", "ino:"), None);
    }
}
