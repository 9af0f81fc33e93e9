//! A copy of the program, installed for a group: with its capabilities, owned by root, mode 750. Also users of this
//! machine who have no other rights.

use std::{
    fmt::Display,
    fs,
    os::unix::{
        fs::{PermissionsExt, chown},
        process::CommandExt,
    },
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use rabbitscope_testing::{Ended, Ends, Workbench};

/// The same as in `scripts/permit.sh`.
const CAPABILITIES: &str = "cap_bpf,cap_perfmon,cap_sys_ptrace,cap_syslog=p";

/// Ids without an account.
const GROUP: u32 = 51_100;
pub(crate) const MEMBER: u32 = 51_101;
pub(crate) const OUTSIDER: u32 = 51_102;
pub(crate) const OWNER_OF_NODE: u32 = 51_103;

/// The installed program, and a directory of a member of its group.
pub(crate) struct Installed {
    pub(crate) bench: Workbench,
    program: PathBuf,
}

impl Installed {
    /// Installs it for the test called `name`. Returns `None`, with a message, unless this process is root's.
    pub(crate) fn new(name: &str) -> Option<Self> {
        let bench = Workbench::for_root(name)?;
        let program = bench.path("rabbitscope");
        // A separate process makes the copy. A process that another test forks in the meantime would inherit our
        // copy's descriptor for writing, and a file that is open for writing cannot be executed.
        let copied = Command::new("cp").args([&rabbitscope_testing::program(), &program]).status();
        assert!(copied.unwrap().success());
        chown(&program, Some(0), Some(GROUP)).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o750)).unwrap();
        let set = Command::new("setcap").arg(CAPABILITIES).arg(&program).output().unwrap();
        assert!(set.status.success(), "{set:?}");
        let installed = Self { bench, program };
        installed.directory_of("member", MEMBER);
        Some(installed)
    }

    /// Makes a directory that belongs to a user.
    pub(crate) fn directory_of(&self, name: &str, user: u32) -> PathBuf {
        let directory = self.bench.path(name);
        fs::create_dir_all(&directory).unwrap();
        chown(&directory, Some(user), Some(user)).unwrap();
        directory
    }

    /// Returns a path in the member's working directory.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.bench.path("member").join(name)
    }

    /// Writes a file in the member's working directory.
    pub(crate) fn file(&self, name: &str, text: impl Display) {
        fs::write(self.path(name), text.to_string()).unwrap();
    }

    /// Writes a file that only root may read, in a directory that all users may list.
    pub(crate) fn secret_file(&self, name: &str, text: &str) -> PathBuf {
        self.bench.file_with_mode(name, text, 0o600)
    }

    /// Makes a command of a member of the group, in the member's directory.
    pub(crate) fn command(&self, arguments: &str) -> Command {
        self.command_of(MEMBER, GROUP, arguments)
    }

    /// Does the same for a user with this id and group.
    pub(crate) fn command_of(&self, user: u32, group: u32, arguments: &str) -> Command {
        let mut command = as_user(&self.program, user, group, &self.bench.path("member"));
        command.args(arguments.split_whitespace());
        command
    }

    /// Runs a command of a member of the group to its end.
    pub(crate) fn run(&self, arguments: &str) -> Ended {
        self.command(arguments).ended()
    }

    /// Does the same, with temporary files in this directory.
    pub(crate) fn run_in(&self, arguments: &str, temporary: &Path) -> Ended {
        self.command(arguments).env("TMPDIR", temporary).ended()
    }

    /// Starts a node that belongs to a separate user and is never idle.
    pub(crate) fn node(&self) -> Running {
        let home = self.directory_of("node", OWNER_OF_NODE);
        let work = "F = fun F() -> lists:member(0, lists:seq(1, 1000)), timer:sleep(0), F() end, \
                    spawn(fun() -> F() end), \
                    G = fun G(N) -> ets:select(ac_tab, [{{'_', N}, [], ['$_']}]), G(N + 1) end, G(0).";
        let mut command = as_user(Path::new("erl"), OWNER_OF_NODE, OWNER_OF_NODE, &home);
        let started = command.args(["-noinput", "-eval", work]).spawn();
        Running::new(started.unwrap())
    }
}

/// Makes a command of a user who has no other group and no privilege.
pub(crate) fn as_user(program: &Path, user: u32, group: u32, home: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .uid(user)
        .gid(group)
        .env("HOME", home)
        .env("TMPDIR", home)
        .env_remove("XDG_STATE_HOME")
        .env_remove("RABBITSCOPE_URI")
        .env("RABBITSCOPE_SET_RUN__SELF_CHECK", "false")
        .current_dir(home)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// A process that is killed on drop.
pub(crate) struct Running(pub(crate) Child);

impl Running {
    pub(crate) fn new(child: Child) -> Self {
        Self(child)
    }

    pub(crate) fn pid(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
