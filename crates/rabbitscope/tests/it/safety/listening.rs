//! The listeners `run --prometheus` and `queues --listen`, and hostile clients.

use std::{
    io::{ErrorKind, Write},
    net::TcpStream,
    process::{Child, Command},
    time::{Duration, Instant},
};

use rabbitscope_testing::{
    Served, Stops, Workbench, existing_broker, http, node_options, scenario::Scenario,
};

use super::slow_clients::SlowClients;

/// Time that a hostile scraper may add to a run: the threads of a few brokers share two CPUs with this one.
const SLACK: Duration = Duration::from_secs(2);

fn run_arguments(more: &str) -> String {
    format!("run s.toml --plain --uri {} {more}", existing_broker().uri())
}

fn status(address: &str, target: &str, headers: &str) -> String {
    let answer =
        http::ask(address, &format!("GET {target} HTTP/1.1\r\n{headers}Connection: close\r\n\r\n"));
    answer.split(' ').nth(1).unwrap_or_else(|| panic!("{answer}")).to_owned()
}

/// Waits for the program's end, and returns the time since `started`; the program is killed after a minute.
fn time_to_end(child: &mut Child, started: Instant) -> Duration {
    while child.try_wait().unwrap().is_none() && started.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(10));
    }
    let took = started.elapsed();
    let _ = child.kill();
    child.wait().unwrap();
    took
}

/// Requests far more than the buffers of both sockets hold, and reads none of it.
fn deaf_client(address: &str) -> TcpStream {
    let mut socket = TcpStream::connect(address).unwrap();
    socket.set_nonblocking(true).unwrap();
    let requests = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(20_000);
    match socket.write(requests.as_bytes()) {
        Err(error) if error.kind() != ErrorKind::WouldBlock => panic!("{error}"),
        _ => socket,
    }
}

#[test]
fn scrapers_that_stay_do_not_hold_up_the_end_of_a_run() {
    let bench = Workbench::new("scrapers");
    bench.file("s.toml", Scenario::steady("scraped", "3s"));
    let started = Instant::now();
    let mut alone = bench.start(&run_arguments("--out alone --prometheus 127.0.0.1:0"));
    let alone = time_to_end(&mut alone, started);

    let started = Instant::now();
    let arguments = run_arguments("--out scraped --prometheus 127.0.0.1:0");
    let mut served = Served::start(&bench, &arguments);
    let silent = TcpStream::connect(&served.address).unwrap();
    let mut half = TcpStream::connect(&served.address).unwrap();
    half.write_all(b"GET /metrics HTTP/1.1\r\nHost: local").unwrap();
    let deaf = [(); 4].map(|()| deaf_client(&served.address));
    let scraped = time_to_end(&mut served.child, started);
    println!("alone {alone:.2?}, with scrapers that stay {scraped:.2?}");
    assert!(scraped < alone + SLACK, "{scraped:?}, without scrapers {alone:?}");
    assert_eq!(
        bench.json("scraped/run.json")["verdict"]["kind"],
        bench.json("alone/run.json")["verdict"]["kind"]
    );
    drop((silent, half, deaf));
}

/// A page in a browser would arrive under a name that a foreign server resolves to 127.0.0.1.
#[test]
fn pages_of_others_learn_nothing() {
    let bench = Workbench::new("rebinding");
    bench.file("s.toml", Scenario::steady("rebound", "8s"));
    let allow = "--allow-host metrics.example --allow-host 192.0.2.7";
    let run = run_arguments(&format!("--out out --prometheus localhost:0 {allow}"));
    let queues = format!("queues {} --listen 127.0.0.1:0 {allow}", node_options(existing_broker()));
    for (arguments, path) in [(run, "/metrics"), (queues, "/queues")] {
        let served = Served::start(&bench, &arguments);
        let check = |target: &str, headers: &str, expected: &str| {
            let got = status(&served.address, target, headers);
            assert_eq!(got, expected, "{target} {headers}: {arguments}");
        };
        let own = format!("Host: {}\r\n", served.address);
        check(path, &own, "200");
        for good in [
            "localhost",
            "LocalHost:9",
            "127.9.9.9:1",
            "[::1]:1",
            "metrics.example:80",
            "192.0.2.7",
        ] {
            check(path, &format!("Host: {good}\r\n"), "200");
        }
        for bad in [
            "evil.example",
            "evil.example:80",
            "localhost.evil.example",
            "192.0.2.8",
            "xmetrics.example",
        ] {
            check(path, &format!("Host: {bad}\r\n"), "421");
            check(&format!("http://{bad}{path}"), &own, "421");
        }
        check(&format!("http://localhost:1{path}"), &own, "200");
        check(path, "", "400");
        check(path, "Host: localhost\r\nHost: evil.example\r\n", "400");
        let refused = http::ask(
            &served.address,
            &format!("GET {path} HTTP/1.1\r\nHost: evil.example\r\n\r\n"),
        );
        assert!(refused.contains("--allow-host") && !refused.contains("evil"), "{refused}");
        served.child.killed();
    }
}

#[test]
fn other_machines_are_let_in_only_with_a_secret() {
    let bench = Workbench::new("beyond");
    bench.file("s.toml", Scenario::steady("beyond", "1s"));
    // Nothing starts: there is no broker and no node at these addresses.
    let run = "run s.toml --plain --uri amqp://127.0.0.1:1 --out out --prometheus";
    let queues = "queues --node nobody@localhost --epmd-port 1 --listen";
    for beyond in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"] {
        bench
            .rabbitscope(&format!("{run} {beyond}"))
            .code(2)
            .says(&["--prometheus-auth-file", "127.0.0.1"]);
        bench
            .rabbitscope(&format!("{queues} {beyond}"))
            .code(2)
            .says(&["--auth-file", "127.0.0.1"]);
    }
    bench.rabbitscope(&format!("{run} example.org:9419")).code(2).says(&["localhost:"]);
    bench
        .rabbitscope(&format!("{queues} 127.0.0.1:0 --allow-host a:1"))
        .code(2)
        .says(&["without a port"]);
    assert!(!bench.path("out").exists(), "refused before anything is made");
}

