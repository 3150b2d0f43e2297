//! The `rosenblatt` program.
fn main() {}
