//! The dual perceptron against the primal one, against explicit features, and against a
//! plain version of itself.

use proptest::prelude::*;
use rosenblatt::Options;
use rosenblatt::Session;
use rosenblatt::data::{Classes, Dataset, Matrix, Precision};
use rosenblatt::kernel::Kernel;
use rosenblatt::learner::{KernelPerceptron, NetworkLearner};
use rosenblatt::model::{Decision, KernelModel, Model};
use rosenblatt::options::{Bias, Choice, LearnerChoice, Multiclass, Order, Readout, Start, Ties};
use rosenblatt::progress::Stop;
use rosenblatt::training::{Callback, Fitted, Step};

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

fn dataset(rows: &[Vec<f64>], labels: &[u32], k: usize, precision: Precision) -> Dataset {
    let names: Vec<String> = (0..k).map(|c| c.to_string()).collect();
    Dataset::new(
        Matrix::dense_from_rows(rows[0].len(), rows, precision),
        labels.to_vec(),
        Classes::from_ordered(names),
        None,
    )
    .unwrap()
}

fn sparse(data: &Dataset) -> Dataset {
    let mut matrix = Matrix::empty_sparse(data.features(), data.matrix.precision());
    for i in 0..data.len() {
        let mut row = Vec::new();
        data.row(i).for_each(|j, x| row.push((j as u32, x)));
        matrix.push_sparse(row);
    }
    Dataset {
        matrix,
        ..data.clone()
    }
}

fn over(kernel: Kernel) -> LearnerChoice {
    from_start(kernel, None)
}

fn from_start(kernel: Kernel, start: Option<Vec<f64>>) -> LearnerChoice {
    let kernel = Some(kernel);
    KernelPerceptron { kernel, start }.into()
}

fn kernel_options(kernel: &str) -> Options {
    Options {
        learner: over(kernel.parse().unwrap()),
        order: Order::Given,
        readout: Some(Readout::Last),
        epochs: Some(50),
        ..Options::default()
    }
}

fn run(data: &Dataset, options: &Options) -> (Vec<Step>, Fitted) {
    let mut steps = Steps::default();
    let fitted = Session::new(options).train_with(data, &mut steps).unwrap();
    (steps.0, fitted)
}

fn kernel_model(model: &Model) -> &KernelModel {
    match &model.decision {
        Decision::Kernel(kernel) => kernel,
        other => panic!("expected a kernel model, found {other:?}"),
    }
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
    dataset(
        &rows.map(|r| r.to_vec()),
        &[1, 0, 1, 0, 1, 0, 1, 0],
        2,
        Precision::F32,
    )
}

fn xor() -> Dataset {
    let rows = [[0., 0.], [0., 1.], [1., 0.], [1., 1.]];
    dataset(&rows.map(|r| r.to_vec()), &[0, 1, 1, 0], 2, Precision::F32)
}

/// Small sets of whole numbers: the worked examples, and a few that do not separate.
fn small_sets() -> Vec<Dataset> {
    let and = dataset(
        &[[0., 0.], [0., 1.], [1., 0.], [1., 1.]].map(|r| r.to_vec()),
        &[0, 0, 0, 1],
        2,
        Precision::F32,
    );
    let critics = dataset(
        &[[1., 1.], [3., 2.], [2., 4.], [3., 4.], [2., 3.]].map(|r| r.to_vec()),
        &[0, 1, 1, 1, 0],
        2,
        Precision::F32,
    );
    let three: Vec<Vec<f64>> = (0..37)
        .map(|i| {
            vec![
                f64::from(i * 7 % 11),
                f64::from(i * 5 % 13) - 6.0,
                f64::from(i % 3),
            ]
        })
        .collect();
    let labels: Vec<u32> = (0..37).map(|i| (i * i + i / 3) % 3).collect();
    vec![
        and,
        critics,
        eight_points(),
        xor(),
        dataset(&three, &labels, 3, Precision::F64),
    ]
}

