//! `figure`: the figures of the guide.

use std::path::Path;

use rosenblatt::Error;
use rosenblatt_plot::Figure;

use super::context::chosen;
use crate::args::FigureArgs;
use crate::figures;
use crate::output::{self, Done, Outcome};
use crate::render::picture;

pub fn run(args: &FigureArgs) -> Outcome {
    let drawings = chosen(figures::DRAWINGS, |d| d.name, "figure", &args.figures)?;
    picture::check(&args.output)?;
    let extension = args.output.extension().and_then(|e| e.to_str());
    match (&drawings[..], extension) {
        ([one], Some("svg" | "png")) => write(&args.output, &(one.draw)()?)?,
        (_, Some("svg" | "png")) => {
            return Err(Error::options(format!(
                "{} figures do not fit into {}",
                drawings.len(),
                args.output.display()
            ))
            .remedy("name a folder")
            .into());
        }
        (_, Some(other)) if !args.output.is_dir() => {
            return Err(Error::options(format!(
                "{} is no kind of file that figures are drawn in",
                args.output.display()
            ))
            .remedy(format!(
                "end the name in .svg or .png instead of .{other}, or name a folder"
            ))
            .into());
        }
        _ => {
            std::fs::create_dir_all(&args.output).map_err(|e| Error::io(&args.output, &e))?;
            for drawing in drawings {
                let path = args.output.join(format!("{}.svg", drawing.name));
                write(&path, &(drawing.draw)()?)?;
            }
        }
    }
    Ok(Done::Finished)
}

/// Writes a figure in the format that the name asks for.
fn write(path: &Path, figure: &Figure) -> rosenblatt::Result<()> {
    let bytes = match picture::is_png(path) {
        true => picture::png(path, figure)?,
        false => figure.svg().into_bytes(),
    };
    output::write_bytes(path, &bytes)
}
