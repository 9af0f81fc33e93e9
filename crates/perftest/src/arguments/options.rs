//! The options of PerfTest 2.22.1.

/// Number of values of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Values {
    None,
    One,
    /// One or none.
    Optional,
    /// All words up to the next option.
    Many,
}

/// Short name, long name, values, support.
pub(crate) type ProgramOption = (&'static str, &'static str, Values, Support);

/// Support of an option in scenarios.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Support {
    /// The scenario has an equivalent.
    Supported,
    /// There is no equivalent, for this reason.
    Unsupported(&'static str),
}

/// Options in the order of PerfTest's help.
pub(crate) const OPTIONS: [ProgramOption; 101] = [
    ("?", "help", Values::None, Support::Unsupported("`rabbitscope run --help`")),
    ("a", "autoack", Values::None, Support::Supported),
    ("A", "multi-ack-every", Values::One, Support::Supported),
    ("ad", "auto-delete", Values::One, Support::Supported),
    ("b", "heartbeat", Values::One, Support::Supported),
    ("B", "body", Values::One, Support::Supported),
    ("bc", "body-count", Values::One, Support::Supported),
    ("bfc", "body-field-count", Values::One, Support::Supported),
    ("c", "confirm", Values::One, Support::Supported),
    ("C", "pmessages", Values::One, Support::Supported),
    ("ca", "consumer-args", Values::One, Support::Supported),
    ("cri", "connection-recovery-interval", Values::One, Support::Supported),
    ("csd", "consumer-start-delay", Values::One, Support::Supported),
    ("ct", "confirm-timeout", Values::One, Support::Supported),
    (
        "ctp",
        "consumers-thread-pools",
        Values::One,
        Support::Unsupported("a few threads serve all connections"),
    ),
    ("d", "id", Values::One, Support::Supported),
    ("D", "cmessages", Values::One, Support::Supported),
    ("dcr", "disable-connection-recovery", Values::None, Support::Supported),
    ("e", "exchange", Values::Optional, Support::Supported),
    ("E", "exclusive", Values::None, Support::Supported),
    (
        "ei",
        "expected-instances",
        Values::One,
        Support::Unsupported("give every machine the same `run.start-at`"),
    ),
    (
        "em",
        "exposed-metrics",
        Values::One,
        Support::Unsupported(
            "the run record has the scenario, and what is expected is in `[expect]`",
        ),
    ),
    (
        "env",
        "environment-variables",
        Values::None,
        Support::Unsupported(
            "every value of a scenario has its variable, see docs/reference/scenario.md",
        ),
    ),
    ("ew", "exit-when", Values::One, Support::Supported),
    ("f", "flag", Values::Many, Support::Supported),
    ("h", "uri", Values::One, Support::Supported),
    ("H", "uris", Values::One, Support::Supported),
    (
        "hst",
        "heartbeat-sender-threads",
        Values::One,
        Support::Unsupported("heartbeats need no threads of their own"),
    ),
    ("i", "interval", Values::One, Support::Unsupported("there is a row for each second, always")),
    (
        "isn",
        "instance-sync-namespace",
        Values::One,
        Support::Unsupported("give every machine the same `run.start-at`"),
    ),
    (
        "ist",
        "instance-sync-timeout",
        Values::One,
        Support::Unsupported("give every machine the same `run.start-at`"),
    ),
    ("jb", "json-body", Values::None, Support::Supported),
    ("k", "routing-key", Values::One, Support::Supported),
    ("K", "random-routing-key", Values::None, Support::Supported),
    ("L", "consumer-latency", Values::One, Support::Supported),
    ("ll", "leader-locator", Values::One, Support::Supported),
    ("m", "ptxsize", Values::One, Support::Supported),
    ("M", "framemax", Values::One, Support::Supported),
    ("ma", "max-age", Values::One, Support::Supported),
    (
        "mf",
        "metrics-format",
        Values::One,
        Support::Unsupported(
            "`--json` prints the record, and every second is in the run directory",
        ),
    ),
    (
        "mh",
        "metrics-help",
        Values::None,
        Support::Unsupported("docs/reference/formats.md lists what is recorded"),
    ),
    ("mlb", "max-length-bytes", Values::One, Support::Supported),
    ("mp", "message-properties", Values::One, Support::Supported),
    (
        "ms",
        "use-millis",
        Values::None,
        Support::Unsupported("latencies are in nanoseconds, and measured by one clock"),
    ),
    ("n", "ctxsize", Values::One, Support::Supported),
    ("na", "nack", Values::None, Support::Supported),
    (
        "niot",
        "nio-threads",
        Values::One,
        Support::Unsupported("a few threads serve all connections"),
    ),
    (
        "niotp",
        "nio-thread-pool",
        Values::One,
        Support::Unsupported("a few threads serve all connections"),
    ),
    (
        "o",
        "output-file",
        Values::One,
        Support::Unsupported("every run leaves a directory, `--out` names it"),
    ),
    (
        "o2gr",
        "oauth2-grant-type",
        Values::One,
        Support::Unsupported("fetch a token and name its file in `broker.token-file`"),
    ),
    (
        "o2id",
        "oauth2-client-id",
        Values::One,
        Support::Unsupported("fetch a token and name its file in `broker.token-file`"),
    ),
    (
        "o2p",
        "oauth2-parameters",
        Values::Many,
        Support::Unsupported("fetch a token and name its file in `broker.token-file`"),
    ),
    (
        "o2sec",
        "oauth2-client-secret",
        Values::One,
        Support::Unsupported("fetch a token and name its file in `broker.token-file`"),
    ),
    (
        "o2uri",
        "oauth2-token-endpoint",
        Values::One,
        Support::Unsupported("fetch a token and name its file in `broker.token-file`"),
    ),
    ("p", "predeclared", Values::None, Support::Supported),
    ("P", "publishing-interval", Values::One, Support::Supported),
    ("pi", "polling-interval", Values::One, Support::Supported),
    ("po", "polling", Values::None, Support::Supported),
    ("prsd", "producer-random-start-delay", Values::One, Support::Supported),
    (
        "pst",
        "producer-scheduler-threads",
        Values::One,
        Support::Unsupported("schedules need no threads of their own"),
    ),
    ("q", "qos", Values::One, Support::Supported),
    ("Q", "global-qos", Values::One, Support::Supported),
    ("qa", "queue-args", Values::Many, Support::Supported),
    ("qf", "queue-file", Values::One, Support::Supported),
    ("qp", "queue-pattern", Values::One, Support::Supported),
    ("qpf", "queue-pattern-from", Values::One, Support::Supported),
    ("qpt", "queue-pattern-to", Values::One, Support::Supported),
    ("qq", "quorum-queue", Values::None, Support::Supported),
    ("r", "rate", Values::One, Support::Supported),
    ("R", "consumer-rate", Values::One, Support::Supported),
    ("re", "requeue", Values::One, Support::Supported),
    ("rkcs", "routing-key-cache-size", Values::One, Support::Supported),
    ("S", "slow-start", Values::None, Support::Supported),
    ("s", "size", Values::One, Support::Supported),
    ("sb", "skip-binding-queues", Values::None, Support::Supported),
    ("sco", "stream-consumer-offset", Values::One, Support::Supported),
    ("se", "sasl-external", Values::None, Support::Supported),
    ("smssb", "stream-max-segment-size-bytes", Values::One, Support::Supported),
    ("sni", "server-name-indication", Values::One, Support::Supported),
    ("sq", "stream-queue", Values::None, Support::Supported),
    ("sst", "servers-startup-timeout", Values::One, Support::Supported),
    (
        "st",
        "shutdown-timeout",
        Values::One,
        Support::Unsupported("the run always waits a few seconds for outstanding messages"),
    ),
    (
        "sul",
        "servers-up-limit",
        Values::One,
        Support::Unsupported("the run starts with the first broker that answers"),
    ),
    ("t", "type", Values::One, Support::Supported),
    ("T", "body-content-type", Values::One, Support::Supported),
    ("tnd", "tcp-no-delay", Values::One, Support::Supported),
    ("trbs", "tcp-receive-buffer-size", Values::One, Support::Supported),
    ("tsbs", "tcp-send-buffer-size", Values::One, Support::Supported),
    ("u", "queue", Values::One, Support::Supported),
    ("udsc", "use-default-ssl-context", Values::None, Support::Supported),
    ("v", "version", Values::None, Support::Unsupported("`rabbitscope --version`")),
    ("", "verbose", Values::None, Support::Supported),
    ("", "verbose-full", Values::None, Support::Supported),
    ("vl", "variable-latency", Values::Many, Support::Supported),
    ("vr", "variable-rate", Values::Many, Support::Supported),
    ("vs", "variable-size", Values::Many, Support::Supported),
    ("x", "producers", Values::One, Support::Supported),
    ("X", "producer-channel-count", Values::One, Support::Supported),
    ("y", "consumers", Values::One, Support::Supported),
    ("Y", "consumer-channel-count", Values::One, Support::Supported),
    ("z", "time", Values::One, Support::Supported),
];

