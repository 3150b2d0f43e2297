//! Several files as one data set: their rows one below the other.
//!
//! All have the format of the first, and tables its columns in its order. A file is opened when
//! its turn comes, and every message names the file that it is about.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Before, Part, Places, Text, as_category, folders, told_of_csv};
use crate::read::chunk::Cut;
use crate::read::delimited::{Delimiter, Dialect, count_cells, next_record};
use crate::read::format::Format;
use crate::read::open::{SAMPLE, open};
use crate::read::options::ReadOptions;
use crate::read::source::{Reader, Source};
use crate::read::table::shape::{first_records, header_names, shape};
use rosenblatt_core::{Error, Result};

/// The files that a path stands for: itself, all in a folder, or those that fit a pattern with
/// `*` and `?` in its last part. `None` where it is one file (or stdin).
pub(crate) fn files_of(path: &Path) -> Result<Option<Vec<PathBuf>>> {
    if path.is_dir() {
        let mut found = Vec::new();
        walk(path, &mut found)?;
        found.sort();
        return match found.is_empty() {
            true => Err(Error::data("the folder holds no files")
                .in_file(path)
                .remedy("name a folder with data files")),
            false => Ok(Some(found)),
        };
    }
    let name = path.file_name().map(|name| name.to_string_lossy());
    let Some(pattern) = name.filter(|name| name.contains(['*', '?']) && !path.exists()) else {
        return Ok(None);
    };
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty());
    let listed = std::fs::read_dir(folder.unwrap_or(Path::new(".")));
    let mut found = Vec::new();
    for entry in listed.map_err(|e| Error::io(path, &e))? {
        let entry = entry.map_err(|e| Error::io(path, &e))?;
        let name = entry.file_name();
        if fits(pattern.as_bytes(), name.to_string_lossy().as_bytes()) {
            found.push(folder.map_or_else(|| PathBuf::from(&name), |f| f.join(&name)));
        }
    }
    found.retain(|path| path.is_file());
    found.sort();
    match found.is_empty() {
        true => Err(Error::data("no file fits this pattern")
            .in_file(path)
            .remedy("check the path: * stands for any letters, ? for one")),
        false => Ok(Some(found)),
    }
}

/// The files in a folder and those below it; hidden ones are passed over.
fn walk(folder: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    for entry in std::fs::read_dir(folder).map_err(|e| Error::io(folder, &e))? {
        let path = entry.map_err(|e| Error::io(folder, &e))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with(['.', '_']) {
            continue;
        }
        if path.is_dir() {
            walk(&path, found)?;
        } else {
            found.push(path);
        }
    }
    Ok(())
}

/// Whether a name fits a pattern.
fn fits(pattern: &[u8], name: &[u8]) -> bool {
    match (pattern.first(), name.first()) {
        (None, None) => true,
        (Some(b'*'), _) => {
            fits(&pattern[1..], name) || (!name.is_empty() && fits(pattern, &name[1..]))
        }
        (Some(b'?'), Some(_)) => fits(&pattern[1..], &name[1..]),
        (Some(a), Some(b)) => a == b && fits(&pattern[1..], &name[1..]),
        _ => false,
    }
}

/// A file of several, with the columns that its folders name and their values.
#[derive(Debug, Clone)]
pub(crate) struct File {
    pub(crate) path: PathBuf,
    pub(crate) cells: Vec<(String, String)>,
}

impl File {
    /// A file that was found below `root`.
    pub(crate) fn below(root: &Path, path: PathBuf) -> Self {
        let cells = folders::cells_of(root, &path);
        File { path, cells }
    }

    fn keys(&self) -> impl Iterator<Item = &str> {
        self.cells.iter().map(|(key, _)| key.as_str())
    }

    fn values(&self) -> impl Iterator<Item = &str> {
        self.cells.iter().map(|(_, value)| value.as_str())
    }
}

/// What every file is to be like.
struct Like {
    format: Format,
    first: PathBuf,
    /// The columns that folders name.
    keys: Vec<String>,
    /// The names of the columns, where the files have them.
    names: Option<Vec<String>>,
    /// How a table is written.
    dialect: Option<Dialect>,
    options: ReadOptions,
}

