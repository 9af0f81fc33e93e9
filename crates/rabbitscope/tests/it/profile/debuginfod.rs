//! Names from a server of debug files: elfutils' own `debuginfod`, and its client, which shares the cache.

use std::{
    fs::{self, File},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use rabbitscope_testing::{
    Ended, Ends, OwnBroker, Workbench, compile_driver, eventually, free_address, http, is_root,
    load_module, not_run, own_broker, plant,
    scenario::{Profile, Scenario},
};

/// A process that only calls the driver of `hidden_drv.c`.
const CALLER: &str = "
-module(hidden).
-export([start/1]).
start(Directory) ->
    register(hidden, spawn(fun() ->
        ok = erl_ddll:load_driver(Directory, \"hidden_drv\"),
        loop(open_port({spawn_driver, \"hidden_drv\"}, []))
    end)), ok.
loop(Port) -> _ = port_control(Port, 1, <<>>), loop(Port).
";

/// A node that spends its time in a function without a name, and the debug file that has the name.
struct Hidden {
    broker: OwnBroker,
    /// Directory with only the debug file.
    debug: PathBuf,
    build_id: String,
}

impl Hidden {
    fn start(bench: &Workbench) -> Self {
        let (library, debug) = (bench.path("library"), bench.path("debug"));
        fs::create_dir(&library).unwrap();
        fs::create_dir(&debug).unwrap();
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/profile/hidden_drv.c");
        let code = library.join("hidden_drv.so");
        compile_driver(&source, &code, &["-g", "-O1", "-Wl,--build-id"]);
        fs::copy(&code, debug.join("whole")).unwrap();
        assert!(Command::new("strip").arg(&code).status().unwrap().success());
        let made = Command::new("objcopy")
            .args(["--only-keep-debug", "whole", "hidden_drv.debug"])
            .current_dir(&debug)
            .status();
        assert!(made.unwrap().success());
        fs::remove_file(debug.join("whole")).unwrap();
        let build_id = rabbitscope_probe::build_id(&File::open(&code).unwrap()).unwrap();
        let broker = own_broker();
        load_module(&broker, &bench.file("hidden.erl", CALLER));
        plant(&broker, &format!("hidden:start(\"{}\")", library.display()));
        Self { broker, debug, build_id }
    }

    /// Records with these servers and this cache; returns the stacks and the output.
    fn profile(&self, bench: &Workbench, urls: &str, cache: &str) -> (String, Ended) {
        let pid = self.broker.pid;
        let mut command =
            bench.command(&format!("profile --pid {pid} --no-names --duration 2s -o a.folded"));
        let ended = servers(bench, &mut command, urls, cache).ended().code(0);
        (bench.read("a.folded"), ended)
    }

    /// Runs elfutils' client, without its progress.
    fn find(&self, bench: &Workbench, urls: &str, cache: &str) -> Ended {
        let mut command =
            bench.command_line(&format!("debuginfod-find debuginfo {}", self.build_id));
        servers(bench, &mut command, urls, cache).ended()
    }
}

fn servers<'a>(
    bench: &Workbench,
    command: &'a mut Command,
    urls: &str,
    cache: &str,
) -> &'a mut Command {
    command
        .env("DEBUGINFOD_URLS", urls)
        .env("DEBUGINFOD_CACHE_PATH", bench.path(cache))
        .env("DEBUGINFOD_TIMEOUT", "3")
        .env("HOME", bench.path(""))
}

/// elfutils' server. Dropping it ends the server. This release can only listen on all addresses. It does so for a few
/// seconds, and serves only the debug file of a library of these tests.
struct Debuginfod {
    process: Child,
    url: String,
}

impl Debuginfod {
    /// Serves the debug files below `directory`. Returns when the index is complete.
    fn start(directory: &Path) -> Self {
        let free = free_address();
        let process = Command::new("debuginfod")
            .args(["-d", ":memory:", "-F", "-p", &free.port().to_string()])
            .arg(directory)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let started = Self { process, url: format!("http://{free}") };
        let is_indexed = |metrics: &str| {
            let is = |line: &str| metrics.lines().any(|metric| metric == line);
            let pending = "thread_work_pending{role=\"scan\"} ";
            is("thread_work_total{role=\"traverse\"} 1")
                && is("thread_busy{role=\"traverse\"} 0")
                && is("thread_busy{role=\"scan\"} 0")
                && (is(&format!("{pending}0")) || !metrics.contains(pending))
        };
        eventually("debuginfod has looked at its files", || {
            TcpStream::connect(free).is_ok()
                && is_indexed(&http::ask(free, "GET /metrics HTTP/1.0\r\n\r\n"))
        });
        started
    }
}

impl Drop for Debuginfod {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Returns the URL of an address without a listener.
fn nobody() -> String {
    format!("http://{}", free_address())
}

#[track_caller]
fn assert_named(stacks: &str) {
    assert!(stacks.contains("hidden_work"), "{stacks}");
    assert!(!stacks.contains("hidden_drv.so+0x"), "{stacks}");
}

#[track_caller]
fn assert_nameless(stacks: &str) {
    assert!(!stacks.contains("hidden_work"), "{stacks}");
    assert!(stacks.contains("hidden_drv.so+0x"), "{stacks}");
}

#[test]
fn a_server_names_what_was_stripped_and_shares_its_cache_with_elfutils() {
    if !is_root() {
        return;
    }
    if Command::new("debuginfod-find").arg("--version").output().is_err() {
        return not_run("debuginfod is not installed (scripts/setup.sh)");
    }
    let bench = Workbench::new("debuginfod");
    let hidden = Hidden::start(&bench);
    let server = Debuginfod::start(&hidden.debug);

    let (stacks, ended) = hidden.profile(&bench, "", "off");
    assert_nameless(&stacks);
    assert!(!ended.stdout.contains("debuginfod") && !bench.path("off").exists(), "{ended:#?}");

    let (stacks, ended) = hidden.profile(&bench, &server.url, "ours");
    assert_named(&stacks);
    let said = format!("hidden_drv.so ({})", server.url);
    assert!(ended.stdout.contains(&said), "`{said}` is not in {ended:#?}");

    // elfutils finds the file in our cache without a server, and we find it in elfutils' cache.
    let file = bench.path("ours").join(&hidden.build_id).join("debuginfo");
    let found = hidden.find(&bench, &nobody(), "ours").code(0);
    assert_eq!(found.stdout.trim(), file.display().to_string());
    hidden.find(&bench, &server.url, "theirs").code(0);
    let (stacks, ended) = hidden.profile(&bench, &nobody(), "theirs");
    assert_named(&stacks);
    assert!(ended.stdout.contains("(the cache "), "{ended:#?}");

    what_no_server_has_is_known_to_both(&bench, &hidden, &server);
    who_would_be_asked_is_explained(&bench, &hidden, &server);
}

fn what_no_server_has_is_known_to_both(bench: &Workbench, hidden: &Hidden, full: &Debuginfod) {
    let nothing = bench.path("nothing");
    fs::create_dir(&nothing).unwrap();
    let empty = Debuginfod::start(&nothing);
    let (stacks, ended) = hidden.profile(bench, &empty.url, "no-ours");
    assert_nameless(&stacks);
    assert!(ended.stdout.contains(&format!("{} has none", empty.url)), "{ended:#?}");
    assert_ne!(hidden.find(bench, &full.url, "no-ours").code, Some(0));

    assert_ne!(hidden.find(bench, &empty.url, "no-theirs").code, Some(0));
    let (stacks, ended) = hidden.profile(bench, &full.url, "no-theirs");
    assert_nameless(&stacks);
    assert!(ended.stdout.contains("according to the cache, no server had"), "{ended:#?}");
}

fn who_would_be_asked_is_explained(bench: &Workbench, hidden: &Hidden, server: &Debuginfod) {
    let explained = |urls: &str, cache: &str| {
        let explain = format!("profile --explain --pid {}", hidden.broker.pid);
        let mut command = bench.command(&explain);
        servers(bench, &mut command, urls, cache).ended().code(0).stdout
    };
    let named = format!("hidden_drv.so ({})", hidden.build_id);
    let text = explained(&server.url, "none");
    assert!(text.contains(&format!("would ask {}", server.url)) && text.contains(&named), "{text}");
    assert!(!bench.path("none").exists(), "nothing is made");
    let text = explained(&server.url, "ours");
    assert!(text.contains(&format!("the cache has {named}")), "{text}");
    let text = explained("", "none");
    assert!(text.contains("off: DEBUGINFOD_URLS names no server"), "{text}");
}

#[test]
fn a_server_that_never_answers_costs_no_recording() {
    let Some(bench) = Workbench::for_root("silent-debuginfod") else { return };
    let hidden = Hidden::start(&bench);
    // The kernel completes connections that no process accepts.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap());
    let began = Instant::now();
    let (stacks, ended) = hidden.profile(&bench, &url, "silent");
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
    assert_nameless(&stacks);
    assert!(ended.stdout.contains("less than 100 KiB within 3 s"), "{ended:#?}");
    // After two seconds, the program names what it waits for.
    assert!(ended.stderr.contains(&format!("asking {url} for")), "{ended:#?}");

    let profile = Profile::new("1s").event("cpu").delay("100ms");
    bench.file("s.toml", Scenario::steady("silent", "2s").profile(profile));
    let uri = hidden.broker.uri();
    let mut command = bench.command("run s.toml --out run");
    let command = servers(&bench, &mut command, &url, "silent").env("RABBITSCOPE_URI", uri);
    command.ended().code(0);
    let notes = bench.json("run/run.json")["profile"]["capture"]["notes"].to_string();
    assert!(notes.contains("less than 100 KiB within 3 s"), "{notes}");
}
