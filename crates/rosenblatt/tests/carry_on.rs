//! Weights that go on with other examples, and arrays that are lent rather than copied.

mod common;

use std::sync::Arc;

use rosenblatt::data::{Buffer, Classes, Dataset, Matrix, Precision, Storage, StringTable, Values};
use rosenblatt::learner::{Gradient, KernelPerceptron, LearnerEntry, LinearUnit};
use rosenblatt::model::Model;
use rosenblatt::options::{Bias, ClassWeight, Multiclass, Order, Readout};
use rosenblatt::read::{Batches, Preparation, ReadOptions};
use rosenblatt::training::{Callback, Step};
use rosenblatt::{OnlineLearner, Options, Result, Session};

/// One pass over `data`, going on from `model`.
fn one_more(model: Option<&Model>, data: &Dataset, options: &Options) -> Result<Model> {
    let options = Options {
        epochs: Some(1),
        ..options.clone()
    };
    let fitted = Session::new(&options).partial_fit(model).train(data)?;
    Ok(fitted.model)
}

fn learners() -> Vec<Options> {
    let mut all: Vec<Options> = [
        Readout::Last,
        Readout::Averaged,
        Readout::AveragedNormalised,
        Readout::Random,
    ]
    .into_iter()
    .map(|readout| Options {
        readout: Some(readout),
        learning_rate: Some(0.5),
        ..Options::default()
    })
    .collect();
    all.push(Options {
        learner: LinearUnit {
            gradient: Gradient::Stochastic,
            decay: 0.1,
            ..LinearUnit::default()
        }
        .into(),
        learning_rate: Some(0.01),
        ..Options::default()
    });
    all
}

#[test]
fn a_pass_over_each_part_is_a_pass_over_the_whole() {
    for classes in [2, 3] {
        let whole = common::reals(5, 90, 4, classes).dataset();
        for options in learners() {
            let options = Options {
                order: Order::Given,
                ..options
            };
            let once = one_more(None, &whole, &options).unwrap();
            let mut model = None;
            for rows in [0..40, 40..41, 41..90] {
                let part = whole.select(&rows.collect::<Vec<_>>());
                model = Some(one_more(model.as_ref(), &part, &options).unwrap());
            }
            let model = model.unwrap();
            // Norms are found afresh at the start of a pass, so they may differ by rounding.
            if options.readout() == Readout::AveragedNormalised {
                let (a, b) = (model.weights().unwrap(), once.weights().unwrap());
                for (x, y) in a.packed().iter().zip(b.packed().iter()) {
                    assert!((x - y).abs() <= 1e-12 * (1.0 + y.abs()), "{x} {y}");
                }
            } else {
                assert_eq!(model.weights(), once.weights(), "{options:?}");
            }
            assert_eq!(model.progress.visits, 90);
            assert_eq!(model.progress.updates, once.progress.updates);
        }
    }
}

#[test]
fn passes_made_one_by_one_are_the_passes_of_one_run() {
    let data = common::reals(6, 60, 3, 2).dataset();
    for options in learners() {
        for order in [Order::Given, Order::Shuffled, Order::ByClass, Order::Random] {
            let options = Options {
                order,
                ..options.clone()
            };
            let mut model = None;
            for _ in 0..4 {
                model = Some(one_more(model.as_ref(), &data, &options).unwrap());
            }
            let four = Options {
                epochs: Some(4),
                ..options
            };
            let run = Session::new(&four).train(&data).unwrap().model;
            assert_eq!(run.progress.passes.len(), 4, "data that are not separated");
            let model = model.unwrap();
            assert_eq!(model.weights(), run.weights());
            assert_eq!((model.state, model.progress), (run.state, run.progress));
        }
    }
}

#[test]
fn what_needs_all_examples_at_once_is_refused() {
    let data = common::reals(7, 30, 3, 2).dataset();
    let refused = [
        Options {
            readout: Some(Readout::Voted),
            ..Options::default()
        },
        Options {
            readout: Some(Readout::Pocket),
            ..Options::default()
        },
        Options {
            bias: Some(Bias::Unlifted(None)),
            ..Options::default()
        },
        Options {
            class_weight: ClassWeight::Balanced,
            ..Options::default()
        },
        Options {
            order: Order::Worst,
            ..Options::default()
        },
        Options {
            learner: LinearUnit::default().into(),
            ..Options::default()
        },
        Options {
            learner: KernelPerceptron::default().into(),
            ..Options::default()
        },
    ];
    for options in refused {
        let begun = one_more(None, &data, &options).unwrap();
        let error = one_more(Some(&begun), &data, &options).unwrap_err();
        assert!(
            error.to_string().contains("all examples at once"),
            "{error}"
        );
        assert!(error.advice().is_some());
    }
    // Other features and other classes are other problems.
    let options = Options::default();
    let begun = one_more(None, &data, &options).unwrap();
    for other in [common::reals(7, 30, 4, 2), common::reals(7, 30, 3, 3)] {
        assert!(one_more(Some(&begun), &other.dataset(), &options).is_err());
    }
}