/// The rows of several files, and how they are to be read.
pub(crate) fn join(files: Vec<File>, options: &ReadOptions) -> Result<(Source, ReadOptions)> {
    let Some(File { path: first, cells }) = files.first().cloned() else {
        return Err(Error::options("there are no files").remedy("name one"));
    };
    let source = Source::new(&first)?;
    let opened = open(&source, options)?;
    let mut like = Like {
        format: opened.format,
        first: first.clone(),
        keys: cells.into_iter().map(|(key, _)| key).collect(),
        names: None,
        dialect: None,
        options: options.clone(),
    };
    let mut told = ReadOptions {
        format: Some(opened.format),
        ..options.clone()
    };
    match opened.format {
        Format::Libsvm | Format::Vw => {}
        format if format.is_converted() => {
            let table = super::open(&source, format, options).map_err(|e| in_file(e, &first))?;
            told = told_of_csv(options);
            told.columns
                .splice(..0, as_category(table.categories, options));
            like.names = Some(table.names);
        }
        Format::Csv | Format::Tsv => {
            let found = shape(&opened.head, opened.whole, opened.format, options);
            let found = found.map_err(|e| in_file(e, &first))?;
            told.header = Some(found.header);
            told.delimiter = Some(found.dialect.delimiter);
            like.names = found.header.then(|| found.names.clone());
            like.dialect = Some(found.dialect);
        }
        format => {
            return Err(
                Error::options(format!("several {format} files cannot be one data set"))
                    .in_file(&first)
                    .remedy("name one file"),
            );
        }
    }
    drop(opened);
    like.check_keys()?;
    let name = match files.len() {
        1 => first,
        n => PathBuf::from(format!("{} and {} more", first.display(), n - 1)),
    };
    let places = Places {
        cells: like.keys.len(),
        ..Places::default()
    };
    let like = Arc::new(like);
    let shared = places.clone();
    let made = move || -> Result<Reader> {
        shared.clear();
        let parts = files.iter().cloned().enumerate().map(|(i, file)| {
            let like = like.clone();
            let begin = move || part(&file, i == 0, &like).map_err(|e| in_file(e, &file.path));
            Box::new(begin) as super::Begin
        });
        let parts: VecDeque<super::Begin> = parts.collect();
        Ok(Box::new(Text::new(parts, shared.clone())))
    };
    Ok((Source::made(&name, Arc::new(made), places), told))
}

fn in_file(error: Error, file: &Path) -> Error {
    match error.position() {
        Some(position) if !position.file.as_os_str().is_empty() => error,
        _ => error.in_file(file),
    }
}

