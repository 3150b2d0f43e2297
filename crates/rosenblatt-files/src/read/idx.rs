//! IDX arrays, the format of MNIST: images in one file, labels in another.
//!
//! A header of two zero bytes, the element type, the number of dimensions and their sizes
//! (big-endian), then the elements. The header is not believed: memory is taken as data come.

use std::io::Read;
use std::path::{Path, PathBuf};

use super::images::ImagesRaw;
use super::labels::LabelSink;
use super::source::{Reader, Source};
use rosenblatt_core::{Error, Result};

/// The type of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Element {
    U8,
    I8,
    I16,
    I32,
    F32,
    F64,
}

impl Element {
    pub(crate) fn size(self) -> usize {
        match self {
            Element::U8 | Element::I8 => 1,
            Element::I16 => 2,
            Element::I32 | Element::F32 => 4,
            Element::F64 => 8,
        }
    }

    /// The value of one element.
    #[inline]
    pub(crate) fn value(self, bytes: &[u8]) -> f64 {
        fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
            bytes.first_chunk().copied().unwrap_or([0; N])
        }
        match self {
            Element::U8 => f64::from(bytes[0]),
            Element::I8 => f64::from(bytes[0] as i8),
            Element::I16 => f64::from(i16::from_be_bytes(array(bytes))),
            Element::I32 => f64::from(i32::from_be_bytes(array(bytes))),
            Element::F32 => f64::from(f32::from_be_bytes(array(bytes))),
            Element::F64 => f64::from_be_bytes(array(bytes)),
        }
    }
}

/// An array that is being read, row by row.
pub(crate) struct Rows {
    reader: Reader,
    file: PathBuf,
    pub(crate) element: Element,
    /// The number of rows that the header promises.
    pub(crate) rows: usize,
    /// Elements in a row.
    pub(crate) width: usize,
    /// Height and width, if the rows are images.
    pub(crate) shape: Option<(u32, u32)>,
    read: usize,
    /// Bytes read, header included.
    pub(crate) bytes: u64,
}

impl Rows {
    /// Reads the header.
    pub(crate) fn start(mut reader: Reader, file: &Path) -> Result<Self> {
        let bad = |message: String| {
            Error::data(message)
                .in_file(file)
                .remedy("check that this is an IDX file, or pass ⟨format⟩")
        };
        let mut take = |n: usize| -> Result<Vec<u8>> {
            let mut bytes = vec![0; n];
            match reader.read_exact(&mut bytes) {
                Ok(()) => Ok(bytes),
                Err(e) if e.kind() == std::io::ErrorKind::UnexpectedEof => {
                    Err(bad("the file ends inside its IDX header".into()))
                }
                Err(e) => Err(Error::io(file, &e)),
            }
        };
        let magic = take(4)?;
        let element = match magic[..] {
            [0, 0, 0x08, _] => Element::U8,
            [0, 0, 0x09, _] => Element::I8,
            [0, 0, 0x0B, _] => Element::I16,
            [0, 0, 0x0C, _] => Element::I32,
            [0, 0, 0x0D, _] => Element::F32,
            [0, 0, 0x0E, _] => Element::F64,
            _ => return Err(bad("this is not an IDX file: it does not start with two zero bytes and an element type".into())),
        };
        let dimensions = magic[3] as usize;
        if dimensions == 0 || dimensions > 8 {
            return Err(bad(format!("an IDX array of {dimensions} dimensions")));
        }
        let mut sizes = Vec::new();
        for _ in 0..dimensions {
            let bytes = take(4)?;
            sizes.push(bytes.iter().fold(0u32, |n, &b| n << 8 | u32::from(b)));
        }
        let width = sizes[1..]
            .iter()
            .try_fold(1u64, |w, &s| w.checked_mul(u64::from(s)));
        let Some(width) = width.filter(|&w| w < u64::from(u32::MAX)) else {
            return Err(bad(format!(
                "IDX rows of {:?} elements are too long",
                &sizes[1..]
            )));
        };
        if width == 0 {
            return Err(bad("IDX rows without elements".to_owned()));
        }
        Ok(Rows {
            reader,
            file: file.to_path_buf(),
            element,
            rows: sizes[0] as usize,
            width: width as usize,
            shape: match sizes[1..] {
                [height, width] => Some((height, width)),
                _ => None,
            },
            read: 0,
            bytes: 4 + 4 * dimensions as u64,
        })
    }

