//! The counting program in the kernel: its availability, loading, attaching, and reading its map.

use std::{
    fs::File,
    io::{self, Read},
};

use aya::{
    Ebpf, EbpfLoader, include_bytes_aligned,
    maps::{MapData, PerCpuArray},
    programs::{ProgramError, RawTracePoint},
};

use super::counts::{WriteCounts, WriteDirection};
use crate::{
    error::ProbeError,
    kernel_interface::{HeldSignals, SIZE_PORTS, SizeCounts},
    node::Process,
    packets::{error::PacketError, ports::PortSet},
    permission::{MAPS, PROGRAM, raise, require_sampling},
};

/// Programs of the object, with their tracepoints.
const PROGRAMS: [(&str, &str); 2] =
    [("on_send", "sock_send_length"), ("on_receive", "sock_recv_length")];

/// The kernel's description of its own types, which names each tracepoint. All users may read it.
const KERNEL_TYPES: &str = "/sys/kernel/btf/vmlinux";

/// Limit for the size of the description, which has 4 to 10 MiB.
const MAX_KERNEL_TYPES_BYTES: u64 = 64 << 20;

/// The attached programs. Dropping the value, or the end of the process, removes everything from the kernel.
pub struct WriteCounter {
    sizes: PerCpuArray<MapData, SizeCounts>,
    /// Keeps the programs and their links alive.
    _ebpf: Ebpf,
}

impl WriteCounter {
    /// Starts counting writes and reads of the VM `pid` on TCP sockets with one of `ports` at either end. Fails
    /// without reading further if the process is no VM.
    pub fn attach(pid: u32, ports: &PortSet) -> Result<Self, PacketError> {
        has_tracepoints()?;
        let process = Process::open(pid)?;
        let namespace = process.pid_namespace()?;
        let mut listed = [0_u16; SIZE_PORTS];
        listed[..ports.as_slice().len()].copy_from_slice(ports.as_slice());
        let _raised = raise(PROGRAM);
        let _held = HeldSignals::new();
        let mut ebpf = EbpfLoader::new()
            .override_global("cfg_pidns_dev", &namespace.device, true)
            .override_global("cfg_pidns_ino", &namespace.inode, true)
            .override_global("cfg_tgid", &namespace.tgid, true)
            .override_global("cfg_ports", listed.as_slice(), true)
            .load(include_bytes_aligned!(concat!(env!("OUT_DIR"), "/writes.bpf.o")))
            .map_err(refusal)?;
        for (name, _) in PROGRAMS {
            program(&mut ebpf, name).load().map_err(refusal)?;
        }
        let sizes = ebpf.take_map("sizes").expect("the object defines this map");
        let sizes = PerCpuArray::try_from(sizes).map_err(refusal)?;
        for (name, tracepoint) in PROGRAMS {
            program(&mut ebpf, name).attach(tracepoint).map_err(refusal)?;
        }
        Ok(Self { sizes, _ebpf: ebpf })
    }

    /// The counts since the counter was attached.
    pub fn counts(&self, direction: WriteDirection) -> Result<WriteCounts, PacketError> {
        let _raised = raise(MAPS);
        let values = self.sizes.get(&direction.call().number().into(), 0).map_err(refusal)?;
        Ok(WriteCounts::sum(values.iter().copied()))
    }
}

fn program<'a>(ebpf: &'a mut Ebpf, name: &str) -> &'a mut RawTracePoint {
    let found = ebpf.program_mut(name).expect("a test checks the object");
    let raw: Result<&mut RawTracePoint, ProgramError> = found.try_into();
    raw.expect("a test checks the object")
}

/// The innermost cause is the kernel's own error. The verifier's log is too long for a line.
fn refusal(error: impl std::error::Error) -> PacketError {
    let first: String =
        error.to_string().lines().next().unwrap_or_default().chars().take(200).collect();
    let mut cause = error.source();
    while let Some(inner) = cause {
        if let Some(system) = inner.downcast_ref::<io::Error>() {
            return ProbeError::Kernel { detail: format!("{first}: {system}") }.into();
        }
        cause = inner.source();
    }
    ProbeError::Kernel { detail: first }.into()
}

/// Checks the capabilities of this process for the program.
pub(in crate::packets) fn may_load() -> Result<(), PacketError> {
    Ok(require_sampling()?)
}

/// Checks the kernel for the tracepoints.
pub(in crate::packets) fn has_tracepoints() -> Result<(), PacketError> {
    let mut types = Vec::new();
    let read = File::open(KERNEL_TYPES)
        .and_then(|file| file.take(MAX_KERNEL_TYPES_BYTES).read_to_end(&mut types));
    for (_, tracepoint) in PROGRAMS {
        if read.is_err() || !names_tracepoint(&types, tracepoint) {
            return Err(PacketError::NoTracepoint { tracepoint });
        }
    }
    Ok(())
}

/// Returns whether the types include the tracepoint's function, called `btf_trace_NAME`. Names end with a zero.
fn names_tracepoint(types: &[u8], tracepoint: &str) -> bool {
    let name = format!("\0btf_trace_{tracepoint}\0");
    types.windows(name.len()).any(|window| window == name.as_bytes())
}

#[cfg(test)]
mod tests {
    use object::{Object, ObjectSymbol, SymbolKind};

    use super::*;

    #[test]
    fn the_object_has_the_programs_and_no_others() {
        let bytes = include_bytes!(concat!(env!("OUT_DIR"), "/writes.bpf.o"));
        let file = object::File::parse(bytes.as_slice()).unwrap();
        let mut programs: Vec<&str> = file
            .symbols()
            .filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.is_global())
            .map(|symbol| symbol.name().unwrap())
            .collect();
        programs.sort_unstable();
        let mut expected = PROGRAMS.map(|(name, _)| name);
        expected.sort_unstable();
        assert_eq!(programs, expected);
    }

    #[test]
    fn names_in_the_kernels_types() {
        let types = b"\0int\0btf_trace_sock_send_length\0btf_trace_sock_recv_length_x\0";
        assert!(names_tracepoint(types, "sock_send_length"));
        assert!(!names_tracepoint(types, "sock_recv_length"));
        assert!(!names_tracepoint(&[], "sock_send_length"));
    }
}