/// The text of a file, its header only where it is the first.
fn part(of: &File, first: bool, like: &Like) -> Result<Part> {
    let file = of.path.as_path();
    if !of.keys().eq(like.keys.iter().map(String::as_str)) {
        let keys: Vec<&str> = of.keys().collect();
        return Err(Error::data(format!(
            "its folders name the columns {keys:?}, those of {} {:?}",
            like.first.display(),
            like.keys
        ))
        .remedy("give files whose folders name the same columns in the same order"));
    }
    let source = Source::new(file)?;
    let opened = open(&source, &like.options)?;
    if opened.format != like.format {
        return Err(Error::data(format!(
            "this is a {} file, and {} is {}",
            opened.format,
            like.first.display(),
            like.format
        ))
        .remedy("give files of one format"));
    }
    if like.format.is_converted() {
        let table = super::open(&source, like.format, &like.options)?;
        like.check_names(&table.names)?;
        let mut part = Part::of(file, table);
        if !first {
            part.header.clear();
        }
        return like.with_cells(part, 0, of, &converted_dialect());
    }
    let mut reader = opened.all;
    let mut header = Vec::new();
    let (mut start, mut skipped) = (0, 0);
    if let Some(dialect) = &like.dialect {
        let records = first_records(&opened.head, opened.whole, dialect);
        if let (Some(_), Some(found)) = (&like.names, records.first()) {
            like.check_header(found)?;
            let data = Cut::Lines.records(&opened.head, opened.whole);
            start = next_record(data, 0, dialect).unwrap_or(0);
            let end = count_cells(data, start, dialect).1.min(data.len());
            header = vec![0; end];
            reader
                .read_exact(&mut header)
                .map_err(|e| Error::io(file, &e))?;
            skipped = memchr::memchr_iter(b'\n', &header).count() as i64;
            if !first {
                header.clear();
            }
        }
    }
    let mut ended = true;
    let rows = move |text: &mut Vec<u8>| -> Result<bool> {
        let begun = text.len();
        let mut piece = (&mut reader).take(SAMPLE as u64);
        piece.read_to_end(text).map_err(|e| Error::io("", &e))?;
        match text.last() {
            Some(&last) if text.len() > begun => ended = last == b'\n',
            // The next file begins a line of its own.
            _ if !ended => {
                ended = true;
                text.push(b'\n');
            }
            _ => return Ok(false),
        }
        Ok(true)
    };
    let part = Part {
        file: file.to_owned(),
        header,
        shift: skipped,
        before: Some(Before::default()),
        rows: Box::new(rows),
    };
    match &like.dialect {
        Some(dialect) => like.with_cells(part, start, of, dialect),
        None => Ok(part),
    }
}

/// How the text of converted tables is written.
fn converted_dialect() -> Dialect {
    Dialect {
        delimiter: Delimiter::Byte(b','),
        quoting: true,
        comment: None,
    }
}

impl Like {
    /// Refuses columns that folders name where they cannot stand beside those of the files.
    fn check_keys(&self) -> Result<()> {
        let Some(key) = self.keys.first() else {
            return Ok(());
        };
        let Some(names) = &self.names else {
            return Err(Error::data(format!(
                "the column {key} is named by a folder, and the columns of this file have no names"
            ))
            .in_file(&self.first)
            .remedy("give tables whose first line names the columns"));
        };
        match self.keys.iter().find(|key| names.contains(key)) {
            None => Ok(()),
            Some(key) => Err(Error::data(format!(
                "the column {key} stands in the file and in the name of its folder"
            ))
            .in_file(&self.first)
            .remedy("rename one of the two")),
        }
    }

    /// The part with the cells that its folders name in front of each row, and their names in
    /// front of the header, which begins at `start`.
    fn with_cells(
        &self,
        mut part: Part,
        start: usize,
        of: &File,
        dialect: &Dialect,
    ) -> Result<Part> {
        if self.keys.is_empty() {
            return Ok(part);
        }
        if !part.header.is_empty() {
            let names = folders::beginning(of.keys(), dialect)?;
            part.header.splice(start..start, names);
        }
        let cells = folders::beginning(of.values(), dialect)?;
        let uneven = match &mut part.before {
            Some(before) => {
                before.bytes = cells.len();
                before.uneven.clone()
            }
            None => Arc::default(),
        };
        part.rows = folders::in_front(part.rows, cells, dialect.clone(), uneven);
        Ok(part)
    }

    fn check_names(&self, found: &[String]) -> Result<()> {
        let expected = self.names.as_deref().unwrap_or_default();
        if found == expected {
            return Ok(());
        }
        let differs = found.iter().zip(expected).position(|(a, b)| a != b);
        let what = match differs {
            Some(i) => format!("column {i} is {:?}, expected {:?}", found[i], expected[i]),
            None => format!("{} columns, expected {}", found.len(), expected.len()),
        };
        Err(Error::data(format!(
            "the columns are not those of {}: {what}",
            self.first.display()
        ))
        .remedy("give files with the same columns in the same order"))
    }

    /// The same of a header, where a column without a name goes by its number.
    fn check_header(&self, found: &[Cow<'_, [u8]>]) -> Result<()> {
        let found = header_names(found)?;
        self.check_names(&found).map_err(|e| e.at(1, 0))
    }
}
