// What the kernel program and user space exchange: the one definition of it.
//
// `build.rs` includes this file and writes the C header `interface.h` from it; `src/kernel_interface`
// includes it and gets Rust constants, enums and structures from it. In C a structure `SampleKey` is
// `struct sample_key`, and a variant `ProbeEvent::OffCpu` is `PROBE_EVENT_OFF_CPU`.
//
// Fields are integers, arrays and other structures of this file. Padding does not compile: write it out
// as a field `reserved`.

constants! {
    /// Stack words that are read at a time. Most Erlang stacks are shorter than two such chunks.
    const CHUNK_WORDS: usize = 32;
    /// Chunks that are read at most: 4,096 words or 32 KiB of stack.
    const CHUNKS: usize = 128;
    /// Erlang frames of a sample. A power of two, because the verifier needs a mask for the index.
    const FRAME_SLOTS: usize = 256;
    /// The walk stops at this many frames, so that the frames of one more chunk always fit.
    const FRAME_LIMIT: usize = FRAME_SLOTS - CHUNK_WORDS;
    /// Words next to the root that are walked of a stack that is longer than the limits above.
    const OUTER_WORDS: usize = 8 * CHUNK_WORDS;
    /// Half of what the kernel keeps by default (`kernel.perf_event_max_stack`, 127). A deeper kernel stack
    /// loses its outermost frames.
    const KERNEL_FRAMES: usize = 64;
    /// C frames of a sample. A walk that meets more ends as `NativeOutcome::Cut`.
    const NATIVE_FRAMES: usize = 64;
    /// Words of an `ErtsCodeMFA`: module, function, arity.
    const CURRENT_WORDS: usize = 3;
    /// Time steps in which a counted sample keeps its weight. A power of two; 32 steps of 50 ms are
    /// 1.6 s, and samples are fetched every second.
    const TIME_SLOTS: usize = 32;
    /// Length of a time step. Profiles have the times of their samples in these steps.
    const TIME_STEP_NANOS: u64 = 50_000_000;
    /// The upper bits of a frame count further consecutive activations of the same return address.
    /// User addresses have 48 bits at most.
    const REPEAT_SHIFT: u32 = 48;
    /// Rows lie in chunks of 4 KiB, so that user space fills the map with few system calls.
    const ROWS_PER_CHUNK: u32 = 256;
    /// Likewise for the first rows of blocks. A power of two.
    const BLOCKS_PER_CHUNK: u32 = 1024;
    /// Executable mappings with unwind rows: a power of two, for the binary search. Walks end as
    /// `NativeOutcome::Cut` in mappings beyond it.
    const MAX_UNWIND_MODULES: usize = 128;
    /// Memory areas that hold JIT code. Native libraries may lie between two of them.
    const JIT_SEGMENTS: usize = 8;
    /// Words of a VM structure in a snapshot: more than the offset of any field in `beam/layout.rs`.
    const SNAPSHOT_WORDS: usize = 64;
    /// Snapshots that are kept for one calibration.
    const SNAPSHOTS: u32 = 32;
    /// Buckets of a histogram of sizes: those below 8 bytes each have one, and from there on every power of two has 8.
    /// Sizes have 31 bits, so that 232 are used. A power of two, because the verifier needs a mask for the index.
    const SIZE_BUCKETS: usize = 256;
    /// Buckets of a power of two, as a power of two.
    const SIZE_BUCKET_BITS: u32 = 3;
    /// Nodes that one clock observes at the same time.
    const MAX_OBSERVED_NODES: usize = 64;
    /// Inode of the initial pid namespace: `PROC_PID_INIT_INO` of the kernel's `include/linux/proc_ns.h`.
    const INITIAL_PID_NAMESPACE: u32 = 0xEFFF_FFFC;
    /// Ports whose writes and reads are counted.
    const SIZE_PORTS: usize = 64;
}

