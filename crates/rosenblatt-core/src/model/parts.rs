//! A bag of named parts and its file: what models are made of on disk.
//!
//! The file is a safetensors file, so that other programs can read the weights. Small facts
//! are one JSON text in its metadata; names and arrays are tensors; the tensor `sha256`
//! holds the digest of every other byte, so a damaged file is refused. Files are read as
//! hostile input: nothing is allocated beyond what the file's own size accounts for (or, for
//! weights that are mostly zero, a fixed multiple of it).

mod array;

use std::borrow::Cow;
use std::collections::BTreeMap;

use safetensors::tensor::{SafeTensors, TensorView};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::file::bad;
use crate::data::{Matrix, Precision, Storage, StringTable, Values};
use crate::error::{Error, Result};
pub use array::{Array, Element};

/// The metadata key under which the JSON text stands.
const KEY: &str = "rosenblatt";
/// The tensor that holds the digest.
const DIGEST: &str = "sha256";
const DIGEST_BYTES: usize = 32;

/// Named JSON values and arrays, which may be lent by what they are parts of.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Parts<'a> {
    facts: Map<String, Value>,
    arrays: BTreeMap<String, (Vec<usize>, Array<'a>)>,
}

impl<'a> Parts<'a> {
    /// No parts.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a small fact.
    pub fn put_fact(&mut self, name: &str, value: impl Serialize) {
        // Only maps with keys that are not strings and failing serialisers give an error.
        let value = serde_json::to_value(value).unwrap_or(Value::Null);
        self.facts.insert(name.to_owned(), value);
    }

    /// Takes a small fact out.
    pub fn take_fact<T: DeserializeOwned>(&mut self, name: &str) -> Result<T> {
        let value = self
            .facts
            .remove(name)
            .ok_or_else(|| bad(format_args!("{name} is missing")))?;
        serde_json::from_value(value).map_err(|e| bad(format_args!("{name}: {e}")))
    }

    /// Whether there is such a fact.
    pub fn has_fact(&self, name: &str) -> bool {
        self.facts.contains_key(name)
    }

