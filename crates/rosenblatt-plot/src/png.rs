//! PNG, in a build with the feature `png`.

#[cfg(feature = "png")]
mod pixels;

use std::fmt;

/// Whether this build draws PNG.
pub const PNG: bool = cfg!(feature = "png");

/// Why a picture could not be drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PngError(String);

impl fmt::Display for PngError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for PngError {}

/// Draws an SVG document as PNG, `scale` pixels to each of its own; of an animation the last frame.
///
/// # Errors
/// When the document is not valid SVG, the scale not a positive number, or the picture too large
/// (over 64 million pixels); in a build without the feature `png`, always.
///
/// ```
/// use rosenblatt_plot::{Figure, svg_to_png};
/// # if !rosenblatt_plot::PNG { return Ok(()) }
/// let png = svg_to_png(&Figure::new().title("Nothing yet").svg(), 1.0)?;
/// assert_eq!(&png[1..4], b"PNG");
/// # Ok::<(), rosenblatt_plot::PngError>(())
/// ```
pub fn svg_to_png(svg: &str, scale: f64) -> Result<Vec<u8>, PngError> {
    if !(scale.is_finite() && scale > 0.0) {
        return Err(PngError(format!(
            "the scale must be a positive number, not {scale}"
        )));
    }
    #[cfg(feature = "png")]
    return pixels::draw(svg, scale);
    #[cfg(not(feature = "png"))]
    {
        let _ = svg;
        Err(PngError(
            "this build draws no PNG: it lacks the feature png".into(),
        ))
    }
}