enums! {
    /// Where the CPU was when the sample was taken.
    enum CpuMode { User = 0, Kernel = 1 }

    /// What caused a sample.
    enum ProbeEvent {
        Cpu = 0,
        OffCpu = 1,
        Mmap = 2,
        Munmap = 3,
        Brk = 4,
        PageFaults = 5,
        ContextSwitches = 6,
    }

    /// Which way data went between a process and a socket.
    enum SocketCall {
        /// From the process: a write.
        Send = 0,
        /// To the process: a read.
        Receive = 1,
    }

    /// Why a thread was off the CPU.
    enum WaitState {
        /// It was not.
        None = 0,
        /// Until another thread or an interrupt woke it.
        Blocked = 1,
        /// It was woken or preempted, and no CPU was free.
        Runnable = 2,
    }

    /// How the walk of the Erlang stack ended.
    enum ErlangOutcome {
        /// The thread is no scheduler, or runs no process.
        NoProcess = 0,
        /// At the return address that every process starts with.
        Complete = 1,
        /// The stack has more frames or words than are walked.
        Truncated = 2,
        /// At the end of the stack, without meeting that address.
        NoRoot = 3,
        /// User memory could not be read: swapped out, or a race with the node.
        Unreadable = 4,
    }

    /// Where the walk of the Erlang stack started.
    enum StackOrigin {
        None = 0,
        /// At the stack pointer of JIT code.
        Register = 1,
        /// At `Process.stop`, which JIT code stores before a call into C.
        Saved = 2,
        /// At a callee-saved register that keeps the stack pointer across the call into C.
        KeptRegister = 3,
        /// At `Process.stop`, while the garbage collector moves the heap.
        MovedHeap = 4,
    }

    /// How the walk through the C frames ended.
    enum NativeOutcome {
        /// JIT code was interrupted: there are no C frames.
        None = 0,
        /// At the call from JIT code, where the Erlang stack continues.
        ReachedJit = 1,
        /// At the first function of the thread.
        ReachedRoot = 2,
        /// At code without unwind rows, or at the limit of frames.
        Cut = 3,
    }

    /// How to compute the canonical frame address (CFA): the stack pointer before the call of the
    /// function. The word below it is the return address.
    enum CfaKind {
        /// No rule that fits into a row, or no code.
        Unknown = 0,
        /// Stack pointer + offset.
        Sp = 1,
        /// Frame pointer + offset.
        Bp = 2,
        /// The linker's call stubs: depends on the position within 16 bytes.
        Plt = 3,
        /// No caller: the first function of a thread.
        End = 4,
        /// The word at stack pointer + offset, plus a constant: hand-written assembly.
        SpSaved = 5,
    }

    /// Counters since attach: indices of the map `counters`.
    enum Counter {
        /// Ticks that fell on the node.
        Ticks = 0,
        /// Samples for which there was no room in a map or ring.
        Lost = 1,
        /// Entries added to the map of samples.
        New = 2,
        /// In JIT code the process register was the scheduler's current process.
        JitAgrees = 3,
        /// It was not.
        JitDisagrees = 4,
        /// The kernel gave no stack of its own.
        KernelStackLost = 5,
        /// Ticks put into the ring buffer.
        Sent = 6,
    }
}

