//! Directories that another user swaps while root writes: no file of root lands in the user's target.

use std::{
    fs,
    os::unix::{
        fs::{PermissionsExt, chown, symlink},
        process::CommandExt,
    },
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use rabbitscope_testing::{Ends, Workbench, is_root, scenario::Scenario};
use tempfile::TempDir;

const OTHER: u32 = 65_534;

/// Makes `$1/new` a directory, nothing, and a link to `$2` in turn, as fast as a shell can.
const SWAPPING: &str = r#"
while :; do
    mkdir "$1/new"; rm -rf "$1/new"
    ln -s "$2" "$1/new"; rm -f "$1/new"
done 2>/dev/null
"#;

/// Directories of both users, and the target of the attack.
struct Places {
    owner: TempDir,
    swapping: Option<Child>,
}

impl Places {
    /// `foreign` belongs to the other user; `shared` is like `/tmp`; `target` is root's.
    fn new() -> Self {
        let owner = tempfile::tempdir().unwrap();
        let mode = |path: &Path, mode: u32| {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        };
        mode(owner.path(), 0o755);
        for (name, bits) in
            [("foreign", 0o755), ("shared", 0o1777), ("open", 0o777), ("target", 0o755)]
        {
            let path = owner.path().join(name);
            fs::create_dir(&path).unwrap();
            mode(&path, bits);
        }
        chown(owner.path().join("foreign"), Some(OTHER), Some(OTHER)).unwrap();
        Self { owner, swapping: None }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.owner.path().join(name)
    }

    fn swap_in(&mut self, name: &str) {
        let places = [self.path(name), self.path("target")];
        let mut shell = Command::new("sh");
        shell.args(["-c", SWAPPING, "sh"]).args(places).uid(OTHER).gid(OTHER);
        self.swapping = Some(shell.stdin(Stdio::null()).spawn().unwrap());
    }

    fn entries_of_target(&self) -> Vec<PathBuf> {
        fs::read_dir(self.path("target")).unwrap().map(|entry| entry.unwrap().path()).collect()
    }
}

impl Drop for Places {
    fn drop(&mut self) {
        if let Some(swapping) = &mut self.swapping {
            let _ = swapping.kill();
            let _ = swapping.wait();
        }
    }
}

/// Returns command lines that write below a directory, each in its own way.
fn writing(place: &Path) -> Vec<String> {
    let place = place.display();
    [
        "flamegraph a.folded -o @/x.html",
        "diff a.folded a.folded -o @/x.html",
        "packets --pcap a.pcap -o @/x.json -o @/x.pcapng",
        "run s.toml --uri amqp://127.0.0.1:1 --out @/run",
        "run s.toml --uri amqp://127.0.0.1:1 --out run --csv @/x.csv",
        "run s.toml --uri amqp://127.0.0.1:1 --out @",
        "find-rate s.toml --slo confirm.p99<1s --uri amqp://127.0.0.1:1 --out @/rate",
        "sweep s.toml --vary publishers.0.rate=1,2 --metric published.rate --uri amqp://127.0.0.1:1 --out @/sweep",
        "watch -o @/windows",
    ]
    .map(|line| line.replace('@', &place.to_string()))
    .to_vec()
}

fn bench() -> Workbench {
    let bench = Workbench::new("swaps");
    bench.file("a.folded", "a;b 1\n");
    bench.file("s.toml", Scenario::steady("swaps", "1s"));
    // A capture without packets.
    let head = [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 65_535, 1];
    fs::write(bench.path("a.pcap"), head.map(u32::to_le_bytes).concat()).unwrap();
    bench
}

#[test]
fn places_that_others_can_change_are_refused() {
    if !is_root() {
        return;
    }
    let (bench, places) = (bench(), Places::new());
    let link = places.path("shared").join("link");
    symlink(places.path("target"), &link).unwrap();
    std::os::unix::fs::lchown(&link, Some(OTHER), Some(OTHER)).unwrap();
    for (place, said) in [
        (places.path("foreign"), "belongs to user 65534"),
        (places.path("open"), "other users can write to"),
        (link, "is a symbolic link of user 65534"),
    ] {
        for line in writing(&place) {
            let ended = bench.rabbitscope(&line);
            let first = ended.stderr.clone();
            let is_refused = first.contains(said);
            assert!(ended.code == Some(2) && is_refused, "{line}: {ended:#?}");
        }
        assert!(places.entries_of_target().is_empty(), "{:?}", places.entries_of_target());
    }
    assert_eq!(fs::read_dir(places.path("foreign")).unwrap().count(), 0);
}

#[test]
fn root_is_led_nowhere() {
    if !is_root() {
        return;
    }
    let bench = bench();
    let mut places = Places::new();
    places.swap_in("shared");
    let new = places.path("shared").join("new");
    let place = new.display();
    for _ in 0..40 {
        bench.rabbitscope(&format!("flamegraph a.folded -o {place}/x.html"));
        bench.rabbitscope(&format!("run s.toml --uri amqp://127.0.0.1:1 --out {place}"));
        bench.rabbitscope(&format!("run s.toml --uri amqp://127.0.0.1:1 --out {place}/below"));
        assert!(places.entries_of_target().is_empty(), "{:?}", places.entries_of_target());
    }
}

#[test]
fn an_input_is_not_replaced() {
    let bench = bench();
    let check = |line: &str, input: &str| {
        let before = fs::read(bench.path(input)).unwrap();
        let ended = bench.rabbitscope(line).code(2);
        assert!(ended.stderr.contains("choose another output file"), "{line}: {ended:#?}");
        assert_eq!(fs::read(bench.path(input)).unwrap(), before, "{line}");
    };
    fs::copy(bench.path("a.pcap"), bench.path("a.pcapng")).unwrap();
    fs::hard_link(bench.path("a.pcapng"), bench.path("other.pcapng")).unwrap();
    fs::copy(bench.path("a.folded"), bench.path("b.html")).unwrap();
    check("packets --pcap a.pcapng -o a.pcapng", "a.pcapng");
    check("packets --pcap a.pcapng -o x.json -o ./a.pcapng", "a.pcapng");
    check("packets --pcap a.pcapng -o other.pcapng", "a.pcapng");
    check("flamegraph a.folded -o a.folded", "a.folded");
    check("diff a.folded b.html -o b.html", "b.html");
    check("diff --before a.folded --after b.html -o b.html", "b.html");
    check("run s.toml --uri amqp://127.0.0.1:1 --out run --csv s.toml", "s.toml");
    fs::create_dir(bench.path("run")).unwrap();
    fs::copy(bench.path("a.folded"), bench.path("run/profile.folded")).unwrap();
    check("flamegraph run -o run/profile.folded", "run/profile.folded");
    assert!(!bench.path("x.json").exists());
}

/// A directory in the home of a user whose umask lets the user's own group write.
#[test]
fn root_by_sudo_writes_to_directories_of_its_caller() {
    if !is_root() {
        return;
    }
    let (bench, places) = (Workbench::new("sudo"), Places::new());
    let home = places.path("foreign");
    fs::set_permissions(&home, fs::Permissions::from_mode(0o775)).unwrap();
    bench.file("a.folded", "a 1\n");
    let check = |variables: &[&str], expected: i32| {
        let line = format!("flamegraph a.folded -o {}", home.join("a.svg").display());
        let mut command = bench.command(&line);
        command.env_remove("SUDO_UID").env_remove("SUDO_GID");
        command.envs(variables.iter().map(|name| (name, OTHER.to_string())));
        let ended = command.ended();
        assert_eq!(ended.code, Some(expected), "{variables:?}: {ended:?}");
    };
    check(&[], 2);
    check(&["SUDO_UID"], 2);
    check(&["SUDO_UID", "SUDO_GID"], 0);
}
