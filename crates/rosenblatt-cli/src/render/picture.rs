//! Figures as picture files: SVG always, PNG where the program was built with the feature `png`.

use std::path::Path;

use rosenblatt::{Error, Result};
use rosenblatt_plot::{Figure, PNG};

/// Whether a name asks for PNG.
pub fn is_png(path: &Path) -> bool {
    path.extension()
        .is_some_and(|e| e.eq_ignore_ascii_case("png"))
}

/// Refuses, before any work is done, a file that this build cannot draw.
pub fn check(path: &Path) -> Result<()> {
    if PNG || !is_png(path) {
        return Ok(());
    }
    Err(
        Error::options(format!("{}: this build draws no PNG", path.display())).remedy(
            "name an .svg file, or install the program with PNG: \
             cargo install --path crates/rosenblatt-cli --features png",
        ),
    )
}

/// A figure as the bytes of a PNG, two pixels to each of its own.
pub fn png(path: &Path, figure: &Figure) -> Result<Vec<u8>> {
    figure
        .png(2.0)
        .map_err(|e| Error::new(rosenblatt::ErrorKind::Io, e.to_string()).in_file(path))
}
