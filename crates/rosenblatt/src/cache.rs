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
//! The head is sealed by a SHA-256 like a model file. The numbers, little-endian and aligned,
//! are sealed by sums over their bytes: a cache is [verified](Cached::verify) before it is
//! trusted. The source's length and time of change, and
//! the options it was read with, are part of the head, so that a stale cache is noticed.

use std::fs::File;
use std::io::Write;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use memmap2::Mmap;
use serde::{Deserialize, Serialize};

use crate::data::read::{Preparation, ReadReport};
use crate::data::{Buffer, Classes, Dataset, Indices, Layout, Lender, Matrix, Precision, Values};
use crate::error::{Error, Result};
use crate::file::write_aside;
use crate::model::{Fingerprint, Parts, put_preparation, take_preparation};

mod janitor;
mod seal;
mod streamed;

pub use streamed::write_streamed;

use janitor::Janitor;
use seal::Seals;

/// The first bytes of a cache; the last of them is the version of the format.
const MAGIC: [u8; 8] = *b"RBCACHE\x03";

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
        let changed = facts.modified().map_err(|e| Error::io(source, &e))?;
        Ok(Key {
            bytes: facts.len(),
            changed: changed
                .duration_since(UNIX_EPOCH)
                .map_or(0, |since| since.as_nanos()),
            options,
        })
    }
}

/// Where the arrays are.
#[derive(Debug, Serialize, Deserialize)]
struct Places {
    rows: usize,
    columns: usize,
    precision: Precision,
    labels: Range<u64>,
    weights: Option<Range<u64>>,
    /// Offsets and indices, where the rows are sparse.
    sparse: Option<(Range<u64>, Range<u64>)>,
    values: Range<u64>,
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
    seals: Range<u64>,
}

