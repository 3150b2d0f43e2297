//! What the payload of a record holds, as bytes.

use rosenblatt::data::{Matrix, Precision, Row, Storage, Values};

/// An entry of the log.
#[derive(Debug, Clone, PartialEq)]
pub enum Entry {
    /// Examples that were learned.
    Learned(Examples),
    /// Rows whose labels may come later.
    Pending {
        /// By what the labels will name them.
        id: String,
        /// The rows.
        rows: Matrix,
    },
    /// What was answered to a request with a key, in a log that was shortened since.
    Answered(String, Remembered),
}

/// Examples of one request.
#[derive(Debug, Clone, PartialEq)]
pub struct Examples {
    /// The idempotency key of the request, if it had one.
    pub key: Option<String>,
    /// A checksum of what the request said, by which another one with its key is known.
    pub said: u32,
    /// The id of the prediction that a late label is for.
    pub id: Option<String>,
    /// Classes that the model had not.
    pub new_classes: Vec<String>,
    /// The rows.
    pub rows: Matrix,
    /// Their classes.
    pub labels: Vec<u32>,
}

/// What is remembered of a request with a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remembered {
    /// A checksum of what it said.
    pub said: u32,
    /// How many examples were learned before it.
    pub sequence: u64,
    /// For each row the class predicted before it was learned, and its own.
    pub rows: Vec<(u32, u32)>,
}

impl Entry {
    /// Its bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        match self {
            Entry::Learned(examples) => {
                out.push(1);
                put_text(&mut out, examples.key.as_deref().unwrap_or_default());
                put_u32(&mut out, examples.said);
                put_text(&mut out, examples.id.as_deref().unwrap_or_default());
                put_u32(&mut out, examples.new_classes.len() as u32);
                for name in &examples.new_classes {
                    put_text(&mut out, name);
                }
                examples.labels.iter().for_each(|&l| put_u32(&mut out, l));
                put_matrix(&mut out, &examples.rows);
            }
            Entry::Pending { id, rows } => {
                out.push(2);
                put_text(&mut out, id);
                put_matrix(&mut out, rows);
            }
            Entry::Answered(key, answer) => {
                out.push(3);
                put_text(&mut out, key);
                put_u32(&mut out, answer.said);
                out.extend(answer.sequence.to_le_bytes());
                for (predicted, label) in &answer.rows {
                    put_u32(&mut out, *predicted);
                    put_u32(&mut out, *label);
                }
            }
        }
        // The number of rows stands last, so that labels and answers need no length of their own.
        let rows = match self {
            Entry::Learned(examples) => examples.labels.len(),
            Entry::Pending { rows, .. } => rows.rows(),
            Entry::Answered(_, answer) => answer.rows.len(),
        };
        put_u32(&mut out, rows as u32);
        out
    }

    /// The entry that these bytes are; `None` if they are none.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        let (bytes, rows) = bytes.split_last_chunk::<4>()?;
        let rows = u32::from_le_bytes(*rows) as usize;
        let mut from = Reader(bytes);
        let some = |text: String| (!text.is_empty()).then_some(text);
        let entry = match from.take(1)?[0] {
            1 => {
                let key = some(from.text()?);
                let said = from.u32()?;
                let id = some(from.text()?);
                let names = from.u32()? as usize;
                let new_classes = (0..names).map_while(|_| from.text()).collect::<Vec<_>>();
                let labels = from.u32s(rows)?;
                Entry::Learned(Examples {
                    key,
                    said,
                    id,
                    new_classes: (new_classes.len() == names).then_some(new_classes)?,
                    labels,
                    rows: from.matrix(rows)?,
                })
            }
            2 => Entry::Pending {
                id: from.text()?,
                rows: from.matrix(rows)?,
            },
            3 => {
                let key = from.text()?;
                let said = from.u32()?;
                let sequence = u64::from_le_bytes(*from.take(8)?.first_chunk()?);
                let numbers = from.u32s(rows.checked_mul(2)?)?;
                let rows = numbers.chunks_exact(2).map(|n| (n[0], n[1])).collect();
                Entry::Answered(
                    key,
                    Remembered {
                        said,
                        sequence,
                        rows,
                    },
                )
            }
            _ => return None,
        };
        from.0.is_empty().then_some(entry)
    }
}

fn put_u32(out: &mut Vec<u8>, n: u32) {
    out.extend(n.to_le_bytes());
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    put_u32(out, text.len() as u32);
    out.extend(text.as_bytes());
}

