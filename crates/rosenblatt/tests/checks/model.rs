//! A model file as it is, the same with its digest put right, or a script that edits one.
//!
//! A script starts with `edit` and the number of a model; then each line changes a part:
//!
//! ```text
//! edit 3
//! fact scheme {"argmax":{"classes":3}}
//! f64 weights 1 2 3
//! text classes.bytes abc
//! drop bias
//! ```

use std::io::Cursor;
use std::sync::OnceLock;

use rosenblatt::Options;
use rosenblatt::Session;
use rosenblatt::data::{Layout, Matrix, Precision};
use rosenblatt::model::{Decision, LinearState, Model, Parts, seal};
use rosenblatt::read::{ColumnKind, Format, Preparation, ReadOptions, Scale, read_from};

use super::{check_error, in_batches};

pub fn check(data: &[u8]) {
    if let Some(script) = data.strip_prefix(b"edit ") {
        load(&edited(&String::from_utf8_lossy(script)));
        return;
    }
    load(data);
    let mut sealed = data.to_vec();
    if seal(&mut sealed) {
        load(&sealed);
    }
}

fn load(bytes: &[u8]) {
    match Model::from_bytes(bytes) {
        Err(error) => drop(check_error(&error)),
        Ok(model) => match Preparation::of_model(&model) {
            Err(error) => drop(check_error(&error)),
            Ok(preparation) => check_model(&model, preparation.as_ref()),
        },
    }
}

fn check_model(model: &Model, preparation: Option<&Preparation>) {
    assert!(model.classes.len() >= 2);
    assert_eq!(model.classes.len(), model.scheme.classes());
    if let Decision::Linear(weights) = &model.decision {
        assert!(weights.is_finite());
    }
    if let Some(state) = &model.state {
        check_state(state);
    }
    check_predictions(model);
    let bytes = model.to_bytes().expect("what was read can be written");
    let again = Model::from_bytes(&bytes).expect("what was written can be read");
    let same = again.to_bytes().expect("what was read can be written");
    assert!(bytes == same, "a model changes on its way through a file");
    if let Some(preparation) = preparation {
        assert_eq!(preparation.features(), model.features());
        let again = Preparation::of_model(&again).expect("what was written can be read");
        assert_eq!(again.as_ref(), Some(preparation));
        let _ = preparation.feature_names();
        meet_files(model, preparation);
    }
}

fn check_state(state: &LinearState) {
    let finite = |list: &[f64]| list.iter().all(|x| x.is_finite());
    assert!(state.unit.is_finite() && state.weights.is_finite());
    assert!(state.norms.iter().all(|n| finite(n)));
    assert!(state.average.iter().all(|a| finite(&a.factor)));
    for entry in state.log.iter().flat_map(|log| &log.entries) {
        assert!(entry.coefficient.is_finite());
        assert!(entry.divisor.is_finite() && entry.divisor != 0.0);
    }
}

fn check_predictions(model: &Model) {
    let width = model.features();
    let mut rows = Matrix::empty_sparse(width, Precision::F64);
    rows.push_sparse([]);
    rows.push_sparse((0..width.min(1000)).map(|j| (j as u32, 1.0)));
    if let Some(last) = width.checked_sub(1) {
        rows.push_sparse([(last as u32, -1e300)]);
    }
    if let Err(error) = model.predict(&rows, 1) {
        // Scores beyond all numbers are refused, by all that ask for them.
        assert!(
            check_error(&error).contains("no number to decide by"),
            "{error}"
        );
        assert!(model.scores(&rows, 2).is_err());
        return;
    }
    let predict = |rows, threads| model.predict(rows, threads).expect("the width is right");
    let predicted = predict(&rows, 1);
    assert_eq!(predicted, predict(&rows, 2));
    let known = model.classes.len();
    assert!(predicted.iter().all(|&c| (c as usize) < known));
    let scores_of = |threads| model.scores(&rows, threads).expect("the width is right");
    let scores = scores_of(1);
    let mut scorer = model.scorer();
    let one_by_one: Vec<f64> = (0..rows.rows())
        .flat_map(|i| scorer.scores(rows.row(i)).to_vec())
        .collect();
    let bits = |list: &[f64]| -> Vec<u64> {
        // Which of several NaNs it is, is not promised.
        let bits = |x: &f64| if x.is_nan() { u64::MAX } else { x.to_bits() };
        list.iter().map(bits).collect()
    };
    assert_eq!(bits(&scores), bits(&one_by_one));
    assert_eq!(bits(&scores), bits(&scores_of(2)));
    if width < 1000 {
        let dense = [vec![0.0; width], vec![1.0; width]];
        let dense = Matrix::dense_from_rows(width, &dense, Precision::F64);
        assert_eq!(predict(&dense, 1), predicted[..2]);
    }
}

/// A preparation from a file meets files.
fn meet_files(model: &Model, preparation: &Preparation) {
    let files: [&[u8]; 5] = [
        b"1 1:1 3:2\n-1\n",
        b"size,colour,text,label\n1,red,the fox,a\n,,,b\n\"x\ny\",1e30,\"\"\"\",\n",
        b"1,2\n3,4\n",
        b"\0\0\x08\x03\0\0\0\x01\0\0\0\x01\0\0\0\x02ab",
        b"\n",
    ];
    for file in files {
        let options = ReadOptions {
            threads: 1,
            chunk_bytes: 64,
            ..ReadOptions::default()
        };
        if let Err(error) = in_batches(file, "f", preparation, &model.classes, &options) {
            check_error(&error);
        }
    }
}

