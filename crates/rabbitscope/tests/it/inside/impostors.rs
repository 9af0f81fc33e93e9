//! An impostor under a node's name gets no proof that we know the cookie.

use std::{fs, path::PathBuf};

use rabbitscope_testing::{Ended, Ends, Workbench, eventually, existing_broker};

use crate::safety::installed::{OWNER_OF_NODE, Running, as_user};

/// An Erlang VM that is no node, but answers under this name.
struct Impostor {
    process: Running,
    directory: PathBuf,
}

impl Impostor {
    fn start(bench: &Workbench, name: &str, user: u32) -> Self {
        let directory = bench.path("impostor");
        fs::create_dir_all(&directory).unwrap();
        std::os::unix::fs::chown(&directory, Some(user), Some(user)).unwrap();
        fs::write(directory.join("impostors.erl"), include_str!("impostors.erl")).unwrap();
        let place = directory.display();
        let begin = format!(
            "{{ok, M, Code}} = compile:file(\"{place}/impostors.erl\", [binary]), \
             {{module, M}} = code:load_binary(M, \"\", Code), M:start(\"{name}\", \"{place}\")."
        );
        let mut command = as_user("erl".as_ref(), user, user, &directory);
        command.args(["-noinput", "-eval", &begin]).env("RABBITMQ_NODENAME", name);
        let process = Running::new(command.spawn().unwrap());
        // The file is empty between its creation and the write of the number.
        let port = || fs::read_to_string(directory.join("port")).unwrap_or_default();
        eventually("the impostor listens", || !port().is_empty());
        Self { process, directory }
    }

    fn port(&self) -> String {
        fs::read_to_string(self.directory.join("port")).unwrap()
    }

    /// Asserts that no challenge was answered; at least one was sent.
    #[track_caller]
    fn assert_got_nothing(&self) {
        let got = || fs::read_to_string(self.directory.join("got")).unwrap_or_default();
        eventually("the impostor was asked", || !got().is_empty());
        assert!(!got().contains("digest"), "{}", got());
    }
}

/// Runs the program with a home that has a cookie, as the home of this process's user has.
fn with_cookie(bench: &Workbench, arguments: &str) -> Ended {
    bench.file(".erlang.cookie", "OURCOOKIE");
    bench.command(arguments).env("HOME", bench.path("")).ended()
}

#[test]
fn a_process_of_another_user_gets_no_answer_to_its_challenge() {
    let Some(bench) = Workbench::for_root("impostors") else { return };
    let impostor = Impostor::start(&bench, "rabbit@localhost", OWNER_OF_NODE);
    let (pid, port) = (impostor.process.pid(), impostor.port());
    // By process: the command line does not name the node.
    let profile = format!("profile --pid {pid} --epmd-port {port} --duration 500ms -o x.folded");
    let ended = with_cookie(&bench, &profile).code(0);
    for said in ["processes have only pids", "runs as user 51103", "--cookie-file"] {
        assert!(ended.stdout.contains(said), "{ended:#?}");
    }
    with_cookie(&bench, &format!("profile --explain --pid {pid} --epmd-port {port}")).code(0);
    // By name.
    let queues = format!("queues --node rabbit@localhost --epmd-port {port}");
    with_cookie(&bench, &queues).code(5).says(&["runs as user 51103", "--cookie-file"]);
    impostor.assert_got_nothing();
}

#[test]
fn another_process_of_the_same_user_gets_none_either() {
    let Some(bench) = Workbench::for_root("same-user") else { return };
    let broker = existing_broker();
    let impostor = Impostor::start(&bench, &broker.node_name(), 0);
    let (pid, port) = (broker.pid, impostor.port());
    let profile = format!("profile --pid {pid} --epmd-port {port} --duration 500ms -o x.folded");
    let ended = with_cookie(&bench, &profile).code(0);
    assert!(ended.stdout.contains(&format!("does not belong to process {pid}")), "{ended:#?}");
    impostor.assert_got_nothing();
}

#[test]
fn a_name_that_leads_elsewhere_is_not_followed() {
    let Some(bench) = Workbench::for_root("elsewhere") else { return };
    // A documentation address (RFC 5737), which no host has.
    let impostor = Impostor::start(&bench, "rabbit@192.0.2.1", OWNER_OF_NODE);
    let pid = impostor.process.pid();
    let profile = format!("profile --pid {pid} --duration 500ms -o x.folded");
    let ended = with_cookie(&bench, &profile).code(0);
    assert!(ended.stdout.contains("192.0.2.1, which is not this machine"), "{ended:#?}");
}

#[test]
fn a_node_whose_user_owns_the_cookie_is_asked() {
    let Some(bench) = Workbench::for_root("own-cookie") else { return };
    let broker = existing_broker();
    let (home, port) = (broker.distribution().0, broker.port_mapper());
    let pid = broker.pid;
    let asked = |arguments: &str| {
        let arguments = format!("profile --pid {pid} --epmd-port {port} {arguments}");
        let mut command = bench.command(&arguments);
        command.env("HOME", &home).ended().code(0).stdout
    };
    let explained = asked("--explain");
    assert!(explained.contains("the node answers"), "{explained}");
    let recorded = asked("--duration 500ms -o x.folded");
    assert!(!recorded.contains("processes have only pids"), "{recorded}");
}
