//! The questions of a page and their answers.

use std::sync::Arc;
use std::time::Duration;

use rosenblatt::synthetic::Kind;
use rosenblatt::{Error, ErrorKind};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::beside;
use crate::check;
use crate::command;
use crate::data::{self, Data, Reading, Wanted};
use crate::export::{self, Export};
use crate::options::{self, Given};
use crate::pages::Pages;
use crate::run::Run;
use crate::show;
use crate::view::{Rectangle, View};

/// What the server has at hand.
pub struct Studio {
    /// What it knows of each page.
    pub pages: Pages,
    /// The file named on the command line.
    pub file: Option<data::File>,
    /// Whether the page begins with the lessons.
    pub lessons: bool,
    /// How many threads to use.
    pub threads: usize,
}

/// An answer.
pub enum Answer {
    /// To be shown.
    Shown(Value),
    /// To be saved.
    Saved(Export),
}

/// Why there is no answer.
pub enum Refusal {
    /// Something to tell the user.
    Error(Error),
    /// The server does not know the page (any more): it is to send its data again.
    Unknown,
    /// There is no such question, or it makes no sense.
    Senseless(String),
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Refusal::Error(error)
    }
}

type Answered = Result<Answer, Refusal>;

/// What stands behind the question mark.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Query {
    page: String,
    slot: usize,
    from: usize,
    count: Option<usize>,
    stride: Option<usize>,
    k: usize,
    x: Option<usize>,
    y: Option<usize>,
    projection: bool,
    to: String,
    left: f64,
    right: f64,
    low: f64,
    high: f64,
    size: Option<usize>,
    readout: bool,
    name: String,
    label: Option<String>,
    positive: Option<String>,
    scale: Option<String>,
    labels_at: Option<usize>,
}

/// Points that somebody set.
#[derive(Deserialize)]
struct Points {
    points: Vec<data::Point>,
}

/// What a run is to be.
#[derive(Deserialize)]
struct Asked {
    options: Given,
}

fn body<'b, T: Deserialize<'b>>(bytes: &'b [u8]) -> Result<T, Refusal> {
    serde_json::from_slice(bytes).map_err(|e| Refusal::Senseless(e.to_string()))
}

impl Studio {
    /// Answers a question.
    pub fn answer(&self, post: bool, question: &str, query: Query, bytes: Vec<u8>) -> Answered {
        match (post, question) {
            (false, "about") => Ok(Answer::Shown(self.about())),
            (true, "points") => {
                let sent: Points = body(&bytes)?;
                self.put(&query, data::points(&sent.points)?, Reading::default())
            }
            (true, "generate") => {
                let wanted: Wanted = body(&bytes)?;
                self.put(&query, data::generated(&wanted)?, Reading::default())
            }
            (true, "file") => self.put_file(&query, bytes),
            (true, "given") => {
                let file = self.file.clone();
                let file = file.ok_or_else(|| Refusal::Senseless("no file was named".into()))?;
                self.put(&query, file, query.reading())
            }
            (true, "read") => {
                let data = self.data(&query)?;
                let reading = query.reading();
                let again = data.read_again(reading, self.threads)?;
                self.placed(&query, again)
            }
            (true, "options") => {
                let asked: Asked = body(&bytes)?;
                Ok(Answer::Shown(options::form(&asked.options)?))
            }
            (true, "run") => self.run(&query, &bytes),
            (true, "clear") => {
                self.pages.set_run(&query.page, slot(&query), None);
                Ok(Answer::Shown(json!({})))
            }
            (true, "check") => self.check(&query),
            (false, "certificate") => self.certificate(&query),
            (false, "csv") => Ok(Answer::Saved(export::csv(&*self.data(&query)?)?)),
            (false, "points") => {
                let data = self.data(&query)?;
                let run = self.pages.run(&query.page, slot(&query));
                let view = query.view(&data);
                let run = run.as_deref();
                Ok(Answer::Shown(beside::places(run, &data, view, query.k)?))
            }
            (false, _) => self.of_run(question, &query),
            _ => Err(Refusal::Senseless("there is no such question".into())),
        }
    }