#[test]
fn eight_points_step_by_step() {
    let options = Options {
        ties: Ties::Positive,
        learner: from_start(Kernel::Linear, Some(vec![1., 0., 0., 0., 0., 0., 0., 0.])),
        max_updates: Some(2),
        ..kernel_options("linear")
    };
    let (steps, fitted) = run(&eight_points(), &options);
    let updates: Vec<(u64, Vec<f64>)> = steps
        .iter()
        .filter(|s| !s.correct)
        .map(|s| (s.row, s.weights_after.clone()))
        .collect();
    assert_eq!(
        updates,
        [
            (2, vec![1., -1., 0., 0., 0., 0., 0., 0.]),
            (4, vec![1., -1., 0., -1., 0., 0., 0., 0.]),
        ]
    );
    assert_eq!(fitted.model.progress.stop, Some(Stop::UpdateLimit));
}

#[test]
fn primal_and_dual_are_one_algorithm() {
    for data in small_sets() {
        let n = data.len();
        let binary = data.classes.len() == 2;
        let alphas: Vec<Option<Vec<f64>>> = if binary {
            vec![
                None,
                Some((0..n).map(|i| f64::from(i as u32 % 3) - 1.0).collect()),
            ]
        } else {
            vec![None]
        };
        for alpha in &alphas {
            for &(ties, _) in Ties::ALL {
                if ties == Ties::Correct && alpha.is_none() {
                    continue;
                }
                for &(order, _) in Order::ALL {
                    for bias in [Bias::Lifted, Bias::None, Bias::Unlifted(Some(2.0))] {
                        for multiclass in [
                            None,
                            Some(Multiclass::Argmax),
                            Some(Multiclass::Ovr),
                            Some(Multiclass::Ovo),
                        ] {
                            if alpha.is_some() && multiclass.is_some() {
                                continue;
                            }
                            same_run(&data, alpha.as_deref(), ties, order, bias, multiclass);
                        }
                    }
                }
            }
        }
    }
}

fn same_run(
    data: &Dataset,
    alpha: Option<&[f64]>,
    ties: Ties,
    order: Order,
    bias: Bias,
    multiclass: Option<Multiclass>,
) {
    let common = Options {
        ties,
        order,
        bias: Some(bias),
        multiclass,
        epochs: Some(6),
        readout: Some(Readout::Last),
        ..Options::default()
    };
    // w0 = Σ α0_j x_j, the constant feature included.
    let start = alpha.map(|alpha| {
        let constant = match bias {
            Bias::Lifted => 1.0,
            Bias::None => 0.0,
            Bias::Unlifted(rho) => rho.unwrap().powi(2),
        };
        let mut w = vec![0.0; data.features() + 1];
        for (i, a) in alpha.iter().enumerate() {
            w[0] += a * constant;
            data.row(i).for_each(|j, x| w[j + 1] += a * x);
        }
        Start::Given(if bias == Bias::None {
            w[1..].to_vec()
        } else {
            w
        })
    });
    let primal = Options {
        start: start.unwrap_or_default(),
        ..common.clone()
    };
    let dual = Options {
        learner: from_start(Kernel::Linear, alpha.map(<[f64]>::to_vec)),
        ..common
    };
    let (primal_steps, primal) = run(data, &primal);
    let (dual_steps, dual) = run(data, &dual);
    let what = format!("{ties:?} {order:?} {bias:?} {multiclass:?} {alpha:?}");
    assert_eq!(primal_steps.len(), dual_steps.len(), "{what}");
    for (a, b) in primal_steps.iter().zip(&dual_steps) {
        assert_eq!(
            (a.row, a.correct, &a.scores),
            (b.row, b.correct, &b.scores),
            "{what}"
        );
    }
    assert_eq!(primal.model.progress, dual.model.progress, "{what}");
    // The weights that the coefficients stand for.
    let model = kernel_model(&dual.model);
    let w = primal.model.weights().unwrap();
    let k = w.discriminators();
    let mut sums = vec![0.0; k * data.features()];
    for (row, coefficients) in model.rows.iter().zip(model.coefficients().chunks(k)) {
        data.row(*row as usize).for_each(|j, x| {
            (0..k).for_each(|d| sums[j * k + d] += coefficients[d] * x);
        });
    }
    assert_eq!(w.packed(), sums, "{what}");
    assert_eq!(
        primal.model.predict(&data.matrix, 1).unwrap(),
        dual.model.predict(&data.matrix, 1).unwrap(),
        "{what}"
    );
}

