//! What a page hands out: the model, ONNX, pictures, the data, a replay.

use rosenblatt::data::Classes;
use rosenblatt::options::Bias;
use rosenblatt::write::{self, TextFormat};
use rosenblatt::{Error, Result};
use serde_json::{Value, json};

use crate::beside;
use crate::command;
use crate::data::Data;
use crate::picture::{self, Moment};
use crate::run::Run;
use crate::show;
use crate::view::{View, grid_size};

/// Something to save.
#[derive(Debug)]
pub struct Export {
    /// Its file name.
    pub name: String,
    /// What it is.
    pub kind: &'static str,
    /// It.
    pub bytes: Vec<u8>,
}

/// The model, byte for byte as `train` saves it.
pub fn model(run: &Run) -> Result<Export> {
    let mut model = run.fitted()?.model.clone();
    run.data.preparation.store_in(&mut model);
    model.recipe = command::recipe(&run.data);
    Ok(Export {
        name: "model.rbm".into(),
        kind: "application/octet-stream",
        bytes: model.to_bytes()?,
    })
}

/// The model as an ONNX graph, as `export` writes it.
pub fn onnx(run: &Run) -> Result<Export> {
    let mut model = run.fitted()?.model.clone();
    run.data.preparation.store_in(&mut model);
    Ok(Export {
        name: "model.onnx".into(),
        kind: "application/octet-stream",
        bytes: rosenblatt_onnx::export(&model)?,
    })
}

/// The boundary from update to update, byte for byte as `trace --plot` draws it.
pub fn animation(run: &Run) -> Result<Export> {
    if !run.is_traced() || run.options.learner.kernel().is_some() || run.embedding.is_some() {
        return Err(
            Error::options("the animation shows straight boundaries, and these are not")
                .remedy("save the picture of a visit"),
        );
    }
    let log = run.log();
    let updates = picture::thinned(log.updated(), picture::FRAMES);
    let moments: Vec<Moment> = updates
        .into_iter()
        .map(|k| {
            let k = k as usize;
            Moment {
                step: k as u64,
                epoch: log.pass(k) as u64,
                row: u64::from(log.row(k)),
                weights: log.weights(k),
            }
        })
        .collect();
    let first = (log.visits() > 0).then_some(1);
    let has_bias = run.options.bias() != Bias::None;
    let (svg, _) = picture::animation(&run.data.examples, first, &moments, has_bias)?;
    Ok(Export {
        name: "run.svg".into(),
        kind: "image/svg+xml",
        bytes: svg.into_bytes(),
    })
}

/// What the page shows after visit `k`, as SVG.
pub fn svg(run: &Run, view: View, k: usize) -> Result<Export> {
    Ok(Export {
        name: format!("visit-{k}.svg"),
        kind: "image/svg+xml",
        bytes: picture::figure(run, view, k)?.svg().into_bytes(),
    })
}

/// The same as PNG, where this build draws it.
pub fn png(run: &Run, view: View, k: usize) -> Result<Export> {
    if !rosenblatt_plot::PNG {
        return Err(Error::options("this build draws no PNG").remedy(
            "save an SVG, or install the program with PNG: \
             cargo install --path crates/rosenblatt-cli --features png",
        ));
    }
    let figure = picture::figure(run, view, k)?;
    let bytes = figure
        .png(2.0)
        .map_err(|e| Error::new(rosenblatt::ErrorKind::Io, e.to_string()))?;
    Ok(Export {
        name: format!("visit-{k}.png"),
        kind: "image/png",
        bytes,
    })
}

/// The data: points and tables as they came, anything else as CSV.
pub fn csv(data: &Data) -> Result<Export> {
    let own = data.file.name.ends_with(".csv") && data.reading.scale.is_none();
    if own {
        return Ok(Export {
            name: data.file.name.clone(),
            kind: "text/csv",
            bytes: data.file.bytes.0.to_vec(),
        });
    }
    const MOST_CELLS: usize = 20_000_000;
    let cells = data.examples.len().saturating_mul(data.examples.features());
    if cells > MOST_CELLS {
        return Err(
            Error::data(format!("a table of {cells} cells is too large to be sent"))
                .remedy("use rosenblatt convert"),
        );
    }
    let mut bytes = Vec::new();
    write::write(&data.examples, TextFormat::Csv, &mut bytes)?;
    let stem = data.file.name.split('.').next().unwrap_or("data");
    Ok(Export {
        name: format!("{stem}.csv"),
        kind: "text/csv",
        bytes,
    })
}

