//! Can a plane separate these points? A perceptron that stops by itself has proved it, and its
//! last weights bound the margin, and with it the number of updates that were ever possible.
#![allow(clippy::print_stdout)] // It is there to print.

use rosenblatt::options::Readout;
use rosenblatt::progress::Stop;
use rosenblatt::synthetic::{self, Kind, generate};
use rosenblatt::{Options, Result, Session};

fn main() -> Result<()> {
    let made = generate(&synthetic::Options {
        examples: Some(500),
        margin: Some(0.05),
        ..synthetic::Options::new(Kind::Separable)
    })?;
    let options = Options {
        readout: Some(Readout::Last),
        ..Options::default()
    };

    let fitted = Session::new(&options).train(&made.dataset)?;

    let progress = &fitted.model.progress;
    assert_eq!(progress.stop, Some(Stop::Separated));
    println!(
        "separated after {} passes and {} updates",
        progress.epochs(),
        progress.updates
    );
    if let (Some(margin), Some(most)) = (fitted.margin, fitted.updates_at_most) {
        println!(
            "the margin is at least {:.4}, so {most} updates are the most",
            margin.lower
        );
        assert!(progress.updates <= most);
    }
    Ok(())
}

#[test]
fn it_runs() {
    main().unwrap();
}
