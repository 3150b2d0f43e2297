//! From rows to scores, in double precision.

use rosenblatt::Result;
use rosenblatt::data::Matrix;
use rosenblatt::kernel::Kernel;
use rosenblatt::model::Activation;
use rosenblatt::model::{Decision, KernelModel, Model, Network};
use rosenblatt::options::Readout;
use rosenblatt::weights::Weights;

use crate::graph::{Attribute, Element, Graph, Value};
use crate::{refuse, voted};

/// The scores of rows, one column a discriminator.
pub(crate) fn scores(graph: &mut Graph, model: &Model, rows: &str) -> Result<Value> {
    match &model.decision {
        Decision::Linear(weights) => Ok(linear(graph, weights, rows)),
        Decision::Voted(log) => voted::linear(graph, model, log, rows),
        Decision::Kernel(kernel) if kernel.readout == Readout::Voted => {
            let values = kernel_values(graph, kernel, rows);
            voted::kernel(graph, model, kernel, &values)
        }
        Decision::Kernel(kernel) => {
            let values = kernel_values(graph, kernel, rows);
            let k = model.scheme.discriminators();
            let table = graph.doubles(&[kernel.rows.len(), k], kernel.coefficients());
            let sums = graph.apply("MatMul", &[&values, &table]);
            if kernel.bias().iter().all(|b| *b == 0.0) {
                return Ok(sums);
            }
            let bias = graph.doubles(&[k], kernel.bias());
            Ok(graph.apply("Add", &[&sums, &bias]))
        }
        Decision::Network(network) => Ok(layers(graph, network, rows)),
        _ => Err(refuse("it is of a kind that has no graph yet")),
    }
}

/// Wx + b.
pub(crate) fn linear(graph: &mut Graph, weights: &Weights, rows: &str) -> Value {
    let shape = [weights.features(), weights.discriminators()];
    let table = graph.doubles(&shape, &weights.packed());
    let products = graph.apply("MatMul", &[rows, &table]);
    let bias = graph.doubles(&[shape[1]], weights.biases());
    graph.apply("Add", &[&products, &bias])
}

/// The rows of a matrix, times a factor, as a constant, written out. Runtimes like to merge a
/// factor of its own with the product before it, and may round it to single precision then.
pub(crate) fn table(graph: &mut Graph, matrix: &Matrix, factor: f64) -> Value {
    let columns = matrix.columns();
    let mut values = vec![0.0; matrix.rows() * columns];
    for (i, row) in values.chunks_exact_mut(columns.max(1)).enumerate() {
        matrix.row(i).for_each(|j, x| row[j] = factor * x);
    }
    graph.doubles(&[matrix.rows(), columns], &values)
}

/// a·x·z for rows x and the rows z of a matrix.
pub(crate) fn products(graph: &mut Graph, rows: &str, support: &Matrix, a: f64) -> Value {
    let support = table(graph, support, a);
    products_with(graph, rows, &support)
}

/// x·z for rows x and the rows z of a constant.
fn products_with(graph: &mut Graph, rows: &str, support: &str) -> Value {
    let turned = graph.apply_with(
        "Transpose",
        &[support],
        vec![("perm", Attribute::Ints(vec![1, 0]))],
    );
    graph.apply("MatMul", &[rows, &turned])
}

fn sum(graph: &mut Graph, value: &str, axis: i64, keep: bool) -> Value {
    let axes = graph.ints(&[axis]);
    graph.apply_with(
        "ReduceSum",
        &[value, &axes],
        vec![("keepdims", Attribute::Int(keep.into()))],
    )
}

/// value + c.
fn raised(graph: &mut Graph, value: Value, c: f64) -> Value {
    if c == 0.0 {
        return value;
    }
    let c = graph.double(c);
    graph.apply("Add", &[&value, &c])
}

/// exp(−γ·distance).
fn falling(graph: &mut Graph, distance: &str, gamma: f64) -> Value {
    let gamma = graph.double(-gamma);
    let exponent = graph.apply("Mul", &[distance, &gamma]);
    graph.apply("Exp", &[&exponent])
}

/// K(x, z) and what the bias adds, for rows x and corrected examples z.
fn kernel_values(graph: &mut Graph, model: &KernelModel, rows: &str) -> Value {
    if model.kernel == Kernel::Precomputed {
        let columns: Vec<i64> = model.rows.iter().map(|&r| i64::from(r)).collect();
        let columns = graph.ints(&columns);
        let values = graph.apply_with(
            "Gather",
            &[rows, &columns],
            vec![("axis", Attribute::Int(1))],
        );
        return raised(graph, values, model.constant);
    }
    let values = kernel(graph, model.kernel, rows, &model.support);
    raised(graph, values, model.constant)
}

