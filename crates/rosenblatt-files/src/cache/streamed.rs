//! A cache of more rows than memory holds, made from text that is read several times.
//!
//! The rows of a file come in its order and lie in the cache in another. So as many places of
//! the cache as memory allows are filled at a time: the file is gone through, the rows that
//! belong there are taken, and the places written, until none is left. The bytes are those of a
//! cache that was made at once.

use std::ops::Range;
use std::path::Path;

use super::Key;
use super::write::{Head, Places, write_with_checksums};
use crate::read::{Batch, INDEX_WIDTH, Streamed, value_width};
use rosenblatt_core::Result;
use rosenblatt_core::data::{Dataset, FeatureNames, Layout, Row, RowPermutation};
use rosenblatt_core::model::Fingerprint;

/// Bytes of places that are filled at a time at least, however little memory there is: each time
/// the whole file is read.
const LEAST: u64 = 4 << 20;

/// Writes a cache of scattered examples in about this much memory; gives their fingerprint.
///
/// # Errors
/// If the file cannot be written, or its source was changed since it was gone through.
pub fn write_streamed(
    path: impl AsRef<Path>,
    source: &Streamed,
    key: &Key,
    memory: u64,
) -> Result<Fingerprint> {
    // A part for these, and the rest for the rows that come in and the program itself.
    write_some_at_a_time(path.as_ref(), source, key, (memory / 4).max(LEAST))
}

fn write_some_at_a_time(
    path: &Path,
    source: &Streamed,
    key: &Key,
    bytes: u64,
) -> Result<Fingerprint> {
    let rows = source.lengths().len();
    let permutation = RowPermutation::new(rows);
    // Where the values of each place begin.
    let mut offsets = Vec::with_capacity(rows + 1);
    offsets.push(0);
    let mut end = 0;
    offsets.extend((0..rows).map(|place| {
        end += u64::from(source.lengths()[permutation.row_at(place)]);
        end
    }));
    let preparation = source.preparation();
    let precision = preparation.precision();
    let head = Head {
        key,
        report: source.report(),
        fingerprint: fingerprint(source)?,
        layout: Layout::Permuted,
        classes: source.classes(),
        preparation,
        places: Places::new(
            rows,
            preparation.features(),
            precision,
            false,
            Some(end as usize),
        ),
    };
    let filling = Filling {
        source,
        permutation,
        offsets: &offsets,
        bytes,
    };
    write_with_checksums(path, &head, |out| {
        let labels = (0..rows).map(|place| source.labels()[permutation.row_at(place)]);
        out.put_all(labels, u32::to_le_bytes)?;
        out.put_all(offsets.iter(), |x| x.to_le_bytes())?;
        out.align()?;
        let index = |_: f64, j: usize, to: &mut [u8]| to.copy_from_slice(&(j as u32).to_le_bytes());
        filling.go(INDEX_WIDTH, index, |bytes| out.put(bytes))?;
        out.align()?;
        let single = value_width(precision) == 4;
        let value = |x: f64, _: usize, to: &mut [u8]| match single {
            true => to.copy_from_slice(&(x as f32).to_le_bytes()),
            false => to.copy_from_slice(&x.to_le_bytes()),
        };
        filling.go(value_width(precision), value, |bytes| out.put(bytes))?;
        source.require_unchanged()
    })?;
    Ok(head.fingerprint)
}

/// The fingerprint of all rows, in one more look at them.
fn fingerprint(source: &Streamed) -> Result<Fingerprint> {
    let (mut hash, mut non_zeros, mut rows) = (0u64, 0, 0);
    for batch in source.batches()? {
        let Batch {
            first_row, matrix, ..
        } = batch?;
        rows = first_row + matrix.rows();
        let labels = source.labels().get(first_row..rows);
        let labels = labels.ok_or_else(|| source.changed())?.to_vec();
        let part = Dataset {
            matrix,
            labels,
            classes: source.classes().clone(),
            weights: None,
            names: FeatureNames::default(),
            layout: Layout::AsGiven,
        };
        let (more, values) = Fingerprint::of_part(&part, first_row);
        (hash, non_zeros) = (hash.wrapping_add(more), non_zeros + values);
    }
    if rows != source.lengths().len() {
        return Err(source.changed());
    }
    Ok(Fingerprint {
        examples: rows as u64,
        features: source.preparation().features() as u64,
        non_zeros,
        hash,
    })
}

