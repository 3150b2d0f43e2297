//! The perceptron family: fast, exact about what it knows, and the same answer everywhere.
//!
//! Fit and predict, from slices (or, with the feature `ndarray`, from a two-dimensional array):
//!
//! ```
//! use rosenblatt::Classifier;
//!
//! let rows = [[-2.0, 1.0], [-1.0, -1.0], [1.0, 1.0], [2.0, -1.0]];
//! let classifier = Classifier::fit(&rows, ["left", "left", "right", "right"])?;
//! assert_eq!(classifier.predict(&[[1.5, 0.0], [-1.5, 0.0]])?, ["right", "left"]);
//! # Ok::<(), rosenblatt::Error>(())
//! ```
//!
//! A perceptron sees an example, predicts, and corrects itself when wrong. Read a file (or
//! make a [`Dataset`](data::Dataset) of arrays), say what you want in [`Options`], and train
//! in a [`Session`]; the run ends with a reason.
//!
//! ```
//! use rosenblatt::data::{Classes, Dataset, Matrix};
//! use rosenblatt::options::{Order, Readout};
//! use rosenblatt::progress::Stop;
//! use rosenblatt::{Options, Session};
//!
//! // Boolean AND, in this order.
//! let matrix = Matrix::dense(4, 2, vec![0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0])?;
//! let classes = Classes::from_labels(["no", "yes"]);
//! let data = Dataset::new(matrix, vec![0, 0, 0, 1], classes, None)?;
//!
//! let options = Options { order: Order::Given, readout: Some(Readout::Last), ..Options::default() };
//! let fitted = Session::new(&options).train(&data)?;
//! let weights = fitted.model.weights().expect("the perceptron is linear");
//! assert_eq!((weights.bias(0), weights.column(0)), (-4.0, vec![3.0, 2.0]));
//! assert_eq!(fitted.model.progress.mistakes, 18);
//! assert_eq!(fitted.model.progress.stop, Some(Stop::Separated));
//! // What the theorem allows, at the margin of these very weights.
//! assert!(fitted.updates_at_most >= Some(18));
//! # Ok::<(), rosenblatt::Error>(())
//! ```
//!
//! From a file, with its columns decided as the program does:
//!
//! ```
//! use rosenblatt::Options;
//! use rosenblatt::data::Layout;
//! use rosenblatt::{Session, read};
//!
//! let file = "weight,colour,kind\n120,green,apple\n?,yellow,banana\n150,red,apple\n118,yellow,banana\n";
//! let raw = read::read_from(file.as_bytes(), "fruit.csv", &read::ReadOptions::default())?;
//! let preparation = read::Preparation::fit(&raw, None, None)?;
//! let data = raw.into_dataset(&preparation, Layout::AsGiven)?;
//! assert_eq!(data.names.get(2), "colour=green");
//! let fitted = Session::new(&Options::default()).train(&data)?;
//! assert_eq!(fitted.model.accuracy(&data, 1)?, 1.0);
//! # Ok::<(), rosenblatt::Error>(())
//! ```

pub use rosenblatt_core::{
    Classifier, Error, ErrorKind, OnlineLearner, Options, Position, Result, RowSource, Session,
    Wording, bounds, calibration, data, embedding, estimation, geometry, kernel, learner, metrics,
    mixing, model, options, progress, readout, report, scheme, synthetic, threshold, training,
    weights,
};
#[cfg(feature = "files")]
pub use rosenblatt_files::{cache, read, write};
#[cfg(feature = "proof")]
pub use rosenblatt_proof as proof;

#[doc(hidden)]
pub use rosenblatt_core::internal;

/// A [`Session`] with these options that refuses to look for a hard margin between examples
/// that cannot be separated, as decided in exact arithmetic.
#[cfg(feature = "proof")]
pub fn session(options: &Options) -> Session<'_> {
    Session::new(options).separability_test(proof::separability)
}