    /// Answers a question about a run.
    fn of_run(&self, question: &str, query: &Query) -> Answered {
        let run = self.pages.run(&query.page, slot(query));
        let Some(run) = run else {
            // The page may ask while its run is being replaced.
            self.data(query)?;
            return Ok(Answer::Shown(Value::Null));
        };
        let view = query.view(&run.data);
        // A run that has just begun has visits in a moment.
        wait(|| run.len() > 0 || run.ended().is_some());
        let beside = ["detail", "field"].contains(&question);
        if (run.len() == 0 && question == "steps") || (beside && query.k.max(1) > run.len()) {
            return Ok(Answer::Shown(Value::Null));
        }
        let shown = match question {
            "facts" => show::facts(&run),
            "steps" => {
                let (count, stride) = (query.count.unwrap_or(1), query.stride.unwrap_or(1));
                show::steps(&run, view, query.from, count, stride)?
            }
            "detail" => beside::detail(&run, view, query.k)?,
            "curve" => beside::curve(&run),
            "seek" => json!({"k": beside::seek(&run, query.from, &query.to)}),
            "field" => {
                let over = query.rectangle()?;
                let size = query.size.unwrap_or(48);
                beside::field(&run, view, query.k, over, size, query.readout)?
            }
            "model" => return Ok(Answer::Saved(export::model(&run)?)),
            "onnx" => return Ok(Answer::Saved(export::onnx(&run)?)),
            "animation" => return Ok(Answer::Saved(export::animation(&run)?)),
            "svg" => return Ok(Answer::Saved(export::svg(&run, view, query.k)?)),
            "png" => return Ok(Answer::Saved(export::png(&run, view, query.k)?)),
            "replay" => {
                let about = export::about(&run.data);
                let (script, style) = crate::server::replay_assets();
                let replay = export::replay(&run, view, &about, script, style)?;
                return Ok(Answer::Saved(replay));
            }
            _ => return Err(Refusal::Senseless("there is no such question".into())),
        };
        Ok(Answer::Shown(shown))
    }

