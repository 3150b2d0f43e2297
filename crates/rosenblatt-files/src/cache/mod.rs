//! Prepared examples in a file that is mapped into memory, not read.
//!
//! Reading text is most of the work of a short training run, and it is the same work every
//! time. A cache keeps what came of it: the features as they are stored, scattered as shuffled
//! passes want them, with the classes, the preparation and the report of the reading. It opens
//! in milliseconds, whatever its size, and may be larger than memory.
//!
//! ```text
//! magic (8 bytes) · length of the head · head ·
//! labels · weights · offsets · indices · values · sums
//! ```
//!
//! The head is covered by a SHA-256 like a model file. The numbers, little-endian and aligned,
//! are covered by sums over their bytes: a cache is [verified](Cached::verify) before it is
//! trusted. The source's length and time of change, and
//! the options it was read with, are part of the head, so that a stale cache is noticed.

use std::fs::File;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use memmap2::Mmap;
use serde::{Deserialize, Serialize};

use crate::read::{CACHE_NAME, Preparation, ReadReport};
use rosenblatt_core::data::{
    Buffer, Classes, Dataset, Layout, Lender, Matrix, Owner, Precision, Storage, Values,
};
use rosenblatt_core::internal::parallel;
use rosenblatt_core::model::{Fingerprint, Parts, StoredPreparation};
use rosenblatt_core::{Error, Result};

mod checksum;
mod page_evictor;
mod streamed;
mod write;

pub use streamed::write_streamed;
pub use write::write;

use page_evictor::PageEvictor;
use write::Places;

/// The first bytes of a cache; the last of them is the version of the format.
const MAGIC: [u8; 8] = *b"RBCACHE\x05";

/// Arrays start at multiples of this.
const ALIGNMENT: u64 = 64;

/// What a cache was made from. Another source, or other options, make it stale.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Key {
    /// The length of the source in bytes.
    pub bytes: u64,
    /// When it was last changed, in nanoseconds since 1970.
    pub changed: u128,
    /// The options it was read with, and what they were set to.
    pub options: Vec<(String, String)>,
}

impl Key {
    /// The key of a source as it is now.
    pub fn of(source: impl AsRef<Path>, options: Vec<(String, String)>) -> Result<Self> {
        let source = source.as_ref();
        let facts = std::fs::metadata(source).map_err(|e| Error::io(source, &e))?;
        Ok(Key {
            bytes: facts.len(),
            changed: changed(&facts).map_err(|e| Error::io(source, &e))?,
            options,
        })
    }
}

/// When a file was last changed: nobody can set that back, as can be done with the time that a
/// file is said to have been written at.
#[cfg(unix)]
fn changed(facts: &std::fs::Metadata) -> std::io::Result<u128> {
    use std::os::unix::fs::MetadataExt;
    let seconds = u128::try_from(facts.ctime()).unwrap_or(0);
    Ok(seconds * 1_000_000_000 + u128::try_from(facts.ctime_nsec()).unwrap_or(0))
}

/// When a file was last written.
#[cfg(not(unix))]
fn changed(facts: &std::fs::Metadata) -> std::io::Result<u128> {
    let since = facts.modified()?.duration_since(std::time::UNIX_EPOCH);
    Ok(since.map_or(0, |since| since.as_nanos()))
}

/// An open cache.
#[derive(Debug)]
pub struct Cached {
    /// The examples, their features lying in the file.
    pub data: Dataset,
    /// How the source's rows became features.
    pub preparation: Preparation,
    /// What was found when the source was read.
    pub report: ReadReport,
    /// What it was made from.
    pub key: Key,
    /// What its content hashes to.
    pub fingerprint: Fingerprint,
    file: String,
    lent: Lent,
    /// Where the sums are, behind all that they are for.
    checksums: Range<u64>,
}

fn damaged(what: impl std::fmt::Display) -> Error {
    Error::data(format!("the cache is not valid: {what}"))
        .remedy("make it again from the file it was made from")
}

/// Opens a cache. What it holds is not [verified](Cached::verify) yet, beyond its head and
/// shape.
///
/// With a limit on memory, pages of the file that were used are handed back as more come in.
///
/// # Errors
/// If there is no such file, it is no cache, or it is damaged.
pub fn open(path: impl AsRef<Path>, memory: Option<u64>) -> Result<Cached> {
    let path = path.as_ref();
    let mapped = map(path)?;
    parse(mapped, path, memory).map_err(|e| e.in_file(path))
}

