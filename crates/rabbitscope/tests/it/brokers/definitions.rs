//! Throwaway brokers that load definitions: they create no user of their own.

use rabbitscope_testing::{
    Workbench, count,
    scenario::{Consumers, Publishers, Queue, Scenario},
};

/// Queues and users of an application. The virtual host `/` is the application's, or absent.
fn definitions(users: &str, rest: &str) -> String {
    let user = |name: &str| {
        // Hash of the password `secret`.
        let hash = "uQwM+4MDQMVYeWtMtPKnQPGvtH7DuBbTXGmdGZCyaKmYHqgG";
        format!(
            r#"{{"name": "{name}", "password_hash": "{hash}", "tags": "administrator",
            "hashing_algorithm": "rabbit_password_hashing_sha256"}}"#
        )
    };
    let users: Vec<String> = users.split_whitespace().map(user).collect();
    format!(r#"{{"users": [{}]{rest}}}"#, users.join(","))
}

const QUEUE: &str = r#", "vhosts": [{"name": "/"}], "queues": [{"name": "theirs", "vhost": "/",
    "durable": true, "auto_delete": false, "arguments": {}}]"#;

#[test]
fn the_load_has_a_user_beside_those_of_the_definitions() {
    let bench = Workbench::new("definitions");
    let cases = [
        ("application", QUEUE, true),
        ("application guest", QUEUE, true),
        ("application", "", false),
    ];
    for (number, (users, rest, is_there)) in cases.into_iter().enumerate() {
        bench.file("definitions.json", definitions(users, rest));
        let path = bench.path("definitions.json");
        let scenario = Scenario::new("definitions")
            .queues(Queue::new("theirs").predeclared(is_there))
            .publishers(Publishers::new("theirs").rate(100).confirm_window(10))
            .consumers(Consumers::new("theirs"))
            .duration("1s")
            .config(format!("load_definitions = {}", path.display()));
        bench.file("s.toml", scenario);
        bench.rabbitscope(&format!("run s.toml --out out-{number}")).code(0);
        let run = bench.json(&format!("out-{number}/run.json"));
        assert!(count(&run, "consumed") > 50, "{run:#}");
    }
}
