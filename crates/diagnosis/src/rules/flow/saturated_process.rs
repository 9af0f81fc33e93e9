//! Erlang processes that use a whole core, the most that one can.

use rabbitscope_text::counted;

use crate::{
    case::{Case, Cpu, ProcessCpu},
    finding::Severity,
    rules::{
        attribution, bound,
        config::{CHANNELS, QUEUES},
        draft::{Advice, Aim, Draft},
        look::{self, Look},
        names,
        rule::{Judged, Minimum, Need, NotJudged, Rule},
    },
};

/// Cores from which a process has no time left.
const SATURATED: f64 = 0.9;
/// Fewest samples of a process.
const SAMPLES: u64 = 100;

pub(crate) const RULE: Rule = Rule {
    name: "saturated-process",
    title: "single Erlang processes",
    meaning: "an Erlang process uses a whole core, the most that one can",
    needs: &[Need::Cpu],
    minimum: Minimum { seconds: 5, counts: "100 samples of the process" },
    threshold: "0.9 cores: warning",
    change: "by its role: more channels, connections, queues, or consumers on other connections",
    source: "RabbitMQ documentation, queues; an Erlang process runs on one scheduler at a time",
    find,
};

fn find(case: &Case) -> Judged {
    let cpu = case.cpu.as_ref()?;
    if cpu.processes.is_empty() {
        return Err(NotJudged::new("no sample belongs to a process"));
    }
    let is_saturated =
        |process: &&ProcessCpu| process.cores >= SATURATED && process.samples >= SAMPLES;
    let saturated = cpu.processes.iter().filter(is_saturated);
    Ok(saturated.map(|process| draft(case, cpu, process)).collect())
}

fn draft(case: &Case, cpu: &Cpu, process: &ProcessCpu) -> Draft {
    let name = names::serving(case, process);
    let used = look::cores(process.cores);
    let top: Vec<String> = process
        .functions
        .iter()
        .take(3)
        .map(|function| format!("{} {}", function.name, look::cores(function.cores)))
        .collect();
    let look = Look::cpu(cpu);
    let functions =
        (!top.is_empty()).then(|| look.says(format!("its functions: {}", top.join(", "))));
    let works_for = attribution::words(case, cpu, &process.pid).map(|words| look.says(words));
    let sentence = format!("{name} uses {used}, the most that one process can");
    let draft = Draft::new(Severity::Warning, vec![name], sentence)
        .evidence(look.says(format!("{used}, {}", counted(process.samples, "sample"))))
        .all_evidence(functions)
        .all_evidence(works_for)
        .bound(bound::division(case, &process.pid));
    match advice(&process.role) {
        Some(advice) => draft.advice(advice),
        None => draft,
    }
}

/// Returns the advice for a role. `None` if only the evidence can be given.
fn advice(role: &str) -> Option<Advice> {
    let no_order = "messages of different queues, channels or connections are not in order";
    let (setting, sentence) = match role {
        "queue" | "mirror" | "quorum_leader" | "stream_writer" => {
            (QUEUES, "divide the messages among several queues, or use a stream")
        }
        "channel" | "session" => (CHANNELS, "divide the messages among several channels"),
        "reader" => ("connections of publishers", "publish over several connections"),
        "writer" => ("connections of consumers", "consume over several connections"),
        "msg_store" => {
            ("virtual hosts", "divide the queues among virtual hosts, each with a message store")
        }
        "ra_log" => {
            ("nodes", "place leaders on more nodes: each has one log for all its quorum queues")
        }
        _ => return None,
    };
    Some(Advice::new(Aim::Raise, setting, sentence, no_order))
}
