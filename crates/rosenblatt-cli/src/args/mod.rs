//! Arguments as typed. What they mean is decided in the library; here they only get their
//! place on the command line.

mod data;
mod learner;

use data::HELD_OUT;
pub use data::{DataArgs, DataOptions, ModelDataArgs, is_read};
pub use learner::LearnerArgs;

use std::path::PathBuf;

use clap::builder::Styles;
use clap::builder::styling::AnsiColor;
use clap::{Args, Parser, Subcommand};

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

/// Train, test and examine perceptrons.
#[derive(Debug, Parser)]
#[command(
    name = "rosenblatt",
    version,
    styles = STYLES,
    max_term_width = 100,
    subcommand_required = true,
    arg_required_else_help = true,
    after_help = "Results go to stdout, messages to stderr. A data file named - is stdin; -o - is stdout (train, predict, generate).\n\
        Exit status: 0 success, 1 failure, 2 usage error, 3 certificate does not hold, 4 check ran into its time limit undecided, 130 interrupted."
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
    /// Print nothing but the result and errors; where train saves a model, that is the result
    #[arg(long, short, global = true, help_heading = "Global options")]
    pub quiet: bool,
    /// Number of threads; results do not depend on it [default: all]
    #[arg(long, global = true, value_name = "N", help_heading = "Global options", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
}

impl Cli {
    /// The number of threads to use.
    pub fn threads(&self) -> usize {
        self.threads
            .map_or_else(rosenblatt::internal::parallel::available, usize::from)
    }
}

/// Data options of `train` that a command has no use for which examines the rows as they are
/// written.
const AS_WRITTEN: [&str; 6] = [
    "validate",
    "validate-file",
    "groups",
    "time",
    "scale",
    "precision",
];

