//! Votes: every hypothesis of a run scores every row, by running sums over its corrections.
//!
//! With G the rows' products with the example of each correction (rows × corrections) and C
//! what a correction adds to each discriminator (corrections × discriminators), the scores of
//! all hypotheses are running sums of G·C along the corrections.

use rosenblatt::Result;
use rosenblatt::model::{KernelModel, Model, Voted};
use rosenblatt::options::AtZero;
use rosenblatt::readout::LogEntry;
use rosenblatt::scheme::Scheme;

use crate::graph::{Attribute, Element, Graph, Value};
use crate::scores::{linear as linear_scores, products};
use crate::{label, refuse};

/// The corrections of a run, whatever they are corrections of.
struct Log<'a> {
    entries: &'a [LogEntry],
    start_survived: &'a [u64],
    rows: &'a [u32],
}

/// Votes of a linear model; values are products with its corrected examples.
pub(crate) fn linear(graph: &mut Graph, model: &Model, voted: &Voted, rows: &str) -> Result<Value> {
    let inner = products(graph, rows, &voted.support, 1.0);
    let constant = graph.double(voted.constant);
    let values = graph.apply("Add", &[&inner, &constant]);
    let start = linear_scores(graph, &voted.log.start, rows);
    let log = Log {
        entries: &voted.log.entries,
        start_survived: &voted.log.start_survived,
        rows: &voted.rows,
    };
    votes(graph, model, &log, &values, Some(&start))
}

/// Votes of a kernel model.
pub(crate) fn kernel(
    graph: &mut Graph,
    model: &Model,
    kernel: &KernelModel,
    values: &str,
) -> Result<Value> {
    let mut coefficients = vec![0.0; kernel.rows.len()];
    for &(row, coefficient) in &kernel.log.start {
        if let Ok(at) = kernel.rows.binary_search(&row) {
            coefficients[at] = coefficient;
        }
    }
    // Start coefficients are for two classes, learned by one plane.
    let start = (!kernel.log.start.is_empty()).then(|| {
        let column = graph.doubles(&[coefficients.len(), 1], &coefficients);
        graph.apply("MatMul", &[values, &column])
    });
    let log = Log {
        entries: &kernel.log.entries,
        start_survived: &kernel.log.start_survived,
        rows: &kernel.rows,
    };
    votes(graph, model, &log, values, start.as_deref())
}

fn votes(
    graph: &mut Graph,
    model: &Model,
    log: &Log<'_>,
    values: &str,
    start: Option<&str>,
) -> Result<Value> {
    if log.entries.iter().any(|e| e.divisor != 1.0) {
        return Err(refuse(
            "its votes are of weights that were renormalised after each update",
        ));
    }
    let (scheme, k) = (model.scheme, model.scheme.discriminators());
    // The start is a hypothesis too: a correction by nothing, of the first example there is.
    let hypotheses = log.entries.len() + 1;
    let mut which = vec![0i64];
    let mut added = vec![0.0; k];
    let mut survived: Vec<f64> = (0..k)
        .map(|d| log.start_survived[scheme.group(d)] as f64)
        .collect();
    for entry in log.entries {
        let at = log.rows.binary_search(&entry.row);
        which.push(at.map_err(|_| refuse("its log is not whole"))? as i64);
        let base = added.len();
        added.resize(base + k, 0.0);
        survived.resize(base + k, 0.0);
        added[base + entry.raised as usize] += entry.coefficient;
        if entry.lowered != LogEntry::NONE {
            added[base + entry.lowered as usize] -= entry.coefficient;
        }
        for d in scheme.members(scheme.group(entry.raised as usize)) {
            survived[base + d] = model.options.votes.of(entry.survived) as f64;
        }
    }
    let which = graph.ints(&which);
    let of_each = graph.apply_with(
        "Gather",
        &[values, &which],
        vec![("axis", Attribute::Int(1))],
    );
    let last = graph.ints(&[2]);
    let of_each = graph.apply("Unsqueeze", &[&of_each, &last]);
    let added = graph.doubles(&[hypotheses, k], &added);
    let steps = graph.apply("Mul", &[&of_each, &added]);
    let along = graph.int(1);
    let mut scores = graph.apply("CumSum", &[&steps, &along]);
    if let Some(start) = start {
        let middle = graph.ints(&[1]);
        let start = graph.apply("Unsqueeze", &[start, &middle]);
        scores = graph.apply("Add", &[&scores, &start]);
    }
    let positive = model.at_zero() == AtZero::Positive;
    let survived = graph.doubles(&[hypotheses, k], &survived);
    let voices = if let Scheme::Argmax { classes } = scheme {
        let winners = graph.apply_with(
            "ArgMax",
            &[&scores],
            vec![
                ("axis", Attribute::Int(2)),
                ("keepdims", Attribute::Int(1)),
                (
                    "select_last_index",
                    Attribute::Int((classes == 2 && positive).into()),
                ),
            ],
        );
        let classes: Vec<i64> = (0..i64::from(classes)).collect();
        let classes = graph.ints(&classes);
        let wins = graph.apply("Equal", &[&winners, &classes]);
        graph.cast(&wins, Element::Double)
    } else {
        let wins = label::above(graph, &scores, positive);
        let wins = graph.cast(&wins, Element::Double);
        let (two, one) = (graph.double(2.0), graph.double(1.0));
        let doubled = graph.apply("Mul", &[&wins, &two]);
        graph.apply("Sub", &[&doubled, &one])
    };
    let weighed = graph.apply("Mul", &[&voices, &survived]);
    let axes = graph.ints(&[1]);
    Ok(graph.apply_with(
        "ReduceSum",
        &[&weighed, &axes],
        vec![("keepdims", Attribute::Int(0))],
    ))
}