/// 0 to 3: dense or sparse, of `f32` or `f64`.
fn put_matrix(out: &mut Vec<u8>, matrix: &Matrix) {
    let sparse = u8::from(matrix.is_sparse());
    let double = u8::from(matrix.precision() == Precision::F64);
    out.push(sparse * 2 + double);
    put_u32(out, matrix.columns() as u32);
    let put_f32 = |out: &mut Vec<u8>, v: &[f32]| v.iter().for_each(|x| out.extend(x.to_le_bytes()));
    let put_f64 = |out: &mut Vec<u8>, v: &[f64]| v.iter().for_each(|x| out.extend(x.to_le_bytes()));
    for i in 0..matrix.rows() {
        if matrix.is_sparse() {
            put_u32(out, matrix.row(i).stored() as u32);
        }
        match matrix.row(i) {
            Row::Dense32(values) => put_f32(out, values),
            Row::Dense64(values) => put_f64(out, values),
            Row::Sparse32(indices, values) => {
                indices.iter().for_each(|&j| put_u32(out, j));
                put_f32(out, values);
            }
            Row::Sparse64(indices, values) => {
                indices.iter().for_each(|&j| put_u32(out, j));
                put_f64(out, values);
            }
        }
    }
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, n: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(n)?;
        self.0 = rest;
        Some(taken)
    }

    fn u32(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(*self.take(4)?.first_chunk()?))
    }

    fn text(&mut self) -> Option<String> {
        let length = self.u32()? as usize;
        String::from_utf8(self.take(length)?.to_vec()).ok()
    }

    fn numbers<const N: usize, T>(&mut self, n: usize, of: fn([u8; N]) -> T) -> Option<Vec<T>> {
        let bytes = self.take(n.checked_mul(N)?)?;
        Some(bytes.as_chunks::<N>().0.iter().map(|&b| of(b)).collect())
    }

    fn u32s(&mut self, n: usize) -> Option<Vec<u32>> {
        self.numbers(n, u32::from_le_bytes)
    }

    fn values(&mut self, n: usize, double: bool) -> Option<Values> {
        Some(match double {
            false => Values::F32(self.numbers(n, f32::from_le_bytes)?.into()),
            true => Values::F64(self.numbers(n, f64::from_le_bytes)?.into()),
        })
    }

    fn matrix(&mut self, rows: usize) -> Option<Matrix> {
        let kind = self.take(1)?[0];
        let columns = self.u32()? as usize;
        let double = kind % 2 == 1;
        match kind {
            0 | 1 => {
                let values = self.values(rows.checked_mul(columns)?, double)?;
                Matrix::dense(rows, columns, values).ok()
            }
            2 | 3 => {
                let mut matrix = Matrix::empty_sparse(columns, precision(double));
                for _ in 0..rows {
                    let n = self.u32()? as usize;
                    let indices = self.u32s(n)?;
                    let values = self.values(n, double)?;
                    let sound = indices.is_sorted_by(|a, b| a < b)
                        && indices.last().is_none_or(|&j| (j as usize) < columns);
                    if !sound {
                        return None;
                    }
                    matrix.push_sparse((0..n).map(|k| (indices[k], values.get(k))));
                }
                Some(matrix)
            }
            _ => None,
        }
    }
}

fn precision(double: bool) -> Precision {
    match double {
        true => Precision::F64,
        false => Precision::F32,
    }
}

/// Rows of several matrices, one after the other, as one. `None` if they are not stored alike.
pub fn joined(parts: &[&Matrix]) -> Option<Matrix> {
    let first = parts.first()?;
    let alike = |m: &&Matrix| {
        m.is_sparse() == first.is_sparse()
            && m.precision() == first.precision()
            && m.columns() == first.columns()
    };
    if !parts.iter().all(alike) {
        return None;
    }
    if let [only] = parts {
        return Some((*only).clone());
    }
    let mut values = Values::new(first.precision());
    let mut offsets = vec![0];
    let mut indices: Vec<u32> = Vec::new();
    let mut rows = 0;
    for part in parts {
        rows += part.rows();
        match (&mut values, part.storage()) {
            (Values::F32(to), Storage::Dense { values, .. } | Storage::Sparse { values, .. }) => {
                if let Values::F32(from) = values {
                    to.to_mut().extend_from_slice(from);
                }
            }
            (Values::F64(to), Storage::Dense { values, .. } | Storage::Sparse { values, .. }) => {
                if let Values::F64(from) = values {
                    to.to_mut().extend_from_slice(from);
                }
            }
        }
        if let Storage::Sparse {
            offsets: ends,
            indices: own,
            ..
        } = part.storage()
        {
            let before = indices.len();
            offsets.extend(ends[1..].iter().map(|end| before + end));
            indices.extend_from_slice(own);
        }
    }
    Some(Matrix::from_storage(match first.is_sparse() {
        false => Storage::Dense {
            rows,
            columns: first.columns(),
            values,
        },
        true => Storage::Sparse {
            columns: first.columns(),
            offsets: offsets.into(),
            indices: indices.into(),
            values,
        },
    }))
}