/// Leaves options out of the help. They are known, so that whoever gives one is told why not.
fn hide(names: &'static [&str]) -> impl Fn(clap::Arg) -> clap::Arg {
    move |arg| match names.contains(&arg.get_id().as_str()) {
        true => arg.hide(true),
        false => arg,
    }
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Train a model on a file, report on the run, save the model
    #[command(after_help = "Examples:\n  rosenblatt train data.csv -o model.rbm\n  \
        rosenblatt train adult.data.gz --validate 0.1 --seed 1\n  \
        rosenblatt train data.csv --validate 0.25 --save-split data -o model.rbm && rosenblatt test model.rbm data.test.csv\n  \
        rosenblatt train a.svm --readout last --epochs 50 -o a.rbm\n  \
        rosenblatt train data.csv --calibrate --threshold cost:FP=1,FN=10 -o model.rbm\n  \
        rosenblatt train data.csv --resume model.rbm --epochs 100 -o longer.rbm")]
    Train(Box<TrainArgs>),
    /// Search learners and settings by cross-validation, and train the best on all rows
    #[command(after_help = "Examples:\n  rosenblatt tune data.csv -o model.rbm\n  \
        rosenblatt tune data.csv --metric macro-f1 --validate 0.2 -o model.rbm\n  \
        rosenblatt tune text.svm --learner arow --grid r=0.01,0.1,1 --folds 3\n\n\
        Successive halving: the better half of the settings goes on to the next fold.",
        mut_args(hide(&TuneArgs::REFUSED)), mut_args(TuneArgs::of_a_search))]
    Tune(Box<TuneArgs>),
    /// Predict a label for every row
    #[command(after_help = "Examples:\n  rosenblatt predict model.rbm new.csv\n  \
        zcat new.csv.gz | rosenblatt predict model.rbm - --scores -o predicted.tsv\n  \
        rosenblatt predict model.rbm new.csv --probabilities")]
    Predict(Box<PredictArgs>),
    /// Say why rows have their classes: what each feature adds to the score, in the units of the file
    #[command(after_help = "Examples:\n  rosenblatt explain model.rbm new.csv\n  \
        rosenblatt explain model.rbm new.csv --rows 1 --most 20 --json")]
    Explain(Box<ExplainArgs>),
    /// Evaluate a model on labelled rows
    #[command(after_help = "Examples:\n  rosenblatt test model.rbm test.csv\n  \
        rosenblatt test model.rbm test.csv --compare other.rbm\n  \
        rosenblatt test model.rbm test.csv --importance")]
    Test(Box<TestArgs>),
    /// Decide whether the classes are linearly separable, with proof, margin, bound on updates, and what it means for a logistic regression
    #[command(after_help = "Examples:\n  rosenblatt check data.csv --label y\n  \
        rosenblatt check data.csv --certificate proof.json && rosenblatt verify proof.json data.csv\n  \
        rosenblatt check xor.csv --kernel quadratic --dual-lp",
        mut_args(hide(&AS_WRITTEN)))]
    Check(Box<CheckArgs>),
    /// Estimate a logistic regression in the data's own units, and say whether estimates exist
    #[command(after_help = "Examples:\n  rosenblatt logistic data.csv --label y\n  \
        rosenblatt logistic data.csv --label y --firth\n  \
        rosenblatt logistic data.csv --reference colour=red --reference size=small",
        mut_args(hide(&AS_WRITTEN)))]
    Logistic(Box<LogisticArgs>),
    /// Verify a certificate against the data file, in exact arithmetic
    #[command(after_help = "Example:\n  rosenblatt verify proof.json data.csv")]
    Verify(VerifyArgs),
    /// Show training step by step
    #[command(
        after_help = "Examples:\n  rosenblatt generate and -o and.csv && rosenblatt trace and.csv\n  \
        rosenblatt trace critics.csv --start=-1,0,0 --ties positive --epochs 1\n  \
        rosenblatt trace and.csv --plot and.svg\n\n\
        Defaults differ from train: --order given, --readout last, --scale none.",
        mut_args(hide(&TraceArgs::REFUSED)), mut_args(hide(&HELD_OUT))
    )]
    Trace(Box<TraceArgs>),
    /// Watch a perceptron learn, in the browser, on your own data
    #[command(
        after_help = "Examples:\n  rosenblatt studio\n  rosenblatt studio data.csv\n  \
        rosenblatt studio --lessons\n  rosenblatt studio --no-open --port 8899\n\n\
        Only this machine can open the page, and only by the address that is printed: it holds a new token each time."
    )]
    Studio(StudioArgs),
    /// Make synthetic data with known answers
    #[command(
        after_help = "Examples:\n  rosenblatt generate separable --examples 200 --features 10 --margin 0.05 -o data.csv\n  \
        rosenblatt generate moons --noise 0.05 --seed 7 -o moons.csv\n  \
        rosenblatt generate sparse --examples 200000 -o text.svm"
    )]
    Generate(Box<GenerateArgs>),
    /// Run studies of how perceptrons learn: a log of every run, figures, one page
    #[command(after_help = "Examples:\n  rosenblatt experiment bound --quick\n  \
        rosenblatt experiment all -o studies\n\n\
        Each run is recorded in the folder when it ends. Repeat an interrupted command to continue it.")]
    Experiment(ExperimentArgs),
    /// Draw an explanatory figure
    #[command(
        after_help = "Examples:\n  rosenblatt figure hulls -o hulls.svg\n  rosenblatt figure all -o figures"
    )]
    Figure(FigureArgs),
    /// Show what a model is and how it was trained
    #[command(
        after_help = "Examples:\n  rosenblatt inspect model.rbm\n  rosenblatt inspect model.rbm --command"
    )]
    Inspect(InspectArgs),
    /// Convert data between formats
    #[command(
        after_help = "Examples:\n  rosenblatt convert data.csv data.svm\n  rosenblatt convert digits-images-idx3-ubyte.gz digits.csv.gz\n  rosenblatt convert data.svm data.npz\n  rosenblatt convert data.csv data.parquet\n  rosenblatt convert data.svm data.rbc",
        mut_args(hide(&HELD_OUT))
    )]
    Convert(Box<ConvertArgs>),
    /// Export a model to ONNX, for other runtimes
    #[command(after_help = "Example:\n  rosenblatt export model.rbm model.onnx\n\n\
        Inputs of the graph: X, rows of doubles, or the columns of the training table by name.\n\
        Outputs: label and scores.")]
    Export(ExportArgs),
    /// Answer predictions over HTTP, and learn from labelled rows as they come
    #[command(after_help = "Examples:\n  rosenblatt serve model.rbm\n  \
        rosenblatt serve model.rbm --learn --log learned\n  \
        curl --data-binary @new.csv -H 'Content-Type: text/csv' localhost:8080/v2/models/model/predict\n\n\
        Ends on Ctrl-C or SIGTERM; reads models again on SIGHUP. GET /openapi.json describes the interface.")]
    Serve(Box<ServeArgs>),
    /// Print a completion script for a shell
    #[command(
        after_help = "Example:\n  rosenblatt completions bash > ~/.local/share/bash-completion/completions/rosenblatt"
    )]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Write manual pages into a folder
    #[command(after_help = "Example:\n  rosenblatt man ~/.local/share/man/man1")]
    Man {
        /// The folder
        folder: PathBuf,
    },
}

