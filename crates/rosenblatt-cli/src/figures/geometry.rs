//! Planes, distances and hulls.

use rosenblatt::Result;
use rosenblatt::geometry::{Hyperplane, hull_distance};
use rosenblatt_plot::{Axis, Color, Dash, Figure, Layer, Marker, Panel, Side};

use crate::render::numbers::short;

/// A point, its distance from a hyperplane and the foot of the perpendicular.
pub fn distance() -> Result<Figure> {
    let plane = Hyperplane::new(vec![1.0, 2.0], 4.0)?;
    let (a, b) = (plane.normal().to_vec(), plane.offset());
    let far = [4.0, 3.0];
    let foot = plane.foot(&far);
    let apart = plane.distance(&far);
    let at = |v: &[f64]| (v[0], v[1]);
    let base = plane.foot(&[0.0, 0.0]);
    let panel = Panel::new()
        .x(Axis::linear("x₁").range(-0.6, 5.2))
        .y(Axis::linear("x₂").range(-0.6, 3.8))
        .equal()
        .size(480.0, 370.0)
        .layer(
            Layer::boundary([a[0], a[1]], -b)
                .color(Color::Ink)
                .dash(Dash::Solid)
                .width(2.0)
                .label("plane {v : a·v = b}"),
        )
        .layer(
            Layer::distance(at(&foot), at(&far))
                .note(format!("|a·u − b|/‖a‖ = {}", short(apart)))
                .side(Side::Right),
        )
        .layer(
            Layer::arrow(at(&base), (base[0] + a[0] / 2.0, base[1] + a[1] / 2.0))
                .note("a/2")
                .side(Side::Left),
        )
        .layer(
            Layer::distance((0.0, 0.0), at(&base))
                .note("b/‖a‖")
                .side(Side::Right),
        )
        .layer(
            Layer::points([at(&far)])
                .label("point u")
                .series(0)
                .size(9.0),
        )
        .layer(
            Layer::points([at(&foot)])
                .label("foot u − ((a·u − b)/‖a‖²)a")
                .series(1)
                .size(9.0),
        )
        .layer(
            Layer::points([(0.0, 0.0)])
                .label("origin")
                .color(Color::Muted)
                .marker(Marker::Plus)
                .size(9.0),
        );
    Ok(Figure::of(panel)
        .title("Distance from a plane and foot of the perpendicular")
        .caption(format!(
            "a = (1, 2), b = 4, u = (4, 3): the foot is ({}, {}).",
            short(foot[0]),
            short(foot[1])
        )))
}

/// Two convex hulls, the plane between them and its margin.
pub fn hulls() -> Result<Figure> {
    // The corners of each hull in order, then points inside.
    let plus = [
        [3.2, 2.3],
        [4.6, 1.9],
        [5.4, 3.2],
        [4.6, 4.3],
        [3.0, 3.9],
        [4.2, 3.0],
        [3.9, 3.4],
    ];
    let minus = [
        [0.3, 1.4],
        [1.0, 0.2],
        [2.4, 0.5],
        [2.2, 1.5],
        [0.9, 2.3],
        [1.3, 1.2],
        [1.7, 0.9],
    ];
    let corners = 5;
    let found = hull_distance(&plus, &minus)?;
    let (left, right) = (&found.left, &found.right);
    let w = [left[0] - right[0], left[1] - right[1]];
    let along = |p: &[f64]| w[0] * p[0] + w[1] * p[1];
    let middle = (along(left) + along(right)) / 2.0;
    let points = |set: &[[f64; 2]]| set.iter().map(|p| (p[0], p[1])).collect::<Vec<_>>();
    let line = |offset: f64| Layer::boundary(w, -offset);
    let panel = Panel::new()
        .x(Axis::linear("x₁").range(-0.2, 5.9))
        .y(Axis::linear("x₂").range(-0.3, 4.8))
        .equal()
        .size(460.0, 390.0)
        .layer(Layer::area(points(&plus[..corners])).series(0))
        .layer(Layer::area(points(&minus[..corners])).series(1))
        .layer(Layer::points(points(&plus)).label("positive").series(0))
        .layer(Layer::points(points(&minus)).label("negative").series(1))
        .layer(
            line(middle)
                .color(Color::Ink)
                .dash(Dash::Solid)
                .width(2.0)
                .label("plane of the largest margin"),
        )
        .layer(
            line(along(left))
                .color(Color::Muted)
                .dash(Dash::Dashed)
                .width(1.2)
                .label("margin"),
        )
        .layer(
            line(along(right))
                .color(Color::Muted)
                .dash(Dash::Dashed)
                .width(1.2)
                .label("margin"),
        )
        .layer(
            Layer::distance((right[0], right[1]), (left[0], left[1]))
                .note("2γ")
                .side(Side::Right),
        );
    Ok(Figure::of(panel)
        .title("Two hulls, the plane between them and its margin")
        .caption(format!(
            "The nearest points of the hulls are {} apart; the margin γ of a free plane is half of that, {}.",
            short(found.upper),
            short(found.upper / 2.0)
        )))
}