#[allow(unsafe_code)] // Mapping a file is what this module is there for.
fn map(path: &Path) -> Result<Mmap> {
    let file = File::open(path).map_err(|e| Error::io(path, &e))?;
    // SAFETY: caches are written aside and renamed, never changed in place, so nobody shortens
    // or writes the file that is mapped here. Someone who does it by hand breaks the promise
    // that any program with a mapped file relies on.
    unsafe { Mmap::map(&file) }.map_err(|e| Error::io(path, &e))
}

fn parse(mapped: Mmap, path: &Path, memory: Option<u64>) -> Result<Cached> {
    let start = mapped
        .get(..16)
        .filter(|start| start.starts_with(CACHE_NAME));
    let Some((magic, length)) = start.and_then(|start| start.split_first_chunk::<8>()) else {
        return Err(Error::data("this is no cache").remedy("give a file that `convert` made"));
    };
    if *magic != MAGIC {
        return Err(Error::data(format!(
            "the cache has version {}, and this program reads version {}",
            magic[7], MAGIC[7]
        ))
        .remedy("make it again from the file it was made from"));
    }
    let length = length.first_chunk().map_or(0, |l| u64::from_le_bytes(*l));
    let end = length
        .checked_add(16)
        .filter(|&end| end <= mapped.len() as u64);
    let end = end.ok_or_else(|| damaged("its head is cut off"))?;
    let mut parts =
        Parts::from_bytes(&mapped[16..end as usize]).map_err(|e| damaged(e.message()))?;
    let places: Places = parts.take_fact("places")?;
    let fingerprint: Fingerprint = parts.take_fact("fingerprint")?;
    let key = parts.take_fact("key")?;
    let report: ReadReport = parts.take_fact("report")?;
    let layout = if parts.take_fact("scattered")? {
        Layout::Permuted
    } else {
        Layout::AsGiven
    };
    let names = parts.take_strings("classes")?;
    let stored = StoredPreparation::take(&mut parts)?.ok_or_else(|| damaged("no preparation"))?;
    let preparation = Preparation::from_stored(&stored)?;
    let owner = Arc::new(PageEvictor::new(mapped, memory));
    let base = end.next_multiple_of(ALIGNMENT);
    let lent = Lent { owner, base };
    let covered = places.values.end;
    let checksums = covered..covered.saturating_add(checksum::length(covered as usize) as u64);
    let labels: Buffer<u32> = lent.array(&places.labels, places.rows)?;
    let weights = match &places.weights {
        Some(range) => Some(lent.array::<f64>(range, places.rows)?.to_vec()),
        None => None,
    };
    let values = |count| -> Result<Values> {
        Ok(match places.precision {
            Precision::F32 => Values::F32(lent.array(&places.values, count)?),
            Precision::F64 => Values::F64(lent.array(&places.values, count)?),
        })
    };
    let matrix = match &places.sparse {
        None => Matrix::from_storage(Storage::Dense {
            rows: places.rows,
            columns: places.columns,
            values: values(
                places
                    .rows
                    .checked_mul(places.columns)
                    .ok_or_else(|| damaged("its shape"))?,
            )?,
        }),
        Some((offsets, indices)) => {
            let offsets: Buffer<u64> = lent.array(offsets, places.rows + 1)?;
            let count = offsets.last().copied().unwrap_or(0) as usize;
            let indices = lent.array(indices, count)?;
            if offsets.first() != Some(&0) || !offsets.is_sorted() {
                return Err(damaged("its offsets do not ascend"));
            }
            Matrix::from_storage(Storage::Sparse {
                columns: places.columns,
                offsets: offsets
                    .iter()
                    .map(|&o| o as usize)
                    .collect::<Vec<_>>()
                    .into(),
                indices,
                values: values(count)?,
            })
        }
    };
    let classes = Classes::from_stored(names.iter().map(str::to_owned).collect())
        .map_err(|e| damaged(e.message()))?;
    if labels.iter().any(|&label| label as usize >= classes.len()) {
        return Err(damaged("a label without a class"));
    }
    if preparation.features() != places.columns {
        return Err(damaged("its features do not fit its preparation"));
    }
    Ok(Cached {
        data: Dataset {
            matrix,
            labels: labels.to_vec(),
            classes,
            weights,
            names: preparation.feature_names(),
            layout,
        },
        preparation,
        report,
        key,
        fingerprint,
        file: path.display().to_string(),
        lent,
        checksums,
    })
}

