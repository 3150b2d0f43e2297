//! Features made of features.

use rosenblatt::Result;
use rosenblatt::embedding::{Embed, Embedding};

use crate::graph::{Attribute, Graph, Value};
use crate::refuse;

/// The embedded rows.
pub(crate) fn embed(graph: &mut Graph, embedding: &Embedding, rows: &str) -> Result<Value> {
    match embedding.embed() {
        Embed::Circle => {
            let squares = graph.apply("Mul", &[rows, rows]);
            let axes = graph.ints(&[1]);
            let length = graph.apply("ReduceSum", &[&squares, &axes]);
            Ok(beside(graph, rows, &length))
        }
        Embed::Squares => {
            let squares = graph.apply("Mul", &[rows, rows]);
            let ones = ones(graph, rows);
            Ok(beside(graph, &squares, &ones))
        }
        Embed::Monomials { degree } => Ok(monomials(graph, embedding.inputs(), degree, rows)),
        other => Err(refuse(format_args!(
            "the features of ⟨embed {other}⟩ have no graph"
        ))),
    }
}

fn beside(graph: &mut Graph, left: &str, right: &str) -> Value {
    graph.apply_with("Concat", &[left, right], vec![("axis", Attribute::Int(1))])
}

fn gather(graph: &mut Graph, rows: &str, columns: &[i64]) -> Value {
    let columns = graph.ints(columns);
    graph.apply_with(
        "Gather",
        &[rows, &columns],
        vec![("axis", Attribute::Int(1))],
    )
}

/// A column of ones.
fn ones(graph: &mut Graph, rows: &str) -> Value {
    let first = gather(graph, rows, &[0]);
    let zero = graph.double(0.0);
    let nothing = graph.apply("Mul", &[&first, &zero]);
    let one = graph.double(1.0);
    graph.apply("Add", &[&nothing, &one])
}

/// All products of at most `degree` features: by degree, then by the features in their order.
fn monomials(graph: &mut Graph, inputs: usize, degree: u32, rows: &str) -> Value {
    // Factor by factor; column 0 is the constant 1, which fills up what has fewer factors.
    let mut factors: Vec<Vec<i64>> = vec![vec![0]; degree as usize];
    let mut list = Vec::new();
    for length in 1..=degree as usize {
        list.clear();
        list.resize(length, 1i64);
        loop {
            for (place, column) in factors.iter_mut().enumerate() {
                column.push(list.get(place).copied().unwrap_or(0));
            }
            // The next list that does not descend.
            let Some(place) = list.iter().rposition(|&j| (j as usize) < inputs) else {
                break;
            };
            let next = list[place] + 1;
            list[place..].fill(next);
        }
    }
    let ones = ones(graph, rows);
    let lifted = beside(graph, &ones, rows);
    let mut product = gather(graph, &lifted, &factors[0]);
    for columns in &factors[1..] {
        let factor = gather(graph, &lifted, columns);
        product = graph.apply("Mul", &[&product, &factor]);
    }
    product
}
