//! From scores to labels.

use std::collections::BTreeSet;

use rosenblatt::model::Model;
use rosenblatt::options::AtZero;
use rosenblatt::scheme::Scheme;
use rosenblatt::weights::Weights;

use crate::graph::{Attribute, CLASSICAL, Element, Graph, Value};

/// The classes as whole numbers, if they are written plainly as such (with or without a +) and
/// none is another's: 01 and 1 are two classes.
fn whole_numbers(model: &Model) -> Option<Vec<i64>> {
    let number = |name: &String| {
        let digits = name.strip_prefix('+').unwrap_or(name);
        let number: i64 = digits.parse().ok()?;
        (number.to_string() == digits).then_some(number)
    };
    let names = model.classes.names();
    let numbers: Vec<i64> = names.iter().map(number).collect::<Option<_>>()?;
    let distinct: BTreeSet<i64> = numbers.iter().copied().collect();
    (distinct.len() == numbers.len()).then_some(numbers)
}

fn texts(model: &Model) -> Vec<&str> {
    model.classes.names().iter().map(String::as_str).collect()
}

fn output_label(graph: &mut Graph, model: &Model, label: &str) {
    let element = match whole_numbers(model) {
        Some(_) => Element::Int64,
        None => Element::String,
    };
    graph.output("label", element, None, label);
}

/// The scores that become an output: for one plane −s and s.
pub(crate) fn output_scores(graph: &mut Graph, model: &Model, scores: &str) {
    if model.scheme == Scheme::Binary {
        let other = graph.apply("Neg", &[scores]);
        let both = graph.apply_with(
            "Concat",
            &[&other, scores],
            vec![("axis", Attribute::Int(1))],
        );
        graph.output("scores", Element::Double, Some(2), &both);
    } else {
        let columns = model.scheme.discriminators();
        graph.output("scores", Element::Double, Some(columns), scores);
    }
}

/// Labels by the operator for linear models: a row of coefficients for each class.
pub(crate) fn by_linear_classifier(
    graph: &mut Graph,
    model: &Model,
    weights: &Weights,
    rows: &str,
) {
    let row = |d: usize, sign: f64| {
        let scaled = weights
            .column(d)
            .into_iter()
            .map(move |w| (sign * w) as f32);
        (scaled, (sign * weights.bias(d)) as f32)
    };
    let (mut coefficients, mut intercepts) = (Vec::new(), Vec::new());
    let mut push = |d: usize, sign: f64| {
        let (scaled, bias) = row(d, sign);
        coefficients.extend(scaled);
        intercepts.push(bias);
    };
    if model.scheme == Scheme::Binary {
        push(0, -1.0);
        push(0, 1.0);
    } else {
        (0..weights.discriminators()).for_each(|d| push(d, 1.0));
    }
    let labels = match whole_numbers(model) {
        Some(numbers) => ("classlabels_ints", Attribute::Ints(numbers)),
        None => ("classlabels_strings", Attribute::Texts(texts(model))),
    };
    let single = graph.cast(rows, Element::Float);
    let [label, _single_scores] = graph.apply_in(
        CLASSICAL,
        "LinearClassifier",
        &[&single],
        vec![
            ("coefficients", Attribute::Floats(coefficients)),
            ("intercepts", Attribute::Floats(intercepts)),
            ("multi_class", Attribute::Int(1)),
            ("post_transform", Attribute::Text("NONE")),
            labels,
        ],
    );
    output_label(graph, model, &label);
}

/// Labels by the library's own rules, ties included.
pub(crate) fn by_scores(graph: &mut Graph, model: &Model, scores: &str) {
    let positive = model.at_zero() == AtZero::Positive;
    let class = match model.scheme {
        Scheme::Binary => {
            let wins = above(graph, scores, positive);
            let column = graph.cast(&wins, Element::Int64);
            let axes = graph.ints(&[1]);
            graph.apply("Squeeze", &[&column, &axes])
        }
        Scheme::Argmax { classes } | Scheme::OneVsRest { classes } => {
            largest(graph, scores, classes == 2 && positive)
        }
        Scheme::OneVsOne { classes } => {
            let votes = votes_of_pairs(graph, model.scheme, classes as usize, scores, positive);
            largest(graph, &votes, false)
        }
    };
    let labels = match whole_numbers(model) {
        Some(numbers) => graph.ints(&numbers),
        None => graph.texts(&texts(model)),
    };
    let label = graph.apply("Gather", &[&labels, &class]);
    output_label(graph, model, &label);
}

/// Where scores are above 0, or exactly 0 if that counts.
pub(crate) fn above(graph: &mut Graph, scores: &str, zero_counts: bool) -> Value {
    let zero = graph.double(0.0);
    let operator = if zero_counts {
        "GreaterOrEqual"
    } else {
        "Greater"
    };
    graph.apply(operator, &[scores, &zero])
}

fn largest(graph: &mut Graph, scores: &str, last_wins_ties: bool) -> Value {
    graph.apply_with(
        "ArgMax",
        &[scores],
        vec![
            ("axis", Attribute::Int(1)),
            ("keepdims", Attribute::Int(0)),
            ("select_last_index", Attribute::Int(last_wins_ties.into())),
        ],
    )
}

/// How many pairs each class wins.
fn votes_of_pairs(
    graph: &mut Graph,
    scheme: Scheme,
    k: usize,
    scores: &str,
    positive_at_zero: bool,
) -> Value {
    let pairs = scheme.discriminators();
    let (mut for_high, mut for_low) = (vec![0.0; pairs * k], vec![0.0; pairs * k]);
    for low in 0..k {
        for high in low + 1..k {
            let pair = scheme.pair(low, high);
            for_high[pair * k + high] = 1.0;
            for_low[pair * k + low] = 1.0;
        }
    }
    let high = above(graph, scores, positive_at_zero);
    let low = graph.apply("Not", &[&high]);
    let mut parts = Vec::new();
    for (wins, table) in [(high, for_high), (low, for_low)] {
        let wins = graph.cast(&wins, Element::Double);
        let table = graph.doubles(&[pairs, k], &table);
        parts.push(graph.apply("MatMul", &[&wins, &table]));
    }
    graph.apply("Add", &[&parts[0], &parts[1]])
}
