//! The witness: exact rationals, brought to integers.

use super::{Certificate, Result, Verdict};
use crate::json::Json;
use crate::kernel::Kernel;
use crate::number::{self, Rational};
use crate::outcome::Malformed;
use dashu_int::IBig;

/// A sparse vector of integers, ascending by index, without zeros.
pub(crate) type Sparse = Vec<(u32, IBig)>;

/// Each part is given times a common denominator: no condition on a witness changes when it
/// is multiplied by a positive number.
#[derive(Default)]
pub(crate) struct Witness {
    /// A normal vector, or one for each class.
    pub(crate) w: Vec<Sparse>,
    /// Dual coefficients, ascending by row.
    pub(crate) alpha: Vec<RowWeight>,
    /// Ascending by row and rival.
    pub(crate) lambda: Vec<RowWeight>,
    pub(crate) null_space: Option<Vec<Sparse>>,
}

/// The weight of a row, against a rival class where there are more than two.
pub(crate) struct RowWeight {
    pub(crate) row: u64,
    pub(crate) rival: usize,
    pub(crate) value: IBig,
}

impl Certificate {
    /// Reads the parts of a witness that this verdict needs, and no others.
    pub(super) fn read_witness(&self, json: &Json) -> Result<Witness> {
        let mut parts = json.fields()?;
        let mut witness = Witness::default();
        if self.verdict.has_sides() {
            match &self.kernel {
                None => witness.w = parts.required("w", |json| self.normals(json))?,
                // On distinct rows any scores are possible: there is nothing to show.
                Some(Kernel::StrictlyPositive) => {}
                Some(_) => {
                    witness.alpha = parts.required("alpha", |json| self.weights(json, false))?;
                }
            }
        }
        if self.verdict != Verdict::Separable {
            let rivals = self.labels.multiclass;
            witness.lambda = parts.required("lambda", |json| self.weights(json, rivals))?;
        }
        if self.kernel.is_none() && self.verdict.names_the_kind() {
            let basis = |json: &Json| json.each(|vector| integers(self.vector(vector)?));
            witness.null_space = parts.optional("null_space", basis)?;
        }
        parts.finish()?;
        Ok(witness)
    }

    fn normals(&self, json: &Json) -> Result<Vec<Sparse>> {
        if !self.labels.multiclass {
            return Ok(vec![integers(self.vector(json)?)?]);
        }
        let vectors = json.each(|vector| self.vector(vector))?;
        let count = self.labels.count;
        if vectors.len() != count {
            return Err(Malformed::new(format!(
                "expected {count} objects, one a class"
            )));
        }
        // One denominator for all: the scores of the classes are compared with each other.
        let vectors = vectors.into_iter().enumerate();
        let entries = vectors.flat_map(|(class, vector)| {
            let entries = vector.into_iter();
            entries.map(move |(index, value)| ((class, index), value))
        });
        let mut normals = vec![Sparse::new(); count];
        for ((class, index), value) in integers(entries.collect())? {
            normals[class].push((index, value));
        }
        Ok(normals)
    }

    /// An object from feature index to rational; 0 is the lifted constant.
    fn vector(&self, json: &Json) -> Result<Vec<(u32, Rational)>> {
        let first = u64::from(!self.lifted);
        let mut entries = Vec::new();
        for (name, value) in json.object()? {
            let index = index(name).filter(|i| (first..=self.features).contains(i));
            let Some(index) = index.and_then(|index| u32::try_from(index).ok()) else {
                let what = format!("an index goes from {first} to {}", self.features);
                return Err(Malformed::new(what).under(name));
            };
            let value = rational(value).map_err(|error| error.under(name))?;
            if !value.numerator.is_zero() {
                entries.push((index, value));
            }
        }
        entries.sort_unstable_by_key(|&(index, _)| index);
        Ok(entries)
    }

    /// A list of `[row, rational]`, or of `[row, rival, rational]`.
    fn weights(&self, json: &Json, with_rival: bool) -> Result<Vec<RowWeight>> {
        let entries = json.each(|item| match (item.list()?, with_rival) {
            ([row, value], false) => Ok(((self.row(row)?, 0), rational(value)?)),
            ([row, rival, value], true) => {
                Ok(((self.row(row)?, self.class(rival)?), rational(value)?))
            }
            (_, false) => Err(Malformed::new("expected [row, rational]")),
            (_, true) => Err(Malformed::new("expected [row, class, rational]")),
        })?;
        let mut weights: Vec<RowWeight> = integers(entries)?
            .into_iter()
            .map(|((row, rival), value)| RowWeight { row, rival, value })
            .collect();
        weights.sort_unstable_by_key(|weight| (weight.row, weight.rival));
        let twice =
            |pair: &[RowWeight]| (pair[0].row, pair[0].rival) == (pair[1].row, pair[1].rival);
        if weights.windows(2).any(twice) {
            return Err(Malformed::new("a row occurs twice"));
        }
        Ok(weights)
    }

    fn row(&self, json: &Json) -> Result<u64> {
        let row = json.natural()?;
        if (1..=self.rows).contains(&row) {
            return Ok(row);
        }
        Err(Malformed::new(format!(
            "a row goes from 1 to {}",
            self.rows
        )))
    }

    fn class(&self, json: &Json) -> Result<usize> {
        let count = self.labels.count;
        match usize::try_from(json.natural()?) {
            Ok(class) if (1..=count).contains(&class) => Ok(class - 1),
            _ => Err(Malformed::new(format!("a class goes from 1 to {count}"))),
        }
    }
}

fn rational(json: &Json) -> Result<Rational> {
    let what = "expected a number such as \"3\", \"-7/2\", \"0.125\" or \"3*2^-5\"";
    number::rational(json.text()?).ok_or_else(|| Malformed::new(what))
}

/// A natural number without leading zeros.
fn index(name: &str) -> Option<u64> {
    let value: u64 = name.parse().ok()?;
    (value.to_string() == name).then_some(value)
}

fn integers<K>(entries: Vec<(K, Rational)>) -> Result<Vec<(K, IBig)>> {
    let (keys, values): (Vec<K>, Vec<Rational>) = entries.into_iter().unzip();
    let what = "the denominators have no common multiple of a sensible size";
    let values = number::over_common_denominator(&values).ok_or_else(|| Malformed::new(what))?;
    Ok(keys.into_iter().zip(values).collect())
}
