//! Profiles, decoded by the published definitions with protobuf's own implementation in Python: there is no Pyroscope
//! and no Parca to query. Of OTLP the definitions are OpenTelemetry's own package.

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    time::Duration,
};

use serde_json::Value;

use crate::{
    material::{PLANTED, start, window},
    servers::{not_run, script},
};

/// Debian's own.
const PYTHON: &str = "/usr/bin/python3";
/// A package of the Python Package Index. It brings protobuf.
const DEFINITIONS: &str = "opentelemetry-proto==1.45.2";

#[test]
fn others_decode_what_is_sent() {
    let place = tempfile::tempdir().unwrap();
    let python = match definitions_in(place.path()) {
        Ok(python) => python,
        Err(reason) => return not_run("others_decode_what_is_sent", &reason),
    };
    let mut receiver = Command::new(python)
        .arg(script("receiver.py"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(receiver.stdout.take().unwrap()).lines();
    let mut next = || lines.next().unwrap().unwrap();
    let url = format!("http://127.0.0.1:{}", next());
    let text = format!(
        "[[exporters]]\nkind = 'pyroscope'\nurl = '{url}'\ntenant = 't'\n\
         [[exporters]]\nkind = 'parca'\nurl = '{url}'\n\
         [[exporters]]\nkind = 'otlp-profiles'\nurl = '{url}'"
    );
    let exporters = start(&text);
    let sent = window(0);
    exporters.offer_window(sent.clone());
    let decoded: BTreeMap<String, Value> = (0..3)
        .map(|_| serde_json::from_str::<Value>(&next()).unwrap())
        .map(|it| (it["path"].as_str().unwrap().to_owned(), it))
        .collect();
    let figures = exporters.finish(Duration::from_secs(10));
    receiver.kill().unwrap();
    receiver.wait().unwrap();
    assert!(figures.iter().all(|it| it.sent == 1 && it.dropped_total() == 0), "{figures:?}");
    for (path, name) in [
        ("/push.v1.PusherService/Push", "service_name"),
        ("/api/profiles/writeraw", "service_name"),
        ("/v1development/profiles", "service.name"),
    ] {
        let request = &decoded[path];
        check(request, &sent);
        assert_eq!(request["labels"][name], "orders", "{path}");
    }
    assert_eq!(decoded["/push.v1.PusherService/Push"]["tenant"], "t");
    assert_eq!(decoded["/push.v1.PusherService/Push"]["labels"]["__name__"], "process_cpu");
    assert_eq!(decoded["/api/profiles/writeraw"]["labels"]["node"], "rabbit@a");
    let of_otlp = &decoded["/v1development/profiles"]["labels"];
    assert_eq!(of_otlp["service.instance.id"], "rabbit@a");
    assert_eq!(of_otlp["k8s.pod.name"], "rabbit-0");
}

fn check(decoded: &Value, sent: &rabbitscope_export::Window) {
    assert_eq!(decoded["samples_type"], "samples/count", "{decoded:#}");
    assert_eq!(decoded["period_type"], "cpu/nanoseconds", "{decoded:#}");
    assert_eq!(decoded["period"], 10_101_010, "{decoded:#}");
    assert_eq!(decoded["time_nanos"], sent.started_unix_nanos, "{decoded:#}");
    let samples = decoded["samples"].as_array().unwrap();
    let count = |it: &Value| it["count"].as_u64().unwrap();
    assert_eq!(samples.iter().map(count).sum::<u64>(), sent.profile.total());
    let mut queues: BTreeMap<&str, u64> = BTreeMap::new();
    for sample in samples {
        let labels = sample["labels"].as_object().unwrap();
        assert!(labels.keys().all(|it| ["role", "queue", "vhost"].contains(&it.as_str())));
        if let Some(queue) = labels.get("queue") {
            *queues.entry(queue.as_str().unwrap()).or_default() += count(sample);
        }
    }
    assert_eq!(queues.len(), 21, "20 and the others: {queues:?}");
    assert_eq!(queues[PLANTED], 502);
    assert_eq!(queues.iter().max_by_key(|(_, count)| **count).unwrap().0, &PLANTED);
    // Innermost first, direct recursion written out.
    let deep = samples.iter().find(|it| it["stack"].as_array().unwrap().len() == 5).unwrap();
    let expected = serde_json::json!([
        "lists:foldl/3",
        "lists:foldl/3",
        "lists:foldl/3",
        "rabbit_amqqueue_process:handle_cast/2",
        "scheduler"
    ]);
    assert_eq!(deep["stack"], expected);
}

fn definitions_in(place: &Path) -> Result<PathBuf, String> {
    let python = place.join("bin/python");
    succeed(Command::new("timeout").args(["60", PYTHON, "-m", "venv"]).arg(place))?;
    let mut install = Command::new("timeout");
    install.arg("60").arg(&python).args(["-m", "pip", "install", "--quiet", DEFINITIONS]);
    succeed(&mut install)?;
    Ok(python)
}

fn succeed(command: &mut Command) -> Result<(), String> {
    let Output { status, stdout, stderr } = command.stdin(Stdio::null()).output().unwrap();
    let said = [stdout, stderr].concat();
    let last = String::from_utf8_lossy(&said).trim().lines().last().unwrap_or_default().to_owned();
    if status.success() {
        Ok(())
    } else {
        Err(format!("{DEFINITIONS} cannot be installed: {last}"))
    }
}
