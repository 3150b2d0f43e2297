//! A verdict and its witness as a certificate: a JSON document that others can check.
//!
//! The format is described in `FORMAT.md` of the checker, which shares no code with this
//! crate. The document says how the file is read, so that the file is all a checker needs.

use dashu_int::IBig;
use serde_json::{Map, Value, json};

use super::joint_rows::JointRows;
use super::{BiasTerm, Direction, Multipliers, ProvedVerdict, StrictKernel, Verdict, Witness};
use rosenblatt_core::data::Dataset;
use rosenblatt_core::kernel::Kernel;
use rosenblatt_core::{Error, Result};

/// The examples that a certificate speaks of.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// How their file is read: format, columns and the like, as the checker's `FORMAT.md` has them.
    pub file: &'a Map<String, Value>,
    /// Its labels as written, each with its class.
    pub labels: &'a [(String, u32)],
    /// The files that hold the rows, by name, each with the SHA-256 of its decompressed bytes in
    /// hexadecimal.
    pub files: &'a [(String, String)],
    /// The examples decided on, reference levels left out.
    pub data: &'a Dataset,
    /// Whether there is a bias.
    pub bias: BiasTerm,
}

/// What is claimed of it.
#[derive(Debug, Clone, Copy)]
pub enum Claim<'a> {
    /// This class against the others.
    AgainstRest(u32, &'a ProvedVerdict),
    /// This class against the others, where separability is refuted and no more is known.
    Refuted(u32, &'a Multipliers),
    /// All classes jointly.
    Jointly(&'a JointRows<'a>, &'a ProvedVerdict),
    /// This class against the others, in the space of a kernel with exact values: what was
    /// decided on its Gram matrix.
    InKernel(u32, &'a Kernel, &'a ProvedVerdict),
    /// This class against the others, in the space of a strictly positive definite kernel.
    InStrictKernel(u32, &'a Kernel, &'a StrictKernel),
}

/// The certificate of `claim` about `subject`.
pub fn certificate(subject: Subject<'_>, claim: Claim<'_>) -> Result<String> {
    // Where all labels are numbers, spellings of one number are one label.
    let all_labels = subject.labels;
    let numbers: Option<Vec<f64>> = all_labels
        .iter()
        .map(|(text, _)| text.parse().ok())
        .collect();
    let spelled_before = |i: usize| {
        numbers
            .as_ref()
            .is_some_and(|n| n[..i].iter().any(|other| *other == n[i]))
    };
    let labels_of = |class: u32, same: bool| -> Vec<&str> {
        let wanted = all_labels.iter().enumerate();
        wanted
            .filter(|(i, (_, c))| (*c == class) == same && !spelled_before(*i))
            .map(|(_, (text, _))| text.as_str())
            .collect()
    };
    let against_rest =
        |class| json!({"positive": labels_of(class, true), "negative": labels_of(class, false)});
    let (labels, verdict, witness) = match claim {
        Claim::AgainstRest(class, decision) => (
            against_rest(class),
            decision.verdict().name(),
            two_sided(subject, decision),
        ),
        Claim::Refuted(class, lambda) => (
            against_rest(class),
            "not-separable",
            json!({"lambda": by_row(subject, lambda)}),
        ),
        Claim::InKernel(class, _, decision) => {
            let (verdict, witness) = in_kernel(subject, decision);
            (against_rest(class), verdict, witness)
        }
        Claim::InStrictKernel(class, _, strict) => (
            against_rest(class),
            strict.verdict.name(),
            match strict.verdict {
                Verdict::Separable => json!({}),
                _ => json!({"lambda": by_row(subject, &strict.lambda)}),
            },
        ),
        Claim::Jointly(rows, decision) => {
            let classes: Vec<Vec<&str>> = (0..subject.data.classes.len() as u32)
                .map(|c| labels_of(c, true))
                .collect();
            let separable = decision.verdict() == Verdict::Separable;
            (
                json!({"classes": classes}),
                if separable {
                    "separable"
                } else {
                    "not-separable"
                },
                joint(subject, rows, decision),
            )
        }
    };
    let mut document = json!({
        "rosenblatt-certificate": 1,
        "data": data(subject),
        "labels": labels,
        "bias": match subject.bias { BiasTerm::Lifted => "lifted", BiasTerm::None => "none" },
        "verdict": verdict,
        "witness": witness,
    });
    if let Claim::InKernel(_, kernel, _) | Claim::InStrictKernel(_, kernel, _) = claim {
        document["kernel"] = kernel_fields(kernel)?;
    }
    Ok(format!("{document:#}\n"))
}

fn data(subject: Subject<'_>) -> Value {
    let mut fields = subject.file.clone();
    fields.insert("rows".into(), subject.data.len().into());
    fields.insert("features".into(), subject.data.features().into());
    match subject.files {
        [(_, sha256)] => fields.insert("sha256".into(), sha256.as_str().into()),
        files => {
            let listed = files.iter();
            let listed = listed.map(|(name, sha256)| json!({"name": name, "sha256": sha256}));
            fields.insert("files".into(), listed.collect())
        }
    };
    fields.into()
}

/// A vector as an object from feature index to number; the first coordinate of a plane
/// through the origin is feature 1.
fn vector(values: &[IBig], bias: BiasTerm) -> Value {
    let first = match bias {
        BiasTerm::Lifted => 0,
        BiasTerm::None => 1,
    };
    let entries = values.iter().enumerate().filter(|(_, v)| **v != IBig::ZERO);
    let map: Map<String, Value> = entries
        .map(|(j, v)| ((j + first).to_string(), v.to_string().into()))
        .collect();
    map.into()
}

/// Numbers by row, those of the file counted from 1.
fn by_row<T: ToString>(subject: Subject<'_>, values: &[(usize, T)]) -> Value {
    let list = values
        .iter()
        .map(|(i, v)| json!([subject.data.number(*i) + 1, v.to_string()]));
    list.collect::<Vec<_>>().into()
}

fn two_sided(subject: Subject<'_>, decision: &ProvedVerdict) -> Value {
    let vectors = |vectors: &[Direction]| -> Value {
        let list = vectors.iter().map(|v| vector(v, subject.bias));
        list.collect::<Vec<_>>().into()
    };
    match &decision.witness {
        Witness::Separable { w } => json!({"w": vector(w, subject.bias)}),
        Witness::QuasiSeparable {
            w,
            lambda,
            null_space,
            ..
        } => {
            let mut parts =
                json!({"w": vector(w, subject.bias), "lambda": by_row(subject, lambda)});
            if let Some(null_space) = null_space {
                parts["null_space"] = vectors(null_space);
            }
            parts
        }
        Witness::Overlapping { lambda, null_space } => {
            let mut parts = json!({"lambda": by_row(subject, lambda)});
            if let Some(null_space) = null_space {
                parts["null_space"] = vectors(null_space);
            }
            parts
        }
    }
}

/// What a decision on a Gram matrix proves. Without features there is no null space to show
/// that λ spans every row, so where it does not weigh every row, only that the rows are not
/// separable is claimed.
fn in_kernel(subject: Subject<'_>, decision: &ProvedVerdict) -> (&'static str, Value) {
    let alpha = |w: &[IBig]| {
        let entries = w.iter().cloned().enumerate();
        let not_zero: Vec<(usize, IBig)> = entries.filter(|(_, a)| *a != IBig::ZERO).collect();
        by_row(subject, &not_zero)
    };
    match &decision.witness {
        Witness::Separable { w } => ("separable", json!({"alpha": alpha(w)})),
        Witness::QuasiSeparable { w, lambda, .. } => (
            "quasi-separable",
            json!({"alpha": alpha(w), "lambda": by_row(subject, lambda)}),
        ),
        Witness::Overlapping { lambda, .. } => (
            if lambda.len() == subject.data.len() {
                "overlapping"
            } else {
                "not-separable"
            },
            json!({"lambda": by_row(subject, lambda)}),
        ),
    }
}

fn kernel_fields(kernel: &Kernel) -> Result<Value> {
    Ok(match *kernel {
        Kernel::Linear => json!({"name": "linear"}),
        Kernel::Polynomial {
            degree,
            scale,
            constant,
        } => json!({
            "name": "polynomial",
            "degree": degree,
            "scale": scale.to_string(),
            "constant": constant.to_string(),
        }),
        Kernel::Geometric { degree } => json!({"name": "geometric", "degree": degree}),
        Kernel::Monomial { degree } => json!({"name": "monomial", "degree": degree}),
        Kernel::Rbf { gamma } => json!({"name": "rbf", "gamma": gamma.to_string()}),
        Kernel::Laplacian { gamma } => json!({"name": "laplacian", "gamma": gamma.to_string()}),
        Kernel::Sigmoid { .. } | Kernel::Precomputed => {
            return Err(Error::options(format!(
                "no certificate can be written: its format has no name for the kernel {kernel}"
            )));
        }
    })
}

fn joint(subject: Subject<'_>, rows: &JointRows<'_>, decision: &ProvedVerdict) -> Value {
    if let Witness::Separable { w } = &decision.witness {
        let classes = 0..subject.data.classes.len() as u32;
        let vectors = classes.map(|c| match rows.block(c) {
            Some(block) => vector(&w[block], subject.bias),
            None => json!({}),
        });
        return json!({"w": vectors.collect::<Vec<_>>()});
    }
    let list = decision.refutation.iter().map(|(i, v)| {
        let (example, rival) = rows.example_and_rival(*i);
        json!([subject.data.number(example) + 1, rival + 1, v.to_string()])
    });
    json!({"lambda": list.collect::<Vec<_>>()})
}
