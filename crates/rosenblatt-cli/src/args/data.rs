//! How data are read, on the command line: one table of options, which also says what a
//! model remembers of them.

use std::ops::Deref;
use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use rosenblatt::internal::parallel;
use rosenblatt::read::{
    ColumnRole, Delimiter, Format, OnError, ReadOptions, ReadReport, Scale, SplitBy,
};
use rosenblatt::{Error, Result};

/// What the data options mean.
#[derive(Debug, Clone, Default)]
pub struct DataOptions {
    pub read: ReadOptions,
    pub scale: Option<Scale>,
    pub validate: Option<f64>,
    pub validate_file: Option<PathBuf>,
}

struct DataParameter {
    name: &'static str,
    value: &'static str,
    help: &'static str,
    /// Whether a model remembers it: true of what decides the numbers, false of where and
    /// how they are stored.
    remembered: bool,
    set: fn(&mut DataOptions, &str) -> Result<()>,
}

/// The parts between commas. One that begins with a double quote has its commas before the next.
fn list(text: &str) -> impl Iterator<Item = String> {
    let mut rest = Some(text);
    let parts = std::iter::from_fn(move || {
        let text = rest?.trim_start();
        let quoted = text.strip_prefix('"').and_then(|text| text.split_once('"'));
        let (name, text) = quoted.unwrap_or(("", text));
        let (end, behind) = match text.split_once(',') {
            Some((end, behind)) => (end, Some(behind)),
            None => (text, None),
        };
        rest = behind;
        Some(format!("{name}{}", end.trim_end()))
    });
    parts.filter(|part| !part.is_empty())
}

fn pairs(name: &str, text: &str, form: &str) -> Result<Vec<(String, String)>> {
    list(text)
        .map(|part| {
            part.split_once('=')
                .map(|(old, new)| (old.to_owned(), new.to_owned()))
                .ok_or_else(|| Error::options(format!("--{name}: found {part:?}, expected {form}")))
        })
        .collect()
}

/// Whether the second of two values was given.
fn choice(name: &str, text: &str, values: [&str; 2]) -> Result<bool> {
    values
        .iter()
        .position(|v| *v == text)
        .map(|i| i == 1)
        .ok_or_else(|| {
            let [first, second] = values;
            Error::options(format!(
                "--{name}: found {text:?}, expected {first} or {second}"
            ))
        })
}

