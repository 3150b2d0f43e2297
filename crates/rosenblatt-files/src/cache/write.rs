//! Writing a cache: a head that tells what there is and where, the arrays, and their sums.

use std::io::Write;
use std::ops::Range;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::checksum::Checksums;
use super::{ALIGNMENT, Key, MAGIC};
use crate::read::{INDEX_WIDTH, Preparation, ReadReport, value_width};
use rosenblatt_core::data::{Classes, Dataset, Layout, Precision, Storage, Values};
use rosenblatt_core::internal::write_atomic;
use rosenblatt_core::model::{Fingerprint, Parts};
use rosenblatt_core::{Error, Result};

/// Where the arrays are.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Places {
    pub(super) rows: usize,
    pub(super) columns: usize,
    pub(super) precision: Precision,
    pub(super) labels: Range<u64>,
    pub(super) weights: Option<Range<u64>>,
    /// Offsets and indices, where the rows are sparse.
    pub(super) sparse: Option<(Range<u64>, Range<u64>)>,
    pub(super) values: Range<u64>,
}

/// Writes a cache of scattered examples; gives their fingerprint.
///
/// # Errors
/// If the file cannot be written.
pub fn write(
    path: impl AsRef<Path>,
    data: &Dataset,
    preparation: &Preparation,
    report: &ReadReport,
    key: &Key,
    threads: usize,
) -> Result<Fingerprint> {
    let fingerprint = Fingerprint::of(data, threads);
    let stored = match data.matrix.storage() {
        Storage::Dense { .. } => None,
        Storage::Sparse { indices, .. } => Some(indices.len()),
    };
    let head = Head {
        key,
        report,
        fingerprint,
        layout: data.layout,
        classes: &data.classes,
        preparation,
        places: Places::new(
            data.len(),
            data.features(),
            data.matrix.precision(),
            data.weights.is_some(),
            stored,
        ),
    };
    write_with_checksums(path.as_ref(), &head, |out| {
        out.put_all(data.labels.iter(), |x| x.to_le_bytes())?;
        if let Some(weights) = &data.weights {
            out.put_all(weights.iter(), |x| x.to_le_bytes())?;
        }
        let values = match data.matrix.storage() {
            Storage::Dense { values, .. } => values,
            Storage::Sparse {
                offsets,
                indices,
                values,
                ..
            } => {
                out.put_all(offsets.iter(), |&x| (x as u64).to_le_bytes())?;
                out.put_all(indices.iter(), |x| x.to_le_bytes())?;
                values
            }
        };
        match values {
            Values::F32(values) => out.put_all(values.iter(), |x| x.to_le_bytes()),
            Values::F64(values) => out.put_all(values.iter(), |x| x.to_le_bytes()),
        }
    })?;
    Ok(fingerprint)
}

/// All that stands before the arrays.
pub(super) struct Head<'a> {
    pub(super) key: &'a Key,
    pub(super) report: &'a ReadReport,
    pub(super) fingerprint: Fingerprint,
    pub(super) layout: Layout,
    pub(super) classes: &'a Classes,
    pub(super) preparation: &'a Preparation,
    pub(super) places: Places,
}

/// Writes a cache: its head, then the arrays, in the order of their places, and their sums.
pub(super) fn write_with_checksums(
    path: &Path,
    head: &Head<'_>,
    arrays: impl FnOnce(&mut Padded<'_>) -> Result<()>,
) -> Result<()> {
    let mut parts = Parts::new();
    parts.put_fact("key", head.key);
    parts.put_fact("report", head.report);
    parts.put_fact("fingerprint", head.fingerprint);
    parts.put_fact("scattered", head.layout == Layout::Permuted);
    parts.put_strings("classes", &head.classes.names().iter().collect());
    head.preparation.to_stored().put(&mut parts);
    parts.put_fact("places", &head.places);
    let head = parts.to_bytes()?;
    write_atomic(path, |out| {
        let mut out = Padded {
            out,
            at: 0,
            checksums: None,
            path,
        };
        out.put(&MAGIC)?;
        out.put(&(head.len() as u64).to_le_bytes())?;
        out.put(&head)?;
        out.align()?;
        out.checksums = Some(Checksums::default());
        arrays(&mut out)?;
        let checksums = out.checksums.take().unwrap_or_default();
        out.put(&checksums.finish())
    })
}

impl Places {
    /// The places of the arrays, counted from the end of the head, rounded up. Of sparse rows
    /// the number of stored values is given.
    pub(super) fn new(
        rows: usize,
        columns: usize,
        precision: Precision,
        weighted: bool,
        stored: Option<usize>,
    ) -> Self {
        let mut at = 0;
        let mut next = |length: usize, width: u64| {
            let range = at..at + length as u64 * width;
            at = range.end.next_multiple_of(ALIGNMENT);
            range
        };
        Places {
            rows,
            columns,
            precision,
            labels: next(rows, 4),
            weights: weighted.then(|| next(rows, 8)),
            sparse: stored.map(|count| (next(rows + 1, 8), next(count, INDEX_WIDTH))),
            values: next(stored.unwrap_or(rows * columns), value_width(precision)),
        }
    }
}

/// A writer that knows where it is.
pub(super) struct Padded<'a> {
    out: &'a mut dyn Write,
    at: u64,
    /// The sums over what is written, once that is to be covered.
    checksums: Option<Checksums>,
    path: &'a Path,
}

impl Padded<'_> {
    pub(super) fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.at += bytes.len() as u64;
        if let Some(checksums) = &mut self.checksums {
            checksums.add(bytes);
        }
        self.out
            .write_all(bytes)
            .map_err(|e| Error::io(self.path, &e))
    }

    /// Goes on to the next aligned place.
    pub(super) fn align(&mut self) -> Result<()> {
        let gap = self.at.next_multiple_of(ALIGNMENT) - self.at;
        self.put(&[0; ALIGNMENT as usize][..gap as usize])
    }

    /// An array, at the next aligned place.
    pub(super) fn put_all<T, const N: usize>(
        &mut self,
        values: impl Iterator<Item = T>,
        of: impl Fn(T) -> [u8; N],
    ) -> Result<()> {
        const SOME: usize = 8192;
        self.align()?;
        let mut values = values.peekable();
        let mut piece = Vec::with_capacity(N * SOME);
        while values.peek().is_some() {
            piece.clear();
            let some = values.by_ref().take(SOME);
            some.for_each(|x| piece.extend_from_slice(&of(x)));
            self.put(&piece)?;
        }
        Ok(())
    }
}
