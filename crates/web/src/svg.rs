//! The flame graph as one SVG file, with a small script for zoom and search. Root at the bottom, recursion folded.

use std::io::{self, Write};

use rabbitscope_analysis::{Recursion, StackTree, TreeNode, WaitTimes, share, shown_part};
use rabbitscope_profiles::{FrameClass, Profile};
use rabbitscope_text::counted;

use crate::{assets::SVG_SCRIPT, escape::Markup, page::profile::quality_of};

const WIDTH: f64 = 1200.0;
const ROW: u32 = 17;
const TOP: u32 = 62;
const LEGEND: u32 = 22;
const CAPTION_LINE: u32 = 16;
const CAPTION_CHARACTERS: usize = 175;
/// Width of a character in the font of names.
const CHARACTER: f64 = 6.7;
/// Width below which frames are left out.
const NARROWEST: f64 = 0.1;

const STYLE: &str = "\
svg{background:#fff;font:11px ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace}\
text{fill:#14171a;pointer-events:none}.head{font:600 16px system-ui,sans-serif}\
.soft,.button{font:12px system-ui,sans-serif;fill:#5a616a}\
.button{pointer-events:all;cursor:pointer;text-decoration:underline}\
rect{stroke:#fff;stroke-width:.5}#frames g{cursor:pointer}#frames g:hover rect{stroke:#000}\
.all{fill:#e4e5e2}.thread{fill:#cdd1d7}.erlang{fill:#f7c489}.bif{fill:#f9de58}.vm{fill:#d9c4ee}.native{fill:#b4d0ee}\
.kernel{fill:#a9dac0}.waiting{fill:#c9dbe6}.runnable{fill:#efe3a0}\
.gc{fill:#ecaca6}.scheduling{fill:#94cdd1}.sending{fill:#edbade}.lock{fill:#a6cd6f}.below{opacity:.6}.hit rect{fill:#f06ca9}\
@media (prefers-color-scheme:dark){svg{background:#1b1e22}text{fill:#f3f4f5}.soft,.button{fill:#a0a8b1}\
rect{stroke:#1b1e22}.all{fill:#33383e}.thread{fill:#545a64}.erlang{fill:#915d27}.bif{fill:#7f6a1a}.vm{fill:#6b5190}\
.native{fill:#3b5f91}.kernel{fill:#316851}.waiting{fill:#3f5563}.runnable{fill:#6f6526}\
.gc{fill:#9a3f3c}.scheduling{fill:#255e64}.sending{fill:#924575}.lock{fill:#3f6020}.hit rect{fill:#b81d66}#frames g:hover rect{stroke:#fff}}";

/// Writes the flame graph of `profile`: kinds in colours, a tooltip for each frame, and the quality of the stacks
/// below. For time off the CPU, it shows the blocked time.
pub fn write_svg(mut out: impl Write, profile: &Profile) -> io::Result<()> {
    let waits = WaitTimes::from_profile(profile);
    let shown = shown_part(profile);
    let profile = &*shown;
    let tree = StackTree::build(profile, Recursion::Folded);
    let classes = tree.classes(&profile.frames);
    let boxes = lay_out(&tree, &classes, profile.total());
    let levels = boxes.iter().map(|placed| placed.level).max().unwrap_or(0) + 1;
    let caption = caption(profile, waits, tree.nodes.len() + 1 - boxes.len());
    let bottom = TOP + levels * ROW;
    let lines = u32::try_from(caption.len()).unwrap_or(u32::MAX);
    write_head(&mut out, profile, bottom + LEGEND + 12 + lines * CAPTION_LINE)?;
    writeln!(out, "<g id=\"frames\">")?;
    for frame in &boxes {
        write_frame(&mut out, profile, frame, bottom)?;
    }
    writeln!(out, "</g>")?;
    write_legend(&mut out, &classes, bottom + 8)?;
    for (at, line) in (1..).zip(&caption) {
        let y = bottom + LEGEND + at * CAPTION_LINE;
        writeln!(out, "<text class=\"soft\" x=\"3\" y=\"{y}\">{}</text>", Markup(line))?;
    }
    writeln!(out, "<script><![CDATA[{}]]></script>\n</svg>", SVG_SCRIPT.trim())?;
    out.flush()
}

