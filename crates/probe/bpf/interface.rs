// The one definition of the data that the kernel program and user space exchange.
//
// `build.rs` includes this file and writes the C header `interface.h` from it. `src/kernel_interface` includes it
// as Rust constants, enums and structures. In C a structure `SampleKey` is `struct sample_key`, and a variant
// `ProbeEvent::OffCpu` is `PROBE_EVENT_OFF_CPU`.
//
// Fields are integers, arrays and other structures of this file. Implicit padding does not compile: write it out as
// a field `reserved`.

constants! {
    /// Stack words per read. Most Erlang stacks are shorter than two such chunks.
    const CHUNK_WORDS: usize = 32;
    /// Limit of chunks: 4,096 words or 32 KiB of stack.
    const CHUNKS: usize = 128;
    /// Erlang frames of a sample. A power of two, because the verifier needs a mask for the index.
    const FRAME_SLOTS: usize = 256;
    /// The walk stops at this many frames, so that the frames of one more chunk always fit.
    const FRAME_LIMIT: usize = FRAME_SLOTS - CHUNK_WORDS;
    /// Words walked next to the root of a stack that is longer than the limits above.
    const OUTER_WORDS: usize = 8 * CHUNK_WORDS;
    /// Half of the kernel's default limit (`kernel.perf_event_max_stack`, 127). A deeper kernel stack loses its
    /// outermost frames.
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
    /// Rows per chunk of 4 KiB: with chunks user space fills the map in few system calls.
    const ROWS_PER_CHUNK: u32 = 256;
    /// First rows of blocks per chunk, likewise. A power of two.
    const BLOCKS_PER_CHUNK: u32 = 1024;
    /// Executable mappings with unwind rows: a power of two, for the binary search. Walks end as
    /// `NativeOutcome::Cut` in any further mapping.
    const MAX_UNWIND_MODULES: usize = 128;
    /// Memory areas that hold JIT code. Native libraries may lie between two of them.
    const JIT_SEGMENTS: usize = 8;
    /// Words of a VM structure in a snapshot: more than the offset of any field in `beam/layout.rs`.
    const SNAPSHOT_WORDS: usize = 64;
    /// Snapshots kept for one calibration.
    const SNAPSHOTS: u32 = 32;
    /// Buckets of a histogram of sizes: one per size below 8 bytes, then 8 per power of two. Sizes have 31 bits, so
    /// that 232 are used. A power of two, because the verifier needs a mask for the index.
    const SIZE_BUCKETS: usize = 256;
    /// Buckets per power of two, as an exponent of two.
    const SIZE_BUCKET_BITS: u32 = 3;
    /// Nodes that one clock observes at the same time.
    const MAX_OBSERVED_NODES: usize = 64;
    /// Inode of the initial pid namespace: `PROC_PID_INIT_INO` of the kernel's `include/linux/proc_ns.h`.
    const INITIAL_PID_NAMESPACE: u32 = 0xEFFF_FFFC;
    /// Limit of ports with counted writes and reads.
    const SIZE_PORTS: usize = 64;
}

