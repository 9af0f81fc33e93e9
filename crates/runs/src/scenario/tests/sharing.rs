use super::read;

const TEXT: &str = r#"
    name = "sharing"
    run.duration = "1s"
    queues = [{ name = "q" }]
    publishers = [
        { name = "p", queue = "q", count = 6, connections = 3 },
        { name = "guest", queue = "q", count = 2, connections-of = "p" },
    ]
    consumers = [
        { name = "c", queue = "q", count = 6, connections-of = "p" },
        { name = "alone", queue = "q", count = 2, connections = 2 },
    ]
"#;

fn text(from: &str, to: &str) -> String {
    assert!(TEXT.contains(from), "{from}");
    TEXT.replace(from, to)
}

#[test]
fn guests_have_the_connections_of_their_host() {
    let scenario = read(TEXT, &[]).unwrap();
    let (guest, c) = (&scenario.publishers[1], &scenario.consumers[0]);
    assert_eq!((guest.connections, guest.channels), (2, 1));
    assert_eq!((c.connections, c.channels), (3, 2));
    assert_eq!(scenario.groups_by_connection(), ["alone", "alone", "p", "p", "p"]);
    let layout = scenario.layout();
    let layout: Vec<_> =
        layout.iter().map(|of| (of.name, of.host, of.connections, of.channels.clone())).collect();
    let expected = [
        ("c", "p", 0, 3..=4),
        ("alone", "alone", 2, 1..=1),
        ("p", "p", 3, 1..=2),
        ("guest", "p", 0, 5..=5),
    ];
    assert_eq!(layout, expected);
    // The written form has the number, too.
    let again = read(&scenario.to_toml(), &[]).unwrap();
    assert_eq!(again, scenario);
}

#[test]
fn a_guest_needs_one_host_with_connections_of_its_own() {
    let refuse = |from: &str, to: &str, expected: &str| {
        let error = read(&text(from, to), &[]).unwrap_err().to_string();
        assert!(error.contains("connections") && error.contains(expected), "{error}");
    };
    let c = "count = 6, connections-of = \"p\"";
    refuse(c, "connections-of = \"x\"", "no group of publishers or consumers has the name `x`");
    refuse(c, "connections-of = \"guest\"", "another group, too");
    refuse(c, "connections-of = \"c\"", "the group itself");
    refuse(c, "count = 6, connections = 2, connections-of = \"p\"", "follows from");
    refuse(c, "count = 6, protocol = \"mqtt\", connections-of = \"p\"", "amqp-0-9-1");
    refuse("name = \"alone\"", "name = \"p\"", "several groups");
    refuse(c, "count = 6135, connections-of = \"p\"", "2048 channels");
}
