//! What the program does with files, options and models, seen from outside.
//!
//! One test program rather than one for each file: it links faster, and its tests run side by side.

mod bad_input;
mod cache;
mod common;
mod decisions;
mod experiment;
mod golden;
mod held_out;
mod help;
mod hostile;
mod logistic;
mod max_margin;
mod one_answer;
mod refusals;
mod report;
mod resume;
mod separability;
mod serve;
mod studio;
mod tampering;
mod traps;
mod tune;
mod wording;
mod worked_examples;
