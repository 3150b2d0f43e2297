//! Arrays of NumPy: `.npy` and `.npz`.

use std::io::{self, Write};

use rosenblatt_core::data::{Dataset, Precision, Row};
use rosenblatt_core::{Error, ErrorKind, Result};

/// What the label of each class is written as.
pub(super) enum Labels {
    Whole(Vec<i64>),
    Real(Vec<f64>),
    /// Texts, each with zeros behind it up to the longest.
    Text(Vec<Vec<u32>>),
}

impl Labels {
    pub(super) fn of(names: &[String]) -> Self {
        let whole = |name: &String| {
            let number: i64 = name.parse().ok()?;
            // 007 is a name.
            (number.to_string() == name.trim_start_matches('+')).then_some(number)
        };
        let real = |name: &String| {
            let decimal = name
                .bytes()
                .all(|b| b.is_ascii_digit() || b"+-.eE".contains(&b));
            let number: f64 = name.parse().ok().filter(|_| decimal)?;
            number.is_finite().then_some(number)
        };
        if let Some(numbers) = names.iter().map(whole).collect() {
            return Labels::Whole(numbers);
        }
        if let Some(numbers) = names.iter().map(real).collect() {
            return Labels::Real(numbers);
        }
        let mut texts: Vec<Vec<u32>> = names
            .iter()
            .map(|n| n.chars().map(u32::from).collect())
            .collect();
        let longest = texts.iter().map(Vec::len).max().unwrap_or(0).max(1);
        texts.iter_mut().for_each(|text| text.resize(longest, 0));
        Labels::Text(texts)
    }

    fn element(&self) -> String {
        match self {
            Labels::Whole(_) => "<i8".into(),
            Labels::Real(_) => "<f8".into(),
            Labels::Text(texts) => format!("<U{}", texts.first().map_or(1, Vec::len)),
        }
    }

    fn write(&self, class: usize, out: &mut impl Write) -> io::Result<()> {
        match self {
            Labels::Whole(numbers) => out.write_all(&numbers[class].to_le_bytes()),
            Labels::Real(numbers) => out.write_all(&numbers[class].to_le_bytes()),
            Labels::Text(texts) => texts[class]
                .iter()
                .try_for_each(|letter| out.write_all(&letter.to_le_bytes())),
        }
    }

    /// The labels as numbers of 64 bits, where they are such.
    fn numbers(&self) -> Option<Vec<f64>> {
        match self {
            Labels::Whole(numbers) => {
                let exact = |n: &i64| (*n as f64 as i64 == *n).then_some(*n as f64);
                numbers.iter().map(exact).collect()
            }
            Labels::Real(numbers) => Some(numbers.clone()),
            Labels::Text(_) => None,
        }
    }
}

/// The beginning of an array.
fn header(element: &str, shape: &str) -> Vec<u8> {
    let mut text = format!("{{'descr': '{element}', 'fortran_order': False, 'shape': {shape}, }}");
    // With what stands before it, a multiple of 64 bytes.
    const BEFORE: usize = 10;
    let length = (BEFORE + text.len() + 1).next_multiple_of(64) - BEFORE;
    text.push_str(&" ".repeat(length - text.len() - 1));
    text.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((length as u16).to_le_bytes());
    bytes.extend(text.into_bytes());
    bytes
}

fn failed(error: &io::Error) -> Error {
    Error::new(ErrorKind::Io, error.to_string())
}

fn refuse_weights(dataset: &Dataset) -> Result<()> {
    match dataset.weights {
        Some(_) => {
            Err(Error::data("arrays have no place for example weights").remedy("write CSV or TSV"))
        }
        None => Ok(()),
    }
}

/// A row with its zeros, as bytes.
fn write_row(
    row: Row<'_>,
    precision: Precision,
    dense: &mut [f64],
    out: &mut impl Write,
) -> io::Result<()> {
    dense.fill(0.0);
    row.for_each(|j, x| dense[j] = x);
    dense.iter().try_for_each(|&x| match precision {
        Precision::F32 => out.write_all(&(x as f32).to_le_bytes()),
        Precision::F64 => out.write_all(&x.to_le_bytes()),
    })
}

