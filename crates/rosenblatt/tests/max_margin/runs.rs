//! Whole runs: known answers, one answer, several classes, limits, refusals and files.

use super::*;

#[test]
fn answers_known_by_hand() {
    // Two points on a line, at −1 and +1: w = min(1, 2C) without a bias.
    let two = Toy::binary(vec![vec![-1.0], vec![1.0]], vec![0, 1]);
    for (c, w) in [(0.1, 0.2), (0.25, 0.5), (0.5, 1.0), (3.0, 1.0)] {
        for bias in BIASES {
            // A gap of ε leaves w uncertain by √(2ε).
            let told = within(1e-12, options(Some(c), bias));
            let fitted = trained(&two.dataset(), &told);
            let plane = &planes(fitted.model.weights().unwrap())[0];
            assert!(close(plane[1], w, 0.0, 1e-5), "{bias} {c}: {plane:?}");
            assert!(plane[0].abs() < 1e-5);
        }
    }
    // At 0 and 2 the plane stands at 1, whatever the bias costs.
    let shifted = Toy::binary(vec![vec![0.0], vec![2.0]], vec![0, 1]);
    for bias in [Bias::Lifted, Bias::Unlifted(None)] {
        let fitted = trained(&shifted.dataset(), &options(None, bias));
        let plane = &planes(fitted.model.weights().unwrap())[0];
        assert!(close(plane[0], -1.0, 0.0, 1e-6) && close(plane[1], 1.0, 0.0, 1e-6));
    }
    // Farther out a bias that counts makes another plane than one that does not.
    let far = Toy::binary(vec![vec![10.0], vec![12.0]], vec![0, 1]);
    let unlifted = trained(&far.dataset(), &options(None, Bias::Unlifted(None)));
    let plane = &planes(unlifted.model.weights().unwrap())[0];
    assert!(close(plane[0], -11.0, 0.0, 1e-6) && close(plane[1], 1.0, 0.0, 1e-6));
    assert!(close(
        support(&unlifted.model).optima[0].margin,
        1.0,
        0.0,
        1e-6
    ));
    assert_eq!(unlifted.margin.unwrap().kind, "plain");
    // XOR by the quadratic kernel: each point holds the plane up.
    let xor = Toy::binary(
        vec![
            vec![0.0, 0.0],
            vec![0.0, 1.0],
            vec![1.0, 0.0],
            vec![1.0, 1.0],
        ],
        vec![0, 1, 1, 0],
    );
    let fitted = trained(&xor.dataset(), &over("quadratic", None, Bias::None));
    assert_eq!(support(&fitted.model).rows, [0, 1, 2, 3]);
    assert_eq!(fitted.model.accuracy(&xor.dataset(), 1).unwrap(), 1.0);
}

