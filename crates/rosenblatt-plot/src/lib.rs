//! Figures for learning: curves, boundaries, margins, confusions, weights, in one style.

pub mod text;
pub mod ticks;
