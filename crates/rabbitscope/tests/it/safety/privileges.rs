//! The rights of a group's member, for whom the program is installed with capabilities, and their limits.

use std::{
    fs, io,
    os::unix::{fs::PermissionsExt, process::CommandExt},
    path::Path,
    process::{Command, Stdio},
};

use rabbitscope_testing::{
    Ended, Ends, eventually, not_run,
    scenario::{Profile, Publishers, Scenario},
    signal,
};
use rustix::process::Signal;

use super::installed::{Installed, MEMBER, OUTSIDER, Running, as_user};

const SECRET: &str = "only-for-root-4711";

/// Asserts that no output and no remaining file of the program has the secret.
#[track_caller]
fn assert_secret(installed: &Installed, ended: &Ended) {
    for text in [&ended.stdout, &ended.stderr] {
        assert!(!text.contains(SECRET), "{ended:#?}");
    }
    let found = Command::new("grep").arg("-rl").arg(SECRET).arg(installed.path("")).output();
    assert_eq!(String::from_utf8(found.unwrap().stdout).unwrap(), "", "{ended:#?}");
}

#[test]
fn a_node_of_another_user_is_recorded_with_all_names() {
    let Some(installed) = Installed::new("member") else { return };
    let node = installed.node();
    let pid = node.pid();
    let recorded = "--no-names --event cpu,off-cpu --duration 3s -o x.folded";
    // A VM that is starting has no schedulers yet.
    eventually("the node is up", || {
        let first = format!("profile --pid {pid} --no-names --duration 100ms -o first.folded");
        installed.run(&first).code == Some(0)
    });
    let ended = installed.run(&format!("profile --pid {pid} {recorded} --json")).code(0);
    let said = ended.json();
    let quality = said[0]["quality"].as_object().unwrap_or_else(|| panic!("{said:#}"));
    let count = |name: &str| quality[name].as_u64().unwrap();
    assert!(count("complete") > 200, "{quality:?}");
    assert!(count("broken") * 20 < count("complete"), "{quality:?}");
    assert_eq!(count("lost"), 0, "{quality:?}");
    let cpu = fs::read_to_string(installed.path("x-cpu.folded")).unwrap();
    let off_cpu = fs::read_to_string(installed.path("x-off-cpu.folded")).unwrap();
    // Functions of Erlang, of the emulator's file, of the C library's, and of the kernel.
    for (text, function) in [
        (&cpu, "lists:seq_loop/3"),
        (&cpu, "ets:select"),
        (&off_cpu, "erts_"),
        (&off_cpu, "schedule"),
    ] {
        assert!(text.contains(function), "no {function} in {text:.3000}");
    }
}

#[test]
fn no_file_is_opened_that_the_user_may_not_open() {
    let Some(installed) = Installed::new("files") else { return };
    let secret = installed.secret_file("secret", &format!("{SECRET}\n"));
    let secret = secret.display();
    let directory = installed.bench.path("closed");
    fs::create_dir_all(&directory).unwrap();
    fs::write(directory.join("run.json"), "{}").unwrap();
    fs::set_permissions(&directory, fs::Permissions::from_mode(0o700)).unwrap();
    let secret_path = secret.to_string();
    let steady = || Scenario::steady("q", "1s");
    installed.file("names.toml", steady().change_queue(|queue| queue.names_file(&*secret_path)));
    let bodies = |group: Publishers| group.body_files(vec![&*secret_path]);
    installed.file("bodies.toml", steady().change_publishers(bodies));
    let connecting =
        |keys: &str| steady().text(&format!("[broker]\nuri = \"amqps://127.0.0.1:1\"\n{keys}\n"));
    let token = format!("auth = \"token\"\ntoken-file = \"{secret}\"");
    installed.file("token.toml", connecting(&token));
    installed.file("ca.toml", connecting(&format!("[broker.tls]\nca = \"{secret}\"")));
    installed.file("a.folded", "scheduler;m:f/0 1\n");
    let closed = directory.display();
    let node = "queues --node a@localhost";
    for arguments in [
        format!("run {secret}"),
        format!("find-rate {secret} --slo confirm.p99<20ms"),
        "run names.toml --out out".to_owned(),
        "run bodies.toml --out out".to_owned(),
        "run token.toml --out out".to_owned(),
        "run ca.toml --out out".to_owned(),
        format!("flamegraph {secret} -o x.svg"),
        format!("diff {secret} a.folded"),
        format!("diff a.folded {secret}"),
        format!("broker start --config {secret}"),
        format!("broker start --advanced-config {secret}"),
        format!("{node} --cookie-file {secret}"),
        format!("{node} --listen 127.0.0.1:0 --auth-file {secret}"),
        format!("profile --from-inside --node a@localhost --cookie-file {secret} -o x.svg"),
    ] {
        let ended = installed.run(&arguments);
        assert!(ended.stderr.contains("ermission denied"), "{arguments}: {ended:#?}");
        assert_ne!(ended.code, Some(0), "{arguments}: {ended:#?}");
        assert_secret(&installed, &ended);
    }
    installed.run(&format!("report {closed} -o x.html")).code(2).says(&["not a run directory"]);
}

