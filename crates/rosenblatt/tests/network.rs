//! Networks: what they learn, that slopes are slopes, and that seeds decide everything.

use rosenblatt::Options;
use rosenblatt::Session;
use rosenblatt::data::{Classes, Dataset, Matrix, Precision};
use rosenblatt::internal::random::{Random, Stream};
use rosenblatt::learner::{Loss, NetworkLearner};
use rosenblatt::model::Activation;
use rosenblatt::model::{Decision, Model, Network};
use rosenblatt::options::Multiclass;
use rosenblatt::progress::Stop;

fn xor() -> Dataset {
    Dataset::new(
        Matrix::dense_from_rows(
            2,
            &[[0., 0.], [0., 1.], [1., 0.], [1., 1.]].map(|r| r.to_vec()),
            Precision::F32,
        ),
        vec![0, 1, 1, 0],
        Classes::from_labels(["0", "1"]),
        None,
    )
    .unwrap()
}

/// Three rings around the origin.
fn rings() -> Dataset {
    let mut random = Random::new(2, Stream::Synthetic, 0);
    let mut rows = Vec::new();
    let mut labels = Vec::new();
    for i in 0..300u32 {
        let angle = random.unit() * std::f64::consts::TAU;
        let radius = f64::from(i % 3) + 0.6 + 0.5 * random.unit();
        rows.push(vec![radius * angle.cos(), radius * angle.sin()]);
        labels.push(i % 3);
    }
    Dataset::new(
        Matrix::dense_from_rows(2, &rows, Precision::F32),
        labels,
        Classes::from_labels(["a", "b", "c"]),
        None,
    )
    .unwrap()
}

fn options() -> Options {
    with(NetworkLearner::default())
}

fn with(network: NetworkLearner) -> Options {
    Options {
        learner: network.into(),
        ..Options::default()
    }
}

fn network(model: &Model) -> &Network {
    match &model.decision {
        Decision::Network(network) => network,
        other => panic!("expected a network, found {other:?}"),
    }
}

#[test]
fn xor_is_solved_from_twenty_of_twenty_seeds() {
    for (hidden, activation, loss) in [
        (vec![128], Activation::Relu, Loss::Softmax),
        (vec![4], Activation::Tanh, Loss::Softmax),
        (vec![4], Activation::Relu, Loss::Softmax),
        (vec![2], Activation::Tanh, Loss::Squared),
        (vec![4, 4], Activation::Tanh, Loss::Squared),
    ] {
        let mut starts = 0;
        for seed in 0..20 {
            let options = Options {
                seed,
                ..with(NetworkLearner {
                    hidden: hidden.clone(),
                    activation,
                    loss,
                    ..NetworkLearner::default()
                })
            };
            let model = Session::new(&options).train(&xor()).unwrap().model;
            let attempts = &network(&model).attempts;
            assert_eq!(
                model.progress.stop,
                Some(Stop::Separated),
                "{hidden:?} {activation:?} seed {seed}: {attempts:?}"
            );
            assert_eq!(model.accuracy(&xor(), 1).unwrap(), 1.0);
            let (last, stuck) = attempts.split_last().unwrap();
            assert!(!last.stuck && last.errors == 0);
            assert!(stuck.iter().all(|a| a.stuck));
            starts += attempts.len();
        }
        assert!(starts <= 100, "{hidden:?} {activation:?}: {starts} starts");
    }
}

#[test]
fn rings_of_three_classes_are_learned() {
    for (activation, loss) in [
        (Activation::Relu, Loss::Softmax),
        (Activation::Tanh, Loss::Softmax),
        (Activation::Relu, Loss::Squared),
    ] {
        let options = Options {
            epochs: Some(400),
            ..with(NetworkLearner {
                hidden: vec![40],
                activation,
                loss,
                ..NetworkLearner::default()
            })
        };
        let fitted = Session::new(&options).train(&rings()).unwrap();
        let accuracy = fitted.model.accuracy(&rings(), 1).unwrap();
        assert!(accuracy >= 0.97, "{activation:?} {loss:?}: {accuracy}");
    }
}

#[test]
fn a_seed_decides_everything_and_the_file_keeps_it() {
    let options = Options {
        epochs: Some(7),
        seed: 4,
        ..with(NetworkLearner {
            hidden: vec![33, 5],
            ..NetworkLearner::default()
        })
    };
    let data = rings();
    let train = |threads, data: &Dataset, options: &Options| {
        Session::new(options)
            .threads(threads)
            .train(data)
            .unwrap()
            .model
    };
    let model = train(1, &data, &options);
    let bytes = model.to_bytes().unwrap();
    assert_eq!(train(3, &data, &options).to_bytes().unwrap(), bytes);
    assert_eq!(
        train(1, &data.clone().permuted(), &options)
            .to_bytes()
            .unwrap(),
        bytes
    );
    let other = Options {
        seed: 5,
        ..options.clone()
    };
    assert_ne!(train(1, &data, &other).to_bytes().unwrap(), bytes);
    let again = Model::from_bytes(&bytes).unwrap();
    assert_eq!(again.decision, model.decision);
    let scores = again.scores(&data.matrix, 2).unwrap();
    let mut scorer = model.scorer();
    for i in 0..data.len() {
        assert_eq!(scorer.scores(data.row(i)), &scores[i * 3..(i + 1) * 3]);
    }
}

