//! Functions and modules that replace the broker's.

use std::{path::Path, process::Command};

use rabbitscope_broker::{Broker, BrokerError};
use rabbitscope_runs::scenario::ThrowawayBroker;

fn file(place: &Path, name: &str, text: &str) -> String {
    let path = place.join(name);
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

#[test]
fn patched_functions_and_modules_are_in_effect_and_the_patcher_is_gone() {
    let place = tempfile::tempdir().unwrap();
    let patch = "-module(rabbit_misc).\n-adds([planted/0]).\n\
                 pid_to_string(_) -> planted().\nplanted() -> \"planted\".\n";
    let module = "-module(planted_module).\n-export([start/0]).\nstart() -> 'söwn'.\n";
    let spec = ThrowawayBroker {
        patches: vec![file(place.path(), "a patch.erl", patch)],
        modules: vec![file(place.path(), "planted_module.erl", module)],
        environment: [("PLANTED".to_owned(), "a b".to_owned())].into(),
        ..ThrowawayBroker::default()
    };
    let broker = Broker::start_with_own_log(&spec).unwrap();
    let eval = |expression: &str| broker.eval(expression).unwrap();
    assert_eq!(eval("rabbit_misc:pid_to_string(self())"), "\"planted\"");
    assert_eq!(eval("planted_module:start()"), "söwn");
    assert_eq!(eval("os:getenv(\"PLANTED\")"), "\"a b\"");
    assert_eq!(eval("code:is_loaded(rabbitscope_patcher)"), "false");
    let [whole, patched] = broker.patched() else { panic!("{:?}", broker.patched()) };
    assert_eq!((whole.module.as_str(), whole.is_whole), ("planted_module", true));
    assert_eq!((patched.module.as_str(), patched.is_whole), ("rabbit_misc", false));
    assert_eq!(patched.functions, ["pid_to_string/1", "planted/0"]);
    assert_eq!(patched.sha256.len(), 64);
}

#[test]
fn what_cannot_be_patched_is_refused_with_file_and_line() {
    let place = tempfile::tempdir().unwrap();
    let start = |patch: &str| {
        let patches = vec![file(place.path(), "patch.erl", patch)];
        let spec = ThrowawayBroker { patches, ..ThrowawayBroker::default() };
        Broker::start_with_own_log(&spec).unwrap_err().to_string()
    };
    let unknown = start("-module(rabbit_misc).\n\npid_to_text(It) -> It.\n");
    assert!(
        unknown.contains("patch.erl:3: rabbit_misc has no function pid_to_text/1"),
        "{unknown}"
    );
    let wrong = start("-module(rabbit_misc).\npid_to_string(_) -> Nothing.\n");
    assert!(wrong.contains("patch.erl:2: variable 'Nothing' is unbound"), "{wrong}");
}

#[test]
fn a_module_without_debug_information_is_not_patched() {
    let place = tempfile::tempdir().unwrap();
    file(place.path(), "bare.erl", "-module(bare).\n-export([f/0]).\nf() -> 1.\n");
    let compiled = Command::new("erlc").arg("bare.erl").current_dir(place.path()).status();
    assert!(compiled.unwrap().success());
    let spec = ThrowawayBroker {
        erl_args: format!("-pa {}", place.path().display()),
        patches: vec![file(place.path(), "patch.erl", "-module(bare).\nf() -> 2.\n")],
        ..ThrowawayBroker::default()
    };
    let refused = Broker::start_with_own_log(&spec).unwrap_err().to_string();
    assert!(refused.contains("bare has no debug information"), "{refused}");
    assert!(refused.contains("give the whole module instead"), "{refused}");
}

#[test]
fn what_can_be_refused_is_refused_before_a_node_is_started() {
    let spec = ThrowawayBroker {
        environment: [("RABBITMQ_NODENAME".to_owned(), "a".to_owned())].into(),
        ..ThrowawayBroker::default()
    };
    let reserved = Broker::start_with_own_log(&spec).unwrap_err();
    assert!(matches!(reserved, BrokerError::Reserved { .. }), "{reserved}");
    let check = |spec: ThrowawayBroker| Broker::check(&spec).unwrap_err().to_string();
    let patches = vec!["/nowhere/patch.erl".to_owned()];
    let missing = check(ThrowawayBroker { patches, ..ThrowawayBroker::default() });
    assert!(missing.contains("cannot read /nowhere/patch.erl"), "{missing}");
    let plugins = vec!["rabbitmq_stomp".to_owned(), "stream".to_owned()];
    let unknown = check(ThrowawayBroker { plugins, ..ThrowawayBroker::default() });
    assert!(unknown.contains("no plugin `stream`"), "{unknown}");
    assert!(unknown.contains("did you mean `rabbitmq_stream`?"), "{unknown}");
    let empty = tempfile::tempdir().unwrap();
    let root = empty.path().display().to_string();
    let none = check(ThrowawayBroker { root, ..ThrowawayBroker::default() });
    assert!(none.contains("there is no RabbitMQ below"), "{none}");
}