/// Rows on their way from the order of the file to that of the cache.
struct Filling<'a> {
    source: &'a Streamed,
    permutation: RowPermutation,
    offsets: &'a [u64],
    /// Of how many places are filled at a time.
    bytes: u64,
}

impl Filling<'_> {
    /// Hands over, place after place, what `of` makes of each value and its feature, so many
    /// bytes.
    fn go(
        &self,
        width: u64,
        of: impl Fn(f64, usize, &mut [u8]),
        mut put: impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let most = self.bytes / width;
        let places = self.offsets.len() - 1;
        let mut first = 0;
        while first < places {
            // At least one row, however long.
            let end = self.offsets[first] + most;
            let behind = self.offsets.partition_point(|&offset| offset <= end) - 1;
            let some = first..behind.clamp(first + 1, places);
            put(&self.filled(some.clone(), width, &of)?)?;
            first = some.end;
        }
        Ok(())
    }

    /// What belongs to these places.
    fn filled(
        &self,
        places: Range<usize>,
        width: u64,
        of: impl Fn(f64, usize, &mut [u8]),
    ) -> Result<Vec<u8>> {
        let base = self.offsets[places.start];
        let byte = |offset: u64| ((offset - base) * width) as usize;
        let mut bytes = vec![0; byte(self.offsets[places.end])];
        let mut missing = places.len();
        for batch in self.source.batches()? {
            let batch = batch?;
            for i in 0..batch.matrix.rows() {
                let number = batch.first_row + i;
                if number >= self.source.lengths().len() {
                    return Err(self.source.changed());
                }
                let place = self.permutation.position_of(number);
                if places.contains(&place) {
                    let to = byte(self.offsets[place])..byte(self.offsets[place + 1]);
                    let mut to = bytes[to].chunks_exact_mut(width as usize);
                    let row: Row<'_> = batch.matrix.row(i);
                    if row.stored() != to.len() {
                        return Err(self.source.changed());
                    }
                    row.for_each(|j, x| {
                        if let Some(to) = to.next() {
                            of(x, j, to);
                        }
                    });
                    missing -= 1;
                }
            }
        }
        match missing {
            0 => Ok(bytes),
            _ => Err(self.source.changed()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::cache::{open, write};
    use crate::read::{OnError, Preparation, ReadOptions, Scale, read};
    use rosenblatt_core::data::Precision;
    use rosenblatt_core::internal::random::{Random, Stream};

    /// A folder that is gone after the test.
    struct Place(PathBuf);

    impl Place {
        fn new(name: &str) -> Self {
            let name = format!("rosenblatt-streamed-{name}-{}", std::process::id());
            let folder = std::env::temp_dir().join(name);
            std::fs::create_dir_all(&folder).unwrap();
            Place(folder)
        }

        fn file(&self, text: &str) -> PathBuf {
            let path = self.0.join("data.svm");
            std::fs::write(&path, text).unwrap();
            path
        }
    }

    impl Drop for Place {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    fn key() -> Key {
        Key {
            bytes: 1,
            changed: 2,
            options: Vec::new(),
        }
    }

    /// Rows of all sorts: sorted or not, empty, with comments, query ids, zeros and Windows
    /// line ends, one that is no row and one without a
    /// label.
    fn text(rows: usize, features: u64, first: u64) -> String {
        let mut random = Random::new(3, Stream::Synthetic, 0);
        let mut text = String::new();
        for i in 0..rows {
            text += ["b", "a", "c"][i % 3];
            if i % 50 == 7 {
                text += " qid:3";
            }
            let mut columns: Vec<u64> = (0..random.below(40))
                .map(|_| first + random.below(features))
                .collect();
            columns.sort_unstable();
            columns.dedup();
            if i % 10 == 3 {
                columns.reverse();
            }
            for column in columns {
                text += &format!(" {column}:{}", random.below(200) as f64 / 8.0 - 3.0);
            }
            text += ["\n", " # said\n", "\r\n", "\n\n"][i % 4];
            if i == rows / 2 {
                text += "a 5:x\n1:1 2:1\n";
            }
        }
        text
    }

    #[test]
    fn a_cache_made_in_little_memory_is_the_same() {
        let place = Place::new("same");
        let (whole, streamed) = (place.0.join("whole.rbc"), place.0.join("streamed.rbc"));
        for (rows, features, first, precision, scale, threads, sizes) in [
            (6000, 500, 1, Precision::F32, None, 2, [20_000, 1 << 30]),
            (
                60,
                500,
                0,
                Precision::F64,
                Some(Scale::UnitRows),
                1,
                [1, 300],
            ),
            (
                3000,
                100_000,
                1,
                Precision::F32,
                Some(Scale::None),
                3,
                [20_000, 100_000],
            ),
        ] {
            let data = place.file(&text(rows, features, first));
            let options = ReadOptions {
                precision,
                threads,
                on_error: OnError::Skip,
                label_map: vec![("c".into(), "a".into())],
                ..ReadOptions::default()
            };
            let raw = read(&data, &options).unwrap();
            let preparation = Preparation::fit(&raw, None, scale).unwrap();
            let examples = raw.dataset(&preparation, None, Layout::Permuted).unwrap();
            write(&whole, &examples, &preparation, raw.report(), &key(), 2).unwrap();
            for bytes in sizes {
                let source = Streamed::open(&data, &options, scale, 0).unwrap().unwrap();
                assert!(source.bytes_needed() > examples.matrix.bytes() as u64);
                let found = write_some_at_a_time(&streamed, &source, &key(), bytes).unwrap();
                assert_eq!(found, Fingerprint::of(&examples, 1));
                let same = std::fs::read(&whole).unwrap() == std::fs::read(&streamed).unwrap();
                assert!(same, "{features} {bytes}");
            }
            open(&streamed, None).unwrap().verify(1).unwrap();
        }
    }

    #[test]
    fn a_file_that_changes_in_between_is_noticed_and_nothing_is_written() {
        let place = Place::new("changed");
        let (text, to) = (text(300, 50, 1), place.0.join("c.rbc"));
        let options = ReadOptions {
            on_error: OnError::Skip,
            ..ReadOptions::default()
        };
        for other in [
            format!("{text}a 1:1\n"),
            text[..text.len() / 2].to_owned(),
            text.replacen("a ", "a 51:2 ", 1),
            text.replacen("a ", "b ", 1),
        ] {
            let path = place.file(&text);
            let source = Streamed::open(&path, &options, None, 0).unwrap().unwrap();
            std::fs::write(&path, &other).unwrap();
            let error = write_streamed(&to, &source, &key(), 0).unwrap_err();
            assert!(error.to_string().contains("was changed"), "{error}");
            let left: Vec<_> = std::fs::read_dir(&place.0).unwrap().collect();
            assert_eq!(left.len(), 1, "{left:?}");
        }
    }

    #[test]
    fn only_sparse_text_that_stays_so_is_streamed() {
        let place = Place::new("other");
        let options = ReadOptions::default();
        let path = place.file("a 1:1\nb 2:1\n");
        let none = Streamed::open(&path, &options, Some(Scale::Standard), 0);
        assert!(none.unwrap().is_none());
        let table = place.0.join("t.csv");
        std::fs::write(&table, "x,label\n1,a\n2,b\n").unwrap();
        assert!(Streamed::open(&table, &options, None, 0).unwrap().is_none());
        std::fs::write(&path, "a 1:1\nb 2:x\n").unwrap();
        let error = Streamed::open(&path, &options, None, 0).unwrap_err();
        assert!(error.to_string().contains("data.svm:2:"), "{error}");
    }
}