#[derive(Debug, Args)]
pub struct TrainArgs {
    /// The data: a file, a folder, a quoted pattern such as "part-*.csv", or - for stdin
    pub data: PathBuf,
    /// Further files of the same data set
    #[arg(value_name = "MORE")]
    pub more: Vec<PathBuf>,
    /// File for the model, or - for stdout
    #[arg(long, short, value_name = "MODEL")]
    pub output: Option<PathBuf>,
    /// Resume the run of this model as if it had never stopped; its options are kept, limits may be changed; not for networks and max-margin
    #[arg(long, value_name = "MODEL")]
    pub resume: Option<PathBuf>,
    /// K-fold cross-validation: train without each fold in turn and report the accuracy on it
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(2..))]
    pub cv: Option<u32>,
    /// Give probabilities: fit a map from scores to probabilities, by sigmoid, isotonic (regression) or temperature, on the held-out rows, without such in cross-validation; without METHOD: sigmoid for two classes, temperature for several
    #[arg(long, value_name = "METHOD", value_parser = calibration)]
    pub calibrate: Option<Option<rosenblatt::calibration::Method>>,
    /// Two classes: predict the positive one from here on. A number: of the probability where the model is calibrated, else of the score; or chosen on the held-out rows, without such in cross-validation: f1, cost:FP=COST,FN=COST (least cost), precision:SHARE or recall:SHARE (at least that)
    #[arg(long, value_name = "RULE", allow_hyphen_values = true)]
    pub threshold: Option<rosenblatt::threshold::ThresholdRule>,
    /// Save the rows trained on and those held out as PREFIX.train and PREFIX.test, with the extension of the format, before training
    #[arg(long, value_name = "PREFIX")]
    pub save_split: Option<PathBuf>,
    /// Save a checkpoint after a pass when this many seconds have passed since the last one
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0, value_parser = seconds, allow_negative_numbers = true)]
    pub save_every: f64,
    /// Memory limit for kernel values and for examples; libsvm text and caches that need more stay on the disk, and other files are refused: bytes, or with K, M or G for KiB, MiB or GiB [default: half of what is free]
    #[arg(long, value_name = "SIZE", value_parser = memory)]
    pub memory: Option<u64>,
    /// Cache the parsed data in FILE.rbc beside the file, and read them from there while the cache is up to date
    #[arg(long)]
    pub cache: bool,
    /// Write a self-contained HTML report: data, passes, margins, confusion matrix, weights, hardest examples
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
    /// Report what would be read and done, with estimates of memory and time, without training
    #[arg(long)]
    pub dry_run: bool,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub learner: LearnerArgs,
    #[command(flatten)]
    pub source: DataArgs,
}

#[derive(Debug, Args)]
pub struct TuneArgs {
    /// The data: a file, a folder, a quoted pattern such as "part-*.csv", or - for stdin
    pub data: PathBuf,
    /// Further files of the same data set
    #[arg(value_name = "MORE")]
    pub more: Vec<PathBuf>,
    /// File for the model trained on all rows with the best settings
    #[arg(long, short, value_name = "MODEL")]
    pub output: Option<PathBuf>,
    /// Number of folds
    #[arg(long, value_name = "K", default_value_t = 5, value_parser = clap::value_parser!(u32).range(2..))]
    pub folds: u32,
    /// Try these values of a setting, of the learner or of how texts and numbers become features, instead of the built-in ones; may be repeated, every combination is tried
    #[arg(long, value_name = "NAME=V1,V2,…")]
    pub grid: Vec<String>,
    /// Estimate how good models are that are tuned this way: repeat the search without each of K folds and test what it finds on the fold
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(2..))]
    pub nested: Option<u32>,
    /// Start no further training after this many seconds; the result then depends on the machine
    #[arg(long, value_name = "SECONDS", value_parser = positive_seconds)]
    pub budget: Option<f64>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub learner: LearnerArgs,
    #[command(flatten)]
    pub source: DataArgs,
}

