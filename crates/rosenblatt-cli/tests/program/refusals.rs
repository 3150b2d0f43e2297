//! What would lose something, take for ever or mislead is refused or said before it is done.

use std::path::Path;

use crate::common::{AND, Place, ok, penguins, run, stderr};

/// Runs the program, which must end with this status and say these words.
fn refused(args: &[&str], status: i32, words: &[&str]) {
    let output = run(args);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(status), "{args:?}\n{said}");
    for word in words {
        assert!(said.contains(word), "{args:?}: no {word:?} in\n{said}");
    }
    assert!(!said.contains("panicked"), "{said}");
}

#[test]
fn two_outputs_are_two_files() {
    let place = Place::new();
    let data = place.file("and.csv", AND);
    let (model, twin) = (place.to("m.rbm"), place.to("./m.rbm"));
    refused(
        &["train", &data, "-o", &model, "--report", &twin],
        2,
        &["named twice"],
    );
    let cache = place.to("and.csv.rbc");
    refused(
        &["train", &data, "--cache", "-o", &cache],
        2,
        &["named twice"],
    );
    let made = place.to("made.csv");
    refused(
        &["generate", "separable", "-o", &made, "--separator", &made],
        2,
        &["named twice"],
    );
    for path in [&model, &cache, &made] {
        assert!(!Path::new(path).exists(), "{path}");
    }
    // A device is no file that could be replaced.
    ok(&[
        "generate",
        "separable",
        "-n",
        "9",
        "-o",
        &made,
        "--separator",
        "/dev/null",
    ]);
    let json = run(&["train", &data, "-o", "-", "--json"]);
    assert_eq!(json.status.code(), Some(2));
}

#[test]
fn what_does_not_train_holds_nothing_out() {
    let place = Place::new();
    let data = place.file("and.csv", AND);
    for command in ["check", "trace"] {
        refused(&[command, &data, "--validate", "0.5"], 2, &["--validate"]);
    }
    for name in ["a.svm", "a.rbc"] {
        let to = place.to(name);
        refused(
            &["convert", &data, &to, "--validate", "0.5"],
            2,
            &["--validate"],
        );
        assert!(!Path::new(&to).exists());
    }
}

#[test]
fn what_a_model_has_settled_is_not_settled_again() {
    let place = Place::new();
    let model = place.to("m.rbm");
    let (data, label) = (penguins(), ["--label", "species"]);
    let train = ["train", &data, "--positive", "Adelie", "-o", &model];
    ok(&[&train[..], &label].concat());
    refused(
        &["test", &model, &data, "--positive", "Gentoo"],
        2,
        &["--positive", "fixed when"],
    );
    let sparse = place.file("a.svm", "1 1:1\n-1 1:-1\n");
    ok(&["train", &sparse, "-o", &model]);
    refused(
        &["test", &model, &sparse, "--label", "zz"],
        2,
        &["--label", "libsvm"],
    );
}

#[test]
fn a_dry_run_leaves_no_cache() {
    let place = Place::new();
    let data = place.file("and.csv", AND);
    ok(&["train", &data, "--dry-run", "--cache"]);
    assert!(!Path::new(&place.to("and.csv.rbc")).exists());
}

#[test]
fn numbers_that_exact_arithmetic_cannot_hold_are_named() {
    let place = Place::new();
    for tiny in ["1e-999999999", "1e-100000"] {
        let data = place.file("tiny.svm", format!("1 1:1 2:1\n-1 1:{tiny} 2:1\n"));
        refused(
            &["check", &data],
            1,
            &["tiny.svm", "row 2", "decimal places"],
        );
    }
    let data = place.file("small.svm", "1 1:1e-400 2:1\n-1 1:-1 2:1\n");
    assert!(ok(&["check", &data]).contains("separable"));
}

#[test]
fn features_beyond_memory_are_refused_with_their_size() {
    let place = Place::new();
    let data = place.file("wide.svm", "1 4294967000:2\n-1 1:4\n");
    refused(
        &["train", &data],
        1,
        &["wide.svm", "4294967000 features", "GiB", "index"],
    );
    refused(&["train", &data, "--memory", "10M"], 1, &["GiB"]);
    refused(&["check", &data], 1, &["wide.svm", "4294967001 features"]);
    refused(
        &["convert", &data, &place.to("wide.csv")],
        2,
        &["cells", ".svm"],
    );
    refused(&["train", &data, "--threads", "65535"], 2, &["1024"]);
}

