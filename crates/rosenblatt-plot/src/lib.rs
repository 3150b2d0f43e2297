//! Figures for learning: curves, boundaries, margins, confusions, weights, in one style.
//!
//! A [`Figure`] holds [`Panel`]s, a panel two [`Axis`]es and [`Layer`]s; an [`Animation`] holds
//! figures, an [`html::Page`] holds figures, tables and words. Everything is built by value and drawn
//! as SVG by a writer of our own, as PNG by `resvg` with an embedded font (feature `png`), or
//! into one HTML file that needs no network and no script. The same input gives the same bytes on
//! every machine.
//!
//! ```
//! use rosenblatt_plot::{Axis, Figure, Layer, Panel, spread};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let runs = [
//!     (10.0, vec![18.0, 25.0, 31.0]),
//!     (100.0, vec![110.0, 160.0, 240.0]),
//!     (1000.0, vec![700.0, 1100.0, 1900.0]),
//! ];
//! let panel = Panel::new()
//!     .x(Axis::log("1/γ²"))
//!     .y(Axis::log("updates to convergence"))
//!     .layers(spread("median and quartiles of 3 seeds", &runs))
//!     .layer(Layer::line([(10.0, 40.0), (1000.0, 4000.0)]).label("bound R²/γ²"));
//! let figure = Figure::of(panel)
//!     .title("Every run stays below the bound")
//!     .caption("Updates until the first clean pass.");
//! let svg = figure.svg();
//! # if !rosenblatt_plot::PNG { return Ok(()) }
//! let png = figure.png(2.0)?;
//! # Ok(())
//! # }
//! ```
//!
//! Numbers that cannot be shown (not finite, or not positive on a logarithmic axis) are left out;
//! empty data draw empty axes. Nothing here panics on data.

mod animation;
mod axis;
mod color;
mod figure;
pub mod html;
mod layer;
mod panel;
mod png;
mod svg;
pub mod text;
pub mod ticks;
mod view;

pub use animation::Animation;
pub use axis::{Axis, Scale};
pub use color::{Color, Palette};
pub use figure::{Figure, Legend};
pub use layer::{Dash, HeatMap, Layer, Marker, Regions, Side, bin_edges, quartiles, spread};
pub use panel::Panel;
pub use png::{PNG, PngError, svg_to_png};
pub use svg::escape;
pub use view::{Point3, View};
