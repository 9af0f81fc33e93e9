//! Code with a known share of the CPU shows that share.

use rabbitscope_profiles::{FrameKind, Profile, StackOutcome};

use crate::bench::{Burner, burn, burn_all, has_frame, names, node, record};

const SECONDS: f64 = 4.0;

/// Samples at which recordings end. On a busy machine a burner gets few.
const ENOUGH: u64 = 3_500;
const RECORDINGS: usize = 12;

/// Tolerance of a share in percentage points: four times the statistical error of 3,500 samples.
const TOLERANCE: f64 = 3.0;

/// Functions of the burner, and the percentage of its time in each.
const PARTS: [(&str, f64); 3] =
    [("burn:seventy/2", 70.0), ("burn:twenty/2", 20.0), ("burn:ten/2", 10.0)];

#[expect(clippy::print_stdout, reason = "with --nocapture: the figures in the documentation")]
#[track_caller]
fn check_70_20_10(kind: &str, below: &str) {
    let burner = burn(kind);
    let mut profiles = record_enough(&burner);
    let percent_below = |profiles: &[Profile], function: &str| {
        let (all, some) = burner.weights(profiles, function);
        100.0 * some as f64 / all as f64
    };
    let shares =
        |profiles: &[Profile]| PARTS.map(|(function, _)| percent_below(profiles, function));
    let is_off = |found: [f64; 3]| {
        found.iter().zip(PARTS).any(|(found, (_, expected))| (found - expected).abs() > TOLERANCE)
    };
    // A host that takes the CPU away takes it from any part. More samples average that out, but a wrong profiler
    // stays wrong.
    while is_off(shares(&profiles)) && profiles.len() < RECORDINGS {
        profiles.push(record(node().pid, SECONDS).unwrap());
    }
    let (found, in_work) = (shares(&profiles), percent_below(&profiles, below));
    println!("{kind}: {found:.1?} % of {} samples", burner.weights(&profiles, "").0);
    assert!(!is_off(found), "{kind}: {found:.1?} % in {} recordings", profiles.len());
    assert!(in_work > 80.0, "{kind}: {below} {in_work:.1} %");
    for profile in &profiles {
        println!(
            "{kind}: {:.2} % of the stacks complete or truncated",
            100.0 * profile.quality.accounted_share()
        );
        assert!(profile.quality.accounted_share() >= 0.97, "{kind}: {:?}", profile.quality);
    }
}

fn record_enough(burner: &Burner) -> Vec<Profile> {
    let mut profiles = Vec::new();
    while burner.weights(&profiles, "").0 < ENOUGH {
        assert!(profiles.len() < RECORDINGS, "{:?} samples", burner.weights(&profiles, ""));
        profiles.push(record(node().pid, SECONDS).unwrap());
    }
    profiles
}

#[test]
fn in_erlang_code() {
    check_70_20_10("erlang", "burn:sum/2");
}

#[test]
fn in_lists_member() {
    check_70_20_10("member", "burn:unit/1");
}

#[test]
fn in_ets_select() {
    check_70_20_10("select", "burn:unit/1");
}

#[test]
fn in_binary_match() {
    check_70_20_10("match", "burn:unit/1");
}

/// The calling code does not store the stack.
#[test]
fn in_a_bif_for_guards() {
    check_70_20_10("guard", "burn:parts/3");
}

#[test]
fn under_garbage_collection() {
    check_70_20_10("gc", "burn:unit/1");
}

/// No return address identifies the function of such a process. Its garbage is collected while it is scheduled in.
#[test]
fn a_process_that_is_scheduled_in_has_its_function_above_the_scheduler() {
    let burner = burn("collected");
    let profile = record(node().pid, 2.0).unwrap();
    let (mut scheduled, mut in_function) = (0, 0);
    for sample in
        burner.samples(&profile).filter(|sample| has_frame(&profile, sample, "erts_schedule"))
    {
        scheduled += sample.weight;
        if has_frame(&profile, sample, "burn:spin/2") {
            in_function += sample.weight;
        }
    }
    assert!(scheduled > 20, "{scheduled} samples");
    assert!(in_function * 100 >= scheduled * 95, "{in_function} of {scheduled}");
    let quality = profile.quality;
    assert!(quality.no_function * 20 < quality.on_process(), "{quality:?}");
}

