//! Values in tables, by the letter of their type, as RabbitMQ defines them.

/// The form of a value after its letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueLayout {
    /// This number of octets.
    Fixed(usize),
    /// Octets after their length of four octets.
    Bytes,
    /// Values with their letters, after the length of all.
    Array,
    /// A table.
    Table,
}

impl ValueLayout {
    /// Returns the form of values with this letter; none for an unknown letter.
    pub const fn from_letter(letter: u8) -> Option<Self> {
        Some(match letter {
            b'V' => Self::Fixed(0),
            b't' | b'b' | b'B' => Self::Fixed(1),
            b's' | b'u' => Self::Fixed(2),
            b'I' | b'i' | b'f' => Self::Fixed(4),
            b'D' => Self::Fixed(5),
            b'l' | b'L' | b'd' | b'T' => Self::Fixed(8),
            b'S' | b'x' => Self::Bytes,
            b'A' => Self::Array,
            b'F' => Self::Table,
            _ => return None,
        })
    }
}
