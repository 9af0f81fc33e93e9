//! The Rust side of `bpf/interface.rs`: constants, enums and structures with the layout of C.

#![allow(dead_code, reason = "some definitions are for the kernel program alone")]

use aya::Pod;

/// A type without padding for which every bit pattern is valid.
pub(crate) trait Plain: Copy {
    /// All bytes zero.
    const ZERO: Self;

    /// Takes the value from the beginning of `bytes`, in the machine's byte order. `None` if there are too few.
    fn read_from(&mut self, bytes: &mut &[u8]) -> Option<()>;
}

macro_rules! plain_integers {
    ($($type:ty),*) => {
        $(impl Plain for $type {
            const ZERO: Self = 0;

            fn read_from(&mut self, bytes: &mut &[u8]) -> Option<()> {
                let (&first, rest) = bytes.split_first_chunk()?;
                (*self, *bytes) = (Self::from_ne_bytes(first), rest);
                Some(())
            }
        })*
    };
}

plain_integers!(u8, u16, u32, u64, i32);

impl<T: Plain, const N: usize> Plain for [T; N] {
    const ZERO: Self = [T::ZERO; N];

    fn read_from(&mut self, bytes: &mut &[u8]) -> Option<()> {
        self.iter_mut().try_for_each(|item| item.read_from(bytes))
    }
}

macro_rules! constants {
    ($($(#[doc = $doc:literal])* const $name:ident: $type:ident = $value:expr;)*) => {
        $($(#[doc = $doc])* pub(crate) const $name: $type = $value;)*
    };
}

macro_rules! enums {
    ($($(#[doc = $doc:literal])* enum $name:ident {
        $($(#[doc = $variant_doc:literal])* $variant:ident = $number:literal),* $(,)?
    })*) => {
        $(
            $(#[doc = $doc])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq)]
            #[repr(u8)]
            pub(crate) enum $name { $($(#[doc = $variant_doc])* $variant = $number),* }

            impl $name {
                /// All variants, in the order of the definition.
                pub(crate) const ALL: &[Self] = &[$(Self::$variant),*];

                /// The number of the variant in structures.
                pub(crate) const fn number(self) -> u8 {
                    self as u8
                }

                /// The variant with a number; `None` for an undefined number.
                pub(crate) fn from_number(number: u8) -> Option<Self> {
                    Self::ALL.iter().copied().find(|variant| variant.number() == number)
                }
            }
        )*
    };
}

macro_rules! structs {
    ($($(#[doc = $doc:literal])* struct $name:ident {
        $($(#[doc = $field_doc:literal])* $field:ident: $type:ty),* $(,)?
    })*) => {
        /// Names of all structures.
        pub(super) const STRUCTS: &[&str] = &[$(stringify!($name)),*];

        $(
            $(#[doc = $doc])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq)]
            #[repr(C)]
            pub(crate) struct $name { $($(#[doc = $field_doc])* pub(crate) $field: $type),* }

            impl Plain for $name {
                const ZERO: Self = Self { $($field: <$type>::ZERO),* };

                fn read_from(&mut self, bytes: &mut &[u8]) -> Option<()> {
                    $(self.$field.read_from(bytes)?;)*
                    Some(())
                }
            }

            impl Default for $name {
                fn default() -> Self {
                    Self::ZERO
                }
            }

            // Padding would be uninitialised memory, and C might place it elsewhere.
            const _: () = assert!(
                size_of::<$name>() == 0 $(+ size_of::<$type>())*,
                concat!(stringify!($name), " has padding: write it out as a field")
            );

            // SAFETY: `repr(C)`, made of `Plain` fields only, and without padding, so that every bit
            // pattern is valid and no byte is uninitialised.
            #[expect(unsafe_code, reason = "aya copies these types to and from kernel memory")]
            unsafe impl Pod for $name {}
        )*
    };
}

include!("../../bpf/interface.rs");

#[cfg(test)]
mod tests {
    use super::{ErlangOutcome, ProbeEvent, STRUCTS};

    /// Maps that user space never reads or writes.
    const PRIVATE_MAPS: [&str; 2] = ["row_cache", "scratches"];

    #[test]
    fn every_map_that_user_space_shares_holds_a_structure_of_the_interface() {
        let maps = include_str!("../../bpf/maps.h");
        let definitions: Vec<&str> = maps.split("\nstruct {\n").skip(1).collect();
        assert_eq!(definitions.len(), maps.matches("SEC(\".maps\")").count());
        for definition in definitions {
            let (body, rest) = definition.split_once("\n} ").unwrap();
            let map = rest.split_whitespace().next().unwrap();
            for kind in ["key", "value"] {
                let prefix = format!("TYPE({kind}, struct ");
                let Some((_, rest)) = body.split_once(&prefix) else { continue };
                let (structure, _) = rest.split_once(')').unwrap();
                let is_shared = STRUCTS.iter().any(|name| snake_case(name) == structure);
                assert_ne!(is_shared, PRIVATE_MAPS.contains(&map), "{kind} of {map}: {structure}");
            }
        }
    }

    fn snake_case(name: &str) -> String {
        let snake: String = name
            .chars()
            .flat_map(|letter| [letter.is_ascii_uppercase().then_some('_'), Some(letter)])
            .flatten()
            .collect();
        let snake = snake.to_ascii_lowercase();
        snake.trim_start_matches('_').to_owned()
    }

    #[test]
    fn a_number_without_a_variant_is_none() {
        assert_eq!(ProbeEvent::from_number(6), Some(ProbeEvent::ContextSwitches));
        assert_eq!(ProbeEvent::from_number(7), None);
        assert_eq!(ErlangOutcome::from_number(u8::MAX), None);
    }
}
