//! The unit itself, and what it may minimise.

use rosenblatt::Result;
use rosenblatt_plot::{Axis, Color, Dash, Figure, Layer, Panel};

/// The loss functions side by side.
pub fn losses() -> Result<Figure> {
    let range = (-2.0, 2.5);
    let wrong = Layer::line([(-2.0, 1.0), (0.0, 1.0), (0.0, 0.0), (2.5, 0.0)]);
    let panel = Panel::new()
        .x(Axis::linear("margin m = y·s"))
        .y(Axis::linear("loss").range(0.0, 4.2))
        .size(460.0, 320.0)
        .layer(wrong.label("mistake: 1 if m ≤ 0"))
        .layer(Layer::curve(range, 91, |m| (-m).max(0.0)).label("perceptron: max(0, −m)"))
        .layer(Layer::curve(range, 91, |m| (1.0 - m).max(0.0)).label("hinge: max(0, 1 − m)"))
        .layer(Layer::curve((-1.05, 2.5), 91, |m| (1.0 - m) * (1.0 - m)).label("squared: (1 − m)²"))
        .layer(
            Layer::curve(range, 91, |m| (1.0 + (-m).exp()).ln()).label("logistic: ln(1 + exp(−m))"),
        )
        .layer(Layer::vertical(0.0).width(1.0));
    Ok(Figure::of(panel)
        .title("Loss functions side by side")
        .caption("The squared loss also punishes answers that are right by more than 1, so its minimum need not have the fewest mistakes."))
}

/// The unit as a neuron.
pub fn neuron() -> Result<Figure> {
    let mut panel = Panel::bare().size(460.0, 250.0);
    let inputs = [("1", "w₀"), ("x₁", "w₁"), ("x₂", "w₂"), ("x₃", "w₃")];
    for (k, (input, weight)) in inputs.iter().enumerate() {
        let y = 2.7 - 1.8 * k as f64;
        panel = panel
            .layer(Layer::circle((0.0, y), 0.5).series(0))
            .layer(Layer::text((0.0, y), *input))
            .layer(Layer::arrow((0.55, y * 0.97), (4.15, y * 0.2)).note(*weight));
    }
    panel = panel
        .layer(Layer::circle((5.0, 0.0), 0.9).series(1))
        .layer(Layer::text((5.0, 0.0), "Σ").size(20.0))
        .layer(Layer::arrow((5.95, 0.0), (7.6, 0.0)).note("score s"))
        .layer(Layer::area([(7.7, -0.7), (9.1, -0.7), (9.1, 0.7), (7.7, 0.7)]).series(2))
        .layer(
            Layer::line([(7.9, -0.4), (8.4, -0.4), (8.4, 0.4), (8.9, 0.4)])
                .color(Color::Ink)
                .dash(Dash::Solid),
        )
        .layer(Layer::arrow((9.15, 0.0), (10.6, 0.0)).note("ŷ = ±1"));
    Ok(Figure::of(panel)
        .title("The unit as a neuron")
        .caption("Inputs are weighed and added; the sign of the sum is the answer. The constant input 1 has the bias w₀ as its weight."))
}