    /// Adds a list.
    pub fn put<T: Element + 'a>(&mut self, name: &str, values: Vec<T>) {
        let array = Array::new(Cow::Owned(values));
        self.arrays
            .insert(name.to_owned(), (vec![array.len()], array));
    }

    /// Adds a table of `columns` columns, row by row.
    pub fn put_table<T: Element>(&mut self, name: &str, columns: usize, values: Cow<'a, [T]>) {
        let array = Array::new(values);
        let rows = array.len().checked_div(columns).unwrap_or(0);
        self.arrays
            .insert(name.to_owned(), (vec![rows, columns], array));
    }

    /// The names of all arrays.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.arrays.keys().map(String::as_str)
    }

    /// Whether there is such an array.
    pub fn has(&self, name: &str) -> bool {
        self.arrays.contains_key(name)
    }

    /// Takes a list or table out, whatever its shape.
    pub fn take<T: Element>(&mut self, name: &str) -> Result<Vec<T>> {
        let (_, array) = self
            .arrays
            .remove(name)
            .ok_or_else(|| bad(format_args!("the tensor {name} is missing")))?;
        array
            .values()
            .ok_or_else(|| bad(format_args!("the tensor {name} has the wrong type")))
    }

    /// Takes a list or table out where there is one.
    pub fn take_optional<T: Element>(&mut self, name: &str) -> Result<Option<Vec<T>>> {
        self.has(name).then(|| self.take(name)).transpose()
    }

    /// Takes a list out that must have this length.
    pub fn take_len<T: Element>(&mut self, name: &str, len: usize) -> Result<Vec<T>> {
        let values = self.take(name)?;
        if values.len() == len {
            Ok(values)
        } else {
            Err(bad(format_args!(
                "the tensor {name} has {} values, expected {len}",
                values.len()
            )))
        }
    }

    /// Adds many strings, as bytes and ends.
    pub fn put_strings(&mut self, name: &str, strings: &StringTable) {
        self.put(
            &format!("{name}.bytes"),
            strings.bytes().as_bytes().to_vec(),
        );
        self.put(&format!("{name}.ends"), strings.ends().to_vec());
    }

    /// Takes many strings out.
    pub fn take_strings(&mut self, name: &str) -> Result<StringTable> {
        let bytes: Vec<u8> = self.take(&format!("{name}.bytes"))?;
        let ends: Vec<u64> = self.take(&format!("{name}.ends"))?;
        let text =
            String::from_utf8(bytes).map_err(|_| bad(format_args!("{name} is not UTF-8")))?;
        StringTable::from_parts(text, ends)
            .ok_or_else(|| bad(format_args!("the ends of {name} do not fit")))
    }

    /// Adds a matrix.
    pub fn put_matrix(&mut self, name: &str, matrix: &Matrix) {
        self.put_fact(&format!("{name}.columns"), matrix.columns());
        self.put_fact(&format!("{name}.rows"), matrix.rows());
        let values = match matrix.storage() {
            Storage::Dense { values, .. } => values,
            Storage::Sparse {
                offsets,
                indices,
                values,
                ..
            } => {
                self.put(
                    &format!("{name}.offsets"),
                    offsets.iter().map(|&o| o as u64).collect(),
                );
                self.put(&format!("{name}.indices"), indices.to_vec());
                values
            }
        };
        match values {
            Values::F32(v) => self.put(&format!("{name}.values"), v.to_vec()),
            Values::F64(v) => self.put(&format!("{name}.values"), v.to_vec()),
        }
    }

    /// Takes a matrix out, its structure and numbers checked.
    pub fn take_matrix(&mut self, name: &str, precision: Precision) -> Result<Matrix> {
        let columns: usize = self.take_fact(&format!("{name}.columns"))?;
        let rows: usize = self.take_fact(&format!("{name}.rows"))?;
        let values = match precision {
            Precision::F32 => Values::F32(self.take::<f32>(&format!("{name}.values"))?.into()),
            Precision::F64 => Values::F64(self.take::<f64>(&format!("{name}.values"))?.into()),
        };
        if (0..values.len()).any(|i| !values.get(i).is_finite()) {
            return Err(bad(format_args!("{name} has values that are not finite")));
        }
        let matrix = if self.has(&format!("{name}.offsets")) {
            let offsets: Vec<u64> = self.take(&format!("{name}.offsets"))?;
            let indices: Vec<u32> = self.take(&format!("{name}.indices"))?;
            let offsets: Vec<usize> = offsets.into_iter().map(|o| o as usize).collect();
            Matrix::sparse(columns, offsets, indices, values)
        } else if columns > 0 || rows == 0 {
            Matrix::dense(rows, columns, values)
        } else {
            Err(bad("rows without columns"))
        };
        let matrix = matrix.map_err(|e| bad(format_args!("{name}: {}", e.message())))?;
        if matrix.rows() == rows {
            Ok(matrix)
        } else {
            Err(bad(format_args!("{name} does not have {rows} rows")))
        }
    }

    /// The file's bytes: the same parts give the same bytes.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let facts = Value::Object(self.facts.clone()).to_string();
        let digest = (
            vec![DIGEST_BYTES],
            Array::new::<u8>(vec![0; DIGEST_BYTES].into()),
        );
        let named = self.arrays.iter().map(|(name, part)| (name.as_str(), part));
        let views = named.chain([(DIGEST, &digest)]).map(|(name, part)| {
            let (shape, array) = part;
            let view = TensorView::new(array.dtype(), shape.clone(), array.bytes());
            view.map(|view| (name, view)).map_err(bad)
        });
        let views = views.collect::<Result<Vec<_>>>()?;
        let metadata = [(KEY.to_owned(), facts)].into();
        let mut bytes = safetensors::serialize(views, Some(metadata)).map_err(bad)?;
        seal(&mut bytes);
        Ok(bytes)
    }

    /// Reads a file's bytes back, its digest checked.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let again = "take it from its source again, or train it anew";
        let (place, metadata) = digest_place(bytes).ok_or_else(|| match missing(bytes) {
            Some(what) => {
                Error::model(format!("the model file ends too early: {what}")).remedy(again)
            }
            None => Error::model("this is not a Rosenblatt model, or it is damaged at its start")
                .remedy("check the path"),
        })?;
        if bytes[place.clone()] != digest_around(bytes, &place)[..] {
            return Err(Error::model(
                "the model file is damaged: its digest does not match its content",
            )
            .remedy(again));
        }
        let text = metadata
            .metadata()
            .as_ref()
            .and_then(|m| m.get(KEY))
            .ok_or_else(|| bad("it has no description"))?;
        let facts: Map<String, Value> = serde_json::from_str(text).map_err(bad)?;
        let tensors = SafeTensors::deserialize(bytes).map_err(bad)?;
        let mut arrays = BTreeMap::new();
        for (name, view) in tensors.iter() {
            if name != DIGEST {
                let array = Array::from_bytes(view.dtype(), view.data()).ok_or_else(|| {
                    bad(format_args!("the tensor {name} has a type no model uses"))
                })?;
                arrays.insert(name.to_owned(), (view.shape().to_vec(), array));
            }
        }
        Ok(Parts { facts, arrays })
    }
}

type Metadata = safetensors::tensor::Metadata;

/// Where in the file the digest stands.
fn digest_place(bytes: &[u8]) -> Option<(std::ops::Range<usize>, Metadata)> {
    let (header, metadata) = SafeTensors::read_metadata(bytes).ok()?;
    let info = metadata.info(DIGEST)?;
    let start = header.checked_add(8)?.checked_add(info.data_offsets.0)?;
    let end = header.checked_add(8)?.checked_add(info.data_offsets.1)?;
    (end <= bytes.len() && end.checked_sub(start)? == DIGEST_BYTES)
        .then_some((start..end, metadata))
}