/// A frame with its place. `node` is absent for the frame below all roots.
struct Placed<'a> {
    node: Option<(&'a TreeNode, FrameClass)>,
    left: f64,
    width: f64,
    level: u32,
    total: u64,
}

/// Places the nodes from the root up; leaves out those too narrow to be visible.
fn lay_out<'a>(tree: &'a StackTree, classes: &[FrameClass], total: u64) -> Vec<Placed<'a>> {
    let mut placed = vec![Placed { node: None, left: 0.0, width: WIDTH, level: 0, total }];
    let mut edges: Vec<f64> = vec![0.0];
    for (node, &class) in tree.nodes.iter().zip(classes) {
        let level = node.depth + 1;
        edges.truncate(level as usize);
        let left = edges.last().copied().unwrap_or(0.0);
        let width = share(node.total, total) * WIDTH;
        if let Some(edge) = edges.last_mut() {
            *edge += width;
        }
        edges.push(left);
        if width >= NARROWEST {
            placed.push(Placed {
                node: Some((node, class)),
                left,
                width,
                level,
                total: node.total,
            });
        }
    }
    placed
}

fn write_head(out: &mut impl Write, profile: &Profile, height: u32) -> io::Result<()> {
    let capture = &profile.capture;
    let mut facts = vec![format!("{} {}", profile.total(), profile.unit())];
    facts.extend(
        [&capture.recorder, &capture.clock].into_iter().filter(|fact| !fact.is_empty()).cloned(),
    );
    if capture.duration_nanos > 0 {
        facts.push(format!("{:.1} s", capture.duration_nanos as f64 / 1e9));
    }
    if !capture.otp_release.is_empty() {
        facts.push(format!("OTP {}", capture.otp_release));
    }
    writeln!(
        out,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
         viewBox=\"0 0 {WIDTH} {height}\">\n<style>{STYLE}</style>\n\
         <text class=\"head\" x=\"3\" y=\"22\">{} flame graph</text>\n\
         <text class=\"soft\" x=\"3\" y=\"42\">{}</text>\n\
         <text class=\"soft\" id=\"matched\" x=\"{}\" y=\"22\" text-anchor=\"end\"></text>\n\
         <text class=\"button\" id=\"search\" x=\"{}\" y=\"42\" text-anchor=\"end\">Search</text>\n\
         <text class=\"button\" id=\"reset\" x=\"{}\" y=\"42\" text-anchor=\"end\">Reset zoom</text>",
        profile.value_name().to_uppercase().replace('-', " "),
        Markup(&facts.join(" · ")),
        WIDTH - 3.0,
        WIDTH - 3.0,
        WIDTH - 60.0,
    )
}

fn write_frame(
    out: &mut impl Write,
    profile: &Profile,
    placed: &Placed<'_>,
    bottom: u32,
) -> io::Result<()> {
    let (label, class) = label_and_class(profile, placed);
    let whole = profile.total();
    let own = placed.node.map_or(0, |(node, _)| node.self_weight);
    let y = bottom - (placed.level + 1) * ROW;
    write!(
        out,
        "<g><title>{}\ntotal {:.2} % ({} {unit})\nself {:.2} % ({own} {unit})</title>\
         <rect class=\"{class}\" x=\"{:.2}\" y=\"{y}\" width=\"{:.2}\" height=\"{ROW}\"/>",
        Markup(&label),
        share(placed.total, whole) * 100.0,
        placed.total,
        share(own, whole) * 100.0,
        placed.left,
        placed.width,
        unit = profile.unit(),
    )?;
    if let Some(text) = fitted(&label, placed.width) {
        let (x, y) = (placed.left + 3.0, y + 12);
        write!(out, "<text x=\"{x:.2}\" y=\"{y}\">{}</text>", Markup(&text))?;
    }
    writeln!(out, "</g>")
}