/// Writes an array of doubles, the label of each row behind its features: `.npy`.
///
/// # Errors
/// If labels are no numbers, if the examples have weights, and those of `out`.
pub fn write_npy(dataset: &Dataset, mut out: impl Write) -> Result<()> {
    refuse_weights(dataset)?;
    let labels = Labels::of(dataset.classes.names()).numbers();
    let labels = labels.ok_or_else(|| {
        Error::data("an array holds numbers, and the labels are texts")
            .remedy("write .npz, where labels are an array of their own")
    })?;
    let (rows, columns) = (dataset.len(), dataset.features());
    let mut dense = vec![0.0; columns];
    let mut write = || -> io::Result<()> {
        out.write_all(&header("<f8", &format!("({rows}, {})", columns + 1)))?;
        for number in 0..rows {
            let i = dataset.position(number);
            write_row(dataset.row(i), Precision::F64, &mut dense, &mut out)?;
            out.write_all(&labels[dataset.labels[i] as usize].to_le_bytes())?;
        }
        out.flush()
    };
    write().map_err(|e| failed(&e))
}

/// Writes the rows as the array `X` and their labels as the array `y`: `.npz`.
///
/// # Errors
/// If an array takes 4 GiB or more, if the examples have weights, and those of `out`.
pub fn write_npz(dataset: &Dataset, mut out: impl Write) -> Result<()> {
    refuse_weights(dataset)?;
    let (rows, columns) = (dataset.len(), dataset.features());
    let precision = dataset.matrix.precision();
    let labels = Labels::of(dataset.classes.names());
    let element = match precision {
        Precision::F32 => "<f4",
        Precision::F64 => "<f8",
    };
    let matrix = |out: &mut dyn Write| -> io::Result<()> {
        let (mut out, mut dense) = (io::BufWriter::new(out), vec![0.0; columns]);
        out.write_all(&header(element, &format!("({rows}, {columns})")))?;
        for number in 0..rows {
            write_row(
                dataset.row(dataset.position(number)),
                precision,
                &mut dense,
                &mut out,
            )?;
        }
        out.flush()
    };
    let list = |out: &mut dyn Write| -> io::Result<()> {
        let mut out = io::BufWriter::new(out);
        out.write_all(&header(&labels.element(), &format!("({rows},)")))?;
        for number in 0..rows {
            labels.write(dataset.labels[dataset.position(number)] as usize, &mut out)?;
        }
        out.flush()
    };
    let arrays: [(&str, Array<'_>); 2] = [("X.npy", &matrix), ("y.npy", &list)];
    let (mut offset, mut directory) = (0u64, Vec::new());
    for (name, array) in arrays {
        let mut measured = Measured::default();
        array(&mut measured).map_err(|e| failed(&e))?;
        let size = u32::try_from(measured.size).ok().filter(|&n| n < u32::MAX);
        let (Some(size), Ok(start)) = (size, u32::try_from(offset)) else {
            return Err(Error::data("the archive would hold 4 GiB or more")
                .remedy("write .npy, whose last column is the label"));
        };
        let facts = facts(name, measured.sum.finalize(), size);
        let mut local = b"PK\x03\x04".to_vec();
        local.extend(&facts);
        local.extend(name.as_bytes());
        out.write_all(&local)
            .and_then(|()| array(&mut out))
            .map_err(|e| failed(&e))?;
        offset += local.len() as u64 + u64::from(size);
        // Made by version 2.0; no comment, one disk, no attributes.
        directory.extend(b"PK\x01\x02\x14\x00");
        directory.extend(&facts);
        directory.extend([0; 10]);
        directory.extend(start.to_le_bytes());
        directory.extend(name.as_bytes());
    }
    let start = u32::try_from(offset).map_err(|_| {
        Error::data("the archive would hold 4 GiB or more")
            .remedy("write .npy, whose last column is the label")
    })?;
    let mut end = b"PK\x05\x06\0\0\0\0\x02\0\x02\0".to_vec();
    end.extend((directory.len() as u32).to_le_bytes());
    end.extend(start.to_le_bytes());
    end.extend([0; 2]);
    let written = out.write_all(&directory).and_then(|()| out.write_all(&end));
    written.and_then(|()| out.flush()).map_err(|e| failed(&e))
}

/// What both headers of a file in an archive say: version 2.0, not packed, 1980-01-01.
fn facts(name: &str, sum: u32, size: u32) -> Vec<u8> {
    let mut facts = b"\x14\0\0\0\0\0\0\0\x21\0".to_vec();
    facts.extend(sum.to_le_bytes());
    facts.extend(size.to_le_bytes());
    facts.extend(size.to_le_bytes());
    facts.extend((name.len() as u16).to_le_bytes());
    facts.extend([0; 2]);
    facts
}

/// Writes an array; twice, for the first time to know its checksum.
type Array<'a> = &'a dyn Fn(&mut dyn Write) -> io::Result<()>;

/// Takes bytes for their checksum and number.
#[derive(Default)]
struct Measured {
    sum: crc32fast::Hasher,
    size: u64,
}

impl Write for Measured {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.sum.update(bytes);
        self.size += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
