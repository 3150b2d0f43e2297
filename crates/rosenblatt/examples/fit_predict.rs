//! Fit and predict in three lines.
#![allow(clippy::print_stdout)] // It is there to print.

use rosenblatt::{Classifier, Result};

fn main() -> Result<()> {
    let rows = [
        [5.1, 1.4],
        [4.9, 1.5],
        [6.4, 4.5],
        [6.9, 4.9],
        [6.3, 6.0],
        [5.8, 5.1],
    ];
    let kinds = [
        "setosa",
        "setosa",
        "versicolor",
        "versicolor",
        "virginica",
        "virginica",
    ];

    let classifier = Classifier::fit(&rows, kinds)?;
    let predicted = classifier.predict(&[[5.0, 1.3], [6.2, 5.8]])?;
    println!("{}", predicted.join(", "));

    assert_eq!(predicted, ["setosa", "virginica"]);
    Ok(())
}

#[test]
fn it_runs() {
    main().unwrap();
}
