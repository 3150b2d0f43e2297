//! The boundary of a perceptron in two dimensions, step by step, as picture files.

use std::path::Path;

use super::picture;
use rosenblatt::data::Dataset;
use rosenblatt::training::Step;
use rosenblatt::write::write_atomic;
use rosenblatt::{Error, Result};
use rosenblatt_plot::Figure;
use rosenblatt_studio::picture::{
    FRAMES, Moment, animation, check_plane, panel, points_shown, thinned,
};

/// Pictures in a sheet of small multiples.
const PANELS: usize = 12;

/// Draws the steps into `path`: an animation of the updates (.svg), or small multiples of the
/// passes (.png). Gives the number of points of each class that a picture shows at most.
pub fn draw(path: &Path, data: &Dataset, steps: &[Step], has_bias: bool) -> Result<usize> {
    check_plane(data)?;
    let moment = |step: &&Step| Moment {
        step: step.step,
        epoch: step.epoch,
        row: step.row,
        weights: step.weights_after.clone(),
    };
    let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase());
    let (bytes, most) = match extension.as_deref() {
        Some("svg") => {
            let updates: Vec<&Step> = steps.iter().filter(|s| !s.correct).collect();
            let updates: Vec<Moment> = thinned(&updates, FRAMES).iter().map(moment).collect();
            let first = steps.first().map(|step| step.step);
            let (svg, most) = animation(data, first, &updates, has_bias)?;
            (svg.into_bytes(), most)
        }
        Some("png") => {
            let most = points_shown(PANELS);
            let last_of_pass: Vec<&Step> = steps
                .chunk_by(|a, b| a.epoch == b.epoch)
                .filter_map(<[Step]>::last)
                .collect();
            let panels = thinned(&last_of_pass, PANELS).into_iter().map(|step| {
                panel(data, &moment(&step), has_bias, most)
                    .title(format!("after pass {}", step.epoch))
            });
            let figure = Figure::new()
                .panels(panels)
                .panel_size(220.0, 220.0)
                .share_x()
                .share_y();
            (picture::png(path, &figure)?, most)
        }
        _ => {
            return Err(Error::options(format!(
                "{}: a plot is an .svg (animated) or a .png (small multiples)",
                path.display()
            )));
        }
    };
    write_atomic(path, |out| {
        out.write_all(&bytes).map_err(|e| Error::io(path, &e))
    })?;
    Ok(most)
}
