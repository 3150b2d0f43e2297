//! The learners, one file each: its rule, its guarantee, its cost, its reference.

mod adam;
mod ahead;
pub(crate) mod dual;
pub(crate) mod ledger;
pub(crate) mod linear_unit;
pub(crate) mod max_margin;
pub(crate) mod network;
mod pace;
pub(crate) mod perceptron;
mod scoreboard;
mod start;
pub(crate) mod twin;
