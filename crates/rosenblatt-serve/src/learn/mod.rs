//! Learning from examples as they come, each durable before it is acknowledged.
//!
//! One thread learns: it takes what waits, learns it, writes it to the log, syncs the log once for
//! all of it, publishes the weights, and answers. Whoever predicts reads what was published last.

pub mod journal;
mod labels;
pub mod state;
pub mod writer;

use std::fmt;
use std::time::Duration;

use rosenblatt::data::Matrix;
use rosenblatt::read::LabelFound;
use tokio::sync::oneshot;

use crate::problem::Problem;

/// When what was learned is synced to the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sync {
    /// Before it is acknowledged.
    #[default]
    Always,
    /// So often.
    Interval(Duration),
    /// When the system likes.
    Never,
}

impl std::str::FromStr for Sync {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let interval = |text: &str| text.parse().ok().filter(|&ms: &u64| ms > 0);
        match (text, text.strip_prefix("interval:").and_then(interval)) {
            ("always", _) => Ok(Sync::Always),
            ("never", _) => Ok(Sync::Never),
            (_, Some(ms)) => Ok(Sync::Interval(Duration::from_millis(ms))),
            _ => Err("expected always, interval:MILLISECONDS or never".into()),
        }
    }
}

impl fmt::Display for Sync {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Sync::Always => f.write_str("always"),
            Sync::Interval(every) => write!(f, "interval:{}", every.as_millis()),
            Sync::Never => f.write_str("never"),
        }
    }
}

/// What becomes of labels that the model has not learned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NewClasses {
    /// They are refused.
    #[default]
    Refuse,
    /// They become classes.
    Add,
}

impl std::str::FromStr for NewClasses {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "refuse" => Ok(NewClasses::Refuse),
            "add" => Ok(NewClasses::Add),
            _ => Err("expected add or refuse".into()),
        }
    }
}

/// What is asked of the thread that learns.
pub struct Job {
    /// What.
    pub task: Task,
    /// The idempotency key of the request.
    pub key: Option<String>,
    /// Where the answer goes.
    pub answer: oneshot::Sender<Result<Learned, Problem>>,
}

/// What the thread that learns can do.
pub enum Task {
    /// Learn these rows.
    Learn(Matrix, Vec<LabelFound>),
    /// Learn the rows that were predicted with this id.
    Label(String, Vec<String>),
    /// Keep rows until their labels come.
    Keep(String, Matrix),
    /// Save a snapshot.
    Snapshot,
    /// Save a snapshot and end.
    Stop,
}

impl Task {
    /// A checksum of what a request says.
    pub fn checksum(&self) -> u32 {
        let mut sum = crc32fast::Hasher::new();
        let mut matrix = |m: &Matrix| {
            for i in 0..m.rows() {
                m.row(i).for_each(|j, x| {
                    if x != 0.0 {
                        sum.update(&(j as u32).to_le_bytes());
                        sum.update(&x.to_le_bytes());
                    }
                });
                sum.update(&[0xff]);
            }
        };
        match self {
            Task::Learn(rows, labels) => {
                matrix(rows);
                for label in labels {
                    sum.update(format!("{label:?}").as_bytes());
                }
            }
            Task::Label(id, labels) => {
                sum.update(id.as_bytes());
                for label in labels {
                    sum.update(b"\0");
                    sum.update(label.as_bytes());
                }
            }
            Task::Keep(id, row) => {
                matrix(row);
                sum.update(id.as_bytes());
            }
            Task::Snapshot | Task::Stop => {}
        }
        sum.finalize()
    }
}

/// What was learned.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Learned {
    /// How many examples were learned before.
    pub sequence: u64,
    /// For each row the class predicted before it was learned, and its own.
    pub rows: Vec<(u32, u32)>,
    /// Whether this was learned before, and only the answer is given again.
    pub repeated: bool,
    /// Whether it is synced to the disk.
    pub durable: bool,
    /// The snapshot that was saved.
    pub snapshot: Option<String>,
}