#[test]
#[allow(unsafe_code)] // Lending is what is tested.
fn lent_arrays_train_as_owned_ones_do() {
    fn lend<T: Clone + Send + Sync>(values: &[T]) -> Buffer<T> {
        let owner = Arc::new(values.to_vec());
        // SAFETY: nobody changes the vector, and the buffer holds it.
        unsafe { Buffer::lent(&owner[..], owner.clone()) }
    }
    let toy = common::reals(8, 70, 5, 3);
    let owned = toy.dataset();
    let Storage::Dense { values, .. } = owned.matrix.storage() else {
        panic!("toys are dense");
    };
    let mut lent = owned.clone();
    let values = match values {
        Values::F32(v) => Values::F32(lend(v)),
        Values::F64(v) => Values::F64(lend(v)),
    };
    lent.matrix = Matrix::dense(owned.len(), owned.features(), values).unwrap();
    let options = Options {
        epochs: Some(5),
        ..Options::default()
    };
    let train = |data: &Dataset| Session::new(&options).train(data).unwrap().model;
    let (a, b) = (train(&owned), train(&lent));
    assert_eq!(a.to_bytes().unwrap(), b.to_bytes().unwrap());
    let predicted = a.predict(&owned.matrix, 1).unwrap();
    assert_eq!(predicted, b.predict(&lent.matrix, 2).unwrap());
}