#[test]
fn every_readout_agrees_with_the_primal_one() {
    for data in small_sets() {
        for &(readout, name) in Readout::ALL {
            for multiclass in [
                None,
                Some(Multiclass::Argmax),
                Some(Multiclass::Ovr),
                Some(Multiclass::Ovo),
            ] {
                for normalise_weights in [false, true] {
                    let primal = Options {
                        readout: Some(readout),
                        multiclass,
                        normalise_weights,
                        bias: Some(Bias::Lifted),
                        epochs: Some(4),
                        learning_rate: Some(0.5),
                        ..Options::default()
                    };
                    let dual = Options {
                        learner: over(Kernel::Linear),
                        ..primal.clone()
                    };
                    let a = Session::new(&primal).train(&data).unwrap().model;
                    let b = Session::new(&dual).train(&data).unwrap().model;
                    if a.progress.updates != b.progress.updates {
                        assert!(normalise_weights, "only rounding may tell them apart");
                        continue;
                    }
                    let (mut one, mut two) = (a.scorer(), b.scorer());
                    let batch = b.scores(&data.matrix, 2).unwrap();
                    let k = b.scheme.discriminators();
                    for i in 0..data.len() {
                        let p = one.scores(data.row(i)).to_vec();
                        let q = two.scores(data.row(i));
                        for (x, y) in p.iter().zip(q) {
                            assert!(
                                (x - y).abs() <= 1e-9 * (1.0 + x.abs()),
                                "{name} {multiclass:?} {p:?} {q:?}"
                            );
                        }
                        assert_eq!(q, &batch[i * k..(i + 1) * k]);
                    }
                }
            }
        }
    }
}

/// The dual perceptron in a dozen lines: one plane, in the order given.
fn naive(data: &Dataset, kernel: &Kernel, passes: usize) -> Vec<usize> {
    let mut updates: Vec<(usize, f64)> = Vec::new();
    for _ in 0..passes {
        for i in 0..data.len() {
            let y = if data.labels[i] == 1 { 1.0 } else { -1.0 };
            let score = updates.iter().fold(0.0, |s, &(j, a)| {
                s + a * kernel.value(data.row(j), data.row(i))
            });
            if y * score <= 0.0 {
                updates.push((i, y));
            }
        }
    }
    updates.into_iter().map(|(i, _)| i).collect()
}

fn random_rows(seed: u64, n: usize, d: usize, whole: bool) -> Vec<Vec<f64>> {
    let mut random = rosenblatt::internal::random::Random::new(
        seed,
        rosenblatt::internal::random::Stream::Sample,
        0,
    );
    (0..n)
        .map(|_| {
            (0..d)
                .map(|_| match (random.below(3), whole) {
                    (0, _) => 0.0,
                    (_, true) => random.below(256) as f64,
                    _ => random.normal(),
                })
                .collect()
        })
        .collect()
}