    pub(crate) fn row_bytes(&self) -> usize {
        self.width * self.element.size()
    }

    /// Up to `count` further rows.
    pub(crate) fn read(&mut self, count: usize) -> Result<ImagesRaw> {
        let mut bytes = Vec::new();
        let count = count.min(self.rows - self.read);
        let wanted = (count as u64).saturating_mul(self.row_bytes() as u64);
        let got = (&mut self.reader)
            .take(wanted)
            .read_to_end(&mut bytes)
            .map_err(|e| Error::io(&self.file, &e))? as u64;
        self.bytes += got;
        if got < wanted {
            let whole = self.read as u64 + got / self.row_bytes().max(1) as u64;
            return Err(Error::data(format!(
                "the file holds {whole} of the {} rows that its header promises",
                self.rows
            ))
            .in_file(&self.file)
            .remedy("the file is cut off; fetch it again"));
        }
        self.read += count;
        if self.read == self.rows && self.rows > 0 {
            let mut extra = [0];
            let more = self
                .reader
                .read(&mut extra)
                .map_err(|e| Error::io(&self.file, &e))?;
            if more > 0 {
                return Err(Error::data(format!(
                    "there are bytes behind the {} rows that the header promises",
                    self.rows
                ))
                .in_file(&self.file)
                .remedy("the header or the file is damaged"));
            }
        }
        Ok(ImagesRaw {
            bytes,
            element: self.element,
            rows: count,
            width: self.width,
            shape: self.shape,
        })
    }
}

/// The labels file that belongs to an images file, by name.
pub(crate) fn labels_path(images: &Path) -> Option<PathBuf> {
    let name = images.file_name()?.to_str()?;
    let labels = ["images-idx3", "images.idx3"]
        .iter()
        .find(|n| name.contains(**n))
        .map(|n| name.replace(n, &n.replace("images", "labels").replace("idx3", "idx1")))?;
    Some(images.with_file_name(labels))
}

/// The labels of an IDX file, as texts of whole numbers.
pub(crate) struct Labels {
    rows: Rows,
}

impl Labels {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let source = Source::new(path)?;
        let rows = Rows::start(source.open()?, path)?;
        if rows.width != 1 {
            return Err(
                Error::data(format!("expected one label a row, found {}", rows.width))
                    .in_file(path)
                    .remedy("name the labels file with ⟨labels⟩"),
            );
        }
        Ok(Labels { rows })
    }

    /// Up to `count` further labels.
    pub(crate) fn read(&mut self, count: usize) -> Result<LabelSink> {
        let labels = self.rows.read(count)?;
        let mut sink = LabelSink::default();
        for label in (0..labels.rows).flat_map(|row| labels.row(row)) {
            let text = label.to_string();
            sink.push_text(text.as_bytes()).map_err(|(_, e)| e)?;
        }
        Ok(sink)
    }
}

/// Refuses a labels file that does not fit the images.
pub(crate) fn same_rows(images: &Rows, labels: &Labels) -> Result<()> {
    let (rows, there) = (images.rows, labels.rows.rows);
    if rows == there {
        return Ok(());
    }
    Err(Error::data(format!("{there} labels for {rows} rows"))
        .in_file(&labels.rows.file)
        .remedy("name the matching labels file with ⟨labels⟩"))
}

#[cfg(test)]
pub(crate) mod tests;