impl Cached {
    /// Looks at every number and makes sure that it is the one that was written.
    ///
    /// # Errors
    /// If any was changed.
    pub fn verify(&self, threads: usize) -> Result<()> {
        let covered = self.lent.bytes(&(0..self.checksums.start));
        let checksums = self.lent.bytes(&self.checksums);
        let tell = |bytes| self.lent.owner.hear(bytes);
        match (covered, checksums) {
            (Some(covered), Some(checksums))
                if checksum::holds(covered, checksums, threads, tell) =>
            {
                self.check_numbers(threads)
            }
            (Some(_), Some(_)) => Err(damaged("its numbers are not those that were written")),
            _ => Err(damaged("it is cut off")),
        }
        .map_err(|e| e.in_file(&self.file))
    }
}

impl Cached {
    /// Refuses what no reader of text lets through: sums are no proof of who wrote the file.
    fn check_numbers(&self, threads: usize) -> Result<()> {
        let Dataset {
            matrix, weights, ..
        } = &self.data;
        let weights = weights.iter().flatten();
        if weights.into_iter().any(|&w| !(w.is_finite() && w > 0.0)) {
            return Err(damaged("a weight that is not above 0"));
        }
        const ROWS: usize = 4096;
        let columns = matrix.columns();
        let mut right = vec![true; matrix.rows().div_ceil(ROWS)];
        let bytes = matrix.bytes() / right.len().max(1);
        parallel::chunks(&mut right, 1, threads, || {
            |part: usize, right: &mut [bool]| {
                let rows = part * ROWS..matrix.rows().min((part + 1) * ROWS);
                right.fill(rows.clone().all(|i| matrix.row(i).is_sound(columns)));
                self.lent.owner.hear(bytes);
            }
        });
        match right.into_iter().all(|right| right) {
            true => Ok(()),
            false => Err(damaged(
                "a row has a feature that there is not, twice, out of order or not finite",
            )),
        }
    }
}

/// Arrays that lie in a mapped file.
#[derive(Debug)]
struct Lent {
    owner: Arc<PageEvictor>,
    base: u64,
}

/// Numbers of which every pattern of bits is one.
trait Pod: Copy + 'static {}

impl Pod for u32 {}
impl Pod for u64 {}
impl Pod for f32 {}
impl Pod for f64 {}

impl Lent {
    /// The bytes in this range, counted from the end of the head.
    fn bytes(&self, range: &Range<u64>) -> Option<&[u8]> {
        let place = |at: u64| self.base.checked_add(at).map(|at| at as usize);
        self.owner
            .bytes()
            .get(place(range.start)?..place(range.end)?)
    }

    #[allow(unsafe_code)] // A copy of the data is what a cache is there to avoid.
    fn array<T: Pod>(&self, range: &Range<u64>, count: usize) -> Result<Buffer<T>> {
        let bytes = self.bytes(range);
        let bytes = bytes.ok_or_else(|| damaged("it is cut off"))?;
        if Some(bytes.len()) != count.checked_mul(size_of::<T>())
            || !bytes.as_ptr().cast::<T>().is_aligned()
        {
            return Err(damaged("an array is of another length than its rows need"));
        }
        #[cfg(not(target_endian = "little"))]
        return Err(Error::data(
            "caches are read on little-endian machines only",
        ));
        // SAFETY: the bytes are as many as `count` numbers have, aligned for them, and every
        // pattern of bits is a number. They lie in a mapping that `owner` keeps and nobody
        // writes to.
        #[cfg(target_endian = "little")]
        unsafe {
            let numbers = std::slice::from_raw_parts(bytes.as_ptr().cast::<T>(), count);
            Ok(Buffer::lent_by(numbers, Owner::Lender(self.owner.clone())))
        }
    }
}