const METRICS: Support =
    Support::Unsupported("`--prometheus`, `--csv` and `--json-lines` export figures during a run");

/// Options of `--metrics-help`.
pub(crate) const METRICS_OPTIONS: [ProgramOption; 20] = [
    ("mc", "metrics-client", Values::None, METRICS),
    ("mcl", "metrics-class-loader", Values::None, METRICS),
    ("mcla", "metrics-command-line-arguments", Values::None, METRICS),
    ("mda", "metrics-datadog", Values::None, METRICS),
    ("mdak", "metrics-datadog-application-key", Values::One, METRICS),
    ("mdd", "metrics-datadog-descriptions", Values::None, METRICS),
    ("mdh", "metrics-datadog-host-tag", Values::One, METRICS),
    ("mdk", "metrics-datadog-api-key", Values::One, METRICS),
    ("mds", "metrics-datadog-step-size", Values::One, METRICS),
    ("mdu", "metrics-datadog-uri", Values::One, METRICS),
    ("mjgc", "metrics-jvm-gc", Values::None, METRICS),
    ("mjm", "metrics-jvm-memory", Values::None, METRICS),
    ("mjp", "metrics-processor", Values::None, METRICS),
    ("mjt", "metrics-jvm-thread", Values::None, METRICS),
    ("mjx", "metrics-jmx", Values::None, METRICS),
    ("mpe", "metrics-prometheus-endpoint", Values::One, METRICS),
    ("mpp", "metrics-prometheus-port", Values::One, METRICS),
    ("mpr", "metrics-prometheus", Values::None, METRICS),
    ("mpx", "metrics-prefix", Values::One, METRICS),
    ("mt", "metrics-tags", Values::One, METRICS),
];

/// Returns all options, those of the metrics last.
pub(crate) fn all() -> impl Iterator<Item = &'static ProgramOption> {
    OPTIONS.iter().chain(&METRICS_OPTIONS)
}

/// Returns true if PerfTest has an option with exactly this long name.
pub fn has_option(long: &str) -> bool {
    all().any(|(_, name, ..)| *name == long)
}
