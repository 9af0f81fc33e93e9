//! Calls, messages and failures on a real node.

use std::{
    thread,
    time::{Duration, Instant},
};

use rabbitscope_erlang::{
    ConnectOptions, Connection, CookieSource, ErlangError, ErrorKind, NodeName, Port, Received,
    Term,
};

use crate::node::{broker, connection, eval, options};

const PROMPT: Duration = Duration::from_secs(5);

#[test]
fn calls_of_all_kinds_of_terms() {
    let connection = connection();
    let echo = |term: &Term| {
        connection.call("lists", "last", vec![Term::list([term.clone()])], PROMPT).unwrap()
    };
    for expressions in [
        "{ok, 1, -1, 1 bsl 40, 1 bsl 100, -1 bsl 63, 1.5, \"text\", <<\"bytes\">>, <<5:3>>}.",
        "[a, [b | c], #{d => [], {e} => 'strange \\x{e9} atom'}].",
        "{self(), make_ref(), hd(erlang:ports()), fun lists:map/2, fun (X) -> X end}.",
        "list_to_tuple(lists:seq(1, 300)).",
        "lists:duplicate(70000, 7).",
    ] {
        let term = connection.evaluate(expressions, &[], PROMPT).unwrap();
        assert_eq!(echo(&term), term, "{expressions}");
    }
}

#[test]
fn a_call_that_fails_or_takes_too_long() {
    let connection = connection();
    let error = connection.call("erlang", "atom_to_list", vec![1.into()], PROMPT).unwrap_err();
    assert!(matches!(error, ErlangError::Remote { .. }), "{error}");
    assert!(error.to_string().contains("badarg"), "{error}");
    let error = connection.call("no_such", "function", vec![], PROMPT).unwrap_err();
    assert!(error.to_string().contains("undef"), "{error}");

    let began = Instant::now();
    let forever = vec![Term::atom("infinity")];
    let error = connection.call("timer", "sleep", forever, Duration::from_millis(200)).unwrap_err();
    assert!(matches!(error, ErlangError::NoAnswer { .. }), "{error}");
    assert!(began.elapsed() < PROMPT);
}

