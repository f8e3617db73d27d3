"""Names that Rust has of itself."""

_TYPES = "bool char f32 f64 i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize str"
_VALUES = "Some None Ok Err true false _ self Self super crate"

SILENT = frozenset(f"{_TYPES} {_VALUES}".split())

HOLDING = ("Some", "Ok")
"""Patterns that bind what an optional value holds."""
