//! `serve`: runs in a browser on this machine, and nobody else's.

use std::fs;

use rabbitscope_testing::{Served, Stops, Workbench, http};

const FORMAT_1: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/run-format-1");

#[test]
fn only_the_printed_address_shows_runs() {
    let bench = Workbench::new("serving");
    fs::create_dir_all(bench.path("kept/old")).unwrap();
    for entry in fs::read_dir(FORMAT_1).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, bench.path("kept/old").join(path.file_name().unwrap())).unwrap();
    }
    bench.rabbitscope("report kept/old -o kept/old/report.html").code(0);
    bench.file("outside.html", "outside");
    let served = Served::start(&bench, "serve kept");
    assert_eq!(served.path.len(), 34, "{}", served.path);
    let below = |path: &str| format!("{}{path}", served.path);
    let check = |path: &str, headers: &str, expected: &str| {
        let request = format!("GET {path} HTTP/1.1\r\n{headers}Connection: close\r\n\r\n");
        let answer = http::ask(&served.address, &request);
        let status = answer.split(' ').nth(1);
        assert_eq!(status, Some(expected), "{path} {headers}: {answer:.500}");
        answer
    };
    let own = format!("Host: {}\r\n", served.address);
    let page = check(&below(""), &own, "200");
    assert!(page.contains("files/old/report.html"), "{page}");
    assert!(page.contains("Referrer-Policy: no-referrer\r\n"), "{page}");
    assert!(check(&below("runs.json"), &own, "200").contains("\"kind\":\"run\""));
    check(&below("files/old/report.html"), &own, "200");
    check(&below("files/../outside.html"), &own, "404");
    for path in ["/", "/runs.json", "/files/old/report.html"] {
        check(path, &own, "404");
    }
    check(&below("runs.json"), "Host: evil.example\r\n", "421");
    check(&below("runs.json"), &format!("{own}Origin: http://evil.example\r\n"), "403");
    check(&below("runs.json"), &format!("{own}Sec-Fetch-Site: cross-site\r\n"), "403");
    served.child.killed();
}

#[test]
fn a_directory_that_is_none_is_refused() {
    let bench = Workbench::new("serving-nothing");
    bench.rabbitscope("serve missing").code(1).says(&["missing"]);
    bench.rabbitscope("serve . --port 70000").code(2).says(&["65535"]);
}