/// One step of plain descent must follow the loss downhill: with a tiny rate Adam moves
/// every weight by the rate against the sign of its slope, which is measured here.
#[test]
fn slopes_are_slopes() {
    let data = rings();
    for (loss, activation) in [
        (Loss::Softmax, Activation::Tanh),
        (Loss::Squared, Activation::Tanh),
        (Loss::Softmax, Activation::Relu),
    ] {
        let options = |epochs| Options {
            learning_rate: Some(1e-6),
            epochs: Some(epochs),
            order: rosenblatt::options::Order::Given,
            ..with(NetworkLearner {
                hidden: vec![6, 4],
                activation,
                loss,
                batch_size: 1000,
                ..NetworkLearner::default()
            })
        };
        let small = data.select(&(0..40).collect::<Vec<_>>());
        let net = |epochs| {
            let model = Session::new(&options(epochs)).train(&small).unwrap().model;
            network(&model).clone()
        };
        let (first, second) = (net(1), net(2));
        let total = |net: &Network| -> f64 {
            let scores = net.scores(&small.matrix, 1);
            scores
                .chunks(3)
                .zip(&small.labels)
                .map(|(s, &l)| match loss {
                    Loss::Softmax => s.iter().map(|x| x.exp()).sum::<f64>().ln() - s[l as usize],
                    Loss::Squared => s
                        .iter()
                        .enumerate()
                        .map(|(c, x)| 0.5 * (x - if c == l as usize { 1.0 } else { -1.0 }).powi(2))
                        .sum(),
                })
                .sum()
        };
        for l in 0..3 {
            let (before, after) = (first.layers[l].weights(), second.layers[l].weights());
            let outputs = first.layers[l].outputs();
            for k in (0..before.len()).step_by(3) {
                let bent = |by: f64| {
                    let mut weights = before.clone();
                    weights[k] += by;
                    let mut net = first.clone();
                    net.layers[l] = rosenblatt::model::Layer::from_parts(
                        before.len() / outputs,
                        &weights,
                        &first.layers[l].biases(),
                    )
                    .unwrap();
                    total(&net)
                };
                let slope = (bent(1e-5) - bent(-1e-5)) / 2e-5;
                if slope.abs() > 1e-3 {
                    let step = after[k] - before[k];
                    assert!(step * slope < 0.0, "layer {l}, weight {k}: {step} {slope}");
                    // Two steps along nearly the same slope: each the length of the rate.
                    assert!((step.abs() - 1e-6).abs() < 2e-7, "{step}");
                }
            }
        }
    }
}

#[test]
fn what_a_network_cannot_do_is_refused() {
    for (bad, says) in [
        (
            Options {
                multiclass: Some(Multiclass::Ovo),
                ..options()
            },
            "multiclass",
        ),
        (
            Options {
                bias: Some(rosenblatt::options::Bias::None),
                ..options()
            },
            "bias",
        ),
        (
            Options {
                readout: Some(rosenblatt::options::Readout::Voted),
                ..options()
            },
            "readout",
        ),
        (
            with(NetworkLearner {
                hidden: vec![1 << 40],
                ..NetworkLearner::default()
            }),
            "too many weights",
        ),
    ] {
        let error = Session::new(&bad).train(&rings()).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
    let misplaced = Options::default().set("hidden", "3").unwrap_err();
    assert!(misplaced.to_string().contains("learner = network"));
}

#[test]
fn a_limit_of_time_ends_a_pass_that_takes_long() {
    let (rows, columns) = (4000, 5000);
    let mut matrix = Matrix::empty_sparse(columns, Precision::F32);
    for i in 0..rows {
        matrix.push_sparse([(i % columns as u32, 1.0)]);
    }
    let labels = (0..rows).map(|i| i % 2).collect();
    let data = Dataset::new(matrix, labels, Classes::from_labels(["a", "b"]), None).unwrap();
    let options = Options {
        time_limit: Some(0.01),
        epochs: Some(1),
        ..options()
    };
    let fitted = Session::new(&options).train(&data).unwrap();
    assert_eq!(fitted.model.progress.stop, Some(Stop::TimeLimit));
    assert!(fitted.model.progress.visits < u64::from(rows));
    assert!(fitted.model.progress.passes.is_empty());
}