/// The run as one page that needs no server.
pub fn replay(run: &Run, view: View, about: &Value, script: &str, style: &str) -> Result<Export> {
    let record = record(run, view, about)?;
    // What a page holds must not end the element that holds it.
    let record = record.to_string().replace('<', "\\u003c");
    let html = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>Replay of {name}</title>\n<style>{style}</style>\n</head>\n<body>\n\
         <div id=\"app\"></div>\n<script type=\"application/json\" id=\"replay\">{record}</script>\n\
         <script>{script}</script>\n</body>\n</html>\n",
        name = escaped(&run.data.file.name),
    );
    Ok(Export {
        name: "replay.html".into(),
        kind: "text/html; charset=utf-8",
        bytes: html.into_bytes(),
    })
}

fn escaped(text: &str) -> String {
    rosenblatt_plot::escape(text)
}

/// The visits that a replay holds: all where they are few, else the updates, else some of all.
fn held(run: &Run) -> Vec<usize> {
    /// Numbers of all weights together.
    const NUMBERS: usize = 2_000_000;
    let width = match run.is_traced() {
        true => run.log().width(),
        false => 1,
    };
    let most = (NUMBERS / width.max(1)).clamp(50, 2_000);
    let last = run.len();
    if last <= most {
        return (0..=last).collect();
    }
    let mut held: Vec<usize> = if run.is_traced() && run.log().updated().len() + 2 <= most {
        let log = run.log();
        log.updated().iter().map(|&k| k as usize).collect()
    } else {
        let stride = last.div_ceil(most);
        (0..last).step_by(stride).collect()
    };
    held.extend([0, last]);
    held.sort_unstable();
    held.dedup();
    held
}

fn record(run: &Run, view: View, about: &Value) -> Result<Value> {
    const FIELDS: usize = 60;
    const DETAILS: usize = 200;
    let view = match view {
        View::Projection => View::Columns(0, 1),
        view => view,
    };
    let held = held(run);
    let steps: Result<Vec<Value>> = held.iter().map(|&k| show::step(run, view, k)).collect();
    let from = usize::from(!run.is_traced());
    let shown: Vec<usize> = held.iter().copied().filter(|&k| k >= from).collect();
    let details: Result<Vec<Value>> = picture::thinned(&shown, DETAILS)
        .into_iter()
        .map(|k| beside::detail(run, view, k))
        .collect();
    let places: Vec<(f64, f64)> = (run.data.drawn.iter())
        .map(|&i| view.place(&run.data, None, i as usize))
        .collect();
    let over = picture::surroundings(&places);
    let curved = run.options.learner.kernel().is_some()
        || run.embedding.is_some()
        || run.scheme.discriminators() > 1
        || !run.options.learner.keeps_weights();
    let mut fields = Vec::new();
    if curved {
        let size = grid_size(&run.data, 40);
        for k in picture::thinned(&shown, FIELDS) {
            fields.push(beside::field(run, view, k, over, size, false)?);
        }
    }
    Ok(json!({
        "about": about,
        "facts": show::facts(run),
        "held": held,
        "steps": steps?,
        "details": details?,
        "fields": fields,
        "curve": beside::curve(run),
        "places": beside::places(Some(run), &run.data, view, 0)?,
        "rectangle": {"x": over.x, "y": over.y},
    }))
}

/// What a page knows of its data.
pub fn about(data: &Data) -> Value {
    const NAMES: usize = 200;
    let examples = &data.examples;
    let names = 0..examples.features().min(NAMES);
    let columns = data.report.columns.iter().map(|c| c.name.as_str());
    let warnings = data.report.warnings.iter();
    json!({
        "name": data.file.name,
        "format": data.report.format.to_string(),
        "bytes": data.file.bytes.0.len(),
        "rows": examples.len(),
        "features": examples.features(),
        "names": names.map(|j| examples.names.get(j).into_owned()).collect::<Vec<_>>(),
        "classes": class_names(&examples.classes),
        "counts": examples.class_counts(),
        "columns": columns.collect::<Vec<_>>(),
        "reading": {"label": data.reading.label, "positive": data.reading.positive, "scale": data.reading.scale},
        "drawn": data.drawn,
        "labels": data.drawn.iter().map(|&i| examples.labels[i as usize]).collect::<Vec<_>>(),
        "axes": axes(data),
        "notes": data.report.notes,
        "warnings": warnings.map(|w| w.as_command_line()).collect::<Vec<_>>(),
        "made_by": data.file.made_by,
    })
}

/// The two features to begin with: numbers of the file rather than levels of a category.
fn axes(data: &Data) -> (usize, usize) {
    let levels = data.preparation.levels();
    let numbers = (0..data.examples.features()).filter(|j| levels.get(*j) != Some(&true));
    let mut numbers = numbers.take(2);
    match (numbers.next(), numbers.next()) {
        (Some(x), Some(y)) => (x, y),
        _ => (0, 1),
    }
}

fn class_names(classes: &Classes) -> Vec<String> {
    classes.names().to_vec()
}