/// A model of several that the script's first line chooses, changed as it says.
fn edited(script: &str) -> Vec<u8> {
    static MODELS: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    let models = MODELS.get_or_init(samples);
    let mut lines = script.lines();
    let number: usize = lines
        .next()
        .and_then(|n| n.trim().parse().ok())
        .unwrap_or(0);
    let mut parts = Parts::from_bytes(&models[number % models.len()]).expect("a good model");
    for line in lines {
        edit(&mut parts, line);
    }
    // Random directions for so many features are made in time, but not in a fuzzer's.
    if let Ok(inputs) = parts.clone().take_fact::<u64>("embedding.inputs")
        && (1 << 14..1 << 32).contains(&inputs)
    {
        return Vec::new();
    }
    parts.to_bytes().unwrap_or_default()
}

fn edit(parts: &mut Parts, line: &str) {
    let mut words = line.splitn(3, ' ');
    let (Some(what), Some(name)) = (words.next(), words.next()) else {
        return;
    };
    let rest = words.next().unwrap_or_default();
    fn list<T: std::str::FromStr>(rest: &str) -> Vec<T> {
        rest.split(' ').filter_map(|w| w.parse().ok()).collect()
    }
    match what {
        "fact" => {
            if let Ok(value) = serde_json::from_str::<serde_json::Value>(rest) {
                parts.put_fact(name, value);
            }
        }
        "text" => parts.put(name, rest.as_bytes().to_vec()),
        "u8" => parts.put(name, list::<u8>(rest)),
        "u32" => parts.put(name, list::<u32>(rest)),
        "u64" => parts.put(name, list::<u64>(rest)),
        "f32" => parts.put(name, list::<f32>(rest)),
        "f64" => parts.put(name, list::<f64>(rest)),
        "drop" => {
            let _ = parts.take_fact::<serde_json::Value>(name);
            let _ = parts.take::<u8>(name);
        }
        _ => {}
    }
}

/// Small models of every sort.
pub fn samples() -> Vec<Vec<u8>> {
    let libsvm = "1 1:1 3:-2.5\n-1 2:1\n1 3:0.125\n-1 1:3\n";
    let three = "a 1:1\nb 2:1\nc 1:-1 2:-1\na 1:2\n";
    let wide = "1 1:1 5000:-2.5\n-1 2:1\n1 4096:0.125\n-1 1:3\n";
    let wide_three = "a 1:1\nb 4999:1\nc 1:-1 5003:-1\na 1:2\n";
    let table = "size,colour,text,label\n1.5,red,the fox,a\n,blue,the dog,b\n2,,...,a\n";
    let plain = "1,2,x\n3,4,y\n5,6,x\n";
    let cases = [
        (libsvm, "readout=averaged"),
        (libsvm, "readout=voted"),
        (libsvm, "readout=last"),
        (three, "readout=averaged"),
        (three, "readout=voted"),
        (three, "readout=voted multiclass=ovo"),
        (three, "readout=pocket multiclass=ovr"),
        (table, "readout=averaged"),
        (plain, "readout=last"),
        (libsvm, "learner=kernel kernel=rbf:0.5 readout=averaged"),
        (three, "learner=kernel kernel=polynomial:2 readout=voted"),
        (
            plain,
            "learner=kernel kernel=quadratic readout=averaged-normalised",
        ),
        (libsvm, "embed=fourier:3,0.5"),
        (plain, "embed=nystrom:2,0.5"),
        (three, "embed=monomials:2 readout=voted"),
        (plain, "learner=network hidden=2,3"),
        (three, "learner=network hidden=2 activation=tanh"),
        (plain, "learner=linear-unit"),
        // Of so many features only those with weights are kept.
        (wide, "readout=averaged"),
        (wide_three, "readout=voted"),
    ];
    cases
        .iter()
        .map(|(text, told)| sample(text, told))
        .collect()
}

fn sample(text: &str, told: &str) -> Vec<u8> {
    let is_table = text.contains(',');
    let mut options = ReadOptions {
        format: Some([Format::Libsvm, Format::Csv][usize::from(is_table)]),
        threads: 1,
        ..ReadOptions::default()
    };
    if text.contains("text") {
        options.columns = vec![
            ("colour".to_owned(), ColumnKind::Category),
            ("text".to_owned(), ColumnKind::Text),
        ];
    }
    let scale = is_table.then_some(Scale::Standard);
    let raw = read_from(Cursor::new(text.as_bytes().to_vec()), "model", &options)
        .expect("a good training file");
    let preparation = Preparation::fit(&raw, None, scale).expect("a good training file");
    let data = raw
        .dataset(&preparation, None, Layout::AsGiven)
        .expect("a good training file");
    let mut options = Options {
        epochs: Some(3),
        ..Options::default()
    };
    for (name, value) in told.split(' ').filter_map(|t| t.split_once('=')) {
        options.set(name, value).expect("a good option");
    }
    let mut model = Session::new(&options)
        .threads(1)
        .train(&data)
        .expect("good data")
        .model;
    preparation.store_in(&mut model);
    model.to_bytes().expect("a good model")
}
