//! What a graph takes, and how it becomes the features a model was trained on.

use rosenblatt::Result;
use rosenblatt::data::{Precision, StringTable};
use rosenblatt::model::Model;
use rosenblatt::read::{Coding, ColumnCoding, Preparation, Scale};

use crate::graph::{Attribute, CLASSICAL, Element, Graph, Value};
use crate::refuse;
use crate::scores::rounded;

/// The features of rows, as the model's decision (or its embedding) takes them.
pub(crate) fn rows(graph: &mut Graph, model: &Model) -> Result<Value> {
    let Some(preparation) = Preparation::of_model(model)? else {
        return Ok(graph.input("X", Element::Double, model.features()));
    };
    // What was read was rounded, and what was made of it was rounded again.
    let stored = |graph: &mut Graph, value: Value| match preparation.precision() {
        Precision::F32 => rounded(graph, &value),
        Precision::F64 => value,
    };
    let mut rows = match preparation.coding() {
        Coding::Columns(columns) => table(graph, &preparation.column_names(), &columns, &stored)?,
        _ => {
            let read = graph.input("X", Element::Double, model.features());
            stored(graph, read)
        }
    };
    if let Some((centre, scale)) = preparation.scaling() {
        rows = standardised(graph, &rows, centre, scale);
        rows = stored(graph, rows);
    }
    if preparation.scale() == Scale::UnitRows {
        rows = of_unit_length(graph, &rows);
        rows = stored(graph, rows);
    }
    if let Some(radius) = preparation.radius() {
        let radius = graph.double(radius);
        rows = graph.apply("Div", &[&rows, &radius]);
        rows = stored(graph, rows);
    }
    Ok(rows)
}

/// (x − centre)/scale, column by column.
fn standardised(graph: &mut Graph, rows: &str, centre: &[f64], scale: &[f64]) -> Value {
    let centre = graph.doubles(&[centre.len()], centre);
    let scale = graph.doubles(&[scale.len()], scale);
    let shifted = graph.apply("Sub", &[rows, &centre]);
    graph.apply("Div", &[&shifted, &scale])
}

/// x/‖x‖; a row of zeros stays.
fn of_unit_length(graph: &mut Graph, rows: &str) -> Value {
    let squares = graph.apply("Mul", &[rows, rows]);
    let axes = graph.ints(&[1]);
    let squared = graph.apply("ReduceSum", &[&squares, &axes]);
    let length = graph.apply("Sqrt", &[&squared]);
    let (zero, one) = (graph.double(0.0), graph.double(1.0));
    let nothing = graph.apply("Equal", &[&length, &zero]);
    let divisor = graph.apply("Where", &[&nothing, &one, &length]);
    graph.apply("Div", &[rows, &divisor])
}

/// Every column of a table as an input of its own.
fn table(
    graph: &mut Graph,
    names: &[&str],
    columns: &[ColumnCoding<'_>],
    stored: &impl Fn(&mut Graph, Value) -> Value,
) -> Result<Value> {
    let mut parts = Vec::new();
    for (name, coding) in names.iter().zip(columns) {
        match coding {
            ColumnCoding::Number {
                indicator,
                centre,
                scale,
                ..
            } => {
                let cells = graph.input(name, Element::Double, 1);
                let cells = stored(graph, cells);
                number(graph, &cells, (*centre, *scale), *indicator, &mut parts);
            }
            ColumnCoding::Category(levels) => {
                let cells = graph.input(name, Element::String, 1);
                parts.push(category(graph, &cells, levels));
            }
            ColumnCoding::Date => {
                return Err(refuse(format_args!(
                    "the column {name} holds dates, and ONNX has no operator that reads one"
                )));
            }
            ColumnCoding::Text { .. } => {
                return Err(refuse(format_args!(
                    "the column {name} holds texts, and ONNX has no operator that cuts words as training did"
                )));
            }
            ColumnCoding::Label | ColumnCoding::Ignored => {}
        }
    }
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    let features = graph.apply_with("Concat", &parts, vec![("axis", Attribute::Int(1))]);
    Ok(stored(graph, features))
}

/// A scaled number, 0 where it is missing, and whether it is.
fn number(
    graph: &mut Graph,
    cells: &str,
    (centre, scale): (f64, f64),
    indicator: bool,
    parts: &mut Vec<Value>,
) {
    let missing = graph.apply("IsNaN", &[cells]);
    let scaled = standardised(graph, cells, &[centre], &[scale]);
    let zero = graph.double(0.0);
    parts.push(graph.apply("Where", &[&missing, &zero, &scaled]));
    if indicator {
        parts.push(graph.cast(&missing, Element::Double));
    }
}

/// A feature for each level; texts for what is missing all mean one of them.
fn category(graph: &mut Graph, cells: &str, levels: &StringTable) -> Value {
    let mut known: Vec<&str> = levels.iter().collect();
    let mut level: Vec<usize> = (0..known.len()).collect();
    if let Some(missing) = known.iter().position(|l| Preparation::is_missing(l)) {
        for text in Preparation::MISSING {
            if !known.contains(text) {
                known.push(text);
                level.push(missing);
            }
        }
    }
    let [marked] = graph.apply_in(
        CLASSICAL,
        "OneHotEncoder",
        &[cells],
        vec![
            ("cats_strings", Attribute::Texts(known)),
            ("zeros", Attribute::Int(1)),
        ],
    );
    let axes = graph.ints(&[1]);
    let marked = graph.apply("Squeeze", &[&marked, &axes]);
    let marked = graph.cast(&marked, Element::Double);
    let mut table = vec![0.0; level.len() * levels.len()];
    for (text, &level) in level.iter().enumerate() {
        table[text * levels.len() + level] = 1.0;
    }
    let table = graph.doubles(&[level.len(), levels.len()], &table);
    graph.apply("MatMul", &[&marked, &table])
}
