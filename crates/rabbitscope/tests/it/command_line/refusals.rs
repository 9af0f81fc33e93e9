//! Refusals of a broker or a port: each with its sentence, the next step and the exit code. Also empty variables.

use rabbitscope_broker::Broker;
use rabbitscope_testing::{
    Workbench, add_user, broker_with, declare_queue, permit,
    scenario::{Queue, Scenario},
    tls_listener,
};

/// Starts a broker with TLS on a separate port, and users with few rights.
fn broker(bench: &Workbench) -> (Broker, u16) {
    let (config, tls_port) = tls_listener(&bench.directory);
    let broker = broker_with(|spec| {
        spec.plugins = vec!["rabbitmq_management".to_owned()];
        spec.config = config;
    });
    for user in ["nothing", "reader", "mute"] {
        add_user(&broker, user, "p");
    }
    permit(&broker, "reader", ["^$", "^$", ".*"]);
    permit(&broker, "mute", [".*", "^$", ".*"]);
    (broker, tls_port)
}

#[test]
fn each_refusal_says_what_to_do_and_has_its_code() {
    let bench = Workbench::new("refusals");
    let (broker, tls_port) = broker(&bench);
    let (user, password) = broker.login();
    bench.file("s.toml", Scenario::steady("refused", "1s"));
    let plain = broker.address();
    let host = plain.ip();
    let check = |uri: &str, code: i32, parts: &[&str], never: &str| {
        for (command, ending) in [("run s.toml", "--out out"), ("worker", "")] {
            let option = if command == "worker" { "--via" } else { "--uri" };
            // A bus needs rights to declare, and a worker without them gets an error with other names.
            if command == "worker" && uri.contains("reader") {
                continue;
            }
            let ended = bench.rabbitscope(&format!("{command} {option} {uri} {ending}"));
            let ended = ended.code(code).says(parts);
            assert!(!ended.stderr.contains(never), "{}", ended.stderr);
        }
    };
    let login = format!("{user}:{password}");
    check(&format!("amqps://{login}@{plain}"), 5, &["does not speak TLS", "amqp://"], "corrupt");
    let tls = format!("{host}:{tls_port}");
    check(&format!("amqp://{login}@{tls}"), 5, &["speaks TLS", "amqps://"], "frame");
    let web = format!("{host}:{}", broker.nodes()[0].management_port().unwrap());
    check(&format!("amqp://{login}@{web}"), 5, &["does not speak AMQP", "5672"], "running");
    check(&format!("amqp://{user}:wrong@{plain}"), 6, &["check user and password"], "flags");
    check(&format!("amqp://nothing:p@{plain}"), 6, &["set_permissions"], "flags");
    check(&format!("amqp://reader:p@{plain}"), 6, &["`refused`", "set_permissions"], "flags");
    check(&format!("amqp://{login}@{plain}/none"), 1, &["`none`", "list_vhosts"], "permission");
    // The broker refuses the first message, after the load has begun.
    let ended = bench.rabbitscope(&format!("run s.toml --uri amqp://mute:p@{plain} --out mute"));
    let said = ended.code(1).stdout;
    assert!(said.contains("closed a channel: ACCESS_REFUSED"), "{said}");
    assert!(said.contains("set_permissions"), "{said}");
    declare_queue(&broker, "refused");
    let other = Scenario::steady("refused", "1s").change_queue(Queue::transient);
    let ended = bench.run_on(&broker, other, "");
    ended.code(1).says(&["`refused`", "another type, flags or arguments"]);
}

#[test]
fn an_empty_variable_is_as_good_as_none() {
    let bench = Workbench::new("empty-variables");
    let run = |arguments: &str, name: &str, value: &str| {
        let output = bench.command(arguments).env(name, value).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let variables = [
        ("top --node none@localhost", "ERL_EPMD_PORT"),
        ("broker status", "RABBITSCOPE_FILE_MODE"),
        ("leftovers --remove --uri amqp://127.0.0.1:1", "RABBITSCOPE_MANAGEMENT"),
        ("leftovers --remove", "RABBITSCOPE_URI"),
        ("worker --via amqp://127.0.0.1:1", "JOB_COMPLETION_INDEX"),
        ("worker", "RABBITSCOPE_VIA"),
        ("run s.toml --uri amqp://127.0.0.1:1", "RABBITSCOPE_SET_NAME"),
        ("top --node none@localhost", "RABBITSCOPE_COOKIE"),
    ];
    bench.file("s.toml", Scenario::steady("q", "1s"));
    for (arguments, name) in variables {
        let without = bench.command(arguments).env_remove(name).output().unwrap();
        let expected = String::from_utf8_lossy(&without.stderr).into_owned();
        assert_eq!(run(arguments, name, ""), (without.status.code(), expected), "{name}");
    }
}

#[test]
fn what_is_typed_comes_before_a_variable() {
    let bench = Workbench::new("typed-first");
    let top = "top --once --node none@localhost --dist-port 1";
    let command =
        |arguments: &str| bench.command(arguments).env("ERL_EPMD_PORT", "4370").output().unwrap();
    let said = String::from_utf8_lossy(&command(top).stderr).into_owned();
    assert!(!said.contains("--epmd-port"), "{said}");
    let both = command(&format!("{top} --epmd-port 2"));
    let said = String::from_utf8_lossy(&both.stderr).into_owned();
    assert!(both.status.code() == Some(2) && said.contains("cannot be used with"), "{said}");
}