#[test]
fn a_secret_that_everybody_can_read_is_refused() {
    let bench = Workbench::new("secrets");
    bench.file("s.toml", Scenario::steady("secrets", "1s"));
    let run = "run s.toml --plain --uri amqp://127.0.0.1:1 --out out --prometheus 127.0.0.1:0 --prometheus-auth-file";
    let queues = "queues --node nobody@localhost --epmd-port 1 --listen 127.0.0.1:0 --auth-file";
    let file = |name: &str, text: &str, mode| bench.file_with_mode(name, text, mode);
    file("readable", "secret-token", 0o644);
    file("writable", "secret-token", 0o602);
    file("large", &"x".repeat(1 << 20), 0o600);
    file("two", "two words", 0o600);
    file("good", "secret-token", 0o640);
    assert!(Command::new("mkfifo").arg(bench.path("fifo")).status().unwrap().success());
    for (name, part) in [
        ("readable", "chmod 600"),
        ("writable", "chmod 600"),
        ("large", "4096 bytes"),
        ("two", "one line"),
        ("fifo", "regular file"),
        ("tmp", "directory"),
        ("missing", "missing"),
    ] {
        for command in [run, queues] {
            let ended = bench.rabbitscope(&format!("{command} {name}")).code(2).says(&[part]);
            assert!(!ended.stderr.contains("secret-token"), "{ended:#?}");
        }
    }
    assert!(!bench.path("out").exists(), "refused before anything is made");
    bench.rabbitscope(&format!("{run} good")).code(5);
    bench.rabbitscope(&format!("{queues} good")).code(5);
}

#[test]
fn a_run_answers_scrapers_with_the_secret_only() {
    let bench = Workbench::new("secret-run");
    bench.file("s.toml", Scenario::steady("secret-run", "5s"));
    bench.file_with_mode("auth", "monitor:secret\n", 0o600);
    let options = "--out out --prometheus 127.0.0.1:0 --prometheus-auth-file auth";
    let served = Served::start(&bench, &run_arguments(options));
    let host = "Host: localhost\r\n";
    let with = |authorization: &str| format!("{host}Authorization: {authorization}\r\n");
    // printf monitor:secret | base64
    for (headers, expected) in [
        (host.to_owned(), "401"),
        (with("Basic bW9uaXRvcjpzZWNyZXQ="), "200"),
        (with("basic bW9uaXRvcjpzZWNyZXQ="), "200"),
        (with("Basic bW9uaXRvcjpzZWNyZXR="), "401"),
        (with("Bearer bW9uaXRvcjpzZWNyZXQ="), "401"),
    ] {
        assert_eq!(status(&served.address, "/metrics", &headers), expected, "{headers}");
    }
    let head = "HEAD /metrics HTTP/1.1\r\nHost: localhost\r\nAuthorization: BASIC bW9uaXRvcjpzZWNyZXQ=\r\nConnection: close\r\n\r\n";
    let head = http::ask(&served.address, head);
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n") && head.ends_with("\r\n\r\n"), "{head}");
    assert!(head.contains("\r\nX-Content-Type-Options: nosniff\r\n"), "{head}");
    served.child.killed();
}

/// Returns the times of `count` requests, each on its own connection.
fn times_of_requests(address: &str, count: usize) -> Vec<Duration> {
    let request = "GET /queues?vhost=none HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    let time = |number| {
        let started = Instant::now();
        let answer = http::ask(address, request);
        assert!(answer.starts_with("HTTP/1.1 200 OK"), "request {number}: {answer}");
        started.elapsed()
    };
    (0..count).map(time).collect()
}

/// Returns median, 99th percentile and maximum.
fn quantiles(mut times: Vec<Duration>) -> [Duration; 3] {
    times.sort();
    [times[times.len() / 2], times[times.len() * 99 / 100], times[times.len() - 1]]
}

/// Returns the resident memory of a process from `/proc`.
fn resident(child: &Child) -> String {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap().trim().to_owned()
}

#[test]
fn slow_clients_keep_nobody_from_being_answered() {
    let bench = Workbench::new("slow-clients");
    let served = Served::start(
        &bench,
        &format!("queues {} --listen 127.0.0.1:0", node_options(existing_broker())),
    );
    let alone = quantiles(times_of_requests(&served.address, 1000));
    println!("alone: p50, p99, max {alone:.2?}, resident {}", resident(&served.child));
    for count in [100, 1000] {
        let slow = SlowClients::start(&served.address, count);
        // Longer than the deadline of a head, so that every way of closing occurs.
        let until = Instant::now() + Duration::from_secs(12);
        let mut times = Vec::new();
        while Instant::now() < until {
            times.extend(times_of_requests(&served.address, 100));
        }
        let (requests, times) = (times.len(), quantiles(times));
        println!(
            "{count} slow clients: p50, p99, max {times:.2?} of {requests} requests, came back {} \
             times, resident {}",
            slow.came_back(),
            resident(&served.child)
        );
        // A whole second would mean a repeated connection.
        assert!(times[1] < Duration::from_secs(1), "{times:?} with {count} slow clients");
    }
    served.child.killed();
}
