//! What the fuzz targets check; the corpus test of the library runs the same code.

#[path = "../../crates/rosenblatt/tests/checks/mod.rs"]
pub mod checks;