const DATA_PARAMETERS: &[DataParameter] = &[
    DataParameter {
        name: "format",
        value: "FORMAT",
        help: Format::HELP,
        remembered: false,
        set: |o, t| t.parse().map(|f| o.read.format = Some(f)),
    },
    DataParameter {
        name: "labels",
        value: "FILE",
        help: "labels of IDX images or of a NumPy array [default: the name with images-idx3 replaced by labels-idx1]",
        remembered: false,
        set: |o, t| {
            o.read.labels = Some(t.into());
            Ok(())
        },
    },
    DataParameter {
        name: "label",
        value: "COLUMN",
        help: "label column of a table, by name or number from 0 [default: label, class, target or y, else the last]",
        remembered: true,
        set: |o, t| {
            o.read.label = Some(t.to_owned());
            Ok(())
        },
    },
    DataParameter {
        name: "header",
        value: "YES/NO",
        help: "whether a table's first line names its columns: yes or no [default: detected]",
        remembered: true,
        set: |o, t| {
            o.read.header = Some(match t {
                "yes" => true,
                "no" => false,
                _ => {
                    return Err(Error::options(format!(
                        "--header: found {t:?}, expected yes or no"
                    )));
                }
            });
            Ok(())
        },
    },
    DataParameter {
        name: "delimiter",
        value: "CHARACTER",
        help: "separator between the cells of a table: a character, tab or blanks [default: detected]",
        remembered: false,
        set: |o, t| {
            o.read.delimiter = Some(match t {
                "tab" | "\t" => Delimiter::Byte(b'\t'),
                "blanks" => Delimiter::Blanks,
                _ if t.len() == 1 && t.is_ascii() => Delimiter::Byte(t.as_bytes()[0]),
                _ => {
                    return Err(Error::options(format!(
                        "--delimiter: found {t:?}, expected one ASCII character, tab or blanks"
                    )));
                }
            });
            Ok(())
        },
    },
    DataParameter {
        name: "comment",
        value: "PREFIX",
        help: "skip lines of a table that start with this",
        remembered: true,
        set: |o, t| {
            o.read.comment = Some(t.to_owned());
            Ok(())
        },
    },
    DataParameter {
        name: "positive",
        value: "CLASS",
        help: "the class to separate from all others",
        remembered: true,
        set: |o, t| {
            o.read.positive = Some(t.to_owned());
            Ok(())
        },
    },
    DataParameter {
        name: "label-map",
        value: "OLD=NEW,…",
        help: "rename labels",
        remembered: true,
        set: |o, t| {
            for part in list(t) {
                // Labels may hold = themselves: every way to part the text is tried, and the
                // old label that occurs in the file decides.
                let before = o.read.label_map.len();
                o.read.label_map.extend(
                    part.match_indices('=')
                        // An = at the end belongs to a name if there is another.
                        .filter(|(at, _)| at + 1 < part.len() || part.find('=') == Some(*at))
                        .map(|(at, _)| (part[..at].to_owned(), part[at + 1..].to_owned())),
                );
                if o.read.label_map.len() == before {
                    return Err(Error::options(format!(
                        "--label-map: found {part:?}, expected OLD=NEW"
                    )));
                }
            }
            Ok(())
        },
    },
    DataParameter {
        name: "ignore",
        value: "COLUMN,…",
        help: "columns to leave out; put a name with a comma in double quotes",
        remembered: true,
        set: |o, t| {
            o.read.ignore.extend(list(t));
            Ok(())
        },
    },
    DataParameter {
        name: "column",
        value: "NAME=KIND",
        help: "treat a column as numeric, numeric-or-missing, decimal-comma, date, date-day-first, date-month-first, category, text or ignore; may be repeated; put a name with a comma in double quotes",
        remembered: true,
        set: |o, t| {
            for (name, kind) in pairs("column", t, "NAME=KIND")? {
                o.read.columns.push((name, kind.parse()?));
            }
            Ok(())
        },
    },
    DataParameter {
        name: "text",
        value: "TERMS",
        help: "features of texts: words, words:1-2 (words and pairs of them) or chars:3-5 (3 to 5 letters in a row) [default: words]",
        remembered: true,
        set: |o, t| t.parse().map(|terms| o.read.text.cut.terms = terms),
    },
    DataParameter {
        name: "term-weights",
        value: "HOW",
        help: "what a term of a text weighs: counts, sublinear (1 + ln of the count), tf-idf or sublinear-tf-idf [default: sublinear-tf-idf, without scaling counts]",
        remembered: true,
        set: |o, t| t.parse().map(|weights| o.read.text.weights = Some(weights)),
    },
    DataParameter {
        name: "min-df",
        value: "ROWS/SHARE",
        help: "leave out terms in fewer training rows: a number such as 2, or a share such as 0.001 [default: 1]",
        remembered: true,
        set: |o, t| t.parse().map(|df| o.read.text.min_df = df),
    },
    DataParameter {
        name: "max-df",
        value: "ROWS/SHARE",
        help: "leave out terms in more training rows [default: 1.0]",
        remembered: true,
        set: |o, t| t.parse().map(|df| o.read.text.max_df = df),
    },
    DataParameter {
        name: "vocabulary",
        value: "N",
        help: "terms of a text column with a feature of their own, those in most rows first; others share 262144 features by a hash [default: 1048576]",
        remembered: true,
        set: |o, t| {
            o.read.text.vocabulary = (t.parse().ok().filter(|n| (1..=1 << 24).contains(n)))
                .ok_or_else(|| {
                    Error::options(format!(
                        "--vocabulary: found {t:?}, expected a number from 1 to 16777216"
                    ))
                })?;
            Ok(())
        },
    },
    DataParameter {
        name: "case",
        value: "LOWER/KEEP",
        help: "letters of texts: lower takes capitals for small ones, keep tells them apart [default: lower]",
        remembered: true,
        set: |o, t| {
            o.read.text.cut.keep_case = choice("case", t, ["lower", "keep"])?;
            Ok(())
        },
    },
    DataParameter {
        name: "accents",
        value: "KEEP/STRIP",
        help: "accents of letters in texts: keep or strip [default: keep]",
        remembered: true,
        set: |o, t| {
            o.read.text.cut.strip_accents = choice("accents", t, ["keep", "strip"])?;
            Ok(())
        },
    },
    DataParameter {
        name: "weight-column",
        value: "COLUMN",
        help: "column of sample weights",
        remembered: true,
        set: |o, t| {
            o.read.weight_column = Some(t.to_owned());
            Ok(())
        },
    },
    DataParameter {
        name: "on-error",
        value: "WHAT",
        help: "rows that cannot be read: fail, or skip and count them [default: fail]",
        remembered: true,
        set: |o, t| {
            o.read.on_error = match t {
                "fail" => OnError::Fail,
                "skip" => OnError::Skip,
                _ => {
                    return Err(Error::options(format!(
                        "--on-error: found {t:?}, expected fail or skip"
                    )));
                }
            };
            Ok(())
        },
    },
    DataParameter {
        name: "scale",
        value: "HOW",
        help: "none, standard, minmax, unit-rows, or radius (all rows divided by the largest length) [default: standard for numeric columns of tables, else none]",
        remembered: true,
        set: |o, t| t.parse().map(|s| o.scale = Some(s)),
    },
    DataParameter {
        name: "precision",
        value: "BITS",
        help: "precision of values: f32 or f64 [default: f32]",
        remembered: true,
        set: |o, t| {
            o.read.precision = super::precision(t)
                .map_err(|e| Error::options(format!("--precision: found {t:?}, {e}")))?;
            Ok(())
        },
    },
    DataParameter {
        name: "validate",
        value: "FRACTION",
        help: "hold out this fraction of each class; the pass that is best on it becomes the model (see keep)",
        remembered: true,
        set: |o, t| match t.parse::<f64>() {
            Ok(f) if f > 0.0 && f < 1.0 => {
                o.validate = Some(f);
                Ok(())
            }
            _ => Err(Error::options(format!(
                "--validate: found {t:?}, expected a fraction between 0 and 1"
            ))),
        },
    },
    DataParameter {
        name: "validate-file",
        value: "FILE",
        help: "the rows of this file are the held-out ones",
        remembered: false,
        set: |o, t| {
            o.validate_file = Some(t.into());
            Ok(())
        },
    },
    DataParameter {
        name: "groups",
        value: "COLUMN",
        help: "rows of one group (a person, a document) are held out together, by --validate and by --cv; the column is no feature",
        remembered: true,
        set: |o, t| split_by(o, SplitBy::Groups, t),
    },
    DataParameter {
        name: "time",
        value: "COLUMN",
        help: "--validate holds out the last rows by this column of numbers or dates; the column is no feature",
        remembered: true,
        set: |o, t| split_by(o, SplitBy::Time, t),
    },
];

