//! The perceptron with a penalty, straight from its definition.

use rosenblatt::learner::{Penalty, Perceptron};
use rosenblatt::options::{Bias, Multiclass, Order, Readout};
use rosenblatt::{Options, Session};

use crate::common::{self, PLAIN, Storage, Toy, bits, close, planes, score, trained};

/// One plane with what `l1` has asked of its weights and taken.
#[derive(Clone)]
struct Plane {
    w: Vec<f64>,
    taken: Vec<f64>,
    asked: f64,
    sum: Vec<f64>,
    visits: f64,
}

/// The planes that an example is shown to, each with the sign of its side.
fn shown(toy: &Toy, scheme: Option<Multiclass>, i: usize) -> Vec<(usize, f64)> {
    let (k, own) = (toy.classes, toy.labels[i] as usize);
    let sign = |positive: bool| if positive { 1.0 } else { -1.0 };
    match scheme {
        None => vec![(0, sign(own == 1))],
        Some(Multiclass::Argmax) => (0..k).map(|c| (c, 0.0)).collect(),
        Some(Multiclass::Ovr) => (0..k).map(|c| (c, sign(c == own))).collect(),
        Some(Multiclass::Ovo) => (0..k)
            .flat_map(|low| (low + 1..k).map(move |high| (low, high)))
            .enumerate()
            .filter(|(_, (low, high))| *low == own || *high == own)
            .map(|(plane, (_, high))| (plane, sign(high == own)))
            .collect(),
    }
}

fn reference(toy: &Toy, options: &Options, told: &Perceptron, passes: usize) -> Vec<Plane> {
    let k = match options.multiclass {
        None => 1,
        _ => toy.classes,
    };
    let l1 = match told.penalty {
        Penalty::L1 => 1.0,
        Penalty::ElasticNet => told.l1_ratio,
        _ => 0.0,
    };
    let (rate, zero) = (options.rate(), vec![0.0; toy.features() + 1]);
    let blank = Plane {
        w: zero.clone(),
        taken: zero.clone(),
        asked: 0.0,
        sum: zero,
        visits: 0.0,
    };
    let mut all = vec![blank; k];
    for i in (0..passes).flat_map(|_| 0..toy.len()) {
        let x = &toy.rows[i];
        let shown = shown(toy, options.multiclass, i);
        let scores: Vec<f64> = all.iter().map(|p| score(&p.w, x)).collect();
        let mut steps = vec![0.0; k];
        if options.multiclass == Some(Multiclass::Argmax) {
            let own = toy.labels[i] as usize;
            let others = (0..k).filter(|&c| c != own);
            let best = others.reduce(|a, b| if scores[b] > scores[a] { b } else { a });
            if scores[own] <= scores[best.unwrap()] {
                (steps[own], steps[best.unwrap()]) = (1.0, -1.0);
            }
        }
        for (plane, sign) in shown {
            if sign * scores[plane] <= 0.0 && sign != 0.0 {
                steps[plane] = sign;
            }
            let (step, p) = (steps[plane] * rate * toy.weight(i), &mut all[plane]);
            p.asked += l1 * rate * told.alpha;
            p.w[0] += if options.bias() == Bias::None {
                0.0
            } else {
                step
            };
            for (j, x) in (1..).zip(x) {
                let left = (1.0 - (1.0 - l1) * rate * told.alpha).max(0.0);
                let w = p.w[j] * left + step * x;
                p.w[j] = match w {
                    _ if *x == 0.0 => w,
                    w if w > 0.0 => (w - (p.asked + p.taken[j])).max(0.0),
                    w if w < 0.0 => (w + (p.asked - p.taken[j])).min(0.0),
                    w => w,
                };
                p.taken[j] += p.w[j] - w;
            }
            p.visits += 1.0;
            (p.sum.iter_mut().zip(&p.w)).for_each(|(sum, w)| *sum += w);
        }
    }
    all
}

const SCHEMES: [(usize, Option<Multiclass>); 4] = [
    (2, None),
    (3, Some(Multiclass::Argmax)),
    (3, Some(Multiclass::Ovr)),
    // As many pairs as classes.
    (3, Some(Multiclass::Ovo)),
];

/// Every penalty, weak and so strong that weights vanish.
fn penalties() -> impl Iterator<Item = Perceptron> {
    [Penalty::L2, Penalty::L1, Penalty::ElasticNet]
        .into_iter()
        .flat_map(|penalty| [1e-3, 0.2, 3.0].map(|alpha| (penalty, alpha)))
        .map(|(penalty, alpha)| Perceptron {
            penalty,
            alpha,
            l1_ratio: if penalty == Penalty::ElasticNet {
                0.4
            } else {
                0.15
            },
        })
}