#[test]
fn no_file_of_others_is_written() {
    let Some(installed) = Installed::new("writes") else { return };
    // As in /tmp: all users may write into the directory, and the file is root's.
    let shared = installed.bench.path("shared");
    fs::create_dir_all(&shared).unwrap();
    fs::set_permissions(&shared, fs::Permissions::from_mode(0o1777)).unwrap();
    installed.file("a.folded", "scheduler;m:f/0 1\n");
    for directory in [shared, installed.bench.path("")] {
        let file = directory.join("theirs.svg");
        fs::write(&file, "theirs").unwrap();
        let ended = installed.run(&format!("flamegraph a.folded -o {}", file.display()));
        assert_ne!(ended.code, Some(0), "{ended:#?}");
        assert_eq!(fs::read_to_string(&file).unwrap(), "theirs", "{ended:#?}");
    }
}

/// A program with the function `topsecret_loop` that only root may read.
const SOURCE: &str = "#include <time.h>\n\
     __attribute__((noinline)) long topsecret_loop(long n) { long s = 0; while (n--) s += n ^ s; return s; }\n\
     int main(void) { time_t end = time(0) + 2; long s = 0; while (time(0) < end) s += topsecret_loop(100000); \
     return s == 42; }\n";

#[test]
fn a_recording_of_perf_opens_no_files_for_its_reader() {
    let Some(installed) = Installed::new("perf-data") else { return };
    let bench = &installed.bench;
    if Command::new("perf").arg("--version").stdout(Stdio::null()).status().is_err() {
        not_run("perf is not installed");
        return;
    }
    let source = bench.file("s.c", SOURCE).display().to_string();
    let run = |words: &str| {
        let ended = bench.command_line(words).ended();
        assert_eq!(ended.code, Some(0), "{ended:#?}");
    };
    run(&format!("cc -O1 -o {} {source}", bench.path("program").display()));
    fs::set_permissions(bench.path("program"), fs::Permissions::from_mode(0o700)).unwrap();
    let data = installed.path("perf.data").display().to_string();
    let program = bench.path("program").display().to_string();
    run(&format!("perf record -q -e cpu-clock -g -o {data} {program}"));
    fs::set_permissions(&data, fs::Permissions::from_mode(0o644)).unwrap();
    bench.rabbitscope(&format!("flamegraph {data} -o root.folded")).code(0);
    assert!(bench.read("root.folded").contains("topsecret_loop"), "root may read its names");
    installed.run("flamegraph perf.data -o user.folded").code(0);
    let text = fs::read_to_string(installed.path("user.folded")).unwrap();
    assert!(!text.contains("topsecret_loop"), "{text}");
}

#[test]
fn what_only_calls_itself_a_vm_stays_closed() {
    let Some(installed) = Installed::new("no-vm") else { return };
    for name in ["beam.smp", "sleep"] {
        let mut command = Command::new("sleep");
        command.arg0(name).arg("100").env("RABBITMQ_NODENAME", SECRET);
        let process = Running::new(command.spawn().unwrap());
        let pid = process.pid();
        for tier in ["", "--tier ebpf", "--tier perf-events"] {
            let ended = installed.run(&format!("profile --pid {pid} {tier} -o x.svg")).code(5);
            assert!(ended.stderr.contains("not an Erlang VM"), "{ended:#?}");
            assert_secret(&installed, &ended);
        }
        for arguments in [
            format!("profile --explain --pid {pid}"),
            format!("profile --node {SECRET} -o x.svg").replace(SECRET, "nobody@nowhere"),
        ] {
            assert_secret(&installed, &installed.run(&arguments));
        }
        // The refusal also holds for root.
        let ended = installed.bench.rabbitscope(&format!("profile --pid {pid} -o x.svg")).code(5);
        assert!(ended.stderr.contains("not an Erlang VM"), "{ended:#?}");
        let ended = installed.bench.rabbitscope("profile --node nobody@nowhere -o x.svg").code(5);
        assert_secret(&installed, &ended);
    }
}

#[test]
fn who_is_not_in_the_group_cannot_execute_it() {
    let Some(installed) = Installed::new("outsider") else { return };
    let refused = installed.command_of(OUTSIDER, OUTSIDER, "--version").output().unwrap_err();
    assert_eq!(refused.kind(), io::ErrorKind::PermissionDenied);
    installed.run("--version").code(0);
}

