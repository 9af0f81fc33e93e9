//! Directories of control groups.

use std::path::PathBuf;

use super::super::mount_table::Mount;
use crate::process::ControlGroups;

/// Directories of the control groups of a process, with all groups around each, the innermost first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in super::super) struct GroupDirectories {
    /// Groups that limit CPU time.
    pub(in super::super) cpu: Vec<PathBuf>,
    /// Groups that limit disks.
    pub(in super::super) io: Vec<PathBuf>,
    /// Groups of version 2.
    pub(in super::super) unified: Vec<PathBuf>,
}

impl GroupDirectories {
    /// Finds the directories by the groups of a process and the mounts of this process.
    pub(in super::super) fn find(groups: &ControlGroups, mounts: &[Mount]) -> Self {
        let unified = version_2(groups, mounts);
        let with_version_1 = |controller| {
            let mut found = version_1(controller, groups, mounts);
            found.extend(unified.iter().cloned());
            found
        };
        Self { cpu: with_version_1("cpu"), io: with_version_1("blkio"), unified }
    }
}

fn version_2(groups: &ControlGroups, mounts: &[Mount]) -> Vec<PathBuf> {
    let found = groups.path("").map(|path| {
        let mut places = mounts.iter().filter(|mount| mount.kind == "cgroup2");
        places.find_map(|mount| from_group_to_mount(path, mount))
    });
    found.flatten().unwrap_or_default()
}

fn version_1(controller: &str, groups: &ControlGroups, mounts: &[Mount]) -> Vec<PathBuf> {
    let found = groups.path(controller).map(|path| {
        let has_controller = |mount: &&Mount| {
            mount.kind == "cgroup" && mount.options.split(',').any(|option| option == controller)
        };
        mounts.iter().filter(has_controller).find_map(|mount| from_group_to_mount(path, mount))
    });
    found.flatten().unwrap_or_default()
}

/// Returns the directories of a group and of all around it. `None` if the mount does not show the group, which may be
/// outside of this process's namespace.
fn from_group_to_mount(path: &str, mount: &Mount) -> Option<Vec<PathBuf>> {
    let inside = path.strip_prefix(mount.root.trim_end_matches('/'))?;
    let parts: Vec<&str> = inside.split('/').filter(|part| !part.is_empty()).collect();
    if parts.contains(&"..") {
        return None;
    }
    let directory = |length: usize| {
        let mut place = PathBuf::from(&mount.point);
        place.extend(&parts[..length]);
        place
    };
    Some((0..=parts.len()).rev().map(directory).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(groups: &str, mounts: &str, expected: [&[&str]; 3]) {
        let groups = ControlGroups(groups.to_owned());
        let found = GroupDirectories::find(&groups, &Mount::parse_all(mounts));
        let found = [found.cpu, found.io, found.unified];
        assert_eq!(
            found,
            expected.map(|paths| paths.iter().map(PathBuf::from).collect::<Vec<_>>())
        );
    }

    #[test]
    fn version_2_alone() {
        check(
            "0::/system.slice/rabbitmq-server.service\n",
            "29 22 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate",
            [&[
                "/sys/fs/cgroup/system.slice/rabbitmq-server.service",
                "/sys/fs/cgroup/system.slice",
                "/sys/fs/cgroup",
            ]; 3],
        );
    }

    #[test]
    fn both_versions() {
        check(
            "7:blkio:/\n1:cpu,cpuacct:/docker/x\n0::/docker/x\n",
            "40 33 0:30 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n\
             41 33 0:31 / /sys/fs/cgroup/blkio rw - cgroup cgroup rw,blkio\n\
             42 33 0:32 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw",
            [
                &[
                    "/sys/fs/cgroup/cpu/docker/x",
                    "/sys/fs/cgroup/cpu/docker",
                    "/sys/fs/cgroup/cpu",
                    "/sys/fs/cgroup/unified/docker/x",
                    "/sys/fs/cgroup/unified/docker",
                    "/sys/fs/cgroup/unified",
                ],
                &[
                    "/sys/fs/cgroup/blkio",
                    "/sys/fs/cgroup/unified/docker/x",
                    "/sys/fs/cgroup/unified/docker",
                    "/sys/fs/cgroup/unified",
                ],
                &[
                    "/sys/fs/cgroup/unified/docker/x",
                    "/sys/fs/cgroup/unified/docker",
                    "/sys/fs/cgroup/unified",
                ],
            ],
        );
    }

    #[test]
    fn a_mount_of_a_part_of_the_hierarchy() {
        let mount = "40 33 0:30 /docker/x /sys/fs/cgroup/cpu ro - cgroup cgroup ro,cpu";
        let here: &[&str] = &["/sys/fs/cgroup/cpu"];
        check("1:cpu:/docker/x\n", mount, [here, &[], &[]]);
        check("1:cpu:/docker/y\n", mount, [&[]; 3]);
        let whole = "40 33 0:30 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw";
        check("0::/../other\n", whole, [&[]; 3]);
    }
}