fn options(told: Perceptron, multiclass: Option<Multiclass>, seed: u64) -> Options {
    Options {
        multiclass,
        order: Order::Given,
        learning_rate: Some([1.0, 0.3][seed as usize % 2]),
        bias: Some([Bias::Lifted, Bias::None][seed as usize / 2 % 2]),
        epochs: Some(4),
        ..Options::of(told.into())
    }
}

#[test]
fn a_penalty_shrinks_as_its_definition_says() {
    let mut zeros = [0; 2];
    for (seed, told) in (0..6).flat_map(|seed| penalties().map(move |told| (seed, told))) {
        for (classes, multiclass) in SCHEMES {
            let mut toy = common::reals(seed, 17, 5, classes);
            toy.weights = Some((0..17).map(|i| [1.0, 0.5, 3.0][i % 3]).collect());
            let options = options(told, multiclass, seed);
            let expected = reference(&toy, &options, &told, 4);
            for readout in [Readout::Last, Readout::Averaged] {
                let options = Options {
                    readout: Some(readout),
                    ..options.clone()
                };
                let stored = |sparse| Storage { sparse, ..PLAIN };
                let model = trained(&toy.stored(stored(false)), &options).model;
                let found = planes(model.weights().unwrap());
                for (found, expected) in found.iter().zip(&expected) {
                    for (j, f) in found.iter().enumerate() {
                        let e = match readout {
                            Readout::Last => expected.w[j],
                            _ => expected.sum[j] / expected.visits,
                        };
                        let exact = j > 0 && readout == Readout::Last;
                        zeros[usize::from(told.penalty == Penalty::L2)] +=
                            usize::from(exact && *f == 0.0);
                        assert!(close(*f, e, 1.0, 1e-9), "{told:?} {readout:?}: {f}, {e}");
                    }
                }
                let sparse = trained(&toy.stored(stored(true)), &options).model;
                assert_eq!(bits(&found), bits(&planes(sparse.weights().unwrap())));
            }
        }
    }
    assert!(zeros[0] > 200, "{zeros:?}");
}

#[test]
fn a_penalised_run_stopped_anywhere_goes_on_as_if_it_had_not() {
    for (seed, told) in (0..4).flat_map(|seed| penalties().map(move |told| (seed, told))) {
        for (classes, multiclass) in SCHEMES {
            let data = common::reals(seed, 17, 5, classes).dataset();
            for readout in [
                Readout::Last,
                Readout::Averaged,
                Readout::Random,
                Readout::Pocket,
            ] {
                let whole = Options {
                    readout: Some(readout),
                    order: Order::Shuffled,
                    seed,
                    ..options(told, multiclass, seed)
                };
                let first = Options {
                    max_updates: Some(3 + 4 * seed),
                    ..whole.clone()
                };
                let begun = trained(&data, &first).model.to_bytes().unwrap();
                let begun = rosenblatt::model::Model::from_bytes(&begun).unwrap();
                let resumed = Session::new(&whole).resume(Some(&begun)).train(&data);
                let (resumed, unbroken) = (resumed.unwrap().model, trained(&data, &whole).model);
                assert_eq!(resumed.progress, unbroken.progress);
                assert_eq!(resumed.state, unbroken.state);
                assert_eq!(resumed.decision, unbroken.decision);
            }
        }
    }
}

#[test]
fn what_a_penalty_cannot_go_with_is_refused() {
    let told = |penalty: Penalty| {
        Options::of(
            Perceptron {
                penalty,
                ..Perceptron::default()
            }
            .into(),
        )
    };
    let refused = |options: &Options, word: &str| {
        let error = options.validate().unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    };
    for (name, value, word) in [
        ("readout", "voted", "every visit"),
        ("readout", "averaged-normalised", "every visit"),
        ("normalise-weights", "true", "undo"),
        ("order", "mistakes", "follow the mistakes"),
        ("until", "separated", "move on"),
        ("l1-ratio", "0.5", "elasticnet"),
    ] {
        let mut options = told(Penalty::L2);
        options.validate().unwrap();
        options.set(name, value).unwrap();
        refused(&options, word);
    }
    let mut options = told(Penalty::None);
    options.set("alpha", "0.1").unwrap();
    refused(&options, "there is none");
    for (name, value) in [("l1-ratio", "1.5"), ("alpha", "-1"), ("penalty", "l3")] {
        assert!(told(Penalty::L2).set(name, value).is_err(), "{name}");
    }
}
