//! A disk of a few kilobytes.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::Command,
};

/// A small file system of its own. Dropping it unmounts it.
pub struct SmallDisk {
    /// The mount point.
    pub directory: PathBuf,
}

impl SmallDisk {
    /// Mounts a disk. Fails with the reason.
    pub fn mount(directory: PathBuf, kibibytes: u64) -> Result<Self, String> {
        fs::create_dir_all(&directory).unwrap();
        let options = format!("size={kibibytes}k,mode=755");
        let mount = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &options, "rabbitscope-test"])
            .arg(&directory)
            .output()
            .unwrap();
        if mount.status.success() {
            return Ok(Self { directory });
        }
        Err(String::from_utf8_lossy(&mount.stderr).into_owned())
    }

    /// Fills the disk, except for a number of bytes.
    pub fn fill(&self, but_bytes: u64) {
        let stat = rustix::fs::statvfs(&self.directory).unwrap();
        let room = stat.f_bavail * stat.f_bsize;
        let filler = vec![0; usize::try_from(room.saturating_sub(but_bytes)).unwrap()];
        let _ = append(&self.directory.join("filler"), &filler);
    }
}

fn append(file: &Path, bytes: &[u8]) -> std::io::Result<()> {
    fs::OpenOptions::new().create(true).append(true).open(file)?.write_all(bytes)
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(&self.directory).status();
    }
}
