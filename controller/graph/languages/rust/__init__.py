"""Rust: crates by Cargo.toml, modules by `mod`, methods wherever their `impl` stands."""