impl TuneArgs {
    /// Options of `train` that a search over folds has no use for.
    pub const REFUSED: [&str; 3] = ["patience", "validate-file", "time"];

    /// What options of `train` mean to a search.
    fn of_a_search(arg: clap::Arg) -> clap::Arg {
        match arg.get_id().as_str() {
            "metric" => arg.help("what decides: accuracy, balanced-accuracy, macro-f1, weighted-f1, auc, average-precision, mcc (Matthews correlation) or neg-log-loss (minus the log loss, of learners that give probabilities) [default: accuracy]"),
            "validate" => arg.help("keep this fraction of each class from the search, and report the score on it"),
            "groups" => arg.help("rows of one group (a person, a document) are in one fold; the column is no feature"),
            _ => arg,
        }
    }
}

/// A number of seconds above 0.
fn positive_seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds > 0.0 && seconds <= 1e9 => Ok(seconds),
        _ => Err("expected a number of seconds above 0".into()),
    }
}

#[derive(Debug, Args)]
pub struct PredictArgs {
    /// The model
    pub model: PathBuf,
    /// The data: a file, a folder, a quoted pattern such as "part-*.csv", or - for stdin
    pub data: PathBuf,
    /// File for the predictions [default: stdout]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// After each label, a tab and the score; one score per discriminator if there are several
    #[arg(long)]
    pub scores: bool,
    /// After each label, a tab and the probability of each class, in the order in which inspect lists the classes; for calibrated models (train --calibrate)
    #[arg(long, conflicts_with = "scores")]
    pub probabilities: bool,
    /// At the end of each line, the N features that move the score most, each after a tab with what it adds to the score of the class against its strongest rival; over a kernel the N leading training rows
    #[arg(long, value_name = "N")]
    pub explain: Option<usize>,
    #[command(flatten)]
    pub source: ModelDataArgs,
}

#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// The model
    pub model: PathBuf,
    /// The data: a file, a folder, a quoted pattern such as "part-*.csv", or - for stdin
    pub data: PathBuf,
    /// How many rows to explain, from the first on
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub rows: usize,
    /// How many contributions to show of each row, the largest
    #[arg(long, value_name = "N", default_value_t = 8)]
    pub most: usize,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub source: ModelDataArgs,
}

#[derive(Debug, Args)]
pub struct TestArgs {
    /// The model
    pub model: PathBuf,
    /// The data: a file, a folder, a quoted pattern such as "part-*.csv", or - for stdin
    pub data: PathBuf,
    /// Compare with another model on the same rows, by McNemar's exact test
    #[arg(long, value_name = "MODEL")]
    pub compare: Option<PathBuf>,
    /// How much worse the predictions are where the values of a column are permuted, for every column; N permutations each [default: 5]
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "5", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub importance: Option<u32>,
    /// Write a self-contained HTML report
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub source: ModelDataArgs,
}

#[derive(Debug, Args)]
pub struct TraceArgs {
    /// The data: a file, a folder, a quoted pattern such as "part-*.csv", or - for stdin
    pub data: PathBuf,
    /// Draw the decision boundary of two features: FILE.svg is animated from update to update, FILE.png (in a build with the feature png) shows passes side by side
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub learner: LearnerArgs,
    #[command(flatten)]
    pub source: DataArgs,
}

impl TraceArgs {
    /// Options of the learners whose steps are not shown, and of what is done with held-out rows.
    pub const REFUSED: [&str; 8] = [
        "hidden",
        "activation",
        "loss",
        "batch-size",
        "restarts",
        "patience",
        "keep",
        "metric",
    ];
}