fn label_and_class(profile: &Profile, placed: &Placed<'_>) -> (String, &'static str) {
    let Some((node, class)) = placed.node else { return ("all".to_owned(), "all") };
    let frame = profile.frames.get(node.frame);
    let name = frame.name.replace(['\n', '\r'], " ");
    match node.repeat {
        0 | 1 => (name, css_of(class)),
        run => (format!("{name} ×{run}"), css_of(class)),
    }
}

fn css_of(class: FrameClass) -> &'static str {
    match class {
        FrameClass::Thread => "thread",
        FrameClass::Erlang => "erlang",
        FrameClass::Bif => "bif",
        FrameClass::VmFragment => "vm",
        FrameClass::Native => "native",
        FrameClass::Kernel => "kernel",
        FrameClass::GarbageCollection => "gc",
        FrameClass::Scheduling => "scheduling",
        FrameClass::Sending => "sending",
        FrameClass::LockWait => "lock",
        FrameClass::Waiting => "waiting",
        FrameClass::Runnable => "runnable",
    }
}

fn words_for(class: FrameClass) -> &'static str {
    match class {
        FrameClass::Thread => "Thread",
        FrameClass::Erlang => "Erlang",
        FrameClass::Bif => "BIF or NIF",
        FrameClass::VmFragment => "VM fragment",
        FrameClass::Native => "Native",
        FrameClass::Kernel => "Kernel",
        FrameClass::GarbageCollection => "Garbage collection",
        FrameClass::Scheduling => "Scheduling",
        FrameClass::Sending => "Message sending",
        FrameClass::LockWait => "Locks",
        FrameClass::Waiting => "Waiting",
        FrameClass::Runnable => "Runnable",
    }
}

/// Writes the colours that occur, in one line.
fn write_legend(out: &mut impl Write, classes: &[FrameClass], top: u32) -> io::Result<()> {
    let mut left = 3.0;
    for class in FrameClass::ALL.into_iter().filter(|class| classes.contains(class)) {
        let (css, words) = (css_of(class), words_for(class));
        write!(
            out,
            "<rect class=\"{css}\" x=\"{left:.0}\" y=\"{top}\" width=\"11\" height=\"11\"/>\
             <text class=\"soft\" x=\"{:.0}\" y=\"{}\">{words}</text>",
            left + 16.0,
            top + 10,
        )?;
        left += 36.0 + CHARACTER * words.len() as f64;
    }
    writeln!(out)
}

/// Shortens a label to its frame; absent if fewer than three characters would fit.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "widths are between 0 and 1,200"
)]
fn fitted(label: &str, width: f64) -> Option<String> {
    let room = ((width - 6.0) / CHARACTER).max(0.0) as usize;
    if room < 3 {
        return None;
    }
    if label.chars().count() <= room {
        return Some(label.to_owned());
    }
    // The module gives way first, at its start, as in `ui/src/flame/label.ts`.
    let (module, function) = label.split_at(function_start(label));
    let Some(rest) = room.checked_sub(function.chars().count()) else {
        return Some(function.chars().take(room - 1).chain(['…']).collect());
    };
    let (kept, all) = (rest.saturating_sub(1), module.chars().count());
    let tail: String = module.chars().skip(all - kept.min(all)).collect();
    Some(if kept > 1 { format!("…{tail}{function}") } else { function.to_owned() })
}

/// Returns the place of the function in `module:function/arity`; 0 for other names.
fn function_start(name: &str) -> usize {
    let is_module = name.starts_with(|first: char| first.is_ascii_lowercase() || first == '\'');
    let end =
        if name.starts_with('\'') { name.find("':").map(|at| at + 1) } else { name.find(':') };
    let start = end.filter(|_| is_module).map_or(0, |end| end + 1);
    let function = &name[start..];
    if function.starts_with(':') || !function.contains('/') { 0 } else { start }
}

