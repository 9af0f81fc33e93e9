//! `diff` of recordings with a known difference, and without one.

use rabbitscope_analysis::{Change, ProfileDiff};
use rabbitscope_profiles::{Profile, Sample};
use rabbitscope_testing::{Workbench, broker_with, load_module, own_broker, plant};
use serde_json::Value;

use super::pages::{element, names_of_functions};

/// Three functions that call the same worker, so that no own share tells them apart.
const PLANTED: &str = "
-module(planted).
-export([start/3]).
start(A, B, G) ->
    case whereis(planted) of undefined -> ok; Pid -> exit(Pid, kill), timer:sleep(100) end,
    register(planted, spawn(fun() -> loop(A, B, G) end)), ok.
loop(A, B, G) -> ok = alpha(A), ok = beta(B), ok = gamma(G), loop(A, B, G).
alpha(0) -> ok;
alpha(N) -> _ = work(20000, 0), alpha(N - 1).
beta(0) -> ok;
beta(N) -> _ = work(20000, 0), beta(N - 1).
gamma(0) -> ok;
gamma(N) -> _ = work(20000, 0), gamma(N - 1).
work(0, Acc) -> Acc;
work(N, Acc) -> work(N - 1, Acc bxor N).
";

const ALPHA: &str = "planted:alpha/1";

#[test]
fn a_planted_change_is_named_first_everywhere() {
    let Some(bench) = Workbench::for_root("planted") else { return };
    let broker = own_broker();
    let source = bench.file("planted.erl", PLANTED);
    load_module(&broker, &source);
    for (split, file) in [("60, 30, 10", "a.pb.gz"), ("30, 30, 10", "b.pb.gz")] {
        plant(&broker, &format!("planted:start({split})"));
        let record = format!("profile --pid {} --no-names --duration 3s -o {file}", broker.pid);
        bench.rabbitscope(&record).code(0);
    }
    let text = bench.rabbitscope("diff a.pb.gz b.pb.gz -o d.html").code(0).stdout;
    // The row below the two header lines.
    let row = text.lines().skip_while(|line| !line.contains("moved")).nth(1).unwrap_or_default();
    let words: Vec<&str> = row.split_whitespace().collect();
    assert!(words.ends_with(&["total", ALPHA]), "{text}");

    let json = bench.rabbitscope("diff a.pb.gz b.pb.gz --json").code(0).stdout;
    let first = &serde_json::from_str::<Value>(&json).unwrap()[0];
    assert_eq!(first["function"], ALPHA, "{first}");
    assert_eq!(first["moved"], serde_json::json!(["total"]), "{first}");
    let change = first["total"]["change"].as_f64().unwrap();
    assert!((-0.25..-0.10).contains(&change), "{first}");

    let page = bench.read("d.html");
    let diff = &serde_json::from_str::<Value>(element(&page, "data")).unwrap()["diff"];
    let frame = usize::try_from(diff["changes"]["frame"][0].as_u64().unwrap()).unwrap();
    assert_eq!(names_of_functions(&page)[frame], ALPHA);

    nothing_is_named_without_a_change(&bench.profile("a.pb.gz"));
}

/// Recordings drawn from the samples of a real one differ only by chance.
fn nothing_is_named_without_a_change(real: &Profile) {
    let ticks: Vec<usize> = real
        .samples
        .iter()
        .enumerate()
        .flat_map(|(at, sample)| std::iter::repeat_n(at, usize::try_from(sample.weight).unwrap()))
        .collect();
    let mut random = 11_u64;
    let mut draw = || {
        let mut drawn = real.clone();
        drawn.samples.iter_mut().for_each(|sample| (sample.weight, sample.count) = (0, 0));
        for _ in 0..ticks.len() {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let at = usize::try_from(random >> 33).unwrap() % ticks.len();
            let sample = &mut drawn.samples[ticks[at]];
            (sample.weight, sample.count) = (sample.weight + 1, sample.count + 1);
        }
        drawn.samples.retain(|sample| sample.weight > 0);
        drawn
    };
    for _ in 0..20 {
        let diff = ProfileDiff::between(&draw(), &draw()).unwrap();
        let named: Vec<&Change> =
            diff.changes.iter().filter(|change| change.is_beyond_noise()).collect();
        assert!(named.is_empty(), "{named:?}");
    }
}

/// A BIF that takes nearly all the time, called from a function with neighbours.
const SELECTING: &str = "
-module(selecting).
-export([start/0]).
start() ->
    register(selecting, spawn(fun() ->
        Table = ets:new(t, [public]),
        true = ets:insert(Table, [{N, N} || N <- lists:seq(1, 20000)]),
        outer(Table)
    end)), ok.
outer(Table) -> ok = select(Table), outer(Table).
select(Table) -> [] = ets:select(Table, [{{'$1', '$2'}, [{'<', '$2', 0}], ['$1']}]), ok.
";

/// Returns the total shares of Erlang functions of one process, and the share of frames without a name.
fn shares(profile: &Profile, process: &str) -> ([f64; 2], f64) {
    let of_process = |sample: &&Sample| sample.labels.process.as_deref() == Some(process);
    let has = |sample: &&Sample, is_meant: &dyn Fn(&str) -> bool| {
        sample.stack.iter().any(|entry| is_meant(&profile.frames.get(entry.frame).name))
    };
    let weight = |is_meant: &dyn Fn(&str) -> bool| -> u64 {
        let samples = profile.samples.iter().filter(of_process);
        samples.filter(|sample| has(sample, is_meant)).map(|sample| sample.weight).sum()
    };
    let all = weight(&|_| true) as f64;
    let share = |name: &str| 100.0 * weight(&|function| function == name) as f64 / all;
    let nameless = 100.0 * weight(&|function| function == "[jit]") as f64 / all;
    ([share("ets:select/2"), share("selecting:select/1")], nameless)
}

/// With frame pointers, saved pointers stand between the return addresses.
#[test]
fn a_node_with_frame_pointers_has_the_shares_of_a_stock_node() {
    let Some(bench) = Workbench::for_root("pointers") else { return };
    let source = bench.file("selecting.erl", SELECTING);
    let shares = ["", "+JPperf true"].map(|erl_args| {
        let broker = broker_with(|spec| spec.erl_args = erl_args.to_owned());
        load_module(&broker, &source);
        plant(&broker, "selecting:start()");
        let process = broker.eval("pid_to_list(whereis(selecting))").unwrap();
        let record = format!("profile --pid {} --no-names --duration 3s -o p.pb.gz", broker.pid);
        bench.rabbitscope(&record).code(0);
        shares(&bench.profile("p.pb.gz"), process.trim_matches('"'))
    });
    let [(stock, _), (pointers, nameless)] = shares;
    for (expected, found) in stock.into_iter().zip(pointers) {
        assert!((expected - found).abs() <= 2.0, "{shares:?}");
        assert!(found >= 95.0, "{shares:?}");
    }
    assert!(nameless < 0.5, "{shares:?}");
}