const KERNELS: [&str; 9] = [
    "linear",
    "quadratic",
    "polynomial:3,0.01,1",
    "geometric:3",
    "monomial:2",
    "rbf:0.5",
    "laplacian:0.1",
    "sigmoid:0.001,0.5",
    "polynomial:4",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn the_engine_makes_the_mistakes_of_the_naive_version(
        seed in any::<u64>(),
        n in 2usize..120,
        d in 1usize..9,
        whole in any::<bool>(),
        kernel in 0..KERNELS.len(),
    ) {
        let rows = random_rows(seed, n, d, whole);
        let labels: Vec<u32> = (0..n as u32).map(|i| (seed >> (i % 61) & 1) as u32 ^ (i & 1)).collect();
        prop_assume!(labels.contains(&0) && labels.contains(&1));
        let data = dataset(&rows, &labels, 2, Precision::F32);
        let kernel: Kernel = KERNELS[kernel].parse().unwrap();
        let expected = naive(&data, &kernel, 3);
        for data in [data.clone(), sparse(&data)] {
            let options = Options {
                learner: over(kernel),
                order: Order::Given,
                readout: Some(Readout::Last),
                epochs: Some(3),
                ..Options::default()
            };
            let model = Session::new(&options).train(&data).unwrap().model;
            let found: Vec<usize> = kernel_model(&model).log.entries.iter().map(|e| e.row as usize).collect();
            prop_assert_eq!(&found, &expected[..found.len()]);
            let stopped = matches!(model.progress.stop, Some(Stop::Separated | Stop::NoMistakes { .. }));
            prop_assert!(stopped || found.len() == expected.len());
        }
    }

    #[test]
    fn neither_memory_nor_threads_nor_storage_change_a_bit(
        seed in any::<u64>(),
        n in 300usize..900,
        kernel in 0..KERNELS.len(),
        order in 0..5usize,
        whole in any::<bool>(),
    ) {
        let rows = random_rows(seed, n, 12, whole);
        let labels: Vec<u32> = rows.iter().enumerate().map(|(i, r)| (u32::from(r[0] + r[1] > r[2]) + u32::from(i % 7 == 0)) % 3).collect();
        prop_assume!((0..3).all(|c| labels.contains(&c)));
        let data = dataset(&rows, &labels, 3, Precision::F32);
        let mut options = kernel_options(KERNELS[kernel]);
        options.order = [Order::Shuffled, Order::Given, Order::Random, Order::ByClass, Order::Restart][order];
        options.multiclass = Some(Multiclass::Ovr);
        options.epochs = Some(3);
        options.readout = Some(Readout::Voted);
        let reference = Session::new(&options).threads(1).train(&data).unwrap().model;
        let bytes = reference.to_bytes().unwrap();
        let scores = reference.scores(&data.matrix, 1).unwrap();
        for (threads, memory) in [(2, Some(0)), (3, Some(300_000)), (1, Some(2_000_000)), (2, None)] {
            let model = Session::new(&options).threads(threads).memory(memory).train(&data).unwrap().model;
            prop_assert!(model.to_bytes().unwrap() == bytes, "{} threads, {:?} bytes", threads, memory);
            prop_assert!(model.scores(&data.matrix, threads).unwrap() == scores);
        }
        let scattered = Session::new(&options).train(&data.clone().permuted()).unwrap().model;
        prop_assert!(scattered.to_bytes().unwrap() == bytes);
        let thin = Session::new(&options).train(&sparse(&data)).unwrap().model;
        prop_assert_eq!(&kernel_model(&thin).log, &kernel_model(&reference).log);
        prop_assert!(thin.scores(&data.matrix, 2).unwrap() == scores);
    }

    #[test]
    fn a_broken_run_goes_on_as_if_it_had_not(
        seed in any::<u64>(),
        readout in 0..6usize,
        at in 1u64..60,
    ) {
        let rows = random_rows(seed, 40, 3, true);
        let labels: Vec<u32> = (0..40).map(|i| (i * i % 7 % 2) as u32).collect();
        let data = dataset(&rows, &labels, 2, Precision::F32);
        let whole = Options { readout: Some(Readout::ALL[readout].0), epochs: Some(5), order: Order::Shuffled, ..kernel_options("rbf:0.001") };
        let first = Options { max_updates: Some(at), ..whole.clone() };
        let unbroken = Session::new(&whole).train(&data).unwrap().model;
        let part = Session::new(&first).train(&data).unwrap().model;
        let part = Model::from_bytes(&part.to_bytes().unwrap()).unwrap();
        let resumed = Session::new(&whole).resume(Some(&part)).train(&data).unwrap().model;
        prop_assert_eq!(&kernel_model(&resumed).log, &kernel_model(&unbroken).log);
        prop_assert!(resumed.to_bytes().unwrap() == unbroken.to_bytes().unwrap());
    }
}

