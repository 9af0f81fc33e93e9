//! The program by which the kernel selects sockets by port (`struct inet_diag_bc_op` of `<linux/inet_diag.h>`).

use crate::packets::ports::PortSet;

/// Operations of the program.
const JUMP: u8 = 1;
const LOCAL_PORT_IS: u8 = 11;
const REMOTE_PORT_IS: u8 = 12;

/// Bytes of an operation, and of a comparison, which has its port in a second operation.
const OPERATION: u8 = 4;
const COMPARISON: u8 = 2 * OPERATION;

/// Bytes of a comparison and the jump after it.
const STEP: u16 = (COMPARISON + OPERATION) as u16;

/// The program `local is A or remote is A or local is B …`. A comparison that holds continues with the jump after
/// it, which leads to the end. One that fails continues after the jump. The last failure leads beyond the end,
/// which refuses the socket.
pub(super) fn program(ports: &PortSet) -> Vec<u8> {
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
}