fn damaged(what: impl std::fmt::Display) -> Error {
    Error::data(format!("the cache is not valid: {what}"))
        .remedy("make it again from the file it was made from")
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
    let head = Head {
        key,
        report,
        fingerprint,
        layout: data.layout,
        classes: &data.classes,
        preparation,
        places: Places::of(data),
    };
    write_sealed(path.as_ref(), &head, |out| {
        out.put_all(data.labels.iter(), |x| x.to_le_bytes())?;
        if let Some(weights) = &data.weights {
            out.put_all(weights.iter(), |x| x.to_le_bytes())?;
        }
        let values = match &data.matrix {
            Matrix::Dense { values, .. } => values,
            Matrix::Sparse {
                offsets,
                indices,
                values,
                ..
            } => {
                out.put_all(offsets.iter(), |&x| (x as u64).to_le_bytes())?;
                // In 16 bits wherever they fit, however they are held.
                match (indices, index_width(data.features())) {
                    (Indices::Narrow(all), 2) => out.put_all(all.iter(), |x| x.to_le_bytes()),
                    (Indices::Narrow(all), _) => {
                        out.put_all(all.iter(), |&x| u32::from(x).to_le_bytes())
                    }
                    (Indices::Wide(all), 2) => {
                        out.put_all(all.iter(), |&x| (x as u16).to_le_bytes())
                    }
                    (Indices::Wide(all), _) => out.put_all(all.iter(), |x| x.to_le_bytes()),
                }?;
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
struct Head<'a> {
    key: &'a Key,
    report: &'a ReadReport,
    fingerprint: Fingerprint,
    layout: Layout,
    classes: &'a Classes,
    preparation: &'a Preparation,
    places: Places,
}

/// Writes a cache: its head, then the arrays, in the order of their places, and their sums.
fn write_sealed(
    path: &Path,
    head: &Head<'_>,
    arrays: impl FnOnce(&mut Padded<'_>) -> Result<()>,
) -> Result<()> {
    let mut parts = Parts::new();
    parts.put_fact("key", head.key);
    parts.put_fact("report", head.report);
    parts.put_fact("fingerprint", head.fingerprint);
    parts.put_fact("scattered", head.layout == Layout::Scattered);
    parts.put_strings("classes", &head.classes.names().iter().collect());
    put_preparation(&mut parts, head.preparation);
    parts.put_fact("places", &head.places);
    let head = parts.to_bytes()?;
    write_aside(path, |out| {
        let mut out = Padded {
            out,
            at: 0,
            seals: None,
            path,
        };
        out.put(&MAGIC)?;
        out.put(&(head.len() as u64).to_le_bytes())?;
        out.put(&head)?;
        out.align()?;
        out.seals = Some(Seals::default());
        arrays(&mut out)?;
        let seals = out.seals.take().unwrap_or_default();
        out.put(&seals.finish())
    })
}

/// How many numbers there are of each sort.
struct Counts {
    rows: usize,
    columns: usize,
    weights: Option<usize>,
    /// Indices, where the rows are sparse.
    indices: Option<usize>,
    values: usize,
    precision: Precision,
}

impl Places {
    fn of(data: &Dataset) -> Self {
        let (indices, values) = match &data.matrix {
            Matrix::Dense { values, .. } => (None, values),
            Matrix::Sparse {
                indices, values, ..
            } => (Some(indices.len()), values),
        };
        Places::new(&Counts {
            rows: data.len(),
            columns: data.features(),
            weights: data.weights.as_ref().map(Vec::len),
            indices,
            values: values.len(),
            precision: values.precision(),
        })
    }

    /// The places of the arrays, counted from the end of the head, rounded up.
    fn new(counts: &Counts) -> Self {
        let mut at = 0;
        let mut next = |length: usize, width: u64| {
            let range = at..at + length as u64 * width;
            at = range.end.next_multiple_of(ALIGNMENT);
            range
        };
        Places {
            rows: counts.rows,
            columns: counts.columns,
            precision: counts.precision,
            labels: next(counts.rows, 4),
            weights: counts.weights.map(|weights| next(weights, 8)),
            sparse: counts.indices.map(|indices| {
                (
                    next(counts.rows + 1, 8),
                    next(indices, index_width(counts.columns)),
                )
            }),
            values: next(counts.values, value_width(counts.precision)),
        }
    }
}

/// Bytes of an index.
fn index_width(columns: usize) -> u64 {
    if Indices::fit_narrow(columns) { 2 } else { 4 }
}

/// Bytes of a value.
fn value_width(precision: Precision) -> u64 {
    match precision {
        Precision::F32 => 4,
        Precision::F64 => 8,
    }
}

/// A writer that knows where it is.
struct Padded<'a> {
    out: &'a mut dyn Write,
    at: u64,
    /// The sums over what is written, once that is to be sealed.
    seals: Option<Seals>,
    path: &'a Path,
}

impl Padded<'_> {
    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.at += bytes.len() as u64;
        if let Some(seals) = &mut self.seals {
            seals.add(bytes);
        }
        self.out
            .write_all(bytes)
            .map_err(|e| Error::io(self.path, &e))
    }

    /// Goes on to the next aligned place.
    fn align(&mut self) -> Result<()> {
        let gap = self.at.next_multiple_of(ALIGNMENT) - self.at;
        self.put(&[0; ALIGNMENT as usize][..gap as usize])
    }

    /// An array, at the next aligned place.
    fn put_all<T, const N: usize>(
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
    let start = mapped.get(..16).filter(|start| start[..7] == MAGIC[..7]);
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
        Layout::Scattered
    } else {
        Layout::AsGiven
    };
    let names = parts.take_strings("classes")?;
    let preparation = take_preparation(&mut parts)?.ok_or_else(|| damaged("no preparation"))?;
    let owner = Arc::new(Janitor::new(mapped, memory));
    let base = end.next_multiple_of(ALIGNMENT);
    let lent = Lent { owner, base };
    let sealed = places.values.end;
    let seals = sealed..sealed.saturating_add(seal::length(sealed as usize) as u64);
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
        None => Matrix::Dense {
            rows: places.rows,
            columns: places.columns,
            values: values(
                places
                    .rows
                    .checked_mul(places.columns)
                    .ok_or_else(|| damaged("its shape"))?,
            )?,
        },
        Some((offsets, indices)) => {
            let offsets: Buffer<u64> = lent.array(offsets, places.rows + 1)?;
            let count = offsets.last().copied().unwrap_or(0) as usize;
            let indices = match index_width(places.columns) {
                2 => Indices::Narrow(lent.array(indices, count)?),
                _ => Indices::Wide(lent.array(indices, count)?),
            };
            if offsets.first() != Some(&0) || !offsets.is_sorted() {
                return Err(damaged("its offsets do not ascend"));
            }
            Matrix::Sparse {
                columns: places.columns,
                offsets: offsets
                    .iter()
                    .map(|&o| o as usize)
                    .collect::<Vec<_>>()
                    .into(),
                indices,
                values: values(count)?,
            }
        }
    };
    let classes = Classes::from_ordered(names.iter().map(str::to_owned).collect());
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
        seals,
    })
}