#[test]
fn we_are_hidden_and_gone_afterwards() {
    let seen = |kind: &str| eval(&format!("nodes({kind})"));
    let connection = connection();
    let own = connection.mailbox().pid().node.to_string();
    assert!(seen("hidden").contains(own.trim_matches('\'')), "{own} in {}", seen("hidden"));
    assert_eq!(seen("visible"), "[]");
    // A ping of the hidden node is answered.
    let pong = connection.call("net_adm", "ping", vec![Term::atom(own.trim_matches('\''))], PROMPT);
    assert_eq!(pong.unwrap(), Term::atom("pong"));
    drop(connection);
    let began = Instant::now();
    while seen("hidden").contains(own.trim_matches('\'')) {
        assert!(began.elapsed() < PROMPT, "{}", seen("hidden"));
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn messages_monitors_and_links() {
    let connection = connection();
    let mailbox = connection.mailbox();
    let bindings = [("To", Term::from(mailbox.pid().clone()))];
    let text = "spawn(fun() -> link(To), To ! {hello, self()}, receive stop -> ok end end).";
    let process = connection.evaluate(text, &bindings, PROMPT).unwrap();
    let process = process.as_pid().unwrap();
    let hello = Term::tuple([Term::atom("hello"), process.clone().into()]);
    assert_eq!(mailbox.receive(PROMPT).unwrap(), Some(Received::Message(hello)));

    let reference = mailbox.monitor(process).unwrap();
    mailbox.send(process, Term::atom("stop")).unwrap();
    let ended =
        [mailbox.receive(PROMPT).unwrap().unwrap(), mailbox.receive(PROMPT).unwrap().unwrap()];
    let normal = || Term::atom("normal");
    assert!(ended.contains(&Received::Down { reference, reason: normal() }), "{ended:?}");
    assert!(
        ended.contains(&Received::Exit { from: process.clone(), reason: normal() }),
        "{ended:?}"
    );
    assert_eq!(mailbox.receive(Duration::from_millis(50)).unwrap(), None);
}

#[test]
fn whoever_monitors_a_mailbox_learns_of_its_end() {
    let connection = connection();
    let observer = connection.mailbox();
    let other = connection.mailbox();
    let bindings =
        [("Who", Term::from(other.pid().clone())), ("To", observer.pid().clone().into())];
    let text = "spawn(fun() -> R = monitor(process, Who), To ! ready, \
                receive {'DOWN', R, process, Who, Why} -> To ! {down, Why} end end).";
    connection.evaluate(text, &bindings, PROMPT).unwrap();
    assert_eq!(observer.receive(PROMPT).unwrap(), Some(Received::Message(Term::atom("ready"))));
    drop(other);
    let down = Term::tuple([Term::atom("down"), Term::atom("normal")]);
    assert_eq!(observer.receive(PROMPT).unwrap(), Some(Received::Message(down)));
}

#[test]
fn a_process_that_prints_to_us_is_not_kept_waiting() {
    let connection = connection();
    let mailbox = connection.mailbox();
    let bindings = [("To", Term::from(mailbox.pid().clone()))];
    let text = "spawn(fun() -> To ! {said, catch io:put_chars(To, \"hello\")} end).";
    connection.evaluate(text, &bindings, PROMPT).unwrap();
    let Some(Received::Message(said)) = mailbox.receive(PROMPT).unwrap() else { panic!() };
    assert!(said.to_string().contains("enotsup"), "{said}");
}

/// The program's tests have a limit of a minute; this test holds for any program.
#[test]
fn a_program_that_does_nothing_stays_connected() {
    let node = node_with_tick_time(4);
    thread::sleep(Duration::from_secs(7));
    let answer = node.call("erlang", "node", vec![], PROMPT).unwrap();
    assert_eq!(answer, Term::atom(node.node()));
    node.call("net_kernel", "set_net_ticktime", vec![60.into()], PROMPT).unwrap();
}

fn node_with_tick_time(seconds: i64) -> Connection {
    let connection = connection();
    connection
        .call("net_kernel", "set_net_ticktime", vec![seconds.into(), 0.into()], PROMPT)
        .unwrap();
    connection
}

#[track_caller]
fn refuse(options: &ConnectOptions, says: &[&str]) {
    let began = Instant::now();
    let error = Connection::open(options).unwrap_err();
    assert!(began.elapsed() < options.within + Duration::from_secs(1), "{:?}", began.elapsed());
    assert_eq!(error.kind(), ErrorKind::Unreachable, "{error}");
    let text = error.to_string();
    assert!(!text.contains('\n'), "{text}");
    for part in says {
        assert!(text.contains(part), "`{part}` is not in `{text}`");
    }
}

#[test]
fn every_way_not_to_connect() {
    let good = options();
    let (home, _) = broker().distribution();
    let secret = std::fs::read_to_string(home.join(".erlang.cookie")).unwrap();
    let file = broker().directory.join("wrong-cookie");
    std::fs::write(&file, "WRONG").unwrap();
    refuse(
        &ConnectOptions { cookie: CookieSource::File(file.clone()), ..good.clone() },
        &["refuses the cookie", &file.display().to_string()],
    );
    std::fs::remove_file(&file).unwrap();
    let missing = ConnectOptions { cookie: CookieSource::File(file.clone()), ..good.clone() };
    let error = Connection::open(&missing).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Usage, "{error}");
    let said = format!("cannot read the cookie in {}", file.display());
    assert!(error.to_string().contains(&said), "{error}");
    let node = |name: &str| NodeName::parse(name).unwrap();
    refuse(
        &ConnectOptions { node: node("nobody@localhost"), ..good.clone() },
        &["knows no node `nobody`", &broker().name],
    );
    let renamed = format!("{}@127.0.0.1", broker().name);
    refuse(
        &ConnectOptions { node: node(&renamed), ..good.clone() },
        &["calls itself", &broker().node_name()],
    );
    refuse(
        &ConnectOptions { node: node("rabbit@no-such-host.invalid"), ..good.clone() },
        &["cannot be resolved"],
    );
    refuse(
        &ConnectOptions { port: Port::Mapped(1), ..good.clone() },
        &["port mapper", "localhost:1"],
    );
    refuse(&ConnectOptions { port: Port::Fixed(1), ..good.clone() }, &["localhost:1"]);
    // AMQP is not the distribution protocol.
    let amqp = Port::Fixed(broker().address().port());
    refuse(&ConnectOptions { port: amqp, ..good }, &[&broker().node_name()]);
    assert!(!secret.is_empty());
}
