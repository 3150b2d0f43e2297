//! Figures that explain: what the guide draws, with every number computed by the library.

mod geometry;
mod learned;
mod unit;

use rosenblatt::Result;
use rosenblatt_plot::Figure;

/// A figure by name.
pub struct Drawing {
    /// How a command names it.
    pub name: &'static str,
    /// What it shows.
    pub summary: &'static str,
    /// Draws it.
    pub draw: fn() -> Result<Figure>,
}

/// Every figure.
pub const DRAWINGS: &[Drawing] = &[
    Drawing {
        name: "distance",
        summary: "a point, its distance from a hyperplane and the foot of the perpendicular",
        draw: geometry::distance,
    },
    Drawing {
        name: "hulls",
        summary: "two convex hulls, the plane between them and its margin",
        draw: geometry::hulls,
    },
    Drawing {
        name: "losses",
        summary: "the loss functions side by side",
        draw: unit::losses,
    },
    Drawing {
        name: "polynomial",
        summary: "a polynomial classifier on a line",
        draw: learned::polynomial,
    },
    Drawing {
        name: "lifting",
        summary: "a disc and its complement, lifted to three dimensions",
        draw: learned::lifting,
    },
    Drawing {
        name: "multiclass",
        summary: "the regions of three classes with their discriminators",
        draw: learned::multiclass,
    },
    Drawing {
        name: "neuron",
        summary: "the unit as a neuron",
        draw: unit::neuron,
    },
];
