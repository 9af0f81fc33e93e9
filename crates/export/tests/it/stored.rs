//! Prometheus and `VictoriaMetrics`: queries return everything that was sent, also during their absence.

use std::time::Duration;

use rabbitscope_export::{ExporterFigures, Exporters};
use rabbitscope_http::{ListenOptions, Listener};
use rabbitscope_testing::{Server, free_address, missing_program, not_run, within};

use crate::{
    dashboards::expressions,
    material::{PLANTED, now_millis, options, snapshot},
};

/// Number of snapshots while a server is up, while it is away, and after its return.
const SNAPSHOTS: [u64; 3] = [10, 30, 10];
const TIMEOUT: Duration = Duration::from_secs(30);
const PUBLISHED: &str = "rabbitscope_node_messages_published_total";
const DEPTH: &str = "rabbitscope_node_queue_messages";

#[test]
fn what_is_queried_back_is_what_was_sent() {
    if let Some(missing) = missing_program(&["prometheus", "victoria-metrics"]) {
        return not_run(&missing);
    }
    let endpoint = free_address();
    let mut prometheus = Server::prometheus(endpoint);
    let mut victoria = Server::victoria_metrics();
    let text = format!(
        "[[exporters]]\nkind = 'remote-write'\nname = 'prometheus'\nurl = '{}'\n\
         [[exporters]]\nkind = 'remote-write'\nname = 'victoria'\nurl = '{}'\n\
         [[exporters]]\nkind = 'influx'\nurl = '{}'",
        prometheus.url(""),
        victoria.url("/api/v1/write?extra_label=via=remote-write"),
        victoria.url("/write?extra_label=via=influx"),
    );
    let listener = Listener::bind(ListenOptions {
        address: endpoint,
        auth_file: None,
        auth_option: "auth-file",
        hosts: Vec::new(),
    });
    let mut options = options(&text);
    options.listener = Some(listener.unwrap());
    let exporters = Exporters::start(options).unwrap();
    prometheus.start();
    victoria.start();
    offer_through_an_absence(&exporters, [&mut prometheus, &mut victoria]);
    check_scraped(&prometheus);
    check_dashboards(&prometheus);
    check_stored(&prometheus, "job=\"rabbitscope\"");
    check_stored(&victoria, "via=\"remote-write\"");
    check_stored(&victoria, "via=\"influx\"");
    for figures in exporters.finish(TIMEOUT) {
        let sent: u64 = SNAPSHOTS.iter().sum();
        assert_eq!((figures.sent, figures.dropped_total()), (sent, 0), "{figures:?}");
        assert!(figures.errors.contains_key("unreachable"), "{figures:?}");
    }
}

/// Offers values 1, 2, 3 …, a second apart. A duplicate or missing sample changes their sum.
fn offer_through_an_absence(exporters: &Exporters, servers: [&mut Server; 2]) {
    let [first, second] = servers;
    let all: u64 = SNAPSHOTS.iter().sum();
    let start = now_millis() - 1000 * all;
    let mut offered = 0;
    let mut offer = |count: u64| {
        for _ in 0..count {
            offered += 1;
            exporters.offer_metrics(snapshot(start + 1000 * offered, offered));
            within(TIMEOUT, "it is encoded", || {
                exporters.figures().iter().all(|figures| figures.sent + figures.spooled == offered)
            });
        }
    };
    offer(SNAPSHOTS[0]);
    within(TIMEOUT, "all is sent", || has_sent(&exporters.figures(), SNAPSHOTS[0]));
    first.end();
    second.end();
    offer(SNAPSHOTS[1]);
    let is_noticed =
        || exporters.figures().iter().all(|figures| figures.errors.contains_key("unreachable"));
    within(TIMEOUT, "all notice it", is_noticed);
    assert!(exporters.figures().iter().all(|figures| figures.spooled == SNAPSHOTS[1]));
    first.start();
    second.start();
    offer(SNAPSHOTS[2]);
    within(TIMEOUT, "all is sent", || has_sent(&exporters.figures(), all));
    let notices = exporters.take_notices();
    for name in ["victoria", "prometheus", "influx"] {
        let start = format!("exporter {name}: ");
        let of_one: Vec<_> = notices.iter().filter(|notice| notice.starts_with(&start)).collect();
        let [away, meanwhile @ .., back] = &of_one[..] else { panic!("{notices:#?}") };
        assert!(away.contains("cannot be reached"), "{notices:#?}");
        assert!(back.contains("accepts requests again"), "{notices:#?}");
        // A server that starts may refuse requests for a moment.
        let is_starting = meanwhile.iter().all(|notice| notice.contains("status 503"));
        assert!(is_starting && meanwhile.len() < 2, "{notices:#?}");
    }
}

fn has_sent(figures: &[ExporterFigures], count: u64) -> bool {
    figures.iter().all(|exporter| exporter.sent == count)
}

fn check_stored(server: &Server, selector: &str) {
    let all: u64 = SNAPSHOTS.iter().sum();
    let sum = (all * (all + 1) / 2) as f64;
    let labels = "service=\"orders\",cluster=\"c\",namespace=\"shop\",pod=\"rabbit-0\",\
                  node=\"rabbit@a\",version=\"3.10.8\",instance=\"here\"";
    let expressions = [
        (format!("sum_over_time({PUBLISHED}{{{labels},{selector}}}[10m])"), sum),
        (format!("count_over_time({PUBLISHED}{{{selector}}}[10m])"), all as f64),
        (format!("sum_over_time({DEPTH}{{{selector},queue=\"{PLANTED}\"}}[10m])"), 100.0 * sum),
        (format!("sum_over_time({DEPTH}{{{selector},queue=\"a b,c=\\\"d\\\"\\\\é\"}}[10m])"), sum),
        (format!("max_over_time({DEPTH}{{{selector}}}[10m]) > {all}"), 100.0 * all as f64),
    ];
    for (expression, expected) in expressions {
        // VictoriaMetrics shows accepted data a second later.
        within(TIMEOUT, &format!("{expression} is {expected}"), || {
            server.query(&expression) == [expected]
        });
    }
}

fn check_scraped(server: &Server) {
    let all: u64 = SNAPSHOTS.iter().sum();
    for (metric, expected) in [
        (format!("{PUBLISHED}{{job=\"scraped\"}}"), all as f64),
        (format!("{DEPTH}{{job=\"scraped\",queue=\"{PLANTED}\"}}"), 100.0 * all as f64),
        ("rabbitscope_export_dropped_total{job=\"scraped\"} or vector(0)".to_owned(), 0.0),
        ("up{job=\"scraped\"}".to_owned(), 1.0),
    ] {
        within(TIMEOUT, &format!("{metric} is {expected}"), || server.query(&metric) == [expected]);
    }
}

/// Checks that Prometheus understands every expression of the dashboards.
fn check_dashboards(server: &Server) {
    let expressions = expressions();
    let answered =
        expressions.iter().filter(|expression| !server.query(expression).is_empty()).count();
    assert!(answered >= 8, "of {} only {answered} have values", expressions.len());
}