/// Names the column that rows are parted by.
fn split_by(options: &mut DataOptions, by: SplitBy, column: &str) -> Result<()> {
    if (options.read.split_column.as_ref()).is_some_and(|(before, _)| *before != by) {
        return Err(
            Error::options("--groups and --time say two ways to hold rows out")
                .remedy("leave one out"),
        );
    }
    options.read.split_column = Some((by, column.to_owned()));
    Ok(())
}

/// What the Python package remembers of its labels, and the program has no use for.
const LABEL_TYPE: &str = "label-type";

/// What says which rows are held out.
pub(super) const HELD_OUT: [&str; 4] = ["validate", "validate-file", "groups", "time"];

/// What was settled when a model was trained.
const SETTLED: [&str; 17] = [
    "positive",
    "ignore",
    "column",
    "text",
    "term-weights",
    "min-df",
    "max-df",
    "vocabulary",
    "case",
    "accents",
    "weight-column",
    "scale",
    "precision",
    "validate",
    "validate-file",
    "groups",
    "time",
];

/// What makes features of the columns, and may be searched for.
const SEARCHED: [&str; 8] = [
    "text",
    "term-weights",
    "min-df",
    "max-df",
    "vocabulary",
    "case",
    "accents",
    "scale",
];

/// The data options given, as (name, text).
#[derive(Debug, Clone, Default)]
pub struct DataArgs {
    pub given: Vec<(String, String)>,
}

