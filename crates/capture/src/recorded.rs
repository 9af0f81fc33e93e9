//! Packets of a capture file.

use std::{io::BufReader, path::Path};

use anyhow::Context;
use rabbitscope_files::input;
use rabbitscope_terminal::ProgressLine;
use rabbitscope_wire::{
    activity::{ActivityListener, NoListener},
    analyzer::{Analyzer, AnalyzerOptions},
    capture::PacketReader,
    decode::{Decoded, NotDecoded, Repeats, decode_inner},
    findings,
    packet::Packet,
    report::{PacketReport, Source, SourceLevel},
};

use super::saved::SavedPackets;

/// Size of the largest file. Captures of a long run are large; they are read as a stream.
const MAX_FILE_BYTES: u64 = 1 << 42;

/// Number of packets between two lines of progress.
const PROGRESS_PACKETS: u64 = 1 << 18;

/// Reads a file and reports on its packets. A damaged file gives a report up to the damage, with a note of it.
pub fn read(
    path: &Path,
    options: AnalyzerOptions,
    saved: Option<&mut SavedPackets>,
) -> anyhow::Result<PacketReport> {
    Ok(read_all(path, Analyzer::with_listener(options, NoListener), saved)?.0)
}

/// Like [`read`], and also reports the activity of clients.
pub fn read_listening<L: ActivityListener>(
    path: &Path,
    options: AnalyzerOptions,
    listener: L,
) -> anyhow::Result<(PacketReport, L)> {
    read_all(path, Analyzer::with_listener(options, listener), None)
}

fn read_all<L: ActivityListener>(
    path: &Path,
    mut analyzer: Analyzer<L>,
    mut saved: Option<&mut SavedPackets>,
) -> anyhow::Result<(PacketReport, L)> {
    let cannot = || format!("cannot read {}", path.display());
    let file = input::open(path, MAX_FILE_BYTES)?;
    let size = file.metadata().with_context(cannot)?.len();
    let mut reader = PacketReader::new(BufReader::new(file)).with_context(cannot)?;
    let line = ProgressLine::default();
    let (mut written, mut repeats) = (Vec::new(), Repeats::new());
    loop {
        let (place, packet) = (reader.offset(), reader.next_on_interface());
        let (packet, interface) = match packet {
            Ok(Some(found)) => found,
            Ok(None) => break,
            Err(error) => {
                analyzer.set_damaged(format!("{}: {error}", path.display()));
                break;
            }
        };
        if packet.number % PROGRESS_PACKETS == 0 {
            line.show(&format!("reading packets: {} %", 100 * place / size.max(1)));
        }
        let decoded = decode_inner(&packet);
        if decoded.as_ref().is_ok_and(|decoded| repeats.is_repeated(interface, &packet, decoded)) {
            analyzer.count_repeated();
            continue;
        }
        take(&mut analyzer, &packet, &decoded, &mut saved, &mut written);
    }
    analyzer.set_dropped(reader.reported_drops());
    let (mut report, listener) = analyzer.finish_listening();
    report.sources = vec![Source {
        level: SourceLevel::Packets,
        present: true,
        note: format!("from {}", path.display()),
    }];
    findings::judge(&mut report);
    Ok((report, listener))
}

/// Analyzes a packet, and writes the permitted part of it.
pub(super) fn take<L: ActivityListener>(
    analyzer: &mut Analyzer<L>,
    packet: &Packet<'_>,
    decoded: &Result<Decoded<'_>, NotDecoded>,
    saved: &mut Option<&mut SavedPackets>,
    written: &mut Vec<u8>,
) {
    let Some(saved) = saved else { return analyzer.decoded(packet, decoded) };
    if analyzer.decoded_to_write(packet, decoded, written) {
        saved.add(&Packet { data: written, ..*packet });
    }
}