#[test]
fn xor_separates_where_it_should() {
    let stop = |data: &Dataset, kernel: &str, bias| {
        let options = Options {
            bias,
            epochs: Some(500),
            ..kernel_options(kernel)
        };
        Session::new(&options)
            .train(data)
            .unwrap()
            .model
            .progress
            .stop
    };
    for kernel in [
        "quadratic",
        "rbf:1",
        "laplacian:1",
        "polynomial:2",
        "geometric:2",
        "monomial:2",
    ] {
        assert_eq!(
            stop(&xor(), kernel, None),
            Some(Stop::Separated),
            "{kernel}"
        );
    }
    for kernel in ["linear", "polynomial:2,1,0"] {
        assert_eq!(
            stop(&xor(), kernel, None),
            Some(Stop::EpochLimit),
            "{kernel}"
        );
    }
    assert_eq!(
        stop(&eight_points(), "linear", Some(Bias::Lifted)),
        Some(Stop::EpochLimit)
    );
    assert_eq!(
        stop(&eight_points(), "polynomial:4", None),
        Some(Stop::Separated)
    );
}

#[test]
fn a_separated_kernel_run_stays_below_its_bound() {
    for (kernel, bias) in [
        ("quadratic", None),
        ("rbf:1", None),
        ("rbf:0.5", Some(Bias::Lifted)),
        ("polynomial:4", None),
    ] {
        let options = Options {
            bias,
            epochs: Some(500),
            ..kernel_options(kernel)
        };
        let fitted = Session::new(&options).train(&xor()).unwrap();
        let margin = fitted.margin.unwrap();
        let updates = fitted.model.progress.updates;
        assert!(
            0.0 < margin.lower && margin.lower <= margin.upper,
            "{kernel}"
        );
        assert!(updates <= fitted.updates_at_most.unwrap(), "{kernel}");
        let allowed = (fitted.radius / margin.lower).powi(2);
        let bound = fitted.updates_at_most.unwrap() as f64;
        assert!((bound - allowed).abs() <= 1.0 + 1e-9 * allowed, "{kernel}");
    }
    // Under the quadratic kernel XOR's margin is known: the least ‖Σ λ_i y_i φ(x_i)‖.
    let options = Options {
        epochs: Some(500),
        ..kernel_options("quadratic")
    };
    let margin = Session::new(&options)
        .train(&xor())
        .unwrap()
        .margin
        .unwrap();
    let phi = |x: f64, y: f64| {
        let r = std::f64::consts::SQRT_2;
        [1.0, r * x, r * y, x * x, r * x * y, y * y]
    };
    let signed: [(f64, [f64; 6]); 4] = [
        (-1.0, phi(0., 0.)),
        (1.0, phi(0., 1.)),
        (1.0, phi(1., 0.)),
        (-1.0, phi(1., 1.)),
    ];
    let mut least = f64::INFINITY;
    for a in 0..=60 {
        for b in 0..=(60 - a) {
            for c in 0..=(60 - a - b) {
                let weights = [a, b, c, 60 - a - b - c].map(|w| f64::from(w) / 60.0);
                let mut sum = [0.0; 6];
                for (w, (y, phi)) in weights.iter().zip(&signed) {
                    sum.iter_mut().zip(phi).for_each(|(s, p)| *s += w * y * p);
                }
                least = least.min(sum.iter().map(|s| s * s).sum::<f64>().sqrt());
            }
        }
    }
    assert!(
        margin.lower <= least && least <= margin.upper * 1.05,
        "{margin:?} {least}"
    );
    // No theorem speaks of kernels that need not be inner products.
    let sigmoid = kernel_options("sigmoid:1,0");
    assert!(
        Session::new(&sigmoid)
            .train(&xor())
            .unwrap()
            .updates_at_most
            .is_none()
    );
}

