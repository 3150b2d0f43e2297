use super::*;

#[test]
fn every_default_reads_back_as_itself() {
    for entry in crate::learner::LEARNERS {
        let defaults = Options::of(entry.default_settings());
        for (name, value) in defaults.values() {
            let mut options = defaults.clone();
            options.set(name, &value).unwrap();
            assert_eq!(options, defaults, "{name}");
        }
    }
}

#[test]
fn values_read_back_as_written() {
    for (name, value) in [
        ("bias", "unlifted:2.5"),
        ("start", "1,-2.5,0"),
        ("start", "random:3"),
        ("class-weight", "a=1,b=0.5"),
        ("multiclass", "ovo"),
        ("learning-rate", "0.1"),
        ("epochs", "7"),
        ("normalise-weights", "true"),
    ] {
        let mut options = Options::default();
        options.set(name, value).unwrap();
        assert_eq!(options.changed(), [(name, value.to_owned())]);
    }
    let mut options = Options::of(crate::learner::MaxMargin::default().into());
    options.set("c", "2.5").unwrap();
    assert_eq!(options.get("c").as_deref(), Some("2.5"));
}

#[test]
fn a_learners_own_values_read_back_as_written() {
    let mut options = Options::default();
    let given = [("c", "2.5"), ("learner", "max-margin")];
    options.set_all(given).unwrap();
    let expected = [given[1], given[0]].map(|(name, value)| (name, value.to_owned()));
    assert_eq!(options.changed(), expected);
}

#[test]
fn nonsense_is_refused_and_named() {
    for (name, value) in [
        ("learner", "svm"),
        ("epochs", "0"),
        ("epochs", "-1"),
        ("learning-rate", "0"),
        ("learning-rate", "nan"),
        ("margin-demand", "-1"),
        ("c", "0"),
        ("c", "-1"),
        ("c", "nan"),
        ("bias", "unlifted:0"),
        ("bias", "lifted:1"),
        ("start", "1,x"),
        ("start", "random:-1"),
        ("class-weight", "a"),
        ("class-weight", "a=0"),
        ("seed", "-1"),
        ("nothing", "1"),
    ] {
        let mut options = Options::default();
        if name == "c" {
            options.set("learner", "max-margin").unwrap();
        }
        let error = options.set(name, value).unwrap_err();
        assert_eq!(error.kind(), crate::ErrorKind::Options);
        assert!(
            error.to_string().contains(&name.replace('-', "_")),
            "{error}"
        );
    }
}

#[test]
fn correct_ties_from_zero_are_refused() {
    let mut options = Options {
        ties: Ties::Correct,
        ..Options::default()
    };
    assert!(
        options
            .validate()
            .unwrap_err()
            .to_string()
            .contains("never updates")
    );
    options.margin_demand = 0.5;
    options.validate().unwrap();
}

#[test]
fn default_passes_are_bounded_both_ways() {
    assert_eq!(Options::default_epochs(10, 1), 10_000);
    assert_eq!(Options::default_epochs(10_000_000, 1), 30);
    assert_eq!(Options::default_epochs(10_000_000, 10), 30);
    assert_eq!(Options::default_epochs(1_000_000, 100), 30);
    assert_eq!(Options::default_epochs(usize::MAX, 1), 5);
}