#[derive(Debug, Args)]
pub struct StudioArgs {
    /// The data to begin with
    pub data: Option<PathBuf>,
    /// Port on this machine; 0 for any that is free
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub port: u16,
    /// Print the address of the page and leave opening it to you
    #[arg(long)]
    pub no_open: bool,
    /// Begin with the lessons
    #[arg(long)]
    pub lessons: bool,
}

/// Whether the hyperplane has a bias.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum CheckBias {
    /// A constant feature 1
    Lifted,
    /// A hyperplane through the origin
    None,
}

#[derive(Debug, Args)]
pub struct CheckArgs {
    /// The data: a file, a folder, a quoted pattern such as "part-*.csv", or - for stdin
    pub data: PathBuf,
    /// Further files of the same data set
    #[arg(value_name = "MORE")]
    pub more: Vec<PathBuf>,
    /// Write the proof as JSON, once the independent checker has accepted it
    #[arg(long, value_name = "FILE")]
    pub certificate: Option<PathBuf>,
    /// Whether the hyperplane has a bias; with a kernel, lifted means K + 1 [default: lifted, none with --kernel]
    #[arg(long, value_enum)]
    pub bias: Option<CheckBias>,
    /// Decide in the space of a kernel: linear, quadratic, polynomial:DEGREE[,SCALE,CONST], geometric:DEGREE, monomial:DEGREE, rbf:GAMMA, laplacian:GAMMA or precomputed
    #[arg(long, value_name = "KERNEL")]
    pub kernel: Option<rosenblatt::kernel::Kernel>,
    /// Solve for the smallest dual coefficients that separate: minimise Σ a_i so that y_i Σ_j a_j y_j K(x_j, x_i) ≥ 1, a ≥ 0
    #[arg(long)]
    pub dual_lp: bool,
    /// Compute the margin to this relative gap
    #[arg(long, value_name = "GAP", default_value_t = 1e-6, value_parser = gap, allow_negative_numbers = true)]
    pub gap: f64,
    /// Classify the coefficients of a logistic regression when there are at most N
    #[arg(long, value_name = "N", default_value_t = 2000)]
    pub coefficients: usize,
    /// With several classes: also decide each pair
    #[arg(long)]
    pub pairs: bool,
    /// Stop after so many seconds: undecided (status 4) where there is no verdict yet, else without what is missing behind it
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true)]
    pub time_limit: Option<f64>,
    /// Memory limit, beyond which a check ends with an error: bytes, or with K, M or G for KiB, MiB or GiB [default: most of what is free]
    #[arg(long, value_name = "SIZE", value_parser = memory)]
    pub memory: Option<u64>,
    /// Only the verdict and its certificate: no margin, no coefficients
    #[arg(long)]
    pub verdict_only: bool,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub source: DataArgs,
}

#[derive(Debug, Args)]
pub struct LogisticArgs {
    /// The data: a file, or - for stdin
    pub data: PathBuf,
    /// Add Firth's penalty to the likelihood, which keeps every estimate finite
    #[arg(long)]
    pub firth: bool,
    /// Intervals: profile (of the likelihood) or wald (the estimate and its standard error)
    #[arg(long, value_name = "KIND", default_value = "profile", value_parser = interval)]
    pub interval: rosenblatt::estimation::Interval,
    /// The share of intervals that is to hold the truth
    #[arg(long, value_name = "SHARE", default_value_t = 0.95, value_parser = share, allow_negative_numbers = true)]
    pub level: f64,
    /// Whether there is an intercept [default: lifted]
    #[arg(long, value_enum)]
    pub bias: Option<CheckBias>,
    /// The level of a category that has no coefficient, against which the others are estimated [default: the first by name]; may be repeated
    #[arg(long, value_name = "COLUMN=LEVEL")]
    pub reference: Vec<String>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub source: DataArgs,
}

fn interval(text: &str) -> Result<rosenblatt::estimation::Interval, String> {
    use rosenblatt::estimation::Interval;
    match text {
        "profile" => Ok(Interval::Profile),
        "wald" => Ok(Interval::Wald),
        _ => Err("expected profile or wald".into()),
    }
}

/// A share strictly between 0 and 1.
fn share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(share) if share > 0.0 && share < 1.0 => Ok(share),
        _ => Err("expected a number between 0 and 1".into()),
    }
}

