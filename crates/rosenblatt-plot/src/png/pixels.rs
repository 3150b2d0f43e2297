//! Pixels by way of `resvg`, with the embedded font and no other.

use super::PngError;
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};
use std::sync::{Arc, LazyLock};

/// The most pixels a picture may have.
const MOST_PIXELS: f64 = 64e6;

static FONTS: LazyLock<Arc<fontdb::Database>> = LazyLock::new(|| {
    let mut fonts = fontdb::Database::new();
    fonts.load_font_data(include_bytes!("../../font/DejaVuSans-subset.ttf").to_vec());
    fonts.load_font_data(include_bytes!("../../font/DejaVuSans-Bold-subset.ttf").to_vec());
    fonts.set_sans_serif_family("DejaVu Sans");
    Arc::new(fonts)
});

pub(super) fn draw(svg: &str, scale: f64) -> Result<Vec<u8>, PngError> {
    let options = Options {
        font_family: "DejaVu Sans".to_string(),
        fontdb: Arc::clone(&FONTS),
        ..Options::default()
    };
    let tree =
        Tree::from_str(svg, &options).map_err(|e| PngError(format!("not a drawing: {e}")))?;
    let size = tree.size();
    let width = (f64::from(size.width()) * scale).ceil().max(1.0);
    let height = (f64::from(size.height()) * scale).ceil().max(1.0);
    if width * height > MOST_PIXELS || width.max(height) > 65_000.0 {
        return Err(PngError(format!(
            "a picture of {width} × {height} pixels is too large; draw it at a smaller scale, or as SVG"
        )));
    }
    let mut pixels = Pixmap::new(width as u32, height as u32)
        .ok_or_else(|| PngError("there is no memory for the picture".to_string()))?;
    let zoom = Transform::from_scale(scale as f32, scale as f32);
    resvg::render(&tree, zoom, &mut pixels.as_mut());
    pixels
        .encode_png()
        .map_err(|e| PngError(format!("the picture could not be encoded: {e}")))
}