impl DataArgs {
    /// What they mean.
    pub fn options(&self, threads: usize) -> Result<DataOptions> {
        let mut options = DataOptions::default();
        options.read.threads = threads;
        // Whoever writes to a file that the program reads ends the program alone.
        options.read.mapped = true;
        // Most of what is free, of which `memory_to_use` gives half.
        options.read.memory = Some(parallel::memory_to_use() / 5 * 9);
        for (name, text) in &self.given {
            if let Some(parameter) = DATA_PARAMETERS.iter().find(|p| p.name == name) {
                (parameter.set)(&mut options, text)?;
            }
        }
        Ok(options)
    }

    /// Refuses options that were settled when the model was trained.
    pub fn refuse_settled(&self) -> Result<()> {
        match self
            .given
            .iter()
            .find(|(name, _)| SETTLED.contains(&name.as_str()))
        {
            Some((name, _)) => Err(Error::options(format!(
                "--{name} was fixed when the model was trained"
            ))
            .remedy("leave it out: the model prepares the file itself")),
            None => Ok(()),
        }
    }

    /// Refuses to hold examples out where all are used.
    pub fn refuse_held_out(&self) -> Result<()> {
        match HELD_OUT.iter().find(|name| self.has(name)) {
            Some(name) => Err(Error::options(format!(
                "--{name} holds examples out of training, but this command does not train"
            ))
            .remedy("leave it out")),
            None => Ok(()),
        }
    }

    /// Whether the best value of this option can be searched for.
    pub fn can_be_searched(name: &str) -> bool {
        SEARCHED.contains(&name)
    }

    /// The same with these beside them.
    pub fn with_all(&self, settings: &[(String, String)]) -> DataArgs {
        let mut given = self.given.clone();
        given.extend_from_slice(settings);
        DataArgs { given }
    }

    /// Whether this option was given.
    pub fn has(&self, name: &str) -> bool {
        self.given.iter().any(|(n, _)| n == name)
    }

    /// Refuses options that have no meaning for files of this format.
    pub fn refuse_foreign_to(&self, format: Format) -> Result<()> {
        const TABLES: [&str; 16] = [
            "label",
            "header",
            "delimiter",
            "comment",
            "ignore",
            "column",
            "text",
            "term-weights",
            "min-df",
            "max-df",
            "vocabulary",
            "case",
            "accents",
            "weight-column",
            "groups",
            "time",
        ];
        let table = format.is_table();
        let foreign = |name: &str| match name {
            "labels" => !matches!(format, Format::Idx | Format::Npy),
            _ => !table && TABLES.contains(&name),
        };
        match self.given.iter().find(|(name, _)| foreign(name)) {
            Some((name, _)) => Err(Error::options(format!(
                "--{name} does not apply to a {format} file"
            ))
            .remedy("leave it out")),
            None => Ok(()),
        }
    }

    /// Refuses options that the file just read has no use for.
    pub fn refuse_foreign(&self, report: &ReadReport, labels: &[(String, u32)]) -> Result<()> {
        self.refuse_foreign_to(report.format)?;
        for (_, text) in self.given.iter().filter(|(name, _)| name == "label-map") {
            for part in list(text) {
                let mut olds = part.match_indices('=').map(|(at, _)| &part[..at]);
                if !olds.any(|old| labels.iter().any(|(label, _)| label == old)) {
                    return Err(Error::options(format!(
                        "--label-map {part}: no row has such a label"
                    )));
                }
            }
        }
        let label = report.columns.iter().find(|c| c.role == ColumnRole::Label);
        if let Some(label) = label {
            let said = |name: &str, form: &str| {
                self.given.iter().any(|(n, text)| {
                    n == name
                        && list(text).any(|t| {
                            t == form
                                || t.split_once('=')
                                    .is_some_and(|(c, _)| name == "column" && c == form)
                        })
                })
            };
            if said("ignore", &label.name) || said("column", &label.name) {
                return Err(
                    Error::options(format!("the column {} is the label", label.name))
                        .remedy("name another label column with --label"),
                );
            }
        }
        Ok(())
    }

    /// Those that a model remembers.
    pub fn remembered(&self) -> Vec<(String, String)> {
        let remembered = |name: &str| {
            DATA_PARAMETERS
                .iter()
                .any(|p| p.name == name && p.remembered)
        };
        self.given
            .iter()
            .filter(|(name, _)| remembered(name))
            .cloned()
            .collect()
    }

