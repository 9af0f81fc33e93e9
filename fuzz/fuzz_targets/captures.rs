//! Capture files, and what is in them: read or refused; what was read is within bounds, can be written, and is read again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rabbitscope_wire::{
    capture::{MAX_CAPTURED_BYTES, PacketReader, PacketWriter},
    decode::decode,
};

fuzz_target!(|file: &[u8]| {
    let Ok(mut reader) = PacketReader::new(file) else { return };
    let mut writer = PacketWriter::new(Vec::new(), "fuzz").expect("memory takes all");
    let mut written = 0;
    while let Ok(Some(packet)) = reader.next() {
        assert_eq!(packet.number, written + 1);
        assert!(packet.data.len() <= MAX_CAPTURED_BYTES as usize);
        assert!(packet.data.len() <= packet.length as usize);
        if let Ok(segment) = decode(&packet) {
            assert!(segment.payload.len() <= segment.payload_length as usize);
        }
        let interface = writer.interface(packet.link, 0, "fuzz").expect("memory takes all");
        writer.packet(interface, &packet, Some("fuzz")).expect("memory takes all");
        written += 1;
    }
    assert!(matches!(reader.next(), Ok(None)));
    assert!(reader.offset() <= file.len() as u64);
    let again = writer.finish().expect("memory takes all");
    let mut again = PacketReader::new(&again[..]).expect("what was written is read");
    for _ in 0..written {
        assert!(again.next().expect("what was written is read").is_some());
    }
});
