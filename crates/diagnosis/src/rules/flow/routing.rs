//! Routing by match specifications, which are compiled for each message.

use crate::{
    case::{Case, Cpu, FunctionCpu, ProcessCpu},
    finding::{Bound, Severity},
    rules::{
        bound,
        draft::{Advice, Aim, Draft},
        look::{self, Look},
        names,
        rule::{Judged, Minimum, Need, NotJudged, Rule},
        version::Version,
    },
};

/// Share of the node's CPU time.
const SHARE: f64 = 0.03;
/// Cores of a channel from which its routing costs throughput.
const BUSY: f64 = 0.8;
/// Fewest samples.
const SAMPLES: u64 = 500;
/// Function of the VM that compiles a match specification.
const COMPILE: &str = "db_match_compile";

pub(crate) const RULE: Rule = Rule {
    name: "routing",
    title: "routing of messages",
    meaning: "an exchange is routed by match specifications, which the VM compiles for each message",
    needs: &[Need::Cpu, Need::Broker],
    minimum: Minimum { seconds: 5, counts: "500 samples; a version" },
    threshold: "3 % of the node's CPU time in `db_match_compile`: note; warning if a channel with 0.8 cores spends as much",
    change: "3.11 for direct exchanges; 4.2 with Khepri for fanout",
    source: "rabbitmq-server#4606, rabbitmq-server#14546",
    find,
};

fn find(case: &Case) -> Judged {
    let (cpu, broker) = (case.cpu.as_ref()?, case.broker.as_ref()?);
    if cpu.samples < SAMPLES {
        return Err(NotJudged::new(format!(
            "it takes {SAMPLES} samples; there were {}",
            cpu.samples
        )));
    }
    let routers: Vec<(&ProcessCpu, f64)> = cpu
        .processes
        .iter()
        .map(|process| (process, compiling(&process.functions)))
        .filter(|(_, spent)| *spent > 0.0)
        .collect();
    let spent = routers.iter().map(|(_, spent)| spent).sum::<f64>().max(compiling(&cpu.functions));
    if !(cpu.cores > 0.0 && spent >= SHARE * cpu.cores) {
        return Ok(Vec::new());
    }
    Ok(vec![draft(case, cpu, &routers, spent).advice(advice(Version::of(broker)?))])
}

fn compiling(functions: &[FunctionCpu]) -> f64 {
    let found = functions.iter().filter(|function| function.name.contains(COMPILE));
    found.map(|function| function.cores).fold(0.0, f64::max)
}

fn draft(case: &Case, cpu: &Cpu, routers: &[(&ProcessCpu, f64)], spent: f64) -> Draft {
    let busiest = routers.iter().max_by(|one, other| one.0.cores.total_cmp(&other.0.cores));
    let is_costly = |(process, spent): &&(&ProcessCpu, f64)| {
        process.cores >= BUSY && *spent >= SHARE * process.cores
    };
    let severity =
        if routers.iter().any(|row| is_costly(&row)) { Severity::Warning } else { Severity::Note };
    let share = look::percent(spent / cpu.cores);
    let look = Look::cpu(cpu);
    let of_busiest = busiest.map(|(process, spent)| {
        let name = names::serving(case, process);
        look.says(format!(
            "{name} uses {}, {} of it there",
            look::cores(process.cores),
            look::cores(*spent)
        ))
    });
    let subjects = routers.iter().map(|(process, _)| names::serving(case, process)).collect();
    let sentence = format!(
        "compiling match specifications to route messages takes {share} of the node's CPU time"
    );
    Draft::new(severity, subjects, sentence)
        .evidence(look.says(format!("{} in {COMPILE}", look::cores(spent))))
        .all_evidence(of_busiest)
        .bound(busiest.and_then(|row| gain(cpu, row)))
}

fn gain(cpu: &Cpu, (process, spent): &(&ProcessCpu, f64)) -> Option<Bound> {
    let share = spent / process.cores;
    bound::removal(share, process.cores, bound::next_stage(cpu, process).as_ref())
}

fn advice(version: Version) -> Advice {
    let sentence = match version {
        version if version < Version::new(3, 11) => {
            "use RabbitMQ 3.11 or later, which routes direct exchanges by an index; fanout from 4.2 with Khepri"
        }
        version if version < Version::new(4, 2) => {
            "use RabbitMQ 4.2 or later with Khepri, which routes fanout exchanges by an index"
        }
        _ => "enable Khepri, which routes fanout exchanges by an index",
    };
    let advice =
        Advice::new(Aim::Raise, "version of RabbitMQ", sentence, "an upgrade of the cluster");
    if version >= Version::new(4, 2) {
        return advice.with_text("rabbitmqctl enable_feature_flag khepri_db");
    }
    advice
}
