//! Rows from two-dimensional arrays.
#![cfg(feature = "ndarray")]

use ndarray::{Array1, array};
use rosenblatt::Classifier;

#[test]
fn arrays_are_fitted_and_predicted_whatever_their_layout() {
    let rows = array![[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]];
    let labels = Array1::from(vec![0, 0, 0, 1]);
    let classifier = Classifier::fit(&rows, &labels).unwrap();
    assert_eq!(classifier.predict(&rows).unwrap(), ["0", "0", "0", "1"]);
    // Columns one after the other, as a transposed array has them.
    let by_column = rows.t().as_standard_layout().to_owned().reversed_axes();
    assert_eq!(
        classifier.predict(&by_column).unwrap(),
        ["0", "0", "0", "1"]
    );
    let wider = array![[0.0, 0.0, 1.0]];
    assert!(classifier.predict(&wider).is_err());
    assert!(classifier.predict(&array![[0.0]]).is_err());
}
