//! Profiles, decoded with the published definitions and protobuf's own Python implementation.

use std::{collections::BTreeMap, time::Duration};

use rabbitscope_testing::{Receiver, not_run};
use serde_json::Value;

use crate::material::{PLANTED, start, window};

const TIMEOUT: Duration = Duration::from_secs(30);

#[test]
fn others_decode_what_is_sent() {
    let receiver = match Receiver::start() {
        Ok(receiver) => receiver,
        Err(reason) => return not_run(&reason),
    };
    let url = &receiver.url;
    let text = format!(
        "[[exporters]]\nkind = 'pyroscope'\nurl = '{url}'\ntenant = 't'\n\
         [[exporters]]\nkind = 'parca'\nurl = '{url}'\n\
         [[exporters]]\nkind = 'otlp-profiles'\nurl = '{url}'"
    );
    let exporters = start(&text);
    let sent = window(0);
    exporters.offer_window(sent.clone());
    let decoded: BTreeMap<String, Value> = (0..3)
        .map(|_| receiver.next(TIMEOUT).unwrap())
        .map(|request| (request["path"].as_str().unwrap().to_owned(), request))
        .collect();
    let figures = exporters.finish(TIMEOUT);
    assert!(
        figures.iter().all(|figures| figures.sent == 1 && figures.dropped_total() == 0),
        "{figures:?}"
    );
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
    let count = |sample: &Value| sample["count"].as_u64().unwrap();
    assert_eq!(samples.iter().map(count).sum::<u64>(), sent.profile.total());
    let mut queues: BTreeMap<&str, u64> = BTreeMap::new();
    for sample in samples {
        let labels = sample["labels"].as_object().unwrap();
        assert!(labels.keys().all(|label| ["role", "queue", "vhost"].contains(&label.as_str())));
        if let Some(queue) = labels.get("queue") {
            *queues.entry(queue.as_str().unwrap()).or_default() += count(sample);
        }
    }
    assert_eq!(queues.len(), 21, "20 and the others: {queues:?}");
    assert_eq!(queues[PLANTED], 502);
    assert_eq!(queues.iter().max_by_key(|(_, count)| **count).unwrap().0, &PLANTED);
    // Innermost frame first; direct recursion is expanded.
    let deep =
        samples.iter().find(|sample| sample["stack"].as_array().unwrap().len() == 5).unwrap();
    let expected = serde_json::json!([
        "lists:foldl/3",
        "lists:foldl/3",
        "lists:foldl/3",
        "rabbit_amqqueue_process:handle_cast/2",
        "scheduler"
    ]);
    assert_eq!(deep["stack"], expected);
}