#[test]
fn storage_layout_threads_and_memory_change_no_bit() {
    let toy = noisy(5, 400, 6);
    let three = common::reals(6, 200, 5, 3);
    let mut counted = options(Some(1.0), Bias::Lifted);
    counted.max_updates = Some(1_000_000);
    for (toy, told) in [
        (&toy, options(Some(1.0), Bias::Lifted)),
        (&toy, options(Some(0.5), Bias::Unlifted(None))),
        (&toy, counted),
        (&three, options(Some(1.0), Bias::Lifted)),
        (&toy, over("rbf:0.5", Some(1.0), Bias::Unlifted(None))),
        (&three, over("polynomial:2", Some(0.1), Bias::None)),
    ] {
        let reference = trained(&toy.dataset(), &told);
        let expected = support(&reference.model);
        for sparse in [false, true] {
            for scattered in [false, true] {
                for threads in [1, 3] {
                    for memory in [Some(1), None] {
                        let data = toy.stored(Storage {
                            sparse,
                            precision: Precision::F32,
                            scattered,
                        });
                        let session = rosenblatt::session(&told).threads(threads).memory(memory);
                        let model = session.train(&data).unwrap().model;
                        assert_eq!(support(&model), expected, "{told:?}");
                        if let (Some(a), Some(b)) = (model.weights(), reference.model.weights()) {
                            assert_eq!(bits(&planes(a)), bits(&planes(b)));
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn several_classes_are_several_planes() {
    let toy = common::reals(31, 90, 4, 3);
    let data = toy.dataset();
    let mut told = options(Some(1.0), Bias::Lifted);
    let rest = trained(&data, &told);
    told.multiclass = Some(Multiclass::Ovo);
    let pairs = trained(&data, &told);
    for (model, against_rest) in [(&rest.model, true), (&pairs.model, false)] {
        assert_eq!(support(model).optima.len(), 3);
        for d in 0..3u32 {
            let (low, high) = [(0, 1), (0, 2), (1, 2)][d as usize];
            let chosen: Vec<usize> = (0..toy.len())
                .filter(|&i| against_rest || [low, high].contains(&toy.labels[i]))
                .collect();
            let positive = if against_rest { d } else { high };
            let alone = Toy::binary(
                chosen.iter().map(|&i| toy.rows[i].clone()).collect(),
                chosen
                    .iter()
                    .map(|&i| u32::from(toy.labels[i] == positive))
                    .collect(),
            );
            let plane = &planes(model.weights().unwrap())[d as usize];
            let least = trained(&alone.dataset(), &options(Some(1.0), Bias::Lifted));
            let least = support(&least.model).optima[0].primal;
            assert!(close(
                primal(&alone, plane, 1.0, Bias::Lifted),
                least,
                0.0,
                2e-6
            ));
        }
    }
}

#[test]
fn what_cannot_be_is_refused_with_advice() {
    let refused = |toy: &Toy, told: &Options| {
        let outcome = rosenblatt::session(told).train(&toy.dataset());
        outcome.map(|_| ()).unwrap_err().to_string()
    };
    let line = Toy::binary(vec![vec![0.0], vec![1.0], vec![2.0]], vec![0, 1, 0]);
    for bias in BIASES {
        let said = refused(&line, &options(None, bias));
        assert!(
            said.contains("not separable") && said.contains("c = 1"),
            "{said}"
        );
    }
    let conflict = Toy::binary(vec![vec![1.0], vec![1.0], vec![3.0]], vec![0, 1, 0]);
    let said = refused(&conflict, &over("rbf:1", None, Bias::None));
    assert!(
        said.contains("rows 1 and 2 are equal") && said.contains("c = 1"),
        "{said}"
    );
    let said = refused(&conflict, &over("polynomial:3", None, Bias::Unlifted(None)));
    assert!(
        said.contains("not separable") && said.contains("c = 1"),
        "{said}"
    );
    let mut weighted = common::separable(1, 10, 2, 0.0, 0.1).0;
    weighted.weights = Some(vec![2.0; 10]);
    assert!(refused(&weighted, &options(None, Bias::Lifted)).contains("hard"));
    let mut told = options(None, Bias::Lifted);
    told.class_weight = ClassWeight::Balanced;
    assert!(refused(&line, &told).contains("without c the margin"));
    told = options(Some(1.0), Bias::Unlifted(Some(2.0)));
    assert!(refused(&line, &told).contains("whatever ρ"));
    told = options(Some(1.0), Bias::Lifted);
    told.margin_demand = 1.0;
    assert!(refused(&line, &told).contains("margin_demand = "));
    let misplaced = Options::of(Perceptron::default().into()).set("c", "1");
    assert!(misplaced.unwrap_err().to_string().contains("c belongs"));
    // A model is an answer, not a state to go on from.
    let told = options(Some(1.0), Bias::Lifted);
    let model = trained(&line.dataset(), &told).model;
    let error = rosenblatt::session(&told)
        .resume(Some(&model))
        .train(&line.dataset());
    let error = error.map(|_| ()).unwrap_err();
    assert!(error.to_string().contains("cannot be resumed"));
}

#[test]
fn limits_end_a_run_with_a_true_gap() {
    let toy = noisy(41, 300, 5);
    let data = toy.dataset();
    for kernel in [None, Some("rbf:1")] {
        let mut told = options(Some(10.0), Bias::Lifted);
        if let Some(kernel) = kernel {
            told.set("kernel", kernel).unwrap();
        }
        told.max_updates = Some(50);
        let few = trained(&data, &told);
        assert_eq!(few.model.progress.stop, Some(Stop::UpdateLimit));
        assert_eq!(few.model.progress.updates, 50);
        let optimum = support(&few.model).optima[0];
        assert!(optimum.dual <= optimum.primal && optimum.relative_gap() > 1e-6);
        if let Some(weights) = few.model.weights() {
            let own = primal(&toy, &planes(weights)[0], 10.0, Bias::Lifted);
            assert!(close(own, optimum.primal, 0.0, 1e-10));
        }
        told.max_updates = None;
        told.epochs = Some(1);
        let short = trained(&data, &told);
        assert_eq!(short.model.progress.stop, Some(Stop::EpochLimit));
        assert_eq!(short.model.progress.epochs(), 1);
        told.epochs = None;
        let flag = AtomicBool::new(true);
        let stopped = rosenblatt::session(&told)
            .interrupt(&flag)
            .train(&data)
            .unwrap();
        assert_eq!(stopped.model.progress.stop, Some(Stop::Interrupted));
        told.time_limit = Some(1e-9);
        let late = trained(&data, &told);
        assert_eq!(late.model.progress.stop, Some(Stop::TimeLimit));
    }
}

#[test]
fn models_come_back_from_their_files() {
    let data = noisy(51, 80, 3).dataset();
    for told in [
        options(Some(1.0), Bias::Unlifted(None)),
        over("rbf:0.7", Some(1.0), Bias::Unlifted(None)),
        over("quadratic", Some(0.3), Bias::Lifted),
    ] {
        let model = trained(&data, &told).model;
        let again = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
        assert_eq!(again.support, model.support);
        assert_eq!(again.decision, model.decision);
        let scores = model.scores(&data.matrix, 1).unwrap();
        assert_eq!(again.scores(&data.matrix, 1).unwrap(), scores);
        let mut scorer = again.scorer();
        let one = scorer.scores(data.row(7))[0];
        assert_eq!(one.to_bits(), scores[7].to_bits());
    }
}
