//! Caches of prepared data: opened where they are fresh, made where they are not.

use std::path::{Path, PathBuf};

use rosenblatt::cache::{self, Cached, Key};
use rosenblatt::data::Layout;
use rosenblatt::internal::parallel;
use rosenblatt::read::{self, Format, Preparation, Streamed};
use rosenblatt::{Error, ErrorKind, Result};

use super::context::Context;
use crate::args::{DataArgs, DataOptions};
use crate::output;
use crate::render::numbers::bytes;

/// Whether the data are a cache, by what was said or by their name.
pub fn is_cache(data: &Path, options: &DataOptions) -> bool {
    match options.read.format {
        Some(format) => format == Format::Cache,
        None => data.extension().is_some_and(|e| e == "rbc"),
    }
}

/// The cache that `--cache` keeps beside a file.
pub fn beside(data: &Path) -> PathBuf {
    let mut name = data.as_os_str().to_owned();
    name.push(".rbc");
    name.into()
}

/// Opens a cache that was named as the data.
pub fn open_named(
    context: Context,
    data: &Path,
    source: &DataArgs,
    memory: Option<u64>,
) -> Result<Cached> {
    if let Some((name, _)) = source.given.iter().find(|(name, _)| name != "format") {
        return Err(
            Error::options(format!("--{name} was fixed when the cache was made"))
                .remedy("leave it out, or give the file that the cache was made from"),
        );
    }
    let cached = cache::open(data, memory)?;
    cached.verify(context.threads)?;
    Ok(cached)
}

/// The cache beside a file: as it is if it is fresh and whole, else made anew.
pub fn open_or_make(
    context: Context,
    data: &Path,
    source: &DataArgs,
    options: &DataOptions,
    memory: Option<u64>,
) -> Result<Cached> {
    if output::is_dash(data) {
        return Err(
            Error::options("--cache needs a file, and the data are stdin")
                .remedy("give a file, or leave --cache out"),
        );
    }
    if !data.is_file() || !options.read.also.is_empty() {
        return Err(
            Error::options("--cache keeps the examples of one file beside it")
                .remedy("name one file, or make a cache with convert DATA OUT.rbc"),
        );
    }
    let path = beside(data);
    let key = key(data, source)?;
    if path.exists() {
        let found = cache::open(&path, memory).and_then(|cached| {
            let fresh = cached.key == key;
            if fresh {
                cached.verify(context.threads)?;
            }
            Ok((cached, fresh))
        });
        let why = match found {
            Ok((cached, true)) => return Ok(cached),
            Ok((cached, false)) if cached.key.options != key.options => {
                format!("{} was made with other options", path.display())
            }
            Ok(_) => format!("{} is older than its source", path.display()),
            Err(error) => error.to_string(),
        };
        output::say(context.quiet, &format!("cache: {why}; it is rebuilt"));
    }
    make(context, data, source, options, &path, memory)?;
    cache::open(&path, memory)
}

/// Bytes of examples that are not worth the trouble, beside what the program takes itself.
pub const LITTLE: u64 = 16 << 20;

/// Text that takes more than this much memory, or more than half of what is free if nobody said
/// how much; gone through once. None where it fits, or can only be read whole.
pub fn too_large(
    data: &Path,
    options: &DataOptions,
    memory: Option<u64>,
) -> Result<Option<(Streamed, u64)>> {
    if output::is_dash(data) || is_cache(data, options) {
        return Ok(None);
    }
    if !options.read.also.is_empty() {
        return Ok(None);
    }
    // A pattern is the name of no file.
    let Ok(facts) = std::fs::metadata(data) else {
        return Ok(None);
    };
    let packed = data.extension().is_some_and(|extension| {
        let extension = extension.to_ascii_lowercase();
        ["gz", "zst", "bz2", "xz"].iter().any(|e| extension == *e)
    });
    // A limit that somebody set is worth a look at all text that could take more, as the shortest
    // of rows do; otherwise it is usual text that counts.
    let (memory, times) = match (memory, packed) {
        (Some(memory), false) => (memory, 32),
        (Some(memory), true) => (memory, u64::MAX),
        (None, false) => (parallel::memory_to_use(), 2),
        (None, true) => (parallel::memory_to_use(), 8),
    };
    if !facts.is_file() || facts.len().saturating_mul(times) <= memory {
        return Ok(None);
    }
    let found = Streamed::open(data, &options.read, options.scale, memory)?;
    let found = found.filter(|found| found.bytes_needed() > memory.max(LITTLE));
    Ok(found.zip(Some(memory)))
}

/// A cache for one run, which is gone after it.
pub struct TemporaryCache(PathBuf);

impl Drop for TemporaryCache {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Text that is too large, by way of a cache that does not outlive the run, in the first of these
/// folders that has room for it.
pub fn stream(
    context: Context,
    data: &Path,
    source: &DataArgs,
    (large, memory): (&Streamed, u64),
    folders: &[PathBuf],
) -> Result<(Cached, TemporaryCache)> {
    source.refuse_foreign(large.report(), large.label_texts())?;
    let key = key(data, source)?;
    let mut failed = None;
    for folder in folders {
        let now = std::time::UNIX_EPOCH.elapsed().unwrap_or_default();
        let name = format!(".rosenblatt-{}-{}.rbc", std::process::id(), now.as_nanos());
        let temporary = TemporaryCache(folder.join(name));
        output::say(
            context.quiet,
            &format!(
                "the examples take about {}, more than --memory: for this run they go to a file in {}",
                bytes(large.bytes_needed()),
                folder.display()
            ),
        );
        match cache::write_streamed(&temporary.0, large, &key, memory) {
            Ok(_) => {
                let cached = cache::open(&temporary.0, Some(memory))?;
                // Where a file can go while it is in use nobody finds it, whatever happens.
                let _ = std::fs::remove_file(&temporary.0);
                return Ok((cached, temporary));
            }
            Err(error) if error.kind() == ErrorKind::Io => failed = Some(error),
            Err(error) => return Err(error),
        }
    }
    let failed = failed.unwrap_or_else(|| Error::options("there is no folder for the examples"));
    Err(failed.remedy("give -o in a folder with room for the examples, or allow more memory"))
}

fn key(data: &Path, source: &DataArgs) -> Result<Key> {
    Key::of(data, source.given.clone())
}

/// Reads a file and writes its cache, in no more than this much memory where that can be.
pub fn make(
    context: Context,
    data: &Path,
    source: &DataArgs,
    options: &DataOptions,
    path: &Path,
    memory: Option<u64>,
) -> Result<()> {
    // Before the reading, so that a change under way makes the cache stale.
    let key = key(data, source)?;
    if let Some((large, memory)) = too_large(data, options, memory)? {
        source.refuse_foreign(large.report(), large.label_texts())?;
        cache::write_streamed(path, &large, &key, memory)?;
        return Ok(());
    }
    let raw = read::read(data, &options.read)?;
    source.refuse_foreign(raw.report(), raw.label_texts())?;
    let (preparation, report) = Preparation::fit_and_report(&raw, None, options.scale)?;
    let examples = raw.into_dataset(&preparation, Layout::Permuted)?;
    cache::write(
        path,
        &examples,
        &preparation,
        &report,
        &key,
        context.threads,
    )?;
    Ok(())
}