    fn about(&self) -> Value {
        let kinds: Vec<Value> = Kind::all()
            .map(|kind| {
                let choices = kind.choices();
                let amount = |a: rosenblatt::synthetic::Amount| json!([a.default, a.least]);
                json!({
                    "name": kind.name(),
                    "summary": kind.summary(),
                    "examples": amount(choices.examples),
                    "features": amount(choices.features),
                    "classes": amount(choices.classes),
                    "margin": choices.margin,
                    "spread": choices.spread,
                    "noise": choices.noise,
                })
            })
            .collect();
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "kinds": kinds,
            "given": self.file.as_ref().map(|file| &file.name),
            "lessons": self.lessons,
            "png": rosenblatt_plot::PNG,
            "most_bytes": crate::server::MOST_BYTES,
            "most_rows": data::MOST_ROWS,
            "letters": data::LETTERS,
        })
    }

    fn data(&self, query: &Query) -> Result<Arc<Data>, Refusal> {
        self.pages.data(&query.page).ok_or(Refusal::Unknown)
    }

    fn put_file(&self, query: &Query, mut bytes: Vec<u8>) -> Answered {
        // Labels of images follow the images.
        let labels = match query.labels_at {
            Some(at) if at <= bytes.len() => Some(bytes.split_off(at)),
            Some(_) => return Err(Refusal::Senseless("labels begin behind the end".into())),
            None => None,
        };
        let file = data::uploaded(&query.name, bytes, labels);
        self.put(query, file, query.reading())
    }

    fn put(&self, query: &Query, file: data::File, reading: Reading) -> Answered {
        let data = Data::read(file, reading, self.threads)?;
        self.placed(query, data)
    }

    fn placed(&self, query: &Query, data: Data) -> Answered {
        let data = Arc::new(data);
        let mut about = export::about(&data);
        let page = Some(query.page.as_str());
        about["page"] = self.pages.put(page, data)?.into();
        Ok(Answer::Shown(about))
    }

    fn run(&self, query: &Query, bytes: &[u8]) -> Answered {
        let asked: Asked = body(bytes)?;
        let data = self.data(query)?;
        let options = options::checked(&asked.options)?;
        let trace = options.learner.is_mistake_driven();
        let commands = json!({
            "trace": trace.then(|| command::trace(&data, &options)),
            "train": command::train(&data, &options),
            "generate": data.file.made_by,
        });
        let run = Run::start(data, options, self.threads)?;
        let of_run = run.clone();
        self.pages.set_run(&query.page, slot(query), Some(run));
        // What is wrong with the options and these data shows at once.
        wait(|| of_run.len() > 0 || of_run.ended().is_some());
        if let Some(ended) = of_run.ended() {
            ended.fitted?;
        }
        Ok(Answer::Shown(json!({"commands": commands})))
    }

    fn check(&self, query: &Query) -> Answered {
        let data = self.data(query)?;
        let known = self.pages.checked(&query.page);
        let checked = match known {
            Some(checked) => checked,
            None => {
                let checked = Arc::new(check::check(&data, self.threads)?);
                self.pages.set_checked(&query.page, &data, checked.clone());
                checked
            }
        };
        let mut found = checked.found.clone();
        let refused = checked.certificate.as_ref().err();
        found["certificate"] = json!(refused.is_none());
        found["no_certificate"] = json!(refused.map(|e| e.wording().as_command_line()));
        Ok(Answer::Shown(found))
    }

    fn certificate(&self, query: &Query) -> Answered {
        let checked = self.pages.checked(&query.page).ok_or(Refusal::Unknown)?;
        let document = checked.certificate.clone()?;
        Ok(Answer::Saved(Export {
            name: "proof.json".into(),
            kind: "application/json",
            bytes: document.into_bytes(),
        }))
    }
}

/// Waits until something is so, but not for long.
fn wait(so: impl Fn() -> bool) {
    const ROUNDS: usize = 25;
    for _ in 0..ROUNDS {
        if so() {
            return;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn slot(query: &Query) -> usize {
    query.slot.min(1)
}

impl Query {
    fn reading(&self) -> Reading {
        Reading {
            label: self.label.clone(),
            positive: self.positive.clone(),
            scale: self.scale.clone(),
        }
        .cleaned()
    }

    fn view(&self, data: &Data) -> View {
        View::of(data, self.x, self.y, self.projection)
    }

    fn rectangle(&self) -> Result<Rectangle, Refusal> {
        let over = Rectangle {
            x: (self.left, self.right),
            y: (self.low, self.high),
        };
        let sound = |(a, b): (f64, f64)| a.is_finite() && b.is_finite() && a < b;
        match sound(over.x) && sound(over.y) {
            true => Ok(over),
            false => Err(Refusal::Senseless("the picture has no size".into())),
        }
    }
}

impl Refusal {
    /// The status of HTTP, and what the page is told.
    pub fn told(self) -> (u16, Value) {
        match self {
            Refusal::Unknown => (
                410,
                json!({"unknown": true, "error": "the server no longer has this page's data"}),
            ),
            Refusal::Senseless(why) => (
                400,
                json!({"error": format!("the request makes no sense: {why}")}),
            ),
            Refusal::Error(error) => {
                let place = error
                    .position()
                    .map(|p| json!({"line": p.line, "column": p.column}));
                let kind = match error.kind() {
                    ErrorKind::Options => "options",
                    ErrorKind::Data => "data",
                    _ => "other",
                };
                let told = json!({
                    "error": error.wording().as_command_line(),
                    "place": place,
                    "kind": kind,
                });
                (422, told)
            }
        }
    }
}