enums! {
    /// Mode of the CPU when the sample was taken.
    enum CpuMode { User = 0, Kernel = 1 }

    /// Cause of a sample.
    enum ProbeEvent {
        Cpu = 0,
        OffCpu = 1,
        Mmap = 2,
        Munmap = 3,
        Brk = 4,
        PageFaults = 5,
        ContextSwitches = 6,
    }

    /// Direction of data between a process and a socket.
    enum SocketCall {
        /// From the process: a write.
        Send = 0,
        /// To the process: a read.
        Receive = 1,
    }

    /// Reason for a thread's absence from the CPU.
    enum WaitState {
        /// The thread was on the CPU.
        None = 0,
        /// The thread waited for another thread or an interrupt to wake it.
        Blocked = 1,
        /// The thread was woken or preempted, and no CPU was free.
        Runnable = 2,
    }

    /// Outcome of the walk of the Erlang stack.
    enum ErlangOutcome {
        /// None: the thread is no scheduler, or runs no process.
        NoProcess = 0,
        /// The walk reached the root: the return address of every process's first function.
        Complete = 1,
        /// The stack exceeds the limit of frames or words.
        Truncated = 2,
        /// The walk reached the end of the stack without meeting the root.
        NoRoot = 3,
        /// User memory could not be read: swapped out, or a race with the node.
        Unreadable = 4,
    }

    /// Starting point of the walk of the Erlang stack.
    enum StackOrigin {
        None = 0,
        /// The stack pointer of JIT code.
        Register = 1,
        /// `Process.stop`, which JIT code stores before a call into C.
        Saved = 2,
        /// A callee-saved register that keeps the stack pointer across the call into C.
        KeptRegister = 3,
        /// `Process.stop`, while the garbage collector moves the heap.
        MovedHeap = 4,
    }

    /// Outcome of the walk through the C frames.
    enum NativeOutcome {
        /// No C frames: JIT code was interrupted.
        None = 0,
        /// The walk reached the call from JIT code, where the Erlang stack continues.
        ReachedJit = 1,
        /// The walk reached the first function of the thread.
        ReachedRoot = 2,
        /// The walk met code without unwind rows, or the limit of frames.
        Cut = 3,
    }

    /// Rule for the canonical frame address (CFA): the stack pointer before the call of the function. The word
    /// below it is the return address.
    enum CfaKind {
        /// No code, or a rule that does not fit into a row.
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
        /// Ticks during which the node ran.
        Ticks = 0,
        /// Samples for which there was no room in a map or ring.
        Lost = 1,
        /// Entries added to the map of samples.
        New = 2,
        /// Ticks in JIT code with the scheduler's current process in the process register.
        JitAgrees = 3,
        /// Ticks in JIT code with another value there.
        JitDisagrees = 4,
        /// Samples for which the kernel gave no kernel stack.
        KernelStackLost = 5,
        /// Ticks written to the ring buffer.
        Sent = 6,
    }
}

