//! Watch a perceptron learn Boolean AND, visit by visit.
#![allow(clippy::print_stdout)] // It is there to print.

use rosenblatt::data::{Classes, Dataset, Matrix};
use rosenblatt::options::{Order, Readout};
use rosenblatt::training::{Callback, Step};
use rosenblatt::{Options, Result, Session};

/// Prints every visit and counts the mistakes.
#[derive(Default)]
struct Trace {
    mistakes: usize,
}

impl Callback for Trace {
    fn wants_steps(&self) -> bool {
        true
    }

    fn wants_weights(&self) -> bool {
        true
    }

    fn step(&mut self, step: Step) {
        self.mistakes += usize::from(!step.correct);
        println!(
            "row {}: score {:2}, {} now {:?}",
            step.row,
            step.scores[0],
            if step.correct { "right," } else { "wrong," },
            step.weights_after
        );
    }
}

fn main() -> Result<()> {
    let matrix = Matrix::dense(4, 2, vec![0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0])?;
    let data = Dataset::new(
        matrix,
        vec![0, 0, 0, 1],
        Classes::from_labels(["no", "yes"]),
        None,
    )?;
    let options = Options {
        order: Order::Given,
        readout: Some(Readout::Last),
        ..Options::default()
    };

    let mut trace = Trace::default();
    let fitted = Session::new(&options).train_with(&data, &mut trace)?;

    assert_eq!(trace.mistakes, 18);
    assert_eq!(fitted.model.accuracy(&data, 1)?, 1.0);
    Ok(())
}

#[test]
fn it_runs() {
    main().unwrap();
}