#[test]
fn a_model_of_arrays_takes_files() {
    let data = common::reals(9, 40, 2, 2).dataset();
    let options = Options {
        epochs: Some(3),
        ..Options::default()
    };
    let mut model = Session::new(&options).train(&data).unwrap().model;
    let names: StringTable = ["height", "width"].iter().collect();
    for (names, file, text) in [
        (Some(&names), "a.csv", "width,y,height\n2,0,0.5\n-1,1,3\n"),
        (Some(&names), "b.csv", "height,width\n0.5,2\n3,-1\n"),
        (None, "c.svm", "0 1:0.5 2:2\n1 1:3 2:-1\n"),
    ] {
        let preparation = Preparation::for_arrays(2, names, "y", Precision::F64);
        preparation.store_in(&mut model);
        let again = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
        let preparation = Preparation::of_model(&again).unwrap().unwrap();
        let folder = std::env::temp_dir().join(format!("rosenblatt-arrays-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join(file);
        std::fs::write(&path, text).unwrap();
        let mut batches =
            Batches::open(&path, &preparation, &again.classes, &ReadOptions::default()).unwrap();
        let batch = batches.next().unwrap().unwrap();
        let rows: Vec<Vec<f64>> = (0..2).map(|i| batch.matrix.row(i).to_dense(2)).collect();
        assert_eq!(rows, [vec![0.5, 2.0], vec![3.0, -1.0]], "{file}");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}

/// Wants to know each visit, which takes another way through the loop.
struct Curious(Vec<bool>);

impl Callback for Curious {
    fn wants_steps(&self) -> bool {
        true
    }

    fn wants_weights(&self) -> bool {
        false
    }

    fn step(&mut self, step: Step) {
        self.0.push(step.correct);
    }
}

struct Quiet;

impl Callback for Quiet {}

/// Learns the rows in parts of these lengths; between them the learner is saved and loaded.
fn learned_online(model: &Model, data: &Dataset, parts: &[usize]) -> (Vec<u8>, usize) {
    let mut learner = OnlineLearner::new(model.clone()).unwrap();
    let (mut first, mut updates) = (0, 0);
    for (i, part) in parts.iter().cycle().enumerate() {
        let end = (first + part).min(data.len());
        let rows = data.select(&(first..end).collect::<Vec<_>>());
        if i % 2 == 0 {
            learner.learn(rows.matrix, rows.labels, &mut Quiet).unwrap();
        } else {
            let mut curious = Curious(Vec::new());
            learner
                .learn(rows.matrix, rows.labels, &mut curious)
                .unwrap();
            updates += curious.0.iter().filter(|correct| !**correct).count();
            let saved = learner.model().to_bytes().unwrap();
            learner = OnlineLearner::resume(Model::from_bytes(&saved).unwrap()).unwrap();
        }
        first = end;
        if first == data.len() {
            break;
        }
    }
    assert_eq!(learner.predictor().decision, learner.model().decision);
    (learner.model().to_bytes().unwrap(), updates)
}

#[test]
fn an_online_learner_depends_on_the_examples_alone() {
    let options = |learner: &str| Options {
        learner: LearnerEntry::find(learner).unwrap().default_settings(),
        ..Options::default()
    };
    let mut all: Vec<Options> = learners().into_iter().take(4).collect();
    all.extend(["arow", "passive-aggressive"].map(options));
    all.push(Options {
        normalise_weights: true,
        ..options("perceptron")
    });
    all.push(Options {
        multiclass: Some(Multiclass::Ovr),
        ..options("perceptron")
    });
    for classes in [2, 4] {
        let whole = common::reals(7, 120, 5, classes).dataset();
        let (before, after): (Vec<usize>, Vec<usize>) = (0..120).partition(|i| *i < 40);
        let after = whole.select(&after);
        for options in &all {
            let options = Options {
                epochs: Some(2),
                ..options.clone()
            };
            let begun = Session::new(&options).train(&whole.select(&before));
            let begun = begun.unwrap().model;
            let (at_once, _) = learned_online(&begun, &after, &[80]);
            let (one_by_one, updates) = learned_online(&begun, &after, &[1]);
            assert!(updates > 0);
            assert!(at_once == one_by_one, "{options:?}");
            let (in_parts, _) = learned_online(&begun, &after, &[3, 7, 30, 1]);
            assert!(at_once == in_parts, "{options:?}");
            // It is a pass in the order given.
            let given = Options {
                order: Order::Given,
                ..options.clone()
            };
            let mut with_order = begun.clone();
            with_order.options.order = Order::Given;
            let passed = one_more(Some(&with_order), &after, &given).unwrap();
            let online = Model::from_bytes(&at_once).unwrap();
            assert_eq!(online.decision, passed.decision, "{options:?}");
            assert_eq!(online.progress.mistakes, passed.progress.mistakes);
            assert_eq!(
                online.progress.current,
                *passed.progress.passes.last().unwrap()
            );
        }
    }
}

#[test]
fn a_new_class_changes_no_prediction_until_it_is_learned() {
    let whole = common::reals(9, 150, 4, 3).dataset();
    for classes in [2u32, 3] {
        let rows: Vec<usize> = (0..150).filter(|&i| whole.labels[i] < classes).collect();
        let mut known = whole.select(&rows);
        known.classes = Classes::from_labels(["a", "b", "c"].into_iter().take(classes as usize));
        for learner in ["perceptron", "arow"] {
            let options = Options {
                learner: LearnerEntry::find(learner).unwrap().default_settings(),
                readout: Some(Readout::Last),
                ..Options::default()
            };
            let model = Session::new(&options).train(&known).unwrap().model;
            let expected = model.predict(&whole.matrix, 1).unwrap();
            let mut online = OnlineLearner::new(model).unwrap();
            assert_eq!(online.add_class("new").unwrap(), classes);
            assert!(online.add_class("new").is_err());
            assert_eq!(
                online.predictor().predict(&whole.matrix, 1).unwrap(),
                expected
            );
            let far = Matrix::dense(1, 4, vec![50.0, -50.0, 50.0, 50.0]).unwrap();
            for _ in 0..30 {
                online
                    .learn(far.clone(), vec![classes], &mut Quiet)
                    .unwrap();
            }
            assert_eq!(online.predictor().predict(&far, 1).unwrap(), [classes]);
            let again = OnlineLearner::resume(online.model().clone()).unwrap();
            let saved = Model::from_bytes(&again.model().to_bytes().unwrap()).unwrap();
            assert_eq!(saved.classes.names().last().unwrap(), "new");
        }
    }
}

#[test]
fn what_cannot_learn_online_is_refused() {
    let data = common::reals(3, 60, 3, 2).dataset();
    let refused = |options: &Options| {
        let model = Session::new(options).train(&data).unwrap().model;
        OnlineLearner::new(model).unwrap_err().to_string()
    };
    let kernel = Options {
        learner: KernelPerceptron::default().into(),
        ..Options::default()
    };
    assert!(refused(&kernel).contains("mistake-driven"));
    let voted = Options {
        readout: Some(Readout::Voted),
        ..Options::default()
    };
    assert!(refused(&voted).contains("voted"));
    let model = Session::new(&Options::default())
        .train(&data)
        .unwrap()
        .model;
    let mut learner = OnlineLearner::new(model).unwrap();
    let wide = Matrix::dense(1, 9, vec![1.0; 9]).unwrap();
    let error = learner.learn(wide, vec![0], &mut Quiet).unwrap_err();
    assert!(error.to_string().contains("9 features"), "{error}");
    let before = learner.model().to_bytes().unwrap();
    let nan = Matrix::dense(1, 3, vec![1.0, f64::NAN, 0.0]).unwrap();
    assert!(learner.learn(nan, vec![0], &mut Quiet).is_err());
    assert!(before == learner.model().to_bytes().unwrap());
}