#[test]
fn a_program_that_is_set_to_run_as_root_does_nothing() {
    let Some(installed) = Installed::new("setuid") else { return };
    let mode = fs::Permissions::from_mode(0o4750);
    fs::set_permissions(installed.bench.path("rabbitscope"), mode).unwrap();
    installed.file("a.folded", "scheduler;m:f/0 1\n");
    installed
        .run("flamegraph a.folded -o b.folded")
        .code(6)
        .says(&["set-user-ID root", "chmod u-s"]);
}

/// Returns the permitted capabilities of each thread of a process.
fn permitted(pid: u32) -> Vec<(String, u64)> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let of = |directory: &Path| {
        let status = fs::read_to_string(directory.join("status")).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("CapPrm:"))?;
        let name = fs::read_to_string(directory.join("comm")).ok()?;
        Some((name, u64::from_str_radix(line.trim(), 16).ok()?))
    };
    tasks.filter_map(|task| of(&task.path())).collect()
}

/// Returns the processes that `pid` started, and their descendants.
fn descendants(pid: u32) -> Vec<u32> {
    let children = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let lists = children.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    let direct: Vec<u32> = lists
        .flat_map(|list| list.split(' ').filter_map(|word| word.parse().ok()).collect::<Vec<_>>())
        .collect();
    direct.iter().flat_map(|&child| [vec![child], descendants(child)].concat()).collect()
}

fn is_beam(pid: u32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name == "beam.smp\n")
}

#[test]
fn a_run_without_profile_and_its_broker_have_no_capabilities() {
    let Some(installed) = Installed::new("no-caps") else { return };
    installed.file("s.toml", Scenario::steady("q", "60s"));
    let program = Running::new(installed.command("run s.toml --out out --plain").spawn().unwrap());
    installed.bench.await_seconds("member/out", 1);
    let all = descendants(program.pid());
    assert!(all.iter().any(|&pid| is_beam(pid)), "{all:?}");
    let with_some: Vec<_> = [program.pid()]
        .iter()
        .chain(&all)
        .flat_map(|&pid| permitted(pid))
        .filter(|(_, capabilities)| *capabilities != 0)
        .collect();
    assert!(with_some.is_empty(), "{with_some:x?}");
    end(&all, program);
}

#[test]
fn of_a_run_with_a_profile_only_the_recorder_has_capabilities() {
    let Some(installed) = Installed::new("one-thread") else { return };
    let profiled = Scenario::steady("q", "60s").profile(Profile::new("50s"));
    installed.file("s.toml", profiled);
    let program = Running::new(installed.command("run s.toml --out out --plain").spawn().unwrap());
    installed.bench.await_seconds("member/out", 1);
    let all = descendants(program.pid());
    let some = permitted(program.pid());
    let with_some: Vec<&str> =
        some.iter().filter(|(_, it)| *it != 0).map(|(name, _)| name.trim_end()).collect();
    // The link belongs to the recorder; it never has effective capabilities.
    let may_have_some = |name: &&str| ["recorder", "erlang-link"].contains(name);
    assert!(with_some.contains(&"recorder") && with_some.iter().all(may_have_some), "{some:x?}");
    assert!(all.iter().flat_map(|&pid| permitted(pid)).all(|(_, it)| it == 0), "{all:?}");
    end(&all, program);
}

/// Sends Ctrl-C, and waits until the broker is gone as well.
fn end(all: &[u32], mut program: Running) {
    signal(&program.0, Signal::INT);
    program.0.wait().unwrap();
    eventually("no broker is left", || !all.iter().any(|&pid| is_beam(pid)));
}

/// The C library hides TMPDIR from a program with capabilities, so `docs/tasks/throwaway-broker.md` names another way.
#[test]
fn a_program_with_capabilities_does_not_see_tmpdir_and_a_copy_does() {
    let Some(installed) = Installed::new("tmpdir") else { return };
    let user = installed.directory_of("temporary", MEMBER);
    let own = || fs::read_dir(&user).unwrap().count();
    installed.run_in("broker status", &user).code(0);
    assert_eq!(own(), 0, "TMPDIR is not seen");
    let copy = installed.path("copy");
    fs::copy(installed.bench.path("rabbitscope"), &copy).unwrap();
    fs::set_permissions(&copy, fs::Permissions::from_mode(0o755)).unwrap();
    let mut plain = as_user(&copy, MEMBER, MEMBER, &user);
    plain.args(["broker", "status"]).ended().code(0);
    assert_eq!(own(), 1, "it is seen");
}
