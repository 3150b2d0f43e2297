//! The worked examples: small enough for a blackboard, and they must come out exactly.

use rosenblatt::Session;
use rosenblatt::data::{Classes, Dataset, Matrix, Precision};
use rosenblatt::options::{Bias, Order, Readout, Start, Ties};
use rosenblatt::progress::Stop;
use rosenblatt::training::{Callback, Step};
use rosenblatt::{Options, model::Model};

#[derive(Default)]
struct Steps(Vec<Step>);

impl Callback for Steps {
    fn wants_steps(&self) -> bool {
        true
    }
    fn step(&mut self, step: Step) {
        self.0.push(step);
    }
}

fn dataset(rows: &[(&[f64], &str)]) -> Dataset {
    let features: Vec<Vec<f64>> = rows.iter().map(|(x, _)| x.to_vec()).collect();
    let classes = Classes::from_labels(rows.iter().map(|(_, y)| *y));
    let labels = rows.iter().map(|(_, y)| classes.find(y).unwrap()).collect();
    Dataset::new(
        Matrix::dense_from_rows(features[0].len(), &features, Precision::F32),
        labels,
        classes,
        None,
    )
    .unwrap()
}

fn options() -> Options {
    Options {
        order: Order::Given,
        readout: Some(Readout::Last),
        ..Options::default()
    }
}

fn run(data: &Dataset, options: &Options) -> (Vec<Step>, Model) {
    let mut steps = Steps::default();
    let fitted = Session::new(options).train_with(data, &mut steps).unwrap();
    (steps.0, fitted.model)
}

fn and() -> Dataset {
    dataset(&[
        (&[0., 0.], "-1"),
        (&[0., 1.], "-1"),
        (&[1., 0.], "-1"),
        (&[1., 1.], "1"),
    ])
}

fn weights(model: &Model) -> Vec<f64> {
    let w = model.weights().unwrap();
    let mut all = vec![w.bias(0)];
    all.extend(w.packed().iter());
    all
}

#[test]
fn boolean_and_with_ties_as_mistakes() {
    let (steps, model) = run(&and(), &options());
    let updated: Vec<u64> = steps[..4]
        .iter()
        .filter(|s| !s.correct)
        .map(|s| s.row)
        .collect();
    assert_eq!(updated, [1, 4]);
    assert_eq!(steps[3].weights_after, [0., 1., 1.]);
    assert_eq!(weights(&model), [-4., 3., 2.]);
    assert_eq!(model.progress.mistakes, 18);
    assert_eq!(model.progress.updates, 18);
    assert_eq!(model.progress.passes.len(), 9);
    assert_eq!(model.progress.passes[8].mistakes, 0);
    assert_eq!(model.progress.stop, Some(Stop::Separated));
}

#[test]
fn boolean_and_with_a_positive_sign_of_zero() {
    let (_, model) = run(
        &and(),
        &Options {
            ties: Ties::Positive,
            ..options()
        },
    );
    assert_eq!(weights(&model), [-3., 2., 1.]);
    assert_eq!(model.progress.mistakes, 11);
}

#[test]
fn and_makes_the_same_mistakes_at_every_rate() {
    let (slow, model) = run(
        &and(),
        &Options {
            learning_rate: Some(0.1),
            ..options()
        },
    );
    let (fast, _) = run(&and(), &options());
    assert_eq!(model.progress.mistakes, 18);
    assert!(
        slow.iter()
            .zip(&fast)
            .all(|(a, b)| a.correct == b.correct && a.row == b.row)
    );
    assert_eq!(weights(&model), [-4. * 0.1, 3. * 0.1, 2. * 0.1]);
}

#[test]
fn one_pass_over_and_averages_to_its_sum() {
    let options = Options {
        epochs: Some(1),
        readout: Some(Readout::Averaged),
        ..options()
    };
    let (_, model) = run(&and(), &options);
    assert_eq!(weights(&model), [-3. / 4., 1. / 4., 1. / 4.]);
}

#[test]
fn two_critics() {
    let data = dataset(&[
        (&[1., 1.], "-1"),
        (&[3., 2.], "1"),
        (&[2., 4.], "1"),
        (&[3., 4.], "1"),
        (&[2., 3.], "-1"),
    ]);
    let options = Options {
        ties: Ties::Positive,
        start: Start::Given(vec![-1., 0., 0.]),
        ..options()
    };
    let (steps, model) = run(&data, &options);
    let first: Vec<f64> = steps[..5].iter().map(|s| s.scores[0]).collect();
    assert_eq!(first, [-1., -1., 14., 17., 12.]);
    let updated: Vec<u64> = steps[..5]
        .iter()
        .filter(|s| !s.correct)
        .map(|s| s.row)
        .collect();
    assert_eq!(updated, [2, 5]);
    assert_eq!(steps[1].weights_after, [0., 3., 2.]);
    assert_eq!(steps[4].weights_after, [-1., 1., -1.]);
    let score = |x: &[f64]| -1. + x[0] - x[1];
    assert_eq!(
        [score(&[3., 2.]), score(&[2., 4.]), score(&[3., 4.])],
        [0., -3., -2.]
    );
    assert_eq!(weights(&model), [-24., 10., 1.]);
    assert_eq!(model.progress.mistakes, 339);
    assert_eq!(model.progress.passes.len(), 176);
    assert_eq!(model.progress.passes[175].updates, 0);
    assert_eq!(model.progress.stop, Some(Stop::NoMistakes { at_zero: 1 }));
}

#[test]
fn eight_points_without_a_bias() {
    let data = dataset(&[
        (&[1., 1.], "+"),
        (&[0., 3.], "-"),
        (&[1., -1.], "+"),
        (&[3., 0.], "-"),
        (&[-1., 1.], "+"),
        (&[0., -3.], "-"),
        (&[-1., -1.], "+"),
        (&[-3., 0.], "-"),
    ]);
    let options = Options {
        ties: Ties::Positive,
        bias: Some(Bias::None),
        start: Start::Given(vec![1., 1.]),
        max_updates: Some(2),
        ..options()
    };
    let (steps, model) = run(&data, &options);
    let updates: Vec<(u64, Vec<f64>)> = steps
        .iter()
        .filter(|s| !s.correct)
        .map(|s| (s.row, s.weights_after.clone()))
        .collect();
    assert_eq!(updates, [(2, vec![1., -2.]), (4, vec![-2., -2.])]);
    assert_eq!(model.progress.stop, Some(Stop::UpdateLimit));
}

#[test]
fn a_run_that_separates_three_classes_proves_its_bound() {
    let data = dataset(&[
        (&[2., 0.], "a"),
        (&[3., 1.], "a"),
        (&[0., 2.], "b"),
        (&[1., 3.], "b"),
        (&[-2., -2.], "c"),
        (&[-1., -3.], "c"),
    ]);
    let fitted = Session::new(&options()).train(&data).unwrap();
    assert_eq!(fitted.model.progress.stop, Some(Stop::Separated));
    let margin = fitted.margin.unwrap();
    assert!(0.0 < margin.lower && margin.lower <= margin.upper);
    let most = fitted.updates_at_most.unwrap();
    assert!(fitted.model.progress.updates <= most);
    assert!(most as f64 <= 2.0 * (fitted.radius / margin.lower).powi(2) * (1.0 + 1e-12));
}
