//! Explicit embeddings in the primal: what they separate, and that they follow their kernels.

use rosenblatt::Options;
use rosenblatt::Session;
use rosenblatt::data::{Classes, Dataset, Matrix, Precision};
use rosenblatt::internal::random::{Random, Stream};
use rosenblatt::learner::KernelPerceptron;
use rosenblatt::model::{Decision, Model};
use rosenblatt::options::{Bias, LearnerChoice, Order, Readout};
use rosenblatt::progress::Stop;

fn dataset(rows: &[Vec<f64>], labels: &[u32]) -> Dataset {
    Dataset::new(
        Matrix::dense_from_rows(rows[0].len(), rows, Precision::F64),
        labels.to_vec(),
        Classes::from_labels(["-1", "1"]),
        None,
    )
    .unwrap()
}

fn eight_points() -> Dataset {
    let rows = [
        [1., 1.],
        [0., 3.],
        [1., -1.],
        [3., 0.],
        [-1., 1.],
        [0., -3.],
        [-1., -1.],
        [-3., 0.],
    ];
    dataset(&rows.map(|r| r.to_vec()), &[1, 0, 1, 0, 1, 0, 1, 0])
}

fn disc() -> Dataset {
    let mut random = Random::new(1, Stream::Synthetic, 0);
    let mut rows = Vec::new();
    let mut labels = Vec::new();
    while rows.len() < 200 {
        let (x, y) = (4.0 * random.unit() - 2.0, 4.0 * random.unit() - 2.0);
        let square = (x - 0.3) * (x - 0.3) + y * y;
        if (square - 1.0).abs() > 0.05 {
            rows.push(vec![x, y]);
            labels.push(u32::from(square < 1.0));
        }
    }
    dataset(&rows, &labels)
}

fn options(embed: &str) -> Options {
    Options {
        embed: Some(embed.parse().unwrap()),
        order: Order::Given,
        readout: Some(Readout::Last),
        epochs: Some(5000),
        ..Options::default()
    }
}

fn trained(data: &Dataset, options: &Options) -> Model {
    Session::new(options).train(data).unwrap().model
}

#[test]
fn squares_and_circles_become_planes() {
    let squares = options("squares");
    assert_eq!(
        squares.bias(),
        Bias::None,
        "the constant is among the features"
    );
    let model = trained(&eight_points(), &squares);
    assert_eq!(model.progress.stop, Some(Stop::Separated));
    let weights = model.weights().unwrap();
    assert_eq!(weights.biases(), [0.0]);
    assert_eq!((model.features(), weights.features()), (2, 3));

    let circle = options("circle");
    assert_eq!(circle.bias(), Bias::Lifted);
    assert_eq!(
        trained(&disc(), &circle).progress.stop,
        Some(Stop::Separated)
    );
    let plain = Options {
        embed: None,
        epochs: Some(50),
        ..circle
    };
    assert_eq!(
        trained(&disc(), &plain).progress.stop,
        Some(Stop::EpochLimit)
    );
}

fn over(kernel: &str) -> LearnerChoice {
    KernelPerceptron {
        kernel: Some(kernel.parse().unwrap()),
        ..KernelPerceptron::default()
    }
    .into()
}

#[test]
fn xor_separates_under_its_features() {
    let xor = dataset(
        &[[0., 0.], [0., 1.], [1., 0.], [1., 1.]].map(|r| r.to_vec()),
        &[0, 1, 1, 0],
    );
    for embed in ["monomials:2", "fourier:50,1", "nystrom:4,1"] {
        let model = trained(&xor, &options(embed));
        assert_eq!(model.progress.stop, Some(Stop::Separated), "{embed}");
        assert_eq!(model.accuracy(&xor, 1).unwrap(), 1.0);
    }
}

/// (x·z)² and (x1², √2·x1x2, x2²) are one learner, on numbers where √2 does not round: the
/// middle feature is kept apart as two equal halves x1x2, x1x2.
#[test]
fn a_kernel_and_its_features_make_the_same_mistakes() {
    let data = eight_points();
    let rows: Vec<Vec<f64>> = (0..data.len())
        .map(|i| {
            let x = data.row(i).to_dense(2);
            vec![x[0] * x[0], x[0] * x[1], x[0] * x[1], x[1] * x[1]]
        })
        .collect();
    let explicit = dataset(&rows, &data.labels);
    let primal = Options {
        bias: Some(Bias::None),
        embed: None,
        epochs: Some(30),
        ..options("circle")
    };
    let kernel = |text: &str| Options {
        learner: over(text),
        ..primal.clone()
    };
    let a = trained(&explicit, &primal);
    let b = trained(&data, &kernel("polynomial:2,1,0"));
    assert_eq!(a.progress, b.progress);
    for degree in 1..4 {
        let a = trained(
            &data,
            &Options {
                epochs: Some(30),
                ..options(&format!("monomials:{degree}"))
            },
        );
        let b = trained(&data, &kernel(&format!("monomial:{degree}")));
        assert_eq!(a.progress, b.progress, "monomials of degree {degree}");
    }
}

#[test]
fn embedded_models_read_back_and_predict_the_same() {
    let data = disc();
    for embed in [
        "monomials:3",
        "circle",
        "squares",
        "fourier:20,0.5",
        "nystrom:12,0.5",
    ] {
        for readout in [Readout::Averaged, Readout::Voted] {
            let options = Options {
                readout: Some(readout),
                epochs: Some(3),
                ..options(embed)
            };
            let model = trained(&data, &options);
            let bytes = model.to_bytes().unwrap();
            let again = Model::from_bytes(&bytes).unwrap();
            assert_eq!(again.to_bytes().unwrap(), bytes, "{embed}");
            assert_eq!(again.embedding, model.embedding);
            let scores = model.scores(&data.matrix, 2).unwrap();
            assert_eq!(again.scores(&data.matrix, 1).unwrap(), scores);
            let mut scorer = again.scorer();
            for (i, score) in scores.iter().enumerate() {
                assert_eq!(scorer.scores(data.row(i)), [*score]);
            }
            let resumed_options = Options {
                epochs: Some(5),
                ..options.clone()
            };
            let resumed = Session::new(&resumed_options)
                .resume(Some(&again))
                .train(&data)
                .unwrap()
                .model;
            let unbroken = trained(&data, &resumed_options);
            assert_eq!(
                resumed.to_bytes().unwrap(),
                unbroken.to_bytes().unwrap(),
                "{embed}"
            );
        }
    }
}

#[test]
fn rows_without_labels_in_common_are_separable_by_a_gaussian_but_conflicts_never() {
    let mut random = Random::new(5, Stream::Sample, 0);
    let rows: Vec<Vec<f64>> = (0..60)
        .map(|_| vec![random.normal(), random.normal()])
        .collect();
    let labels: Vec<u32> = (0..60).map(|_| random.below(2) as u32).collect();
    let rbf = |data: &Dataset| {
        let options = Options {
            learner: over("rbf:20"),
            embed: None,
            epochs: Some(3000),
            ..options("circle")
        };
        trained(data, &options)
    };
    let model = rbf(&dataset(&rows, &labels));
    assert_eq!(model.progress.stop, Some(Stop::Separated));
    assert!(matches!(model.decision, Decision::Kernel(_)));
    let mut rows = rows;
    let mut labels = labels;
    rows.push(rows[0].clone());
    labels.push(1 - labels[0]);
    assert_eq!(
        rbf(&dataset(&rows, &labels)).progress.stop,
        Some(Stop::EpochLimit)
    );
}
