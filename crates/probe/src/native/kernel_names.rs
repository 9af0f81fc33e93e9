//! Names of the kernel's functions: a list of some 10 MB, which all nodes that are recorded on a thread share.

use std::{
    cell::RefCell,
    rc::{Rc, Weak},
};

use blazesym::{
    MaybeDefault,
    symbolize::{
        Input, Symbolizer,
        source::{Kernel, Source},
    },
};
use rabbitscope_profiles::source_name;

use super::native_name::NativeName;
use crate::permission::{KERNEL_SYMBOLS, raise};

thread_local! {
    /// The list that somebody on this thread has. It goes with the last who has it.
    static SHARED: RefCell<Weak<KernelNames>> = const { RefCell::new(Weak::new()) };
}

/// The kernel's own list of its functions.
pub(super) struct KernelNames {
    symbolizer: Symbolizer,
    source: Source<'static>,
}

impl KernelNames {
    /// Reads the list while the privilege is there, or takes the one that was read on this thread.
    pub(super) fn shared(symbolizer: impl FnOnce() -> Symbolizer) -> Rc<Self> {
        SHARED.with_borrow_mut(|shared| {
            shared.upgrade().unwrap_or_else(|| {
                let names = Rc::new(Self::read(symbolizer()));
                *shared = Rc::downgrade(&names);
                names
            })
        })
    }

    /// The list is read by a first query and kept. No other file is opened.
    fn read(symbolizer: Symbolizer) -> Self {
        let kernel = Kernel { vmlinux: MaybeDefault::None, debug_syms: false, ..Kernel::default() };
        let names = Self { symbolizer, source: Source::Kernel(kernel) };
        let _raised = raise(KERNEL_SYMBOLS);
        let _ = names.symbolizer.symbolize_single(&names.source, Input::AbsAddr(0));
        names
    }

    /// The function at `address`.
    pub(super) fn name(&self, address: u64) -> NativeName {
        match self.symbolizer.symbolize_single(&self.source, Input::AbsAddr(address)) {
            Ok(found) => match found.into_sym() {
                Some(symbol) => NativeName::Known(source_name(&symbol.name).to_owned()),
                None => NativeName::Unknown("kernel".into()),
            },
            Err(_) => NativeName::Unknown("kernel".into()),
        }
    }
}