#[test]
fn numbers_that_lead_nowhere_are_refused() {
    let place = Place::new();
    let data = place.file("and.csv", AND);
    let margin = ["train", &data, "--learner", "max-margin", "--c"];
    refused(
        &[&margin[..], &["1e300"]].concat(),
        2,
        &["--c 1e300", "hard margin"],
    );
    for gap in ["nan", "-1", "inf"] {
        refused(&["check", &data, "--gap", gap], 2, &["at least 0"]);
    }
    let huge = place.file("huge.svm", "1 1:1e400\n-1 1:2\n");
    refused(
        &["train", &huge],
        1,
        &["huge.svm:1:5", "too large for f64", "rescale"],
    );
    let large = place.file("large.svm", "1 1:1e39\n-1 1:2\n");
    refused(
        &["train", &large],
        1,
        &["too large for f32", "--precision f64"],
    );
}

#[test]
fn a_header_alone_is_no_data() {
    let place = Place::new();
    let data = place.file("head.csv", "a,b,label\n");
    for command in ["train", "check"] {
        refused(&[command, &data], 1, &["head.csv", "header but no rows"]);
    }
}

#[test]
fn a_label_is_one_line() {
    let place = Place::new();
    let data = place.file("l.csv", "a,label\n1,\"p\nos\"\n2,n\n");
    refused(&["train", &data], 1, &["l.csv:2:5", "line end"]);
}

#[test]
fn a_column_of_numbers_with_one_that_is_none_is_warned_of() {
    let place = Place::new();
    let rows = |odd: &str| -> String {
        let row = |i: u32| match i {
            77 => format!("{odd},{}\n", i % 2),
            _ => format!("{},{}\n", f64::from(i * 37 % 101) / 8.0, i % 2),
        };
        (0..200).map(row).collect()
    };
    for (odd, warns) in [("inf", true), ("3.25", false), ("", false)] {
        let data = place.file("n.csv", format!("a,label\n{}", rows(odd)));
        let output = run(&["train", &data, "--epochs", "1"]);
        assert!(output.status.success());
        let said = stderr(&output);
        let named = said.contains("taken as missing, the first \"inf\" in row 78");
        assert_eq!(named, warns, "{odd}: {said}");
    }
}

/// A run of visits to none is a run of its start.
#[test]
fn a_start_that_separates_votes_for_itself() {
    let place = Place::new();
    let data = place.file("two.svm", "-1 1:-1\n+1 1:2\n");
    let model = place.to("m.rbm");
    let base = [
        "train",
        &data,
        "--order",
        "worst",
        "--readout",
        "voted",
        "-o",
        &model,
    ];
    for more in [
        &["--start", "0,1"][..],
        &["--kernel", "linear", "--start-dual", "0,1"],
    ] {
        let said = ok(&[&base, more].concat());
        assert!(said.contains("separated"), "{said}");
        assert_eq!(ok(&["predict", &model, &data]), "-1\n+1\n");
    }
}

/// Contradictory examples have a best plane that decides nothing.
#[test]
fn a_plane_without_weights_can_be_saved_and_used() {
    let place = Place::new();
    let rows = "-0.9,-1\n-0.4,-1\n0.3,+1\n-0.9,+1\n-0.4,+1\n0.3,-1\n";
    let data = place.file("nan.csv", format!("x1,label\n{rows}"));
    let model = place.to("m.rbm");
    let margin = [
        "--learner",
        "max-margin",
        "--kernel",
        "polynomial:3",
        "--bias",
        "lifted",
    ];
    let more = ["--c", "0.3", "--scale", "none", "-o", &model];
    let said = ok(&[&["train", &data][..], &margin, &more].concat());
    assert!(!said.contains("NaN"), "{said}");
    assert_eq!(ok(&["predict", &model, &data]).lines().count(), 6);
    ok(&["inspect", &model]);
}

#[test]
fn a_missing_file_is_said_to_be_missing_whatever_it_was_to_be() {
    let place = Place::new();
    let no = place.to("no.file");
    let words = ["no.file", "there is no such file", "check the path"];
    refused(&["predict", &no, &penguins()], 1, &words);
    refused(&["inspect", &no], 1, &words);
    refused(&["train", &no], 1, &words);
}