/// What is missing at the end of a model's bytes, if anything is: first comes the length of the
/// head in eight bytes, then the head, which says how long the arrays are, then these.
fn missing(bytes: &[u8]) -> Option<String> {
    if bytes.is_empty() {
        return Some("it is empty".to_owned());
    }
    let (length, rest) = bytes.split_first_chunk::<8>()?;
    let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
    let Some((head, arrays)) = rest.split_at_checked(length) else {
        let begins_as_ours = rest.starts_with(format!("{{\"__metadata__\":{{\"{KEY}\"").as_bytes());
        return begins_as_ours.then(|| {
            let here = rest.len();
            format!("its head has {here} of {length} bytes")
        });
    };
    let (here, needed) = (
        arrays.len(),
        serde_json::from_slice::<Metadata>(head).ok()?.data_len(),
    );
    (here < needed).then(|| format!("its arrays have {here} of {needed} bytes"))
}

fn digest_around(bytes: &[u8], place: &std::ops::Range<usize>) -> [u8; DIGEST_BYTES] {
    let mut hash = Sha256::new();
    hash.update(&bytes[..place.start]);
    hash.update(&bytes[place.end..]);
    hash.finalize().into()
}

/// Writes the right digest into a file's bytes; false if they have no place for one. Public
/// for fuzzing, which needs damaged files that get past the digest.
#[doc(hidden)]
pub fn seal(bytes: &mut [u8]) -> bool {
    let Some((place, _)) = digest_place(bytes) else {
        return false;
    };
    let digest = digest_around(bytes, &place);
    bytes[place].copy_from_slice(&digest);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Parts<'static> {
        let mut parts = Parts::new();
        parts.put_fact("answer", 42);
        parts.put("numbers", vec![1.5f64, -2.0]);
        parts.put_table("table", 2, vec![1u32, 2, 3, 4].into());
        parts.put_strings("names", &["a", "été"].iter().collect());
        let mut matrix = Matrix::empty_sparse(3, Precision::F32);
        matrix.push_sparse([(0, 1.0), (2, 2.0)]);
        matrix.push_sparse([]);
        parts.put_matrix("rows", &matrix);
        parts
    }

    #[test]
    fn what_goes_in_comes_out() {
        let bytes = sample().to_bytes().unwrap();
        assert_eq!(bytes, sample().to_bytes().unwrap());
        let mut parts = Parts::from_bytes(&bytes).unwrap();
        assert_eq!(parts, sample());
        assert_eq!(parts.take_fact::<u32>("answer").unwrap(), 42);
        assert_eq!(parts.take_strings("names").unwrap().get(1), "été");
        assert_eq!(
            parts
                .take_matrix("rows", Precision::F32)
                .unwrap()
                .non_zeros(),
            2
        );
        assert!(parts.take_len::<f64>("numbers", 3).is_err());
        assert!(parts.take::<f64>("table").is_err());
        assert!(parts.take_fact::<u32>("nothing").is_err());
    }

    #[test]
    fn every_changed_or_missing_byte_is_noticed() {
        let bytes = sample().to_bytes().unwrap();
        for i in 0..bytes.len() {
            for flip in [1, 0x80] {
                let mut damaged = bytes.clone();
                damaged[i] ^= flip;
                assert!(Parts::from_bytes(&damaged).is_err(), "byte {i} ^ {flip}");
            }
            let cut = Parts::from_bytes(&bytes[..i]).unwrap_err().to_string();
            // Up to where it is seen what the file was to be.
            let seen = i == 0 || i >= 37;
            assert_eq!(cut.contains("ends too early"), seen, "cut at {i}: {cut}");
        }
        let mut longer = bytes;
        longer.push(0);
        assert!(Parts::from_bytes(&longer).is_err());
    }

    #[test]
    fn matrices_that_do_not_fit_are_refused() {
        let broken: [fn(&mut Parts<'_>); 6] = [
            |p| p.put("rows.offsets", vec![0u64, 1]),
            |p| p.put("rows.offsets", vec![0u64, 3, 2]),
            |p| p.put("rows.indices", vec![2u32, 0]),
            |p| p.put("rows.indices", vec![0u32, 3]),
            |p| p.put("rows.values", vec![1.0f32, f32::NAN]),
            |p| p.put_fact("rows.rows", u64::MAX),
        ];
        for (i, damage) in broken.iter().enumerate() {
            let mut parts = sample();
            damage(&mut parts);
            assert!(
                parts.take_matrix("rows", Precision::F32).is_err(),
                "case {i}"
            );
        }
    }
}