#[test]
fn a_bif_stands_below_its_caller_and_above_its_c_functions() {
    check_called("member", "lists:member/2");
    check_called("select", "ets:select/2");
    check_called("match", "binary:match/2");
    check_called("send", "erlang:send/2");
}

#[test]
fn bifs_in_guards_and_nifs_and_dirty_ones_have_their_names() {
    check_called("guard", "erlang:binary_part/3");
    check_called("length", "erlang:length/1");
    check_called("nif", "crypto:hash_nif/2");
    check_called("dirty", "prim_file:pread_nif/3");
}

/// BIFs in the order of `bif/2` in `burn.erl`.
const BIFS: [&str; 22] = [
    "lists:member/2",
    "lists:reverse/2",
    "lists:keyfind/3",
    "lists:keymember/3",
    "lists:keysearch/3",
    "ets:select/2",
    "ets:lookup/2",
    "ets:match/2",
    "binary:match/2",
    "binary:copy/2",
    "erlang:term_to_binary/1",
    "erlang:binary_to_term/1",
    "erlang:external_size/1",
    "erlang:phash2/1",
    "ets:lookup_element/3",
    "ets:select_count/2",
    "erlang:list_to_tuple/1",
    "erlang:binary_to_list/1",
    "maps:from_list/1",
    "maps:keys/1",
    "maps:values/1",
    "erlang:length/1",
];

/// Runs every BIF in a process of its own, all in one recording.
#[test]
fn a_table_of_bifs() {
    let burners: Vec<Burner> =
        burn_all((1..=BIFS.len()).map(|number| format!("{{bif, {number}}}")));
    let profile = record(node().pid, 6.0).unwrap();
    for (burner, expected) in burners.iter().zip(BIFS) {
        let (mut named, mut other) = (0, 0);
        let mut example = None;
        for sample in burner.samples(&profile) {
            let stack = names(&profile, sample);
            match below_erlang(&stack) {
                [(name, FrameKind::Bif, 1), (_, FrameKind::Native, _), ..] if *name == expected => {
                    named += sample.weight;
                }
                [(name, kind, _), (_, FrameKind::Native, _), ..]
                    if *kind == FrameKind::Bif || calls_bifs(name) =>
                {
                    other += sample.weight;
                    example = Some(stack);
                }
                _ => example = example.or(Some(stack)),
            }
        }
        assert!(named >= 5, "{expected}: {named} samples, {other} of others, {example:?}");
        assert!(other * 20 <= named, "{expected}: {named}, of others {other}, {example:?}");
    }
}

/// Checks that the function below Erlang code is `callee`, not the VM's fragment for its call. After a dirty NIF
/// has ended, the VM calls a finalizer in the same way. It is no function with code and so has no name: 3.7 % of
/// these samples were seen on a busy machine.
#[track_caller]
fn check_called(kind: &str, callee: &str) {
    let burner = burn(kind);
    let mut found = Called::default();
    for _ in 0..RECORDINGS {
        found.count(&burner, &record(node().pid, 2.0).unwrap(), callee);
        if found.named >= 300 {
            break;
        }
    }
    let Called { all, named, unnamed, cut, other } = found;
    let calls_finalizer = kind == "dirty";
    let most_unnamed = if calls_finalizer { named / 10 } else { named / 50 };
    assert!(all > 100, "{kind}: {all} samples");
    assert!(named * 10 > all, "{kind}: {named} of {all} below {callee}");
    assert!(unnamed <= most_unnamed, "{kind}: {unnamed} unnamed, {named} named, {other:?}");
    assert!(cut * 100 <= all, "{kind}: {cut} of {all} cut in native code");
}

