//! Compression of what is written, by the file's name.

use std::io::Write;
use std::path::Path;

use rosenblatt_core::{Error, Result};

/// Writes by `fill`, compressed as the name of `path` says (.gz, .zst, .bz2, .xz), else plain.
pub fn compressed<T>(
    path: &Path,
    out: &mut dyn Write,
    fill: impl FnOnce(&mut dyn Write) -> Result<T>,
) -> Result<T> {
    let failed = |e: std::io::Error| Error::io(path, &e);
    let extension = path
        .extension()
        .map(|e| e.to_string_lossy().to_lowercase())
        .unwrap_or_default();
    match extension.as_str() {
        "gz" => {
            let mut encoder = flate2::write::GzEncoder::new(out, flate2::Compression::default());
            let result = fill(&mut encoder)?;
            encoder.finish().map_err(failed)?;
            Ok(result)
        }
        "zst" => {
            let mut encoder = zstd::Encoder::new(out, 0).map_err(failed)?;
            let result = fill(&mut encoder)?;
            encoder.finish().map_err(failed)?;
            Ok(result)
        }
        "bz2" => {
            let mut encoder = bzip2::write::BzEncoder::new(out, bzip2::Compression::default());
            let result = fill(&mut encoder)?;
            encoder.finish().map_err(failed)?;
            Ok(result)
        }
        "xz" => {
            let mut encoder = liblzma::write::XzEncoder::new(out, 6);
            let result = fill(&mut encoder)?;
            encoder.finish().map_err(failed)?;
            Ok(result)
        }
        _ => fill(out),
    }
}
