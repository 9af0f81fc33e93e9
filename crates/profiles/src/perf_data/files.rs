//! Mapped files, with the marks that identify their build.

use std::{collections::HashMap, rc::Rc};

use super::layout::Bytes;

/// Size limit of a build id in a recording.
const MAX_BUILD_ID_BYTES: usize = 20;

/// Limit of the number of build ids.
const MAX_BUILD_IDS: usize = 1 << 16;

/// The kernel's name in the list of build ids, and the prefix of its mapping's name.
pub(super) const KERNEL: &str = "[kernel.kallsyms]";

/// A file at the time of its mapping.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct RecordedFile {
    /// The path that the recorded process saw.
    pub path: Rc<str>,
    /// The linker's build id. Trailing zero bytes may be padding.
    pub build_id: Option<Rc<[u8]>>,
    /// Major and minor number of its device, and its inode.
    pub inode: Option<(u32, u32, u64)>,
}

/// The recorded kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordedKernel {
    /// Build id, as in [`RecordedFile`].
    pub build_id: Option<Rc<[u8]>>,
    /// The release that `uname -r` prints.
    pub release: Option<String>,
    /// Name and address of a symbol, which moves at a restart.
    pub reference: Option<(String, u64)>,
}

/// Build ids by path, from the list that perf writes at the end of a recording.
#[derive(Debug, Default)]
pub(super) struct BuildIds(HashMap<Rc<str>, Rc<[u8]>>);

impl BuildIds {
    /// Adds an entry without its header: pid, id, and path (`struct build_id_event` of perf).
    pub(super) fn add(&mut self, body: &[u8]) {
        let Some((id, path)) = body.get(4..24).zip(body.get(28..)) else { return };
        let size = body.get(24).map_or(0, |size| usize::from(*size));
        let length = if (1..=MAX_BUILD_ID_BYTES).contains(&size) { size } else { id.len() };
        let path = Bytes(path).text();
        if self.0.len() < MAX_BUILD_IDS {
            self.0.insert(path.into(), id[..length].into());
        }
    }

    /// Adds all entries of a file's section.
    pub(super) fn add_all(&mut self, section: &[u8]) {
        let mut rest = section;
        while let Some(header) = rest.first_chunk::<8>() {
            let size = usize::from(u16::from_le_bytes([header[6], header[7]]));
            let Some(body) = rest.get(8..size) else { break };
            self.add(body);
            rest = &rest[size..];
        }
    }

    pub(super) fn get(&self, path: &str) -> Option<Rc<[u8]>> {
        self.0.get(path).cloned()
    }
}

/// Reads build id or inode of a file from the record of its mapping (`PERF_RECORD_MMAP2`). Both use the same bytes.
pub(super) fn identity(path: Rc<str>, body: &[u8], has_build_id: bool) -> RecordedFile {
    let mut file = RecordedFile { path, ..RecordedFile::default() };
    let Some(place) = body.get(32..56) else { return file };
    if has_build_id {
        let length = usize::from(place[0]).min(MAX_BUILD_ID_BYTES);
        file.build_id = Some(place[4..4 + length].into()).filter(|_| length > 0);
        return file;
    }
    let mut bytes = Bytes(place);
    if let (Some(major), Some(minor), Some(inode)) = (bytes.u32(), bytes.u32(), bytes.u64()) {
        file.inode = Some((major, minor, inode)).filter(|_| inode > 0);
    }
    file
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(id: [u8; 20], size: u8, path: &str) -> Vec<u8> {
        let body = [&[0xff; 4][..], &id, &[size, 0, 0, 0], path.as_bytes(), &[0]].concat();
        let length = u16::try_from(body.len() + 8).unwrap().to_le_bytes();
        [&67_u32.to_le_bytes()[..], &[2, 0], &length, &body].concat()
    }

    #[test]
    fn build_ids_have_their_length() {
        let mut ids = BuildIds::default();
        ids.add_all(&[entry([7; 20], 0, "/bin/a"), entry([8; 20], 16, KERNEL)].concat());
        assert_eq!(ids.get("/bin/a").as_deref(), Some(&[7; 20][..]));
        assert_eq!(ids.get(KERNEL).as_deref(), Some(&[8; 16][..]));
        assert_eq!(ids.get("/bin/b"), None);
        // A truncated list keeps its first entries.
        let mut cut = BuildIds::default();
        cut.add_all(&[entry([7; 20], 0, "/bin/a"), vec![67, 0, 0, 0, 0, 0, 200, 0]].concat());
        assert!(cut.get("/bin/a").is_some());
    }

    #[test]
    fn a_mapping_has_an_inode_or_a_build_id() {
        let mut body = vec![0; 64];
        body[32..36].copy_from_slice(&8_u32.to_le_bytes());
        body[40..48].copy_from_slice(&77_u64.to_le_bytes());
        assert_eq!(identity("/x".into(), &body, false).inode, Some((8, 0, 77)));
        body[32] = 20;
        let id = identity("/x".into(), &body, true).build_id.unwrap();
        assert_eq!((id.len(), id[4]), (20, 77));
    }
}
