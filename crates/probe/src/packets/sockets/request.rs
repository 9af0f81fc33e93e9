//! The request for a dump of TCP sockets (`struct inet_diag_req_v2` of `<linux/inet_diag.h>`), with a small program
//! by which the kernel selects sockets by port.

use super::socket::TcpState;
use crate::packets::ports::PortSet;

/// `SOCK_DIAG_BY_FAMILY`.
const BY_FAMILY: u16 = 20;

/// `NLM_F_REQUEST | NLM_F_DUMP`.
const REQUEST_DUMP: u16 = 0x301;

/// Attributes of an answer, by `INET_DIAG_…`.
pub(super) const INFO: u16 = 2;
pub(super) const CONGESTION: u16 = 4;
pub(super) const MEMORY: u16 = 7;

/// `INET_DIAG_REQ_BYTECODE`: the attribute with the program.
const PROGRAM: u16 = 1;

/// Operations of the program.
const JUMP: u8 = 1;
const LOCAL_PORT_IS: u8 = 11;
const REMOTE_PORT_IS: u8 = 12;

/// Bytes of an operation, and of a comparison, which has its port in a second operation.
const OPERATION: u8 = 4;
const COMPARISON: u8 = 2 * OPERATION;

/// Bytes of a comparison and the jump after it.
const STEP: u16 = (COMPARISON + OPERATION) as u16;

/// Address families.
pub(super) const IPV4: u8 = 2;
pub(super) const IPV6: u8 = 10;

const TCP: u8 = 6;

/// The request for the connections of a family with one of `ports` at either end. Listening sockets, and those of
/// connections that are not accepted or have ended, have no figures and are not requested. All messages of the answer
/// have the number `sequence`.
pub(super) fn request(family: u8, ports: &PortSet, sequence: u32) -> Vec<u8> {
    let states: u32 = TcpState::ALL.iter().map(|&state| 1 << state as u8).sum();
    let wanted = [INFO, CONGESTION, MEMORY].iter().map(|kind| 1 << (kind - 1)).sum();
    let program = program(ports);
    let mut message = Vec::with_capacity(80 + program.len());
    message.extend([0; 4]);
    message.extend(BY_FAMILY.to_ne_bytes());
    message.extend(REQUEST_DUMP.to_ne_bytes());
    message.extend(sequence.to_ne_bytes());
    // The sender is this socket.
    message.extend([0; 4]);
    message.extend([family, TCP, wanted, 0]);
    message.extend(states.to_ne_bytes());
    // Ports, addresses, interface, cookie: no restriction.
    message.extend([0; 48]);
    message.extend((u16::from(OPERATION) + length(program.len())).to_ne_bytes());
    message.extend(PROGRAM.to_ne_bytes());
    message.extend(program);
    let bytes = u32::from(length(message.len())).to_ne_bytes();
    message[..4].copy_from_slice(&bytes);
    message
}

/// The program `local is A or remote is A or local is B …`. A comparison that holds continues with the jump after
/// it, which leads to the end. One that fails continues after the jump. The last failure leads beyond the end,
/// which refuses the socket.
fn program(ports: &PortSet) -> Vec<u8> {
    let all =
        ports.as_slice().iter().flat_map(|&port| [(LOCAL_PORT_IS, port), (REMOTE_PORT_IS, port)]);
    let comparisons: Vec<(u8, u16)> = all.collect();
    let count = length(comparisons.len());
    let total = count * STEP - u16::from(OPERATION);
    let mut program = Vec::with_capacity(total.into());
    for (at, (code, port)) in (0_u16..).zip(comparisons) {
        operation(&mut program, code, COMPARISON, STEP);
        operation(&mut program, 0, 0, port);
        if at + 1 < count {
            let rest = total - length(program.len());
            operation(&mut program, JUMP, OPERATION, rest);
        }
    }
    program
}

/// Appends a `struct inet_diag_bc_op`: both numbers are distances from its beginning.
fn operation(program: &mut Vec<u8>, code: u8, yes: u8, no: u16) {
    program.extend([code, yes]);
    program.extend(no.to_ne_bytes());
}

fn length(bytes: usize) -> u16 {
    u16::try_from(bytes).expect("a set of ports is small")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs the program in the way of the kernel's `inet_diag_bc_run`.
    fn accepts(program: &[u8], local: u16, remote: u16) -> bool {
        let mut at = 0;
        while at < program.len() {
            let [code, yes, no @ ..] = *program[at..].first_chunk::<4>().unwrap();
            let port = || u16::from_ne_bytes([program[at + 6], program[at + 7]]);
            let holds = match code {
                JUMP => false,
                LOCAL_PORT_IS => local == port(),
                REMOTE_PORT_IS => remote == port(),
                other => panic!("operation {other}"),
            };
            at += if holds { yes.into() } else { usize::from(u16::from_ne_bytes(no)) };
        }
        at == program.len()
    }

    #[test]
    fn the_program_finds_ports_at_either_end() {
        let program = program(&PortSet::new([5672, 5671, 1883]).unwrap());
        let check = |local, remote, expected| {
            assert_eq!(accepts(&program, local, remote), expected, "{local} {remote}");
        };
        check(5672, 40000, true);
        check(40000, 1883, true);
        check(5671, 5671, true);
        check(1884, 40000, false);
        check(0, 0, false);
    }

    #[test]
    fn the_message_has_its_length() {
        for ports in [vec![5672], (1..=64).collect()] {
            let message = request(IPV6, &PortSet::new(ports).unwrap(), 7);
            let said = u32::from_ne_bytes(*message.first_chunk().unwrap());
            assert_eq!(said as usize, message.len());
            assert_eq!(message.len() % 4, 0);
        }
    }
}
