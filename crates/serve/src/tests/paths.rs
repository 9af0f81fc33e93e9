//! Paths and names that come from others.

use std::{fs, os::unix::fs::symlink};

use serde_json::json;

use super::{Served, write_run};

#[test]
fn no_path_leads_out() {
    let outside = tempfile::tempdir().unwrap();
    let place = outside.path().join("place");
    write_run(&place, "a", 10, 100);
    fs::write(place.join("a/report.html"), "<p>report").unwrap();
    fs::write(place.join("a/secret.txt"), "secret").unwrap();
    fs::write(outside.path().join("secret.html"), "secret").unwrap();
    symlink(outside.path(), place.join("out")).unwrap();
    symlink(outside.path().join("secret.html"), place.join("a/link.html")).unwrap();
    let served = Served::start(&place);
    let (head, body) = served.get("/files/a/report.html");
    assert!(head.starts_with("HTTP/1.1 200 ") && body == "<p>report", "{head}");
    assert!(
        head.contains("sandbox allow-scripts") && head.contains("default-src 'none'"),
        "{head}"
    );
    served.check_status("/files/a/run.json", "200");
    for wrong in [
        "/files/../secret.html",
        "/files/a/../../secret.html",
        "/files/a/%2e%2e/%2e%2e/secret.html",
        "/files/..%2fsecret.html",
        "/files//etc/passwd",
        "/files/%2fetc%2fpasswd",
        "/files/out/secret.html",
        "/files/a/link.html",
        "/files/a/secret.txt",
        "/files/a",
        "/files/",
        "/files/a/report.html%00",
        "/files/%ff.html",
        "/nothing",
    ] {
        served.check_status(wrong, "404");
    }
    assert!(served.get_whole("/files/a/report.html").0.starts_with("HTTP/1.1 404 "));
    assert!(served.get_whole("/").0.starts_with("HTTP/1.1 404 "));
}

#[test]
fn names_of_others_are_text() {
    let place = tempfile::tempdir().unwrap();
    let hostile = "<img src=x onerror=alert(1)>\"'&";
    write_run(place.path(), hostile, 10, 100);
    fs::write(place.path().join(hostile).join("report.html"), "mine").unwrap();
    let record = place.path().join(hostile).join("run.json");
    let text = fs::read_to_string(&record).unwrap();
    fs::write(&record, text.replace("steady", "<script>")).unwrap();
    let served = Served::start(place.path());
    let path = "/?search=%3Cimg&scenario=%3Cscript%3E";
    let page = served.get(path).1;
    assert!(!page.contains("<img src") && !page.contains("\"<script>"));
    let row = served.block(path, "list-table")["rows"][0].clone();
    assert_eq!((&row[0]["text"], &row[0]["small"]), (&json!("<script>"), &json!(hostile)));
    let link = row[0]["link"].as_str().unwrap();
    assert_eq!(served.get(&format!("/{link}")).1, "mine");
}
