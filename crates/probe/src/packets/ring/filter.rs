//! The kernel's filter for packets of some TCP ports, in classic BPF (`Documentation/networking/filter.rst`).
//!
//! Packets begin with their IP header here, so that one program fits every kind of interface. The first four bits
//! of the header distinguish IPv4 and IPv6. The protocol that the kernel names would not do: it is VLAN (0x8100)
//! for packets to which the interface could not add the tag by itself.
//!
//! The kernel removes one VLAN tag of arriving packets; packets with two tags are not seen. Fragments after the
//! first have no ports and are not seen either: TCP avoids fragments.

use libc::{
    ARPHRD_LOOPBACK, BPF_ABS, BPF_ALU, BPF_AND, BPF_B, BPF_H, BPF_IMM, BPF_IND, BPF_JA, BPF_JEQ,
    BPF_JMP, BPF_JSET, BPF_K, BPF_LD, BPF_LDX, BPF_MSH, BPF_RET, BPF_W, SKF_AD_HATYPE, SKF_AD_OFF,
    SKF_AD_PKTTYPE, sock_filter,
};

use crate::packets::ports::PortSet;

/// Protocol number of TCP, and of IPv6's hop-by-hop options.
const TCP: u32 = 6;
const HOP_BY_HOP: u32 = 0;

/// `PACKET_OUTGOING` of `<linux/if_packet.h>`.
const OUTGOING: u32 = 4;

/// Length of the header of IPv6, and of the hop-by-hop options that jumbo packets have.
const IPV6_BYTES: u32 = 40;
const JUMBO_OPTION_BYTES: u32 = 8;

/// Destinations of jumps, in the order of the program.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Label {
    Next,
    Version,
    V4,
    V6,
    HopByHop,
    PlainV6,
    Ports,
    Reject,
    Accept,
}

/// An instruction whose jumps still have symbolic destinations.
struct Instruction {
    code: u32,
    value: u32,
    then: Label,
    otherwise: Label,
}

/// A program for packets of TCP from or to one of `ports`. It keeps `snap_bytes` of each. Packets that leave the
/// loopback interface come in again, so that they are kept on arrival only.
pub(super) fn port_filter(ports: &PortSet, snap_bytes: u32) -> Vec<sock_filter> {
    let mut program = Program::default();
    program.skip_outgoing_loopback();
    program.find_ports();
    program.compare(ports);
    program.place(Label::Reject);
    program.add(BPF_RET | BPF_K, 0);
    program.place(Label::Accept);
    program.add(BPF_RET | BPF_K, snap_bytes);
    program.resolve()
}

#[derive(Default)]
struct Program {
    instructions: Vec<Instruction>,
    labels: Vec<(Label, usize)>,
}

impl Program {
    fn skip_outgoing_loopback(&mut self) {
        self.add(BPF_LD | BPF_W | BPF_ABS, ancillary(SKF_AD_HATYPE));
        self.branch(BPF_JEQ, ARPHRD_LOOPBACK.into(), Label::Next, Label::Version);
        self.add(BPF_LD | BPF_W | BPF_ABS, ancillary(SKF_AD_PKTTYPE));
        self.branch(BPF_JEQ, OUTGOING, Label::Reject, Label::Version);
    }

    /// Loads the offset of the TCP header into the index register.
    fn find_ports(&mut self) {
        self.place(Label::Version);
        self.add(BPF_LD | BPF_B | BPF_ABS, 0);
        self.add(BPF_ALU | BPF_AND | BPF_K, 0xf0);
        self.branch(BPF_JEQ, 0x40, Label::V4, Label::Next);
        self.branch(BPF_JEQ, 0x60, Label::V6, Label::Reject);
        self.place(Label::V4);
        self.add(BPF_LD | BPF_B | BPF_ABS, 9);
        self.branch(BPF_JEQ, TCP, Label::Next, Label::Reject);
        self.add(BPF_LD | BPF_H | BPF_ABS, 6);
        self.branch(BPF_JSET, 0x1fff, Label::Reject, Label::Next);
        self.add(BPF_LDX | BPF_B | BPF_MSH, 0);
        self.jump(Label::Ports);
        self.place(Label::V6);
        self.add(BPF_LD | BPF_B | BPF_ABS, 6);
        self.branch(BPF_JEQ, TCP, Label::PlainV6, Label::Next);
        self.branch(BPF_JEQ, HOP_BY_HOP, Label::HopByHop, Label::Reject);
        self.place(Label::HopByHop);
        self.add(BPF_LD | BPF_B | BPF_ABS, IPV6_BYTES);
        self.branch(BPF_JEQ, TCP, Label::Next, Label::Reject);
        self.add(BPF_LD | BPF_B | BPF_ABS, IPV6_BYTES + 1);
        self.branch(BPF_JEQ, 0, Label::Next, Label::Reject);
        self.add(BPF_LDX | BPF_IMM, IPV6_BYTES + JUMBO_OPTION_BYTES);
        self.jump(Label::Ports);
        self.place(Label::PlainV6);
        self.add(BPF_LDX | BPF_IMM, IPV6_BYTES);
    }

    fn compare(&mut self, ports: &PortSet) {
        self.place(Label::Ports);
        for place in [0, 2] {
            self.add(BPF_LD | BPF_H | BPF_IND, place);
            for &port in ports.as_slice() {
                self.branch(BPF_JEQ, port.into(), Label::Accept, Label::Next);
            }
        }
    }

    fn add(&mut self, code: u32, value: u32) {
        let instruction = Instruction { code, value, then: Label::Next, otherwise: Label::Next };
        self.instructions.push(instruction);
    }

    fn branch(&mut self, comparison: u32, value: u32, then: Label, otherwise: Label) {
        let code = BPF_JMP | comparison | BPF_K;
        self.instructions.push(Instruction { code, value, then, otherwise });
    }

    fn jump(&mut self, to: Label) {
        self.instructions.push(Instruction {
            code: BPF_JMP | BPF_JA,
            value: 0,
            then: to,
            otherwise: to,
        });
    }

    fn place(&mut self, label: Label) {
        self.labels.push((label, self.instructions.len()));
    }

    /// The program with offsets for symbolic destinations. Offsets count from the instruction after the jump.
    fn resolve(self) -> Vec<sock_filter> {
        let offset = |from: usize, to: Label| -> u8 {
            let found = self.labels.iter().find(|(label, _)| *label == to);
            let target = found.map_or(from + 1, |&(_, index)| index);
            u8::try_from(target - from - 1).expect("a set of ports is small")
        };
        let made = self.instructions.iter().enumerate().map(|(index, instruction)| {
            let then = offset(index, instruction.then);
            let otherwise = offset(index, instruction.otherwise);
            let code = u16::try_from(instruction.code).expect("codes have 16 bits");
            if instruction.code == BPF_JMP | BPF_JA {
                return sock_filter { code, jt: 0, jf: 0, k: then.into() };
            }
            sock_filter { code, jt: then, jf: otherwise, k: instruction.value }
        });
        made.collect()
    }
}

/// The offset of the kernel's own data about a packet, beside its bytes: a negative number, as `u32`.
fn ancillary(field: i32) -> u32 {
    (SKF_AD_OFF + field).cast_unsigned()
}

#[cfg(test)]
#[path = "filter_tests.rs"]
mod tests;