structs! {
    /// Key of the map `samples`: hashes over all fields that distinguish two samples.
    struct SampleKey {
        hash_a: u64,
        hash_b: u64,
        generation: u64,
    }

    /// The fields of a sample that have a fixed size.
    struct SampleHead {
        /// Number of equal samples counted together.
        count: u64,
        /// Sum of their weights in the unit of the event: ticks, nanoseconds, bytes, calls.
        weight: u64,
        /// `Process.common.id`, a pid term; 0 without a process.
        process: u64,
        /// The interrupted user-space instruction.
        ip: u64,
        /// Return address of the call from JIT code into C; 0 when JIT code was interrupted.
        jit_return: u64,
        /// The `ErtsCodeMFA` that `Process.current` points to (see `take_current`), or 0.
        current: [u64; CURRENT_WORDS],
        /// The innermost return address if it is not aligned (see `take_fragment_call`), or 0.
        fragment_call: u64,
        /// The address at which the process continues (see `take_resumption`), or 0.
        resumes_at: u64,
        /// Thread id in the node's own pid namespace.
        tid: u32,
        /// A `CpuMode`.
        mode: u8,
        /// An `ErlangOutcome`.
        erlang_outcome: u8,
        /// A `StackOrigin`.
        origin: u8,
        /// 1 if `ip` is in JIT code.
        ip_in_jit: u8,
        /// Erlang frames at the inner end of the stack.
        frame_count: u16,
        /// Kernel frames.
        kernel_count: u16,
        /// Frames at the root of a truncated stack, stored from `frames[FRAME_SLOTS]` on.
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
        /// The weight by time step since the generation began. The last step includes all later ones.
        times: [u64; TIME_SLOTS],
        /// Erlang return addresses, innermost first, each with its repeats in the bits above `REPEAT_SHIFT`. The
        /// second half is for the outer frames of a truncated stack. This largest field is the last: most samples
        /// use only its beginning, so that all used bytes lie together.
        frames: [u64; 2 * FRAME_SLOTS],
    }

    /// Value of the map `off_cpu_threads`: a thread that is off the CPU, with the stack it left.
    struct OffCpuThread {
        /// Time at which it left the CPU, in nanoseconds of the monotonic clock.
        left_nanos: u64,
        /// Time of its wakeup; 0 before.
        woken_nanos: u64,
        sample: RawSample,
    }

    /// Rule that finds the caller of a C function, valid from one instruction to that of the next row. Compiled
    /// from `.eh_frame` by `src/native/unwind`.
    struct UnwindRow {
        /// First instruction, relative to the module's base.
        pc: u32,
        cfa_offset: i32,
        /// A `CfaKind`.
        cfa: u8,
        /// Place of each register of the architecture's `arch.h` among the saved words; 0: unchanged. On x86-64 the
        /// place counts words below the return address. aarch64 has four such registers. There the place is one
        /// more than the index among the saved words, and the last two bytes are the distance of these words from
        /// the CFA.
        saved: [u8; 6],
        /// For `CfaKind::SpSaved`: bytes to add to the saved stack pointer.
        above: u8,
    }

    /// Value of the map `unwind_rows`.
    struct UnwindRowChunk {
        rows: [UnwindRow; ROWS_PER_CHUNK as usize],
    }

    /// Value of the map `row_blocks`. Blocks of equal size divide the code of a file, so that few rows have to be
    /// searched. Each block has the index, from the file's first row, of the row that is valid at its beginning.
    /// One more entry has the index of the last row.
    struct RowBlockChunk {
        rows: [u32; BLOCKS_PER_CHUNK as usize],
    }

    /// An executable mapping with unwind rows.
    struct UnwindModule {
        /// Unused entries have the highest address.
        start: u64,
        end: u64,
        /// The address to which the rows are relative.
        base: u64,
        first_row: u32,
        row_count: u32,
        first_block: u32,
        /// Index from the module's first block.
        last_block: u32,
        /// Bytes of a block, as an exponent of two.
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
        /// 1 for a normal scheduler. Dirty schedulers run native code only.
        runs_jit: u64,
    }

    /// A span of addresses; a size of 0 means unused.
    struct Segment {
        start: u64,
        size: u64,
    }

    /// Addresses of the node's JIT code.
    struct JitCode {
        /// A span around all segments.
        envelope: Segment,
        segments: [Segment; JIT_SEGMENTS],
        /// 1 if Erlang stacks have frame pointers beside the return addresses (`+JPperf true`).
        has_frame_pointers: u64,
    }

    /// Value of the map `recording_state`, which user space changes during a recording.
    struct RecordingState {
        /// Number of the generation, increased before user space fetches the samples of the old one.
        generation: u64,
        /// Start of the recording in nanoseconds of the monotonic clock. Waits count from then on.
        start_nanos: u64,
        /// Start of this generation: a whole number of time steps after `start_nanos`.
        generation_nanos: u64,
        /// Number of changes of the modules. Its lowest bit selects the valid list of the two.
        modules_version: u64,
        jit: JitCode,
    }

    /// Value of the map `snapshots`: the VM's structures at a tick in JIT code, for calibration.
    struct Snapshot {
        /// 1 if all words could be read.
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

    /// Key of the map `observed_nodes`: a process by its ids in its own pid namespace.
    struct ObservedProcess {
        /// Inode of its pid namespace.
        pid_namespace: u32,
        /// Its pid in that namespace.
        tgid: u32,
    }

    /// Value of the map `sizes` for each `SocketCall`: the calls of one process on TCP sockets.
    struct SizeCounts {
        /// Calls that moved data or met the end of the stream.
        calls: u64,
        /// Bytes that they moved.
        bytes: u64,
        /// Calls that found no room or no data (`EAGAIN`).
        would_block: u64,
        /// Calls that failed for another reason.
        failed: u64,
        /// Number of calls by the size of the data they moved.
        buckets: [u64; SIZE_BUCKETS],
    }
}