/// Returns quality, notes and the number of omitted frames, broken into lines.
fn caption(profile: &Profile, waits: Option<WaitTimes>, left_out: usize) -> Vec<String> {
    let mut sentences = vec![format!("Stack quality: {}.", quality_of(profile))];
    sentences.extend(rabbitscope_analysis::caution(profile));
    sentences.extend(waits.map(left_out_of));
    sentences.extend(profile.capture.notes.iter().cloned());
    if left_out > 0 {
        let verb = if left_out == 1 { "is" } else { "are" };
        let frames = counted(left_out as u64, "frame");
        sentences.push(format!("{frames} {verb} too narrow to be drawn."));
    }
    sentences.iter().flat_map(|sentence| wrapped(sentence)).collect()
}

fn left_out_of(waits: WaitTimes) -> String {
    format!(
        "The time in which threads were blocked. The graph leaves out {:.3} s in which they waited for a CPU and \
         {:.1} s in which they had nothing to do.",
        waits.runnable_nanos as f64 / 1e9,
        waits.idle_nanos as f64 / 1e9,
    )
}

fn wrapped(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + word.len() < CAPTION_CHARACTERS => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use rabbitscope_profiles::read_folded;

    use super::*;

    fn svg(folded: &str) -> String {
        let profile = read_folded(folded.as_bytes()).unwrap();
        let mut out = Vec::new();
        write_svg(&mut out, &profile).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn frames_carry_their_figures() {
        let svg = svg("scheduler;m:f/1;m:f/1;'<b>':g/0 3\nscheduler 1");
        let check = |part: &str| assert!(svg.contains(part), "{part} is not in {svg}");
        check("<title>m:f/1 ×2\ntotal 75.00 % (3 samples)\nself 0.00 % (0 samples)</title>");
        check("<title>scheduler\ntotal 100.00 % (4 samples)\nself 25.00 % (1 samples)</title>");
        check("<rect class=\"erlang\" x=\"0.00\"");
        check("width=\"900.00\"");
        check("&lt;b&gt;':g/0</text>");
        check("Stack quality: nothing is known, as no sample says how complete its stack is.");
    }

    #[test]
    fn colours_that_occur_are_in_the_legend() {
        let svg = svg("scheduler;m:f/1;erts_garbage_collect;x 3");
        assert!(svg.contains("<rect class=\"gc\" x=\"0.00\""), "{svg}");
        assert!(svg.contains(">Garbage collection</text>"), "{svg}");
        assert!(!svg.contains(">Kernel</text>"), "{svg}");
    }

    #[test]
    fn siblings_stand_beside_each_other() {
        let svg = svg("a;b 3\na;c 1");
        assert!(svg.contains("<title>c\ntotal 25.00 % (1 samples)"), "{svg}");
        assert!(svg.contains("x=\"900.00\""), "{svg}");
    }

    #[test]
    fn what_is_too_narrow_is_counted() {
        assert!(svg("a 100000\nb 1").contains("1 frame is too narrow to be drawn."));
        assert!(svg("a 100000\nb 1\nc 1").contains("2 frames are too narrow to be drawn."));
    }

    #[test]
    fn a_long_name_loses_its_module_first() {
        let check = |room: usize, expected: &str| {
            let width = 6.0 + CHARACTER * (room as f64 + 0.5);
            assert_eq!(fitted("rabbit_channel:handle/3", width).unwrap(), expected, "{room}");
        };
        check(23, "rabbit_channel:handle/3");
        check(22, "…bbit_channel:handle/3");
        check(11, "…l:handle/3");
        check(10, "handle/3");
        check(8, "handle/3");
        check(7, "handle…");
        assert_eq!(function_start("std::vector"), 0);
        assert_eq!(function_start("'Elixir.A':f/1"), 11);
    }

    #[test]
    fn an_empty_profile_makes_a_picture() {
        assert!(svg("").contains("<title>all"));
    }
}
