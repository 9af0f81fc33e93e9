//! The key to the colours, lines and letters that occur in a picture.

use std::io::{self, Write};

use rabbitscope_wire::report::{SegmentKind, TimeSequence};

use super::staircase::is_zero_window;
use crate::{
    escape::Markup,
    packets::{
        hues::{Hues, REST},
        words::{OUT_OF_ORDER, RETRANSMITTED, WINDOW, ZERO_WINDOW, opposite},
    },
};

/// Writes one line above the picture.
pub(super) fn draw(
    out: &mut dyn Write,
    sequence: &TimeSequence,
    hues: &Hues<'_>,
) -> io::Result<()> {
    let has = |kind: SegmentKind| sequence.segments.iter().any(|segment| segment.kind == kind);
    write!(out, "<p class=\"key\">")?;
    let new =
        || sequence.segments.iter().filter(|segment| segment.kind != SegmentKind::Retransmitted);
    for (frame, class) in
        hues.named().filter(|(frame, _)| new().any(|segment| segment.frame == *frame))
    {
        write!(out, "<span><i class=\"stroke {class}\"></i>{}</span>", Markup(frame))?;
    }
    if new().any(|segment| hues.class(&segment.frame) == REST) {
        write!(out, "<span><i class=\"stroke {REST}\"></i>another frame, or unknown</span>")?;
    }
    if has(SegmentKind::Retransmitted) {
        let meaning = RETRANSMITTED.meaning;
        write!(out, "<span title=\"{meaning}\"><b class=\"again\">R</b> retransmitted</span>")?;
    }
    if has(SegmentKind::OutOfOrder) {
        let meaning = OUT_OF_ORDER.meaning;
        write!(out, "<span title=\"{meaning}\"><b class=\"early\">O</b> out of order</span>")?;
    }
    lines(out, sequence)?;
    writeln!(out, "</p>")
}

fn lines(out: &mut dyn Write, sequence: &TimeSequence) -> io::Result<()> {
    let receiver = opposite(sequence.from);
    if !sequence.windows.is_empty() {
        write!(out, "<span><i class=\"acknowledged\"></i>acknowledged by the {receiver}</span>")?;
    }
    if sequence.windows.iter().any(|point| point.room.is_some()) {
        let meaning = WINDOW.meaning;
        write!(
            out,
            "<span title=\"{meaning}\"><i class=\"room\"></i>limit of the {receiver}'s room</span>"
        )?;
    }
    if sequence.windows.iter().any(is_zero_window) {
        let meaning = ZERO_WINDOW.meaning;
        write!(out, "<span title=\"{meaning}\"><i class=\"zero\"></i>zero window</span>")?;
    }
    Ok(())
}
