//! Counts stacks of addresses, and names their addresses.

use std::rc::Rc;

use super::{
    super::{
        Frame, FrameId, FrameKind, TooLarge,
        names::{generated_frame, kernel_frame, module_frame, native_frame},
        tally::{Counted, Merged},
    },
    CodeNames,
    container::words,
    distinct::{DistinctStacks, Stack},
    files::{BuildIds, KERNEL, RecordedFile, RecordedKernel},
    layout::{Bytes, RawSample},
    named::Named,
    spaces::{AddressSpaces, Mapped},
};

/// The first mark of a chain. A mark switches the following addresses to the kernel or to user space.
const MARKS: u64 = u64::MAX - 4094;
const MARK_KERNEL: u64 = (-128_i64).cast_unsigned();

/// Start of the kernel's half of the address space.
const KERNEL_HALF: u64 = 1 << 63;

/// Names of mappings that look like files but hold generated code.
const NO_FILES: [&str; 6] =
    ["//anon", "/memfd:", "/anon_hugepage", "/dev/zero", "/SYSV", "/drm mm object"];

pub(super) struct Stacks<'a> {
    pub(super) spaces: AddressSpaces,
    pub(super) build_ids: BuildIds,
    pub(super) merged: Merged,
    pub(super) kernel: RecordedKernel,
    distinct: DistinctStacks,
    names: &'a mut dyn CodeNames,
    named: Named,
    key: Vec<u8>,
}

impl<'a> Stacks<'a> {
    pub(super) fn new(names: &'a mut dyn CodeNames, build_ids: BuildIds, limit_bytes: u64) -> Self {
        Self {
            spaces: AddressSpaces::default(),
            build_ids,
            merged: Merged::within(limit_bytes),
            kernel: RecordedKernel::default(),
            distinct: DistinctStacks::default(),
            names,
            named: Named::default(),
            key: Vec::new(),
        }
    }

    /// Maps a file into a process.
    pub(super) fn mapped(&mut self, pid: u32, mapping: Mapped) -> Result<(), TooLarge> {
        // The kernel's own mappings have no process.
        if pid == u32::MAX {
            self.mapped_in_kernel(&mapping);
        } else if mapping.start < mapping.end {
            if self.spaces.replaces(pid, &mapping) {
                self.name_all()?;
                self.named.forget(pid);
            }
            self.spaces.map(pid, mapping);
        }
        Ok(())
    }

    /// Records the reference symbol of the kernel. The kernel's mapping is named after it and has its address as
    /// offset.
    fn mapped_in_kernel(&mut self, mapping: &Mapped) {
        if let Some(symbol) = mapping.file.path.strip_prefix(KERNEL) {
            let address = mapping.file_offset;
            self.kernel.reference = (!symbol.is_empty()).then(|| (symbol.to_owned(), address));
        }
    }

    /// Names a thread from now on.
    pub(super) fn called(&mut self, is_exec: bool, body: &[u8]) -> Result<(), TooLarge> {
        let mut bytes = Bytes(body);
        let (Some(pid), Some(tid)) = (bytes.u32(), bytes.u32()) else { return Ok(()) };
        if is_exec {
            self.name_all()?;
            self.named.forget(pid);
            self.spaces.exec(pid);
        }
        self.spaces.call(tid, bytes.text());
        Ok(())
    }

    /// Returns the number of a sample's stack.
    pub(super) fn number_of(&mut self, event: usize, sample: &RawSample<'_>) -> u32 {
        let event = u32::try_from(event).unwrap_or(u32::MAX);
        self.key.clear();
        self.key.extend_from_slice(&event.to_le_bytes());
        self.key.extend_from_slice(&sample.pid.to_le_bytes());
        self.key.extend_from_slice(&sample.tid.to_le_bytes());
        self.key.extend_from_slice(sample.chain);
        if sample.chain.is_empty()
            && let Some(address) = sample.address
        {
            self.key.extend_from_slice(&address.to_le_bytes());
        }
        self.distinct.number_of(&self.key, sample.tid)
    }

    /// Counts a sample of a stack whose turn has come: its thread has the name of now.
    pub(super) fn count(&mut self, number: u32, weight: u64) -> Result<(), TooLarge> {
        let counted = Counted { weight, count: 1 };
        let name = self.spaces.name_of(self.distinct.get(number).tid);
        if !self.distinct.count(number, name, counted) {
            self.name(number)?;
            self.distinct.count(number, name, counted);
        }
        Ok(())
    }

    /// Returns whether stacks must be removed, so that memory stays bounded.
    pub(super) fn are_full(&self) -> bool {
        self.distinct.is_full()
    }