structs! {
    /// Key of the map `samples`: hashes over everything that tells two samples apart.
    struct SampleKey {
        hash_a: u64,
        hash_b: u64,
        generation: u64,
    }

    /// The fields of a sample that have a fixed size.
    struct SampleHead {
        /// Equal samples that were counted together.
        count: u64,
        /// Sum of their weights in the unit of the event: ticks, nanoseconds, bytes, calls.
        weight: u64,
        /// `Process.common.id`, a pid term; 0 without a process.
        process: u64,
        /// The interrupted user-space instruction.
        ip: u64,
        /// Return address of the call from JIT code into C; 0 when JIT code was interrupted.
        jit_return: u64,
        /// The `ErtsCodeMFA` that `Process.current` points to, see `take_current`; else 0.
        current: [u64; CURRENT_WORDS],
        /// The innermost return address when it is not aligned, see `take_fragment_call`; else 0.
        fragment_call: u64,
        /// The address at which the process continues, see `take_resumption`; else 0.
        resumes_at: u64,
        /// In the node's own pid namespace.
        tid: u32,
        /// A `CpuMode`.
        mode: u8,
        /// An `ErlangOutcome`.
        erlang_outcome: u8,
        /// A `StackOrigin`.
        origin: u8,
        /// 1 when `ip` is JIT code.
        ip_in_jit: u8,
        /// Erlang frames at the inner end of the stack.
        frame_count: u16,
        /// Kernel frames.
        kernel_count: u16,
        /// Of a truncated stack: frames at the root, after `frames[FRAME_SLOTS]`.
        outer_count: u16,
        /// C frames.
        native_count: u16,
        /// A `NativeOutcome`.
        native_outcome: u8,
        /// A `ProbeEvent`.
        event: u8,
        /// A `WaitState`.
        wait: u8,
        reserved: [u8; 5],
    }

    /// Value of the map `samples`: a distinct sample.
    struct RawSample {
        head: SampleHead,
        /// Return addresses of C functions, innermost first.
        native: [u64; NATIVE_FRAMES],
        /// Kernel addresses, innermost first.
        kernel: [u64; KERNEL_FRAMES],
        /// The weight again, by time steps since the generation began. The last step has the rest.
        times: [u64; TIME_SLOTS],
        /// Erlang return addresses, innermost first, each with its repeats in the bits above
        /// `REPEAT_SHIFT`. The second half is for the outer frames of a truncated stack. The largest part, of which most
        /// samples use the beginning, is the last, so that what a sample uses lies together.
        frames: [u64; 2 * FRAME_SLOTS],
    }

    /// Value of the map `off_cpu_threads`: a thread that is off the CPU, with the stack it left.
    struct OffCpuThread {
        /// When it left the CPU, in nanoseconds of the monotonic clock.
        left_nanos: u64,
        /// When it was woken; 0 before that.
        woken_nanos: u64,
        sample: RawSample,
    }

    /// How to find the caller of a C function, from one instruction until that of the next row.
    /// Compiled from `.eh_frame` by `src/native/unwind`.
    struct UnwindRow {
        /// First instruction, relative to the module's base.
        pc: u32,
        cfa_offset: i32,
        /// A `CfaKind`.
        cfa: u8,
        /// For each register of the architecture's `arch.h` a number that says where it was saved; 0: unchanged. On x86-64
        /// words below the return address. On aarch64, which has four such registers, one more than the index among
        /// the words whose distance from the CFA is in the last two bytes.
        saved: [u8; 6],
        /// Of `CfaKind::SpSaved`: bytes to add to the saved stack pointer.
        above: u8,
    }

    /// Value of the map `unwind_rows`.
    struct UnwindRowChunk {
        rows: [UnwindRow; ROWS_PER_CHUNK as usize],
    }

    /// Value of the map `row_blocks`. The code of a file is divided into blocks of one size, so that few
    /// rows have to be searched: for each block the row, counted from the file's first, that is valid at
    /// its beginning; after the last block the index of the last row.
    struct RowBlockChunk {
        rows: [u32; BLOCKS_PER_CHUNK as usize],
    }

    /// An executable mapping for which there are unwind rows.
    struct UnwindModule {
        /// Unused entries have the highest address.
        start: u64,
        end: u64,
        /// The address to which the rows are relative.
        base: u64,
        first_row: u32,
        row_count: u32,
        first_block: u32,
        /// Counted from the module's first block.
        last_block: u32,
        /// A block has two to the power of this many bytes.
        block_bits: u32,
        reserved: u32,
    }

    /// Value of the map `unwind_modules`: all modules in order of address.
    struct UnwindModules {
        list: [UnwindModule; MAX_UNWIND_MODULES],
    }

    /// Value of the map `schedulers`: a thread that runs Erlang processes.
    struct Scheduler {
        /// Address of its `ErtsSchedulerData`.
        data: u64,
        /// 1 for a normal scheduler; dirty ones run native code only.
        runs_jit: u64,
    }

    /// A span of addresses; a size of 0 means unused.
    struct Segment {
        start: u64,
        size: u64,
    }

    /// Where the node's JIT code is.
    struct JitCode {
        /// One span around all segments.
        envelope: Segment,
        segments: [Segment; JIT_SEGMENTS],
        /// 1 when Erlang stacks have frame pointers beside the return addresses (`+JPperf true`).
        has_frame_pointers: u64,
    }

    /// Value of the map `recording_state`, which user space changes during a recording.
    struct RecordingState {
        /// Counted up before the samples of the old generation are fetched.
        generation: u64,
        /// Start of the recording in nanoseconds of the monotonic clock: waits count from then on.
        start_nanos: u64,
        /// Start of this generation: a whole number of time steps after `start_nanos`.
        generation_nanos: u64,
        /// Counted up; the lowest bit says which of the two lists of modules is valid.
        modules_version: u64,
        jit: JitCode,
    }

    /// Value of the map `snapshots`: the VM's structures at a tick in JIT code, for calibration.
    struct Snapshot {
        /// 1 when everything could be read.
        valid: u64,
        /// The process register.
        process: u64,
        /// The stack register.
        stack: u64,
        /// Address of the scheduler's `ErtsSchedulerData`.
        scheduler_data: u64,
        /// The first words of that structure.
        scheduler_words: [u64; SNAPSHOT_WORDS],
        /// The first words of the process.
        process_words: [u64; SNAPSHOT_WORDS],
    }

    /// Key of the map `observed_nodes`: a process by the ids that it has of itself.
    struct ObservedProcess {
        /// Inode of its pid namespace.
        pid_namespace: u32,
        /// Its pid in that namespace.
        tgid: u32,
    }

    /// Value of the map `sizes`, for each `SocketCall`: the calls of one process on TCP sockets.
    struct SizeCounts {
        /// Calls that moved data, or found the end of it.
        calls: u64,
        /// Bytes that they moved.
        bytes: u64,
        /// Calls for which there was no room, or no data.
        would_block: u64,
        /// Calls that failed in another way.
        failed: u64,
        /// Numbers of calls by the size of what they moved.
        buckets: [u64; SIZE_BUCKETS],
    }
}
