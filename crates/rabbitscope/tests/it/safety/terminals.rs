//! Names with sequences that a terminal would obey: of queues, virtual hosts and functions, from a broker, a node and
//! files.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use rabbitscope_broker::Broker;
use rabbitscope_testing::{
    Ended, Ends, Workbench, node_options, own_broker, plant,
    scenario::{Queue, Scenario},
};

/// Sets the title, clears the screen in two ways, and reverses the order of letters.
pub(crate) const HOSTILE: &str = "x\x1b]0;owned\x07\x1b[2J\u{9b}2J\u{202e}y";

/// The same name as the program shows it.
pub(crate) const SHOWN: &str = r"x\x1b]0;owned\x07\x1b[2J\u{9b}2J\u{202e}y";

/// Asserts that the output has `says`, but no sequence that a terminal would obey.
#[track_caller]
pub(crate) fn harmless(ended: Ended, says: &str) -> Ended {
    let printed = format!("{}{}", ended.stdout, ended.stderr);
    let obeyed = |c: char| (c.is_control() && c != '\n') || ('\u{202a}'..='\u{202e}').contains(&c);
    assert!(!printed.contains(obeyed), "{ended:#?}");
    assert!(printed.contains(says), "`{says}` is not in {ended:#?}");
    ended
}

/// Returns the hostile name as an Erlang expression of ASCII.
fn in_erlang() -> String {
    let points: Vec<String> = HOSTILE.chars().map(|c| u32::from(c).to_string()).collect();
    format!("unicode:characters_to_binary([{}])", points.join(","))
}

fn hostile_broker() -> Broker {
    let broker = own_broker().take();
    plant(
        &broker,
        &format!(
            "Name = {}, rabbit_vhost:add(Name, <<\"guest\">>), \
         [{{new, _}} = rabbit_amqqueue:declare(rabbit_misc:r(V, queue, Name), true, false, [], none, \
          <<\"guest\">>) || V <- [<<\"/\">>, Name]], ok",
            in_erlang()
        ),
    );
    broker
}

#[test]
fn names_on_a_broker() {
    let (bench, broker) = (Workbench::new("terminals"), hostile_broker());
    let node = node_options(&broker);
    let inside = |command: &str| bench.command(&format!("{command} {node}")).ended().code(0);
    harmless(inside("queues"), SHOWN);
    harmless(inside("top queues --once --interval 1s"), SHOWN);
    let json = harmless(inside("queues --json"), r"\u001b]0;owned\u0007\u001b[2J\u009b2J\u202ey");
    let queues = json.json();
    assert_eq!(queues["queues"][0]["name"], HOSTILE);

    // The broker repeats the names that it refuses.
    let hex = |byte: u8| format!("%{byte:02X}");
    let vhost: String = "nowhere".bytes().chain(HOSTILE.bytes()).map(hex).collect();
    let uri = broker.uri().replace("/%2f", &format!("/{vhost}"));
    bench.file("s.toml", Scenario::steady("q", "1s"));
    let mut refused = bench.command("run s.toml --out out");
    let ended = refused.env("RABBITSCOPE_URI", uri).ended();
    assert_ne!(ended.code, Some(0), "{ended:#?}");
    harmless(ended, SHOWN);
    bench.file("q.toml", Scenario::steady(HOSTILE, "1s").change_queue(Queue::transient));
    let mut refused = bench.command("run q.toml --out out2");
    let ended = refused.env("RABBITSCOPE_URI", broker.uri()).ended();
    assert_ne!(ended.code, Some(0), "{ended:#?}");
    harmless(ended, SHOWN);

    let has_ended = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !has_ended.load(Ordering::Relaxed) {
                let _ = broker.eval(&format!("rabbit_vhost:exists({})", in_erlang()));
                thread::sleep(Duration::from_millis(100));
            }
        });
        let traced = inside("trace rabbit_vhost:exists/1 --args --limit 1 --duration 20s");
        has_ended.store(true, Ordering::Relaxed);
        harmless(traced, "rabbit_vhost:exists");
    });
}

#[test]
fn names_in_files_and_arguments() {
    let bench = Workbench::new("terminal-files");
    bench.file("a.folded", format!("scheduler;{HOSTILE}:f/0 1000\nscheduler;b:g/0 9000\n"));
    bench.file("b.folded", format!("scheduler;{HOSTILE}:f/0 9000\nscheduler;b:g/0 1000\n"));
    // A semicolon ends the name of a frame.
    let last_frame = SHOWN.rsplit(';').next().unwrap();
    harmless(bench.rabbitscope("diff a.folded b.folded").code(0), last_frame);
    harmless(bench.rabbitscope("diff a.folded b.folded --json").code(0), r"\u009b2J\u202ey");
    let hostile = format!("none{HOSTILE}");
    let check = |arguments: &[&str], says: &str| {
        let mut command = bench.command("");
        let ended = command.args(arguments).ended();
        assert_ne!(ended.code, Some(0), "{ended:#?}");
        harmless(ended, says);
    };
    check(&["run", &hostile], SHOWN);
    check(&["flamegraph", "a.folded", "-o", &hostile], SHOWN);
    // The parser of the command line removes sequences that begin with ESC by itself.
    check(&[&hostile], r"\u{9b}2J\u{202e}y");
    check(&["profile", "--freq", &hostile], r"\u{9b}2J\u{202e}y");
}