/// K(x, z) for rows x and the rows z of a matrix.
fn kernel(graph: &mut Graph, kernel: Kernel, rows: &str, support: &Matrix) -> Value {
    match kernel {
        Kernel::Linear | Kernel::Precomputed => products(graph, rows, support, 1.0),
        Kernel::Polynomial {
            degree,
            scale,
            constant,
        } => {
            let inner = products(graph, rows, support, scale);
            let base = raised(graph, inner, constant);
            power(graph, &base, degree)
        }
        Kernel::Geometric { degree } => {
            // Horner: 1 + t(1 + t(1 + …)).
            let t = products(graph, rows, support, 1.0);
            let mut value = raised(graph, t.clone(), 1.0);
            for _ in 1..degree {
                let times = graph.apply("Mul", &[&t, &value]);
                value = raised(graph, times, 1.0);
            }
            value
        }
        Kernel::Monomial { degree } => monomial(graph, degree, rows, support),
        Kernel::Rbf { gamma } => {
            // ‖x − z‖² = ‖x‖² + ‖z‖² − 2x·z, which rounding may leave just below 0.
            let squares = |graph: &mut Graph, value: &str, keep: bool| {
                let squared = graph.apply("Mul", &[value, value]);
                sum(graph, &squared, 1, keep)
            };
            let z = table(graph, support, 1.0);
            let (x, z) = (squares(graph, rows, true), squares(graph, &z, false));
            let both = graph.apply("Add", &[&x, &z]);
            let twice = products(graph, rows, support, -2.0);
            let distance = graph.apply("Add", &[&both, &twice]);
            let distance = graph.apply("Relu", &[&distance]);
            falling(graph, &distance, gamma)
        }
        Kernel::Laplacian { gamma } => {
            let axes = graph.ints(&[1]);
            let apart = graph.apply("Unsqueeze", &[rows, &axes]);
            let z = table(graph, support, 1.0);
            let difference = graph.apply("Sub", &[&apart, &z]);
            let absolute = graph.apply("Abs", &[&difference]);
            let distance = sum(graph, &absolute, 2, false);
            falling(graph, &distance, gamma)
        }
        Kernel::Sigmoid { scale, constant } => {
            let inner = products(graph, rows, support, scale);
            let inner = raised(graph, inner, constant);
            graph.apply("Tanh", &[&inner])
        }
    }
}

/// base^degree by squaring, as whole powers are.
fn power(graph: &mut Graph, base: &str, mut degree: u32) -> Value {
    let mut square = base.to_owned();
    let mut product: Option<Value> = None;
    loop {
        if degree & 1 == 1 {
            product = Some(match product {
                Some(so_far) => graph.apply("Mul", &[&so_far, &square]),
                None => square.clone(),
            });
        }
        degree >>= 1;
        if degree == 0 {
            break;
        }
        square = graph.apply("Mul", &[&square, &square]);
    }
    product.unwrap_or(square)
}

/// Σ_{k ≤ p} h_k of the products x_j z_j, h_k the complete homogeneous sum of degree k. By
/// Newton's identity k·h_k = Σ_{i = 1..k} p_i h_{k−i}, with power sums p_i = Σ_j x_j^i z_j^i.
fn monomial(graph: &mut Graph, degree: u32, rows: &str, support: &Matrix) -> Value {
    let mut powers = Vec::new();
    let support = table(graph, support, 1.0);
    let (mut x, mut z) = (rows.to_owned(), support.clone());
    for i in 1..=degree {
        if i > 1 {
            x = graph.apply("Mul", &[&x, rows]);
            z = graph.apply("Mul", &[&z, &support]);
        }
        powers.push(products_with(graph, &x, &z));
    }
    let one = graph.double(1.0);
    let mut homogeneous = vec![one];
    for k in 1..=degree as usize {
        let mut total: Option<Value> = None;
        for i in 1..=k {
            let term = graph.apply("Mul", &[&powers[i - 1], &homogeneous[k - i]]);
            total = Some(match total {
                Some(so_far) => graph.apply("Add", &[&so_far, &term]),
                None => term,
            });
        }
        let total = total.unwrap_or_default();
        let k = graph.double(k as f64);
        homogeneous.push(graph.apply("Div", &[&total, &k]));
    }
    let mut total = homogeneous[0].clone();
    for term in &homogeneous[1..] {
        total = graph.apply("Add", &[&total, term]);
    }
    total
}

/// The outputs of a network.
fn layers(graph: &mut Graph, network: &Network, rows: &str) -> Value {
    let mut value = rows.to_owned();
    for (l, layer) in network.layers.iter().enumerate() {
        let mut weights = layer.weights();
        if l == 0 {
            weights.iter_mut().for_each(|w| *w *= network.scale);
        }
        let weights = graph.doubles(&[layer.inputs(), layer.outputs()], &weights);
        let sums = graph.apply("MatMul", &[&value, &weights]);
        let bias = graph.doubles(&[layer.outputs()], &layer.biases());
        value = graph.apply("Add", &[&sums, &bias]);
        if l + 1 < network.layers.len() {
            let function = match network.activation {
                Activation::Relu => "Relu",
                Activation::Tanh => "Tanh",
            };
            value = graph.apply(function, &[&value]);
        }
    }
    value
}

/// What makes single-precision features: the rounding that storage does.
pub(crate) fn rounded(graph: &mut Graph, value: &str) -> Value {
    let single = graph.cast(value, Element::Float);
    graph.cast(&single, Element::Double)
}
