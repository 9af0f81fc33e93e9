//! The control groups of a process (cgroups(7)), by which runtimes name pods and containers.

use std::io;

use crate::text::read;

/// Number of hexadecimal digits of a container's id.
const CONTAINER_ID_DIGITS: usize = 64;

/// The control groups of a process, a line for each hierarchy.
#[derive(Clone, Debug, Default)]
pub struct ControlGroups(pub(crate) String);

impl ControlGroups {
    /// Reads the control groups of a process.
    pub fn read(pid: u32) -> io::Result<Self> {
        read(format!("/proc/{pid}/cgroup")).map(Self)
    }

    /// Returns the path of the control group that a controller of version 1 uses, or with an empty name that of
    /// version 2.
    pub(crate) fn path(&self, controller: &str) -> Option<&str> {
        self.0.lines().find_map(|line| {
            let mut fields = line.splitn(3, ':').skip(1);
            let (controllers, path) = (fields.next()?, fields.next()?);
            controllers.split(',').any(|name| name == controller).then_some(path)
        })
    }

    /// Returns the pod's id in `…/kubepods-burstable-pod<uid with underscores>.slice/…` or
    /// `…/kubepods/burstable/pod<uid>/…`.
    pub fn pod_uid(&self) -> Option<String> {
        self.0.split(['/', '\n']).find_map(|part| {
            let part = part.strip_suffix(".slice").unwrap_or(part);
            let (_, uid) = part.rsplit_once("pod")?;
            let uid = uid.replace('_', "-");
            let is_uid = uid.len() == 36
                && uid.chars().all(|digit| digit.is_ascii_hexdigit() || digit == '-');
            is_uid.then_some(uid)
        })
    }

    /// Returns the innermost container's id in `…/cri-containerd-<id>.scope`, `…/docker-<id>.scope` or `…/<id>`.
    pub fn container(&self) -> Option<String> {
        self.0.split(['/', '\n']).rev().find_map(|part| {
            let part = part.strip_suffix(".scope").unwrap_or(part);
            let id = part.rsplit_once('-').map_or(part, |(_, id)| id);
            let is_id = id.len() == CONTAINER_ID_DIGITS
                && id.chars().all(|digit| digit.is_ascii_hexdigit());
            is_id.then(|| id.to_owned())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::ControlGroups;

    const UID: &str = "6b2d1c0e-35f1-4b5e-9d0c-0f6f3f1d2a3b";
    const ID: &str = "4a5b6c7d8e9f0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293";

    #[track_caller]
    fn check(groups: &str, pod: bool, container: bool) {
        let found = ControlGroups(groups.to_owned());
        assert_eq!(found.pod_uid(), pod.then(|| UID.to_owned()), "{groups}");
        assert_eq!(found.container(), container.then(|| ID.to_owned()), "{groups}");
    }

    #[test]
    fn control_groups_of_containers() {
        let uid = UID.replace('-', "_");
        check(
            &format!(
                "0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod{uid}.slice/cri-containerd-{ID}.scope\n"
            ),
            true,
            true,
        );
        check(&format!("1:cpu:/kubepods/besteffort/pod{UID}/{ID}\n0::/\n"), true, true);
        check(&format!("0::/system.slice/docker-{ID}.scope\n"), false, true);
        check("0::/system.slice/rabbitmq-server.service\n", false, false);
        check("", false, false);
    }

    #[test]
    fn paths_of_hierarchies() {
        let text = "9:name=systemd:/\n4:cpu,cpuacct:/a:b\n0::/c\n";
        let groups = ControlGroups(text.to_owned());
        assert_eq!(groups.path("cpu"), Some("/a:b"));
        assert_eq!((groups.path(""), groups.path("blkio")), (Some("/c"), None));
    }
}
