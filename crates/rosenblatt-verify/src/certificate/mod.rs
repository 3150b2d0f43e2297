//! What a certificate says: `FORMAT.md`, as types.
//!
//! Everything that can be wrong with a certificate by itself is refused here, so that the
//! checks that follow meet only claims that make sense.

mod data;
mod labels;
mod witness;

pub(crate) use data::{Column, File, Format, Table};
pub(crate) use labels::Labels;
pub(crate) use witness::{RowWeight, Sparse, Witness};

use crate::budget::MAX_CERTIFICATE_BYTES;
use crate::json::Json;
use crate::kernel::{self, Kernel};
use crate::outcome::{Malformed, Question};
use std::fmt;

type Result<T> = std::result::Result<T, Malformed>;

/// The claims a certificate can make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Some hyperplane has every row strictly on its own side.
    Separable,
    /// Not separable, but some hyperplane has no row on the wrong side and some on their own.
    QuasiSeparable,
    /// Every hyperplane that has no row on the wrong side contains all rows.
    Overlapping,
    /// Not separable; which of the two kinds is left open.
    NotSeparable,
}

impl Verdict {
    const NAMES: [(&'static str, Verdict); 4] = [
        ("separable", Verdict::Separable),
        ("quasi-separable", Verdict::QuasiSeparable),
        ("overlapping", Verdict::Overlapping),
        ("not-separable", Verdict::NotSeparable),
    ];

    /// Whether a witness has the rows on sides.
    pub(crate) fn has_sides(self) -> bool {
        matches!(self, Verdict::Separable | Verdict::QuasiSeparable)
    }

    /// Whether it says in which way rows are not separable.
    fn names_the_kind(self) -> bool {
        matches!(self, Verdict::QuasiSeparable | Verdict::Overlapping)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Verdict::NAMES.iter().find(|(_, verdict)| verdict == self);
        f.write_str(name.map_or("", |(name, _)| name))
    }
}

pub(crate) struct Certificate {
    pub(crate) format: Format,
    /// Lines that start with this are skipped; empty for none.
    pub(crate) comment: Vec<u8>,
    /// One or more, in the order of their rows.
    pub(crate) files: Vec<File>,
    pub(crate) rows: u64,
    pub(crate) features: u64,
    pub(crate) labels: Labels,
    pub(crate) lifted: bool,
    pub(crate) kernel: Option<Kernel>,
    /// The kernel in words.
    kernel_text: Option<String>,
    pub(crate) verdict: Verdict,
    pub(crate) witness: Witness,
}

impl Certificate {
    pub(crate) fn parse(bytes: &[u8]) -> Result<Certificate> {
        if bytes.len() > MAX_CERTIFICATE_BYTES {
            return Err(Malformed::new("a certificate has at most 2^28 bytes"));
        }
        let json = Json::parse(bytes)?;
        let mut top = json.fields()?;
        let version = top.required("rosenblatt-certificate", Json::natural)?;
        if version != 1 {
            let what = format!("version {version} is not known here, only version 1");
            return Err(Malformed::new(what).under("rosenblatt-certificate"));
        }
        let data = top.required("data", data::Data::parse)?;
        let labels = top.required("labels", Labels::parse)?;
        let lifted = top.required("bias", |json| {
            choice(json, &[("lifted", true), ("none", false)])
        })?;
        let kernel_text = top.optional("kernel", kernel::described)?;
        let kernel = top.optional("kernel", Kernel::parse)?;
        let verdict = top.required("verdict", |json| choice(json, &Verdict::NAMES))?;
        top.optional("info", |json| {
            let mut notes = json.object()?.values();
            notes.try_for_each(|note| note.text().map(|_| ()))
        })?;
        if labels.multiclass && kernel.is_some() {
            return Err(Malformed::new("goes with two classes only").under("kernel"));
        }
        if labels.multiclass && verdict.names_the_kind() {
            let what = "several classes are separable or not-separable";
            return Err(Malformed::new(what).under("verdict"));
        }
        let mut certificate = Certificate {
            format: data.format,
            comment: data.comment,
            files: data.files,
            rows: data.rows,
            features: data.features,
            labels,
            lifted,
            kernel,
            kernel_text,
            verdict,
            witness: Witness::default(),
        };
        certificate.witness = top.required("witness", |json| certificate.read_witness(json))?;
        top.finish()?;
        Ok(certificate)
    }

    /// What it is asked about a file that nobody has read yet.
    pub(crate) fn question(&self) -> Question {
        let (format, columns, header) = match &self.format {
            Format::Libsvm { first_index } => {
                let format = format!("libsvm, indices from {first_index}");
                (format, Vec::new(), None)
            }
            Format::Table(table) => {
                let format = match table.delimiter {
                    b' ' => "a table, cells between blanks".to_owned(),
                    byte => format!(
                        "a table, cells between {:?}{}",
                        char::from(byte),
                        if table.quoting {
                            ""
                        } else {
                            ", quotes are text"
                        }
                    ),
                };
                let columns = table.columns.iter().map(|(column, _)| column.used_as());
                (format, columns.collect(), table.header.then(Vec::new))
            }
        };
        Question {
            format,
            comment: (!self.comment.is_empty())
                .then(|| String::from_utf8_lossy(&self.comment).into_owned()),
            skipped: None,
            header,
            columns,
            labels: self.labels.listed.clone(),
            lifted: self.lifted,
            kernel: self.kernel_text.clone(),
        }
    }

    /// The dimension of the space the rows live in: the features and the lifted constant.
    pub(crate) fn dimension(&self) -> u64 {
        self.features + u64::from(self.lifted)
    }
}

/// One of a few names.
pub(crate) fn choice<T: Copy>(json: &Json, names: &[(&str, T)]) -> Result<T> {
    let text = json.text()?;
    let found = names.iter().find(|(name, _)| *name == text);
    found.map(|&(_, value)| value).ok_or_else(|| {
        let known: Vec<&str> = names.iter().map(|(name, _)| *name).collect();
        Malformed::new(format!("expected one of: {}", known.join(", ")))
    })
}