impl Cached {
    /// Looks at every number and makes sure that it is the one that was written.
    ///
    /// # Errors
    /// If any was changed.
    pub fn verify(&self, threads: usize) -> Result<()> {
        let sealed = self.lent.bytes(&(0..self.seals.start));
        let seals = self.lent.bytes(&self.seals);
        let tell = |bytes| self.lent.owner.hear(bytes);
        match (sealed, seals) {
            (Some(sealed), Some(seals)) if seal::holds(sealed, seals, threads, tell) => Ok(()),
            (Some(_), Some(_)) => Err(damaged("its numbers are not those that were written")),
            _ => Err(damaged("it is cut off")),
        }
        .map_err(|e| e.in_file(&self.file))
    }
}

/// Arrays that lie in a mapped file.
#[derive(Debug)]
struct Lent {
    owner: Arc<Janitor>,
    base: u64,
}

/// Numbers of which every pattern of bits is one.
trait Plain: Copy + 'static {}

impl Plain for u16 {}
impl Plain for u32 {}
impl Plain for u64 {}
impl Plain for f32 {}
impl Plain for f64 {}

impl Lent {
    /// The bytes in this range, counted from the end of the head.
    fn bytes(&self, range: &Range<u64>) -> Option<&[u8]> {
        let place = |at: u64| self.base.checked_add(at).map(|at| at as usize);
        self.owner
            .bytes()
            .get(place(range.start)?..place(range.end)?)
    }

    #[allow(unsafe_code)] // A copy of the data is what a cache is there to avoid.
    fn array<T: Plain>(&self, range: &Range<u64>, count: usize) -> Result<Buffer<T>> {
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
            Ok(Buffer::lent_by(numbers, self.owner.clone()))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;
    use crate::data::read::{ReadOptions, read_from};

    /// The width of a cache's indices follows from the columns, however they were held.
    #[test]
    fn indices_of_either_width_make_the_same_cache() {
        let name = format!("rosenblatt-cache-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        for text in [
            "1 1:1 3:-2.5\n-1 2:1\n",
            "1 1:1 3:-2.5\n-1 2:1 65536:0\n",
            "1 1:1 3:-2.5\n-1 2:1 65537:0\n",
        ] {
            let source = Cursor::new(text.as_bytes().to_vec());
            let raw = read_from(source, "f", &ReadOptions::default()).unwrap();
            let preparation = Preparation::fit(&raw, None, None).unwrap();
            let mut data = raw.dataset(&preparation, None, Layout::AsGiven).unwrap();
            let key = Key {
                bytes: 1,
                changed: 2,
                options: Vec::new(),
            };
            let mut written = Vec::new();
            for narrow in [false, true] {
                let Matrix::Sparse { indices, .. } = &mut data.matrix else {
                    panic!("libsvm rows are sparse");
                };
                let all = indices.to_vec();
                *indices = match narrow {
                    true => all.iter().map(|&j| j as u16).collect::<Vec<_>>().into(),
                    false => all.into(),
                };
                write(&path, &data, &preparation, raw.report(), &key, 1).unwrap();
                written.push(std::fs::read(&path).unwrap());
                let cached = open(&path, None).unwrap();
                cached.verify(1).unwrap();
                assert_eq!(cached.data.matrix, data.matrix);
                let Matrix::Sparse { indices, .. } = &cached.data.matrix else {
                    panic!("they stay sparse");
                };
                let fits = Indices::fit_narrow(data.features());
                assert_eq!(matches!(indices, Indices::Narrow(_)), fits);
            }
            std::fs::remove_file(&path).unwrap();
            assert!(written[0] == written[1], "{text}");
        }
    }
}