    /// Refuses what no model of this program remembers: whoever changed a model file could
    /// otherwise have it printed as part of a command.
    pub fn refuse_unknown(recipe: &[(String, String)]) -> Result<()> {
        for (name, text) in recipe.iter().filter(|(name, _)| name != LABEL_TYPE) {
            let known = DATA_PARAMETERS
                .iter()
                .find(|p| p.name == name && p.remembered);
            let set = known.map(|known| (known.set)(&mut DataOptions::default(), text));
            if set.is_none_or(|set| set.is_err()) {
                return Err(Error::model(format!(
                    "the model file is not valid: it was not read with {name:?} set to {text:?}"
                ))
                .remedy("take it from its source again, or train it anew"));
            }
        }
        Ok(())
    }

    /// What a model remembers, with what is given now beside it.
    pub fn recalled(&self, recipe: &[(String, String)]) -> DataArgs {
        self.with(recipe.iter())
    }

    /// What a model remembers about the look of its files, with what is given now beside it.
    pub fn recalled_look(&self, recipe: &[(String, String)]) -> DataArgs {
        let look = |name: &str| matches!(name, "header" | "comment");
        self.with(recipe.iter().filter(|(name, _)| look(name)))
    }

    fn with<'a>(&self, recipe: impl Iterator<Item = &'a (String, String)>) -> DataArgs {
        let kept =
            recipe.filter(|(name, _)| is_read(name) && !self.given.iter().any(|(n, _)| n == name));
        let mut given: Vec<_> = kept.cloned().collect();
        given.extend(self.given.iter().cloned());
        DataArgs { given }
    }
}

/// Whether the program reads this of a recipe: the type of labels in Python it does not.
pub fn is_read(name: &str) -> bool {
    DATA_PARAMETERS.iter().any(|p| p.name == name)
}

impl Args for DataArgs {
    fn augment_args(command: Command) -> Command {
        let mut command = command.next_help_heading("Data");
        for parameter in DATA_PARAMETERS {
            command = command.arg(
                Arg::new(parameter.name)
                    .long(parameter.name)
                    .value_name(parameter.value)
                    .allow_hyphen_values(true)
                    .action(ArgAction::Append)
                    .help(parameter.help),
            );
        }
        command.next_help_heading(None::<&str>)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for DataArgs {
    fn from_arg_matches(matches: &ArgMatches) -> std::result::Result<Self, clap::Error> {
        let given = DATA_PARAMETERS
            .iter()
            .flat_map(|p| {
                matches
                    .get_many::<String>(p.name)
                    .into_iter()
                    .flatten()
                    .map(|text| (p.name.to_owned(), text.clone()))
            })
            .collect();
        Ok(DataArgs { given })
    }

    fn update_from_arg_matches(
        &mut self,
        matches: &ArgMatches,
    ) -> std::result::Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The data options of a command that has a model. Those that the model has settled are not
/// shown; they are known, so that whoever gives one is told why not.
#[derive(Debug, Clone, Default)]
pub struct ModelDataArgs {
    data: DataArgs,
    /// Whether columns are taken by their places, whatever their names.
    pub by_position: bool,
}

impl Deref for ModelDataArgs {
    type Target = DataArgs;

    fn deref(&self) -> &DataArgs {
        &self.data
    }
}

impl Args for ModelDataArgs {
    fn augment_args(command: Command) -> Command {
        let by_position = Arg::new("by-position")
            .long("by-position")
            .action(ArgAction::SetTrue)
            .help_heading("Data")
            .help("take the columns of a table in the order of the training file, whatever their names");
        DataArgs::augment_args(command)
            .mut_args(super::hide(&SETTLED))
            .arg(by_position)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for ModelDataArgs {
    fn from_arg_matches(matches: &ArgMatches) -> std::result::Result<Self, clap::Error> {
        Ok(ModelDataArgs {
            data: DataArgs::from_arg_matches(matches)?,
            by_position: matches.get_flag("by-position"),
        })
    }

    fn update_from_arg_matches(
        &mut self,
        matches: &ArgMatches,
    ) -> std::result::Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
