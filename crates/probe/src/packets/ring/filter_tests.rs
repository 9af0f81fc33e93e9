//! Runs the filter on packets in a small interpreter of classic BPF.

use libc::{SKF_AD_HATYPE, SKF_AD_PKTTYPE};

use super::*;

const SNAP: u32 = 4096;
const ETHERNET: u32 = 1;
const HOST: u32 = 0;

/// A packet with the kernel's own data about it.
struct Arrival<'a> {
    hardware: u32,
    direction: u32,
    bytes: &'a [u8],
}

/// The number of kept bytes of a packet. A read beyond its end drops it, as in the kernel.
fn run(program: &[sock_filter], arrival: &Arrival<'_>) -> u32 {
    let (mut a, mut x, mut at) = (0_u32, 0_u32, 0_usize);
    loop {
        let instruction = program[at];
        at += 1;
        let code = u32::from(instruction.code);
        if code == BPF_RET | BPF_K {
            return instruction.k;
        }
        if code == BPF_LDX | BPF_IMM {
            x = instruction.k;
        } else if code == BPF_LDX | BPF_B | BPF_MSH {
            let Some(byte) = arrival.bytes.get(instruction.k as usize) else { return 0 };
            x = u32::from(byte & 0xf) * 4;
        } else if code == BPF_ALU | BPF_AND | BPF_K {
            a &= instruction.k;
        } else if code & 7 == BPF_JMP {
            at += jump(instruction, a);
        } else {
            let index = if code & 0xe0 == BPF_IND { x } else { 0 };
            let Some(loaded) = load(arrival, code & 0x18, instruction.k.wrapping_add(index)) else {
                return 0;
            };
            a = loaded;
        }
    }
}

fn jump(instruction: sock_filter, a: u32) -> usize {
    let holds = match u32::from(instruction.code) & 0xf0 {
        BPF_JA => return instruction.k as usize,
        BPF_JEQ => a == instruction.k,
        BPF_JSET => a & instruction.k != 0,
        other => panic!("jump {other}"),
    };
    usize::from(if holds { instruction.jt } else { instruction.jf })
}

fn load(arrival: &Arrival<'_>, width: u32, place: u32) -> Option<u32> {
    if place == ancillary(SKF_AD_HATYPE) {
        return Some(arrival.hardware);
    }
    if place == ancillary(SKF_AD_PKTTYPE) {
        return Some(arrival.direction);
    }
    let rest = arrival.bytes.get(place as usize..)?;
    match width {
        BPF_B => rest.first().map(|&byte| byte.into()),
        BPF_H => rest.first_chunk().map(|&two| u16::from_be_bytes(two).into()),
        _ => rest.first_chunk().map(|&four| u32::from_be_bytes(four)),
    }
}

/// A packet up to its ports, with a header of `words` words.
fn v4(words: u8, protocol: u8, fragment: u16, ports: [u16; 2]) -> Vec<u8> {
    let mut packet = vec![0; usize::from(words) * 4];
    packet[0] = 0x40 | words;
    packet[6..8].copy_from_slice(&fragment.to_be_bytes());
    packet[9] = protocol;
    packet.extend(ports.into_iter().flat_map(u16::to_be_bytes));
    packet
}

fn v6(next: u8, options: &[u8], ports: [u16; 2]) -> Vec<u8> {
    let mut packet = vec![0; 40];
    packet[0] = 0x60;
    packet[6] = next;
    packet.extend(options);
    packet.extend(ports.into_iter().flat_map(u16::to_be_bytes));
    packet
}

#[track_caller]
fn check_from(hardware: u32, direction: u32, bytes: &[u8], is_kept: bool) {
    let program = port_filter(&PortSet::new([5671, 5672, 15672]).unwrap(), SNAP);
    let kept = run(&program, &Arrival { hardware, direction, bytes });
    assert_eq!(kept, if is_kept { SNAP } else { 0 });
}

#[track_caller]
fn check(bytes: &[u8], is_kept: bool) {
    check_from(ETHERNET, HOST, bytes, is_kept);
}

#[test]
fn either_port_of_either_version() {
    for ports in [[5672, 40000], [40000, 5672], [15672, 1], [1, 5671]] {
        check(&v4(5, 6, 0, ports), true);
        check(&v4(15, 6, 0, ports), true);
        check(&v6(6, &[], ports), true);
        check(&v6(0, &[6, 0, 0xc2, 4, 0, 1, 0, 0], ports), true);
    }
    check(&v4(5, 6, 0, [40000, 5673]), false);
    check(&v6(6, &[], [40000, 5673]), false);
}

#[test]
fn other_protocols_fragments_and_rests() {
    let ports = [5672, 5672];
    check(&v4(5, 17, 0, ports), false);
    check(&v4(5, 6, 0x4000, ports), true);
    check(&v4(5, 6, 0x2000, ports), true);
    check(&v4(5, 6, 1, ports), false);
    check(&v6(17, &[], ports), false);
    check(&v6(0, &[6, 1, 0, 0, 0, 0, 0, 0], ports), false);
    check(&[], false);
    check(&[0x45], false);
    check(&v4(5, 6, 0, ports)[..21], false);
    check(&[0; 60], false);
}

#[test]
fn looped_packets_are_kept_on_arrival() {
    let packet = v4(5, 6, 0, [5672, 1]);
    check_from(ARPHRD_LOOPBACK.into(), OUTGOING, &packet, false);
    check_from(ARPHRD_LOOPBACK.into(), HOST, &packet, true);
    check_from(ETHERNET, OUTGOING, &packet, true);
}

#[test]
fn the_largest_set_has_jumps_that_reach() {
    let program = port_filter(&PortSet::new(1..=64).unwrap(), SNAP);
    for port in 1..=65 {
        let packet = v6(6, &[], [40000, port]);
        let arrival = Arrival { hardware: ETHERNET, direction: HOST, bytes: &packet };
        assert_eq!(run(&program, &arrival) > 0, port <= 64, "{port}");
    }
}