#[test]
fn files_of_another_kind_are_called_what_they_are() {
    let place = Place::new();
    let data = place.file("and.csv", AND);
    let (model, cache) = (place.to("m.rbm"), place.to("and.rbc"));
    ok(&["train", &data, "-o", &model]);
    ok(&["convert", &data, &cache]);
    let named = place.to("named.csv");
    std::fs::copy(&cache, &named).unwrap();
    for other in [&cache, &named] {
        for args in [&["predict", &model, other][..], &["check", other]] {
            refused(args, 2, &["only train reads it", "it was made from"]);
        }
    }
    let whole = std::fs::read(&model).unwrap();
    let cut = place.to("cut.rbm");
    for (bytes, what) in [
        (0, "it is empty"),
        (100, "its head has 92 of"),
        (whole.len() - 1, "its arrays have"),
    ] {
        std::fs::write(&cut, &whole[..bytes]).unwrap();
        let words = ["ends too early", what, "train it anew"];
        refused(&["inspect", &cut], 1, &words);
    }
    let picture = place.to("distance.pdf");
    refused(
        &["figure", "distance", "-o", &picture],
        2,
        &[".svg or .png instead of .pdf"],
    );
    assert!(!Path::new(&picture).exists());
}

#[cfg(not(feature = "png"))]
#[test]
fn a_build_without_png_says_how_to_get_it_before_any_work() {
    let place = Place::new();
    let words = ["this build draws no PNG", ".svg", "--features png"];
    let picture = place.to("p.png");
    refused(&["figure", "distance", "-o", &picture], 2, &words);
    let missing = place.to("not-looked-for.csv");
    refused(&["trace", &missing, "--plot", &picture], 2, &words);
    assert!(!Path::new(&picture).exists());
}

#[test]
fn values_of_a_kernel_are_taken_as_they_are() {
    let place = Place::new();
    let gram = place.file("gram.csv", "a,b,y\n1,0.5,1\n0.5,1,-1\n");
    let train = [
        "train",
        &gram,
        "--learner",
        "kernel",
        "--kernel",
        "precomputed",
    ];
    let said = ok(&train);
    // Of the rows (1, ½) and (½, 1) as they are: -1 is corrected first or second, then +1.
    assert!(said.contains("2 updates"), "{said}");
    assert!(!said.contains("scaling"), "{said}");
    let scaled = [&train[..], &["--scale", "standard"]].concat();
    refused(&scaled, 2, &["cannot be scaled", "leave --scale out"]);
}

#[test]
fn names_with_commas_stand_in_quotes() {
    let place = Place::new();
    let data = place.file("d.csv", "a b,\"c,d\",y\n1,2,n\n3,4,p\n2,2,n\n5,4,p\n");
    let all = ok(&["train", &data]);
    assert!(all.contains("2 features"), "{all}");
    let fewer = ok(&["train", &data, "--ignore", "\"c,d\""]);
    assert!(fewer.contains("1 feature"), "{fewer}");
    let kinds = ok(&["train", &data, "--column", "\"c,d\"=category,a b=numeric"]);
    assert!(kinds.contains("category"), "{kinds}");
}

#[cfg(unix)]
#[test]
fn any_name_of_a_file_can_be_said_in_json() {
    use std::os::unix::ffi::OsStrExt;
    let place = Place::new();
    let data = place.file("and.csv", AND);
    for more in [&[][..], &["--kernel", "quadratic"]] {
        let path = place
            .path("x")
            .with_file_name(std::ffi::OsStr::from_bytes(b"bad\xff.json"));
        let output = crate::common::program(&["check", &data, "--json"])
            .args(more)
            .arg("--certificate")
            .arg(&path)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap();
        assert!(path.exists());
    }
}

#[test]
fn inspect_gives_the_reason_that_train_gave() {
    let place = Place::new();
    let (data, model) = (place.file("and.csv", AND), place.to("m.rbm"));
    let said = ok(&[
        "train",
        &data,
        "--learner",
        "max-margin",
        "--c",
        "1",
        "-o",
        &model,
    ]);
    let reason = "the duality gap is within the tolerance";
    assert!(said.contains(reason), "{said}");
    let said = ok(&["inspect", &model]);
    assert!(said.contains(reason), "{said}");
}

#[test]
fn columns_at_both_ends_of_what_floats_hold_are_decided() {
    let place = Place::new();
    let rows = (0..24).map(|i| {
        let label = if i > 12 { "p" } else { "n" };
        format!(
            "{:e},{:e},{label}\n",
            f64::from(i - 12) * 1e306,
            f64::from(i) * 1e-320
        )
    });
    let data = place.file("ends.csv", format!("a,b,y\n{}", rows.collect::<String>()));
    let proof = place.to("proof.json");
    let said = ok(&["check", &data, "--certificate", &proof]);
    assert!(said.contains("separable: a hyperplane"), "{said}");
    assert_eq!(said.matches("no unique limit").count(), 3, "{said}");
    ok(&["verify", &proof, &data]);
}
