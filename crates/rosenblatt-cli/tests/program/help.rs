//! What the program says of itself.

use crate::common::{Place, ok, run};

#[test]
fn every_command_has_help_with_an_example() {
    let help = ok(&["--help"]);
    let commands: Vec<&str> = help
        .lines()
        .skip_while(|line| !line.starts_with("Commands:"))
        .skip(1)
        .take_while(|line| !line.is_empty())
        // Lines further in go on with what a command does.
        .filter_map(|line| line.strip_prefix("  ").filter(|l| !l.starts_with(' ')))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .collect();
    assert!(commands.len() > 10, "{help}");
    for command in commands {
        let help = ok(&[command, "--help"]);
        let example = format!("rosenblatt {command}");
        let examples = help.split("Example").nth(1).unwrap_or_default();
        assert!(examples.contains(&example), "{help}");
    }
}

#[test]
fn what_a_model_has_settled_is_not_offered_and_refused_by_name() {
    let place = Place::new();
    let data = place.file("two.csv", "x,label\n2,a\n-1,b\n");
    let model = place.to("m.rbm");
    ok(&["train", &data, "-o", &model]);
    let of_training = ok(&["train", "--help"]);
    for command in ["predict", "test"] {
        let help = ok(&[command, "--help"]);
        for (option, value) in [
            ("--ignore", "x"),
            ("--column", "x=numeric"),
            ("--weight-column", "x"),
            ("--scale", "none"),
            ("--precision", "f64"),
            ("--validate", "0.5"),
        ] {
            assert!(of_training.contains(option));
            assert!(!help.contains(option), "{help}");
            let output = run(&[command, &model, &data, option, value]);
            let said = String::from_utf8(output.stderr).unwrap();
            let expected = format!("{option} was fixed when the model was trained");
            assert!(said.contains(&expected), "{said}");
            assert_eq!(output.status.code(), Some(2), "{said}");
        }
        assert!(help.contains("--label-map"), "{help}");
    }
}

#[test]
fn help_lists_no_option_that_the_command_refuses() {
    let place = Place::new();
    let data = place.file("two.csv", "x,z,label\n2,1,a\n-1,2,b\n3,1,a\n-2,2,b\n");
    // An option, a value that train takes, and the commands that have no use for it.
    let cases = [
        ("--validate", "0.5", "check logistic trace convert"),
        (
            "--validate-file",
            &data,
            "check logistic trace convert tune",
        ),
        ("--groups", "z", "check logistic trace convert"),
        ("--time", "z", "check logistic trace convert tune"),
        ("--scale", "standard", "check logistic"),
        ("--precision", "f32", "check logistic"),
        ("--patience", "2", "trace tune"),
        ("--metric", "macro-f1", "trace"),
        ("--keep", "best", "trace"),
        ("--hidden", "2", "trace"),
        ("--activation", "tanh", "trace"),
        ("--loss", "squared", "trace"),
        ("--batch-size", "2", "trace"),
        ("--restarts", "2", "trace"),
    ];
    for command in ["check", "logistic", "trace", "convert", "tune"] {
        let help = ok(&[command, "--help"]);
        for (option, value, refusing) in cases {
            let refused = refusing.split(' ').any(|name| name == command);
            let listed = help.contains(&format!(" {option} <"));
            let mut args = vec![command, &data];
            let out = place.to("out.svm");
            if command == "convert" {
                args.push(&out);
            }
            if !refused {
                // Of another command, or shown.
                let unknown =
                    String::from_utf8(run(&[&args[..], &[option, value]].concat()).stderr);
                let unknown = unknown.unwrap().contains("unexpected argument");
                assert_eq!(listed, !unknown, "{command} {option}");
                continue;
            }
            assert!(!listed, "{command} {option}: {help}");
            args.extend([option, value]);
            let output = run(&args);
            let said = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(2), "{command} {option}: {said}");
            assert!(!said.contains("unexpected argument"), "{said}");
            assert!(said.contains("; "), "no remedy: {said}");
        }
    }
    // What says nothing else than the command does is taken.
    ok(&["check", &data, "--scale", "none", "--precision", "f64"]);
}

#[test]
fn the_margin_of_a_noisy_set_is_told_as_that_before_the_noise() {
    let place = Place::new();
    for (noise, said) in [
        ("0", "margin of the known separator: "),
        (
            "0.2",
            "margin of the known separator, before labels were flipped: ",
        ),
    ] {
        let out = place.to("s.csv");
        let output = run(&[
            "generate",
            "separable",
            "-n",
            "50",
            "--margin",
            "0.1",
            "--noise",
            noise,
            "-o",
            &out,
        ]);
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(text.contains(said), "{text}");
    }
}