    /// Returns whether stacks take half of the memory that they may.
    pub(super) fn are_half_full(&self) -> bool {
        self.distinct.is_half_full()
    }

    /// Names all counted stacks, and removes all stacks but those of waiting samples, which get new numbers.
    pub(super) fn make_room<'b>(
        &mut self,
        waiting: impl Iterator<Item = &'b mut u32>,
    ) -> Result<(), TooLarge> {
        self.name_all()?;
        self.distinct.keep_only(waiting);
        Ok(())
    }

    /// Turns all counted address stacks into named stacks.
    pub(super) fn name_all(&mut self) -> Result<(), TooLarge> {
        self.distinct.take_counted().into_iter().try_for_each(|number| self.name(number))
    }

    /// Turns a counted address stack into a named stack.
    fn name(&mut self, number: u32) -> Result<(), TooLarge> {
        let stack: Stack = self.distinct.take(number);
        if stack.counted.count == 0 {
            return Ok(());
        }
        let mut bytes = Bytes(self.distinct.bytes_of(stack));
        let (Some(event), Some(pid), Some(_tid)) = (bytes.u32(), bytes.u32(), bytes.u32()) else {
            return Ok(());
        };
        let chain = words(bytes.0);
        let thread = self.spaces.text(stack.name).to_owned();
        let mut frames = vec![self.merged.root(&thread)?];
        let leaf_first = self.frames(pid, &chain)?;
        frames.extend(leaf_first.into_iter().rev());
        self.merged.add(event as usize, &thread, &frames, stack.counted)
    }

    fn frames(&mut self, pid: u32, chain: &[u64]) -> Result<Vec<FrameId>, TooLarge> {
        let mut in_kernel = chain.first().is_some_and(|&first| first >= KERNEL_HALF);
        let mut frames = Vec::with_capacity(chain.len());
        let mut is_caller = false;
        for &address in chain {
            if address >= MARKS {
                in_kernel = address == MARK_KERNEL;
                is_caller = false;
                continue;
            }
            // A return address may already belong to the next function.
            let address = if is_caller { address.wrapping_sub(1) } else { address };
            frames.push(self.frame(pid, address, in_kernel)?);
            is_caller = true;
        }
        Ok(frames)
    }

    fn frame(&mut self, pid: u32, address: u64, in_kernel: bool) -> Result<FrameId, TooLarge> {
        let pid = if in_kernel { 0 } else { pid };
        if let Some(frame) = self.named.get(pid, address) {
            return Ok(frame);
        }
        let frame = if in_kernel {
            self.kernel.build_id = self.build_ids.get(KERNEL);
            kernel_frame(self.names.in_kernel(&self.kernel, address).as_deref())
        } else {
            self.user_frame(pid, address)
        };
        let id = self.merged.intern(frame)?;
        self.named.insert(pid, address, id);
        Ok(id)
    }

    fn user_frame(&mut self, pid: u32, address: u64) -> Frame {
        let mapping = self.spaces.at(pid, address).cloned();
        if let Some(mapping) = mapping.filter(|mapping| is_file(&mapping.file.path)) {
            let offset = (address - mapping.start).wrapping_add(mapping.file_offset);
            let known = || self.build_ids.get(&mapping.file.path);
            let build_id = mapping.file.build_id.clone().or_else(known);
            let file = RecordedFile { build_id, ..(*mapping.file).clone() };
            return match self.names.in_file(&file, offset) {
                Some(name) => native_frame(&name),
                None => module_frame(&file.path),
            };
        }
        match self.names.generated(pid, address) {
            Some(name) => generated_frame(&name),
            None => Frame { name: "[unknown]".to_owned(), kind: FrameKind::Native },
        }
    }
}

/// Parses the record of a mapping.
pub(super) fn read_mapping(body: &[u8], name_at: usize) -> Option<(u32, Mapped)> {
    let mut bytes = Bytes(body);
    let (pid, _tid) = (bytes.u32()?, bytes.u32()?);
    let (start, length, file_offset) = (bytes.u64()?, bytes.u64()?, bytes.u64()?);
    let path = Bytes(body.get(name_at..)?).text();
    let file = Rc::new(RecordedFile { path: path.into(), ..RecordedFile::default() });
    Some((pid, Mapped { start, end: start.saturating_add(length), file_offset, file }))
}

/// Returns whether the path is a file. Generated code is in no file, with any name of its mapping.
fn is_file(path: &str) -> bool {
    let is_other = NO_FILES.iter().any(|start| path.starts_with(start));
    path.starts_with('/') && !is_other || path == "[vdso]"
}
