//! Constructors of values (part 1, section 1.6).

/// A descriptor and a value follow.
pub const DESCRIBED: u8 = 0x00;
/// `null`
pub const NULL: u8 = 0x40;
/// `boolean`, true
pub const TRUE: u8 = 0x41;
/// `boolean`, false
pub const FALSE: u8 = 0x42;
/// `uint` 0
pub const UINT_0: u8 = 0x43;
/// `ulong` 0
pub const ULONG_0: u8 = 0x44;
/// `list` without elements
pub const LIST_0: u8 = 0x45;
/// `ubyte`
pub const UBYTE: u8 = 0x50;
/// `byte`
pub const BYTE: u8 = 0x51;
/// `uint` of one byte
pub const SMALL_UINT: u8 = 0x52;
/// `ulong` of one byte
pub const SMALL_ULONG: u8 = 0x53;
/// `int` of one byte
pub const SMALL_INT: u8 = 0x54;
/// `long` of one byte
pub const SMALL_LONG: u8 = 0x55;
/// `boolean` with a byte of its own
pub const BOOLEAN: u8 = 0x56;
/// `ushort`
pub const USHORT: u8 = 0x60;
/// `short`
pub const SHORT: u8 = 0x61;
/// `uint`
pub const UINT: u8 = 0x70;
/// `int`
pub const INT: u8 = 0x71;
/// `ulong`
pub const ULONG: u8 = 0x80;
/// `long`
pub const LONG: u8 = 0x81;
/// `double`
pub const DOUBLE: u8 = 0x82;
/// `timestamp`
pub const TIMESTAMP: u8 = 0x83;
/// `binary` of up to 255 bytes
pub const BINARY_8: u8 = 0xa0;
/// `string` of up to 255 bytes
pub const TEXT_8: u8 = 0xa1;
/// `symbol` of up to 255 bytes
pub const SYMBOL_8: u8 = 0xa3;
/// `binary`
pub const BINARY_32: u8 = 0xb0;
/// `string`
pub const TEXT_32: u8 = 0xb1;
/// `symbol`
pub const SYMBOL_32: u8 = 0xb3;
/// `list` of up to 255 bytes
pub const LIST_8: u8 = 0xc0;
/// `map` of up to 255 bytes
pub const MAP_8: u8 = 0xc1;
/// `list`
pub const LIST_32: u8 = 0xd0;
/// `map`
pub const MAP_32: u8 = 0xd1;
/// `array` of up to 255 bytes
pub const ARRAY_8: u8 = 0xe0;
/// `array`
pub const ARRAY_32: u8 = 0xf0;