#[test]
fn a_gram_matrix_is_a_kernel_too() {
    let data = small_sets().pop().unwrap();
    let n = data.len();
    for kernel in ["quadratic", "rbf:0.05"] {
        let k: Kernel = kernel.parse().unwrap();
        let gram: Vec<Vec<f64>> = (0..n)
            .map(|i| (0..n).map(|j| k.value(data.row(i), data.row(j))).collect())
            .collect();
        let given = dataset(&gram, &data.labels, 3, Precision::F64);
        let direct = Session::new(&kernel_options(kernel))
            .train(&data)
            .unwrap()
            .model;
        let precomputed = Session::new(&kernel_options("precomputed"))
            .train(&given)
            .unwrap()
            .model;
        assert_eq!(kernel_model(&direct).log, kernel_model(&precomputed).log);
        assert_eq!(
            direct.scores(&data.matrix, 1).unwrap(),
            precomputed.scores(&given.matrix, 1).unwrap()
        );
        let again = Model::from_bytes(&precomputed.to_bytes().unwrap()).unwrap();
        assert_eq!(
            again.scores(&given.matrix, 2).unwrap(),
            precomputed.scores(&given.matrix, 1).unwrap()
        );
        let scattered = Session::new(&kernel_options("precomputed"))
            .train(&given.permuted())
            .unwrap()
            .model;
        assert_eq!(kernel_model(&scattered).log, kernel_model(&direct).log);
    }
}

#[test]
fn bad_gram_matrices_and_overflow_are_refused() {
    let refuse = |data: &Dataset, kernel: &str| {
        Session::new(&kernel_options(kernel))
            .train(data)
            .unwrap_err()
            .to_string()
    };
    let flat = dataset(
        &[vec![1.0, 2.0, 3.0], vec![2.0, 1.0, 0.0]],
        &[0, 1],
        2,
        Precision::F32,
    );
    assert!(refuse(&flat, "precomputed").contains("square"));
    let skew = dataset(
        &[vec![1.0, 2.0], vec![3.0, 1.0]],
        &[0, 1],
        2,
        Precision::F32,
    );
    let error = refuse(&skew, "precomputed");
    assert!(
        error.contains("symmetric") && error.contains("row 2"),
        "{error}"
    );
    let large = dataset(&[vec![1e20], vec![1.0]], &[0, 1], 2, Precision::F32);
    let error = refuse(&large, "polynomial:8");
    assert!(
        error.contains("overflows") && error.contains("row 1"),
        "{error}"
    );
}

#[test]
fn options_that_belong_to_another_learner_are_refused() {
    let error = Options::default().set("kernel", "linear").unwrap_err();
    assert!(error.to_string().contains("learner = kernel"), "{error}");
    for learner in [
        NetworkLearner::default().into(),
        KernelPerceptron::default().into(),
    ] {
        let error = Options::of(learner).set("decay", "0.5").unwrap_err();
        assert!(
            error.to_string().contains("decay belongs to linear"),
            "{error}"
        );
    }
    let started = Options {
        start: Start::Given(vec![1.0, 1.0]),
        ..kernel_options("linear")
    };
    let error = Session::new(&started)
        .train(&xor())
        .unwrap_err()
        .to_string();
    assert!(error.contains("start_dual"), "{error}");
    let short = Options {
        learner: from_start(Kernel::Linear, Some(vec![1.0])),
        ..kernel_options("linear")
    };
    let error = Session::new(&short).train(&xor()).unwrap_err().to_string();
    assert!(error.contains("1 coefficients for 4"), "{error}");
}

#[test]
fn the_hardest_examples_come_first() {
    let options = Options {
        epochs: Some(20),
        ..kernel_options("linear")
    };
    let model = Session::new(&options).train(&xor()).unwrap().model;
    let hardest = kernel_model(&model).log.hardest();
    assert!(hardest.windows(2).all(|w| w[0].1 >= w[1].1));
    assert_eq!(
        hardest.iter().map(|h| h.1).sum::<u64>(),
        model.progress.updates
    );
}