/// Samples of a burner: in C functions, those with the callee's name and those without.
#[derive(Default)]
struct Called {
    all: u64,
    named: u64,
    unnamed: u64,
    cut: u64,
    /// A stack without the name.
    other: Option<String>,
}

impl Called {
    fn count(&mut self, burner: &Burner, profile: &Profile, callee: &str) {
        self.cut += profile.quality.native_cut;
        for sample in burner.samples(profile) {
            let stack = names(profile, sample);
            self.all += sample.weight;
            match below_erlang(&stack) {
                [(name, FrameKind::Bif, 1), (_, FrameKind::Native, _), ..] if *name == callee => {
                    self.named += sample.weight;
                }
                [(fragment, ..), (_, FrameKind::Native, _), ..] if calls_bifs(fragment) => {
                    self.unnamed += sample.weight;
                    self.other = Some(format!("{stack:?}"));
                }
                _ => {}
            }
        }
    }
}

/// Returns whether a fragment calls BIFs or NIFs.
fn calls_bifs(fragment: &str) -> bool {
    ["global::call_", "global::i_bif_", "global::i_length_"]
        .iter()
        .any(|prefix| fragment.starts_with(prefix))
}

/// The part of the stack below the innermost Erlang function that is not written in C.
fn below_erlang<'a, 'b>(stack: &'b [Named<'a>]) -> &'b [Named<'a>] {
    let erlang = stack.iter().rposition(|&(_, kind, _)| kind == FrameKind::Erlang);
    erlang.map_or(stack, |index| &stack[index + 1..])
}

type Named<'a> = (&'a str, FrameKind, u32);

#[test]
fn a_stack_begins_at_its_thread_and_native_frames_come_last() {
    let burner = burn("select");
    let profile = record(node().pid, 2.0).unwrap();
    let heaviest = heaviest_stack(&burner, &profile);
    assert_eq!(heaviest[0], ("scheduler", FrameKind::Thread, 1));
    let kinds: Vec<FrameKind> = heaviest.iter().map(|&(_, kind, _)| kind).collect();
    let erlang = kinds.iter().rposition(|&kind| kind == FrameKind::Erlang).unwrap();
    let native = kinds.iter().position(|&kind| kind == FrameKind::Native).unwrap();
    assert!(erlang < native, "{heaviest:?}");
}

fn heaviest_stack<'a>(burner: &Burner, profile: &'a Profile) -> Vec<(&'a str, FrameKind, u32)> {
    let heaviest = burner.samples(profile).max_by_key(|sample| sample.weight).unwrap();
    names(profile, heaviest)
}

#[test]
fn recursion_of_a_known_depth_is_counted() {
    let burner = burn("{deep, 1000}");
    let profile = record(node().pid, 2.0).unwrap();
    let deepest = burner
        .samples(&profile)
        .flat_map(|sample| names(&profile, sample))
        .filter(|&(name, _, _)| name == "burn:deep/1")
        .map(|(_, _, repeat)| repeat)
        .max();
    // 1,000 levels wait in deep/1. On the way there a tick may meet the last one itself.
    assert!(matches!(deepest, Some(1000 | 1001)), "{deepest:?}");
}

#[test]
fn a_stack_that_is_too_deep_is_marked_as_truncated() {
    let burner = burn("{deep, 20000}");
    let profile = record(node().pid, 2.0).unwrap();
    let weight = |outcome: StackOutcome| -> u64 {
        let samples = burner.samples(&profile);
        samples.filter(|sample| sample.labels.outcome == outcome).map(|sample| sample.weight).sum()
    };
    assert!(weight(StackOutcome::Truncated) > 500, "{:?}", profile.quality);
    assert_eq!(weight(StackOutcome::Broken), 0, "{:?}", profile.quality);
}