#[derive(Debug, Args)]
pub struct VerifyArgs {
    /// The certificate
    pub certificate: PathBuf,
    /// The data it is about: a file, or all files in the order in which they were checked
    #[arg(required = true)]
    pub data: Vec<PathBuf>,
    /// Give up after this many seconds, without an answer
    #[arg(long, value_name = "SECONDS", default_value_t = 3600.0, value_parser = seconds)]
    pub time_limit: f64,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct GenerateArgs {
    /// Kind of data
    #[arg(value_parser = kind, long_help = kinds_help())]
    pub kind: rosenblatt::synthetic::Kind,
    /// Output file; its extension selects the format (.svm, .csv, .tsv, and .gz, .zst, .bz2 or .xz after it); - prints CSV
    #[arg(long, short, value_name = "FILE")]
    pub output: PathBuf,
    /// Save the known separator as JSON
    #[arg(long, value_name = "FILE")]
    pub separator: Option<PathBuf>,
    /// Number of examples
    #[arg(long, short = 'n', value_name = "N")]
    pub examples: Option<usize>,
    /// Number of features
    #[arg(long, short = 'd', value_name = "D")]
    pub features: Option<usize>,
    /// Number of classes
    #[arg(long, short = 'k', value_name = "K")]
    pub classes: Option<usize>,
    /// Margin of the known separator
    #[arg(long, value_name = "G")]
    pub margin: Option<f64>,
    /// Fraction of labels flipped
    #[arg(long, value_name = "FRACTION", default_value_t = 0.0)]
    pub noise: f64,
    /// Standard deviation of clouds and jitter
    #[arg(long, value_name = "S")]
    pub spread: Option<f64>,
    /// Mean number of words in a row of `sparse`
    #[arg(long, value_name = "N")]
    pub non_zeros: Option<f64>,
    /// Precision of values: f32 or f64
    #[arg(long, value_name = "BITS", default_value = "f32", value_parser = precision)]
    pub precision: rosenblatt::data::Precision,
    /// Random seed
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
}

fn kind(name: &str) -> Result<rosenblatt::synthetic::Kind, rosenblatt::Error> {
    rosenblatt::synthetic::Kind::find(name)
}

fn kinds_help() -> String {
    let mut text = String::from("Kind of data:\n");
    for kind in rosenblatt::synthetic::Kind::all() {
        text.push_str(&format!("  {:<14} {}\n", kind.name(), kind.summary()));
    }
    text
}

/// A method of calibration.
fn calibration(name: &str) -> Result<rosenblatt::calibration::Method, String> {
    rosenblatt::options::parse_choice(name)
}

/// A size in bytes, with or without a unit.
fn memory(text: &str) -> Result<u64, String> {
    let units = [
        ("K", 1u64 << 10),
        ("M", 1 << 20),
        ("G", 1 << 30),
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
        ("kB", 1000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
    ];
    let (digits, unit) = units
        .iter()
        .find_map(|(name, size)| text.strip_suffix(name).map(|digits| (digits, *size)))
        .unwrap_or((text, 1));
    match digits.trim().parse::<f64>() {
        Ok(n) if n.is_finite() && n > 0.0 && n * unit as f64 >= 1.0 => Ok((n * unit as f64) as u64),
        _ => Err("expected a size such as 500MiB or 2GiB".into()),
    }
}

pub(crate) fn precision(name: &str) -> Result<rosenblatt::data::Precision, String> {
    match name {
        "f32" => Ok(rosenblatt::data::Precision::F32),
        "f64" => Ok(rosenblatt::data::Precision::F64),
        _ => Err("expected f32 or f64".into()),
    }
}

#[derive(Debug, Args)]
pub struct ExperimentArgs {
    /// Which studies: names, or all
    #[arg(required = true, value_name = "NAME", long_help = studies_help())]
    pub studies: Vec<String>,
    /// Folder for tables, figures and index.html
    #[arg(long, short, value_name = "DIR", default_value = "experiments")]
    pub output: PathBuf,
    /// Smaller cases and fewer seeds
    #[arg(long)]
    pub quick: bool,
    /// Seeds for each case [default: each study's own number]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub seeds: Option<u32>,
    /// Ignore earlier runs in the folder and repeat them all
    #[arg(long)]
    pub fresh: bool,
}

#[derive(Debug, Args)]
pub struct FigureArgs {
    /// Which figures: names, or all
    #[arg(required = true, value_name = "NAME", long_help = figures_help())]
    pub figures: Vec<String>,
    /// An .svg file for one figure (.png in a build with the feature png), or a folder
    #[arg(long, short, value_name = "FILE")]
    pub output: PathBuf,
}

fn figures_help() -> String {
    let mut text = String::from("Which figures:\n");
    for drawing in crate::figures::DRAWINGS {
        text.push_str(&format!("  {:<14} {}\n", drawing.name, drawing.summary));
    }
    text.push_str("  all            every one of them");
    text
}

fn studies_help() -> String {
    let mut text = String::from("Which studies:\n");
    for study in crate::experiment::STUDIES {
        text.push_str(&format!("  {:<14} {}\n", study.name, study.title));
    }
    text.push_str("  all            every one of them");
    text
}

#[derive(Debug, Args)]
pub struct InspectArgs {
    /// The model
    pub model: PathBuf,
    /// Print only the command that trains such a model
    #[arg(long, conflicts_with = "json")]
    pub command: bool,
    /// Place the rows of this file beside the plane: score, functional margin, side, distance, foot of the perpendicular
    #[arg(long, value_name = "DATA", conflicts_with = "command")]
    pub geometry: Option<PathBuf>,
    /// How many weights of each discriminator to show
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub weights: usize,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct ExportArgs {
    /// The model
    pub model: PathBuf,
    /// File for the graph, or - for stdout
    pub output: PathBuf,
}

#[derive(Debug, Args)]
pub struct ServeArgs {
    /// The model, or a folder of models, each called as its file
    pub model: PathBuf,
    /// Address and port to listen on; beyond this machine only with --token-file or --insecure
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:8080")]
    pub listen: std::net::SocketAddr,
    /// Learn from examples that are sent
    #[arg(long)]
    pub learn: bool,
    /// Folder for the log of what is learned, and for snapshots of the model
    #[arg(long, value_name = "DIR")]
    pub log: Option<PathBuf>,
    /// When the log is synced to the disk: always (before an example is acknowledged), interval:MS or never
    #[arg(long, value_name = "WHEN", default_value = "always")]
    pub sync: rosenblatt_serve::learn::Sync,
    /// What to do with labels that the model has not learned: refuse or add (as classes)
    #[arg(long, value_name = "WHAT", default_value = "refuse")]
    pub new_classes: rosenblatt_serve::learn::NewClasses,
    /// File with a token that requests must bear
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// Let anybody who reaches the address ask without a token
    #[arg(long)]
    pub insecure: bool,
    /// Certificate chain for TLS, as PEM
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub tls_certificate: Option<PathBuf>,
    /// Its private key, as PEM
    #[arg(long, value_name = "FILE", requires = "tls_certificate")]
    pub tls_key: Option<PathBuf>,
    /// Largest body of a request: bytes, or with K, M or G for KiB, MiB or GiB
    #[arg(long, value_name = "SIZE", default_value = "32M", value_parser = memory)]
    pub max_body: u64,
    /// Most rows of a request
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    pub max_rows: usize,
    /// Seconds that a request may take to arrive
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..))]
    pub max_time: u64,
    /// Most connections at a time
    #[arg(long, value_name = "N", default_value_t = 1024)]
    pub max_connections: usize,
}

#[derive(Debug, Args)]
pub struct ConvertArgs {
    /// The data: a file, or - for stdin
    pub input: PathBuf,
    /// Output file; its extension selects the format
    pub output: PathBuf,
    #[command(flatten)]
    pub source: DataArgs,
}

/// A time: a number from 0 on.
fn seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(seconds) if (0.0..=f64::INFINITY).contains(&seconds) => Ok(seconds),
        _ => Err("expected a number of seconds, at least 0".into()),
    }
}

/// A relative gap: a number from 0 on.
fn gap(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(gap) if (0.0..f64::INFINITY).contains(&gap) => Ok(gap),
        _ => Err("expected a number of at least 0".into()),
    }
}
