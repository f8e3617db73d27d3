"""Names that Rust has of itself."""

from controller.graph.languages.rust.text import HELD, SAME

_TYPES = "bool char f32 f64 i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize str"
_VALUES = "Some None Ok Err true false _ self Self super crate"

_OF_VALUES = (
    "into try_into from cmp eq ne hash fmt default to_string as_str as_bytes as_slice lock send recv join take map"
)
_OF_LISTS = (
    "len is_empty push pop insert get get_mut remove contains next peek collect extend first last any all find rev"
)

SILENT = frozenset(f"{_TYPES} {_VALUES}".split())

VAGUE = SAME | HELD | frozenset(f"{_OF_VALUES} {_OF_LISTS}".split())
"""What the standard library has so often that a bare call of it is none of ours."""

HOLDING = ("Some", "Ok")
"""Patterns that bind what an optional value holds."""
