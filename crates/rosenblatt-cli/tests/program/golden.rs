//! Runs with every option spelled out give the very numbers that version 0.1.0 gave: each tensor
//! of the model, each score, each count. Models and certificates that 0.1.0 wrote still serve.
//!
//! `golden/expected.txt` was written by 0.1.0. A line is a run: its name, which is the data and
//! the options that differ from [`options`], then what is held about it. Only what stands there
//! is compared, so a later version may say and save more. To write such a file with a program:
//!
//! ```text
//! ROSENBLATT_BIN=./rosenblatt ROSENBLATT_GOLDEN_WRITE=new.txt cargo test -p rosenblatt-cli --test program golden
//! ```

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::{Place, penguins};
use sha2::{Digest, Sha256};

/// What each run is named after, and what is held about it.
type Facts = BTreeMap<String, String>;

/// Data that `generate` makes: the file, then its arguments.
const GENERATED: &str = "
sphere.svm      separable -n 300 -d 10 --margin 0.05 --seed 1
noisy.csv       separable -n 500 -d 8 --margin 0.02 --noise 0.1 --seed 2
double.csv      separable -n 200 -d 5 --margin 0.03 --precision f64 --seed 3
long.svm        separable -n 3000 -d 40 --margin 0.01 --noise 0.05 --seed 4
words.svm       sparse -n 600 -d 4000 --non-zeros 25 --seed 5
many-words.svm  sparse -n 2500 -d 100000 --non-zeros 40 --noise 0.02 --seed 6
classes.csv     classes -n 300 -d 6 -k 4 --margin 0.03 --seed 7
classes.svm     classes -n 400 -d 20 -k 11 --margin 0.01 --noise 0.05 --seed 8
blobs.tsv       blobs -n 240 -d 3 -k 3 --spread 0.8 --seed 9
pair.svm        blobs -n 400 -d 2 -k 2 --spread 0.9 --seed 10
blobs-2.csv     blobs -n 160 -d 3 -k 2 --spread 1 --seed 13
moons.csv       moons -n 150 --noise 0.02 --seed 11
circles.csv     circles -n 120 --seed 12
xor.csv         xor
and.csv         and
critics.csv     critics
eight.csv       eight-points
grid.csv        grid
middle.csv      grid-middle
equal.csv       grid-equal
margin-zero.csv margin-zero
margin-tiny.csv margin-tiny
collinear.csv   collinear
wide-range.csv  wide-range
contra.csv      contradiction
quasi.csv       quasi
";

/// Runs beside those that [`runs`] composes: data, then options that differ from [`options`].
/// `resume-after=N` trains N passes, then resumes; `cache` trains twice, the second time from the
/// cache; `penguins` is the table in `examples`.
const RUNS: &str = "
sphere.svm bias=none
sphere.svm bias=unlifted
sphere.svm bias=unlifted:0.5 readout=last
sphere.svm bias=none normalise-weights readout=last
sphere.svm normalise-weights
sphere.svm normalise-weights readout=voted
sphere.svm start=random:2.5 readout=last
sphere.svm start=0.5,1,-1,2,-2,0.25,0,3,-3,0.125,1 readout=last
sphere.svm start=random:1 bias=none readout=averaged
sphere.svm margin-demand=0.5
sphere.svm margin-demand=2 learning-rate=0.25 readout=pocket
sphere.svm learning-rate=0.1
sphere.svm learning-rate=3 readout=averaged-normalised
sphere.svm at-zero=negative ties=positive readout=last epochs=1
sphere.svm max-updates=17 readout=last
sphere.svm scale=standard
sphere.svm scale=minmax precision=f64
sphere.svm scale=unit-rows
sphere.svm precision=f64 readout=averaged
sphere.svm threads=1
sphere.svm threads=3
sphere.svm seed=12345
noisy.csv class-weight=balanced
noisy.csv class-weight=+1=3,-1=0.5 readout=last
noisy.csv class-weight=balanced readout=voted
noisy.csv class-weight=balanced readout=pocket margin-demand=1
noisy.csv scale=standard validate=0.2 keep=last
noisy.csv scale=standard validate=0.25 patience=2 epochs=40 keep=last
noisy.csv scale=minmax readout=random
noisy.csv precision=f64
noisy.csv precision=f64 readout=voted order=random
noisy.csv order=restart readout=last epochs=40
pair.svm order=worst readout=averaged epochs=20
noisy.csv order=mistakes readout=pocket
noisy.csv label-map=+1=yes,-1=no
double.csv precision=f64
double.csv precision=f32
double.csv precision=f64 readout=averaged-normalised bias=unlifted:2
double.csv precision=f64 scale=standard learning-rate=0.3
long.svm epochs=3
long.svm epochs=3 readout=last
long.svm epochs=3 readout=voted
long.svm epochs=3 readout=pocket
long.svm epochs=2 order=random readout=random
long.svm epochs=3 order=given precision=f64
long.svm epochs=3 order=by-class readout=averaged-normalised
long.svm epochs=2 margin-demand=0.2 learning-rate=0.01
long.svm epochs=2 normalise-weights readout=last
long.svm epochs=5 threads=1
long.svm epochs=5 threads=4
words.svm readout=last
words.svm readout=averaged
words.svm readout=voted
words.svm readout=pocket
words.svm readout=random
words.svm readout=averaged-normalised
words.svm bias=none order=given
words.svm bias=unlifted readout=averaged-normalised
words.svm margin-demand=1 learning-rate=0.5
words.svm normalise-weights readout=last
words.svm scale=unit-rows
words.svm scale=standard
words.svm precision=f64 order=random
words.svm start=random:1
words.svm class-weight=balanced validate=0.1 keep=last
words.svm cache
words.svm cache precision=f64 readout=last
many-words.svm epochs=3
many-words.svm epochs=3 readout=last
many-words.svm epochs=3 readout=last threads=1
many-words.svm epochs=3 readout=averaged-normalised
many-words.svm epochs=3 readout=pocket
many-words.svm epochs=2 order=random
many-words.svm epochs=3 order=given
many-words.svm epochs=3 cache
many-words.svm epochs=3 cache threads=1 readout=last
classes.csv multiclass=argmax class-weight=balanced
classes.csv multiclass=argmax margin-demand=0.3 learning-rate=0.5
classes.csv multiclass=argmax normalise-weights readout=last
classes.csv multiclass=argmax start=random:1 order=given
classes.csv multiclass=argmax ties=positive readout=last
classes.csv multiclass=argmax ties=correct start=random:0.5 readout=last
classes.csv multiclass=argmax precision=f64 scale=standard
classes.csv multiclass=ovr normalise-weights margin-demand=0.1
classes.csv multiclass=ovo bias=unlifted learning-rate=2
classes.csv multiclass=ovr order=random class-weight=balanced
classes.csv multiclass=ovo order=given precision=f64
classes.csv positive=2
classes.svm multiclass=argmax
classes.svm multiclass=argmax readout=last bias=none
classes.svm multiclass=argmax readout=voted epochs=3
classes.svm multiclass=argmax order=worst epochs=3
classes.svm multiclass=argmax order=mistakes readout=pocket epochs=2
classes.svm multiclass=ovr readout=last
classes.svm multiclass=ovo readout=averaged
classes.svm multiclass=argmax cache
blobs.tsv multiclass=argmax scale=standard
blobs.tsv multiclass=ovr scale=minmax readout=pocket
blobs.tsv multiclass=ovo scale=unit-rows readout=voted
gaps.svm readout=averaged
gaps.svm readout=voted order=given
gaps.svm.gz readout=averaged
gaps.svm.bz2 readout=averaged
gaps.svm.xz readout=averaged
gaps.svm.zst readout=averaged
mixed.csv label=class multiclass=argmax scale=standard column=id=numeric term-weights=counts
mixed.csv label=class multiclass=ovr scale=standard ignore=id term-weights=counts readout=voted
mixed.csv label=class multiclass=ovo scale=minmax column=id=ignore column=size=category term-weights=counts
mixed.csv label=colour multiclass=argmax scale=none column=id=numeric column=class=category
mixed.csv label=class multiclass=argmax scale=standard column=id=numeric term-weights=counts cache
mixed.csv label=class multiclass=argmax scale=none precision=f64 column=id=category
plain.tsv label=target scale=standard
plain.tsv label=0 scale=none header=yes readout=last
weights.csv label=y weight-column=importance scale=standard
weights.csv label=y weight-column=importance scale=none readout=last order=given
weights.csv label=y weight-column=importance scale=none readout=voted class-weight=balanced
weights.csv label=y weight-column=importance scale=none normalise-weights bias=unlifted
weights.csv label=y weight-column=importance scale=none order=mistakes readout=pocket
tiny-images-idx3-ubyte multiclass=argmax
tiny-images-idx3-ubyte multiclass=ovo readout=last learning-rate=0.5
lattice.svm readout=last order=given epochs=30
lattice.svm readout=averaged epochs=30
lattice.svm readout=last learning-rate=0.5 ties=correct bias=none start=2,1,1 epochs=30
penguins label=species multiclass=argmax scale=standard
penguins label=species multiclass=ovr scale=standard readout=pocket
penguins label=species multiclass=ovo scale=minmax readout=voted
penguins label=species positive=Gentoo scale=standard readout=averaged-normalised
penguins label=species multiclass=argmax scale=standard validate=0.2 patience=3 epochs=20 keep=last
penguins label=sex multiclass=argmax scale=standard on-error=skip
sphere.svm resume-after=2 readout=last
sphere.svm resume-after=2 readout=averaged
sphere.svm resume-after=2 readout=voted
noisy.csv resume-after=3 readout=pocket order=random
noisy.csv resume-after=3 readout=random
words.svm resume-after=2 readout=averaged-normalised
classes.csv resume-after=2 multiclass=argmax
classes.csv resume-after=2 multiclass=ovr readout=voted
penguins resume-after=2 label=species multiclass=ovo scale=standard
noisy.csv resume-after=2 order=worst epochs=20
pair.svm embed=monomials:2 bias=none
pair.svm embed=monomials:3 bias=none readout=last
circles.csv embed=circle bias=lifted
circles.csv embed=squares bias=lifted readout=voted
moons.csv embed=fourier:40,1.5 bias=lifted
moons.csv embed=nystrom:25,2 bias=lifted readout=pocket
blobs.tsv embed=monomials:2 bias=none multiclass=argmax scale=standard
blobs.tsv embed=fourier:16,0.5 bias=lifted multiclass=ovo scale=standard
sphere.svm embed=nystrom:20,0.5 bias=lifted precision=f64
words.svm embed=fourier:12,0.1 bias=lifted epochs=2
xor.csv embed=monomials:2 bias=none readout=last order=given epochs=30
and.csv readout=last order=given epochs=20
critics.csv readout=last order=given epochs=50
grid.csv readout=last order=given epochs=30
pair.svm learner=kernel kernel=linear
pair.svm learner=kernel kernel=linear bias=lifted readout=averaged
pair.svm learner=kernel kernel=quadratic readout=averaged
pair.svm learner=kernel kernel=rbf:0.5 readout=averaged-normalised
pair.svm learner=kernel kernel=rbf:0.5 readout=voted
pair.svm learner=kernel kernel=rbf:0.5 readout=random
pair.svm learner=kernel kernel=rbf:0.5 readout=pocket
pair.svm learner=kernel kernel=rbf:0.5 readout=averaged threads=1
pair.svm learner=kernel kernel=rbf:0.5 readout=averaged memory=200K
moons.csv learner=kernel kernel=polynomial:3,0.5,1
moons.csv learner=kernel kernel=polynomial:2
moons.csv learner=kernel kernel=geometric:4 readout=averaged
moons.csv learner=kernel kernel=monomial:3
moons.csv learner=kernel kernel=rbf:2 order=given
moons.csv learner=kernel kernel=laplacian:1 readout=averaged
moons.csv learner=kernel kernel=sigmoid:0.1,0.5
moons.csv learner=kernel kernel=rbf:2 order=random readout=voted
moons.csv learner=kernel kernel=rbf:2 order=mistakes
moons.csv learner=kernel kernel=rbf:2 order=worst epochs=30
moons.csv learner=kernel kernel=rbf:2 order=restart epochs=60
moons.csv learner=kernel kernel=rbf:2 order=by-class readout=averaged
moons.csv learner=kernel kernel=rbf:2 ties=positive at-zero=negative
moons.csv learner=kernel kernel=rbf:2 ties=correct margin-demand=0.01
moons.csv learner=kernel kernel=rbf:2 learning-rate=0.5 margin-demand=0.4
moons.csv learner=kernel kernel=rbf:2 class-weight=balanced bias=lifted
moons.csv learner=kernel kernel=rbf:2 precision=f64 scale=standard
moons.csv learner=kernel kernel=rbf:2 resume-after=2 readout=averaged
moons.csv learner=kernel kernel=rbf:2 resume-after=2 readout=voted
circles.csv learner=kernel kernel=quadratic order=given
xor.csv learner=kernel kernel=quadratic order=given epochs=30
xor.csv learner=kernel kernel=quadratic order=given epochs=30 start-dual=1,-0.5,0.25,2
gram.csv learner=kernel kernel=precomputed label=y order=given
gram.csv learner=kernel kernel=precomputed label=y readout=averaged
gaps.svm learner=kernel kernel=rbf:0.01
words.svm learner=kernel kernel=linear epochs=3
words.svm learner=kernel kernel=polynomial:2,0.1,1 epochs=2 readout=averaged
weights.csv learner=kernel kernel=rbf:0.3 label=y weight-column=importance
blobs.tsv learner=kernel kernel=rbf:1 multiclass=argmax
blobs.tsv learner=kernel kernel=rbf:1 multiclass=ovr readout=averaged
blobs.tsv learner=kernel kernel=rbf:1 multiclass=ovo readout=voted
penguins learner=kernel kernel=quadratic label=species multiclass=argmax scale=standard readout=averaged
noisy.csv learner=linear-unit gradient=batch learning-rate=0.05
noisy.csv learner=linear-unit gradient=batch learning-rate=auto
noisy.csv learner=linear-unit gradient=stochastic learning-rate=0.01
noisy.csv learner=linear-unit gradient=stochastic learning-rate=0.05 decay=0.001
noisy.csv learner=linear-unit gradient=stochastic learning-rate=auto decay=0.01 order=random
noisy.csv learner=linear-unit gradient=batch learning-rate=0.05 bias=none
noisy.csv learner=linear-unit gradient=batch learning-rate=auto epochs=2000 tolerance=0.001
words.svm learner=linear-unit gradient=batch learning-rate=0.01 epochs=10
words.svm learner=linear-unit gradient=stochastic learning-rate=0.01 epochs=5 precision=f64
classes.csv learner=linear-unit gradient=batch learning-rate=0.05 multiclass=ovr
classes.csv learner=linear-unit gradient=stochastic learning-rate=0.02 multiclass=ovr
noisy.csv learner=linear-unit gradient=batch learning-rate=0.05 resume-after=10
noisy.csv learner=linear-unit gradient=stochastic learning-rate=0.02 decay=0.001 resume-after=10
weights.csv learner=linear-unit gradient=batch learning-rate=0.05 label=y weight-column=importance
pair.svm learner=linear-unit gradient=batch learning-rate=auto embed=monomials:2 bias=none
sphere.svm learner=linear-unit gradient=stochastic learning-rate=0.1 start=random:1 order=given
sphere.svm learner=max-margin c=none
sphere.svm learner=max-margin c=none bias=none
sphere.svm learner=max-margin c=none bias=unlifted
noisy.csv learner=max-margin c=1
noisy.csv learner=max-margin c=0.1 bias=none
noisy.csv learner=max-margin c=10 bias=unlifted
noisy.csv learner=max-margin c=1 precision=f64 scale=standard tolerance=0.001
noisy.csv learner=max-margin c=1 class-weight=balanced
words.svm learner=max-margin c=1
lattice.svm learner=max-margin c=none
weights.csv learner=max-margin c=2 label=y weight-column=importance
classes.csv learner=max-margin c=1 multiclass=ovr
classes.csv learner=max-margin c=5 multiclass=ovo
moons.csv learner=max-margin c=none kernel=rbf:2 bias=none
moons.csv learner=max-margin c=1 kernel=rbf:1 bias=none
moons.csv learner=max-margin c=1 kernel=rbf:1 bias=lifted
moons.csv learner=max-margin c=1 kernel=rbf:1 bias=unlifted
moons.csv learner=max-margin c=1 kernel=quadratic bias=unlifted
blobs.tsv learner=max-margin c=1 kernel=rbf:1 bias=none multiclass=ovo
blobs.tsv learner=max-margin c=1 kernel=polynomial:2 bias=lifted multiclass=ovr
gram.csv learner=max-margin c=1 kernel=precomputed bias=none label=y
circles.csv learner=max-margin c=none embed=squares
penguins learner=max-margin c=1 label=species multiclass=ovo scale=standard
penguins learner=max-margin c=none label=species positive=Gentoo scale=standard
moons.csv learner=network hidden=8 activation=relu loss=softmax
moons.csv learner=network hidden=6,4 activation=tanh loss=softmax
moons.csv learner=network hidden=8 activation=relu loss=squared
moons.csv learner=network hidden=5 activation=tanh loss=squared batch-size=1 epochs=3
xor.csv learner=network hidden=4 activation=tanh loss=softmax batch-size=4 epochs=300 restarts=3
blobs.tsv learner=network hidden=10 activation=relu loss=softmax batch-size=7
classes.svm learner=network hidden=16,8 activation=relu loss=softmax epochs=5
words.svm learner=network hidden=6 activation=relu loss=softmax epochs=3
penguins learner=network hidden=8 activation=tanh loss=softmax label=species scale=standard
noisy.csv learner=network hidden=6 activation=relu loss=softmax class-weight=balanced
noisy.csv learner=network hidden=6 activation=relu loss=softmax validate=0.2 patience=3
long.svm learner=network hidden=20 activation=relu loss=softmax epochs=2 precision=f64
";

const READOUTS: [&str; 6] = [
    "last",
    "averaged",
    "averaged-normalised",
    "voted",
    "random",
    "pocket",
];
const TIES: [&str; 3] = ["mistake", "positive", "correct"];
const ORDERS: [&str; 7] = [
    "given", "by-class", "shuffled", "random", "mistakes", "worst", "restart",
];

/// Every option of a learner with the value it has unless a run says otherwise.
fn options(learner: &str) -> &'static str {
    match learner {
        "perceptron" => {
            "readout=averaged epochs=6 ties=mistake learning-rate=1 margin-demand=0 bias=lifted \
             order=shuffled start=zero class-weight=none at-zero=positive scale=none \
             precision=f32 seed=1"
        }
        "kernel" => {
            "readout=last epochs=6 ties=mistake learning-rate=1 margin-demand=0 bias=none \
             order=shuffled class-weight=none at-zero=positive scale=none precision=f32 seed=1"
        }
        "linear-unit" => {
            "readout=last epochs=30 decay=0 tolerance=0.000001 bias=lifted order=shuffled \
             start=zero class-weight=none at-zero=positive scale=none precision=f32 seed=1"
        }
        "max-margin" => {
            "readout=last epochs=1000 tolerance=0.000001 bias=lifted class-weight=none \
             at-zero=positive scale=none precision=f32 seed=1"
        }
        "network" => {
            "readout=last epochs=12 batch-size=16 restarts=1 learning-rate=0.01 class-weight=none \
             scale=none precision=f32 seed=1"
        }
        other => panic!("no options for {other}"),
    }
}

/// The names of all runs.
fn runs() -> Vec<String> {
    let mut runs: Vec<String> = RUNS
        .lines()
        .filter(|l| !l.is_empty())
        .map(Into::into)
        .collect();
    for readout in READOUTS {
        for ties in TIES {
            runs.push(format!(
                "grid.csv readout={readout} ties={ties} start=random:0.5"
            ));
        }
        for order in ORDERS {
            runs.push(format!(
                "blobs-2.csv readout={readout} order={order} seed=4"
            ));
        }
        for scheme in ["argmax", "ovr", "ovo"] {
            runs.push(format!("classes.csv readout={readout} multiclass={scheme}"));
        }
        runs.push(format!("sphere.svm readout={readout}"));
    }
    for order in ORDERS {
        for ties in ["positive", "correct"] {
            runs.push(format!(
                "middle.csv readout=last order={order} ties={ties} start=1,0,-1"
            ));
        }
        runs.push(format!(
            "classes.csv multiclass=argmax order={order} margin-demand=0.1"
        ));
    }
    runs
}

/// The program under test: this version, or another that writes what is to be expected.
fn program(args: &[&str]) -> Result<Vec<u8>, String> {
    let path = std::env::var("ROSENBLATT_BIN")
        .unwrap_or_else(|_| env!("CARGO_BIN_EXE_rosenblatt").to_owned());
    let output = Command::new(path)
        .args(args)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    match output.status.success() {
        true => Ok(output.stdout),
        false => Err(String::from_utf8_lossy(&output.stderr)
            .trim()
            .replace('\n', " ")),
    }
}

/// The first 32 bits of a SHA-256.
fn hash(parts: &[&[u8]]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part);
    }
    hash.finalize()[..4]
        .iter()
        .fold(String::new(), |mut text, byte| {
            write!(text, "{byte:02x}").unwrap();
            text
        })
}

/// A file of the golden folder.
fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden")
        .join(name)
}

/// Where the data of a run lie.
fn data(place: &Place, name: &str) -> String {
    let kept = golden("data").join(name);
    match name {
        "penguins" => penguins(),
        _ if kept.exists() => kept.to_str().unwrap().to_owned(),
        _ => place.to(name),
    }
}

/// Trains as a name says; gives what is held about the run.
fn facts(place: &Place, number: usize, name: &str) -> Result<Facts, String> {
    let mut words = name.split(' ');
    let mut data = data(place, words.next().unwrap());
    let given: Vec<(&str, &str)> = words
        .map(|w| w.split_once('=').unwrap_or((w, "")))
        .collect();
    let said = |key: &str| {
        given
            .iter()
            .find(|(k, _)| *k == key)
            .map(|(_, value)| *value)
    };
    let usual = options(said("learner").unwrap_or("perceptron"))
        .split(' ')
        .map(|w| w.split_once('=').unwrap())
        .filter(|(key, _)| said(key).is_none());
    let mut args = vec!["train".to_owned()];
    for (key, value) in usual.chain(given.iter().copied()) {
        match key {
            "resume-after" => {}
            "cache" | "normalise-weights" => args.push(format!("--{key}")),
            _ => args.push(format!("--{key}={value}")),
        }
    }
    let [model, first] = ["model", "first"].map(|kind| place.to(&format!("{number}.{kind}")));
    if said("cache").is_some() {
        let copy = place.to(&format!("{number}-{}", name.split(' ').next().unwrap()));
        std::fs::copy(&data, &copy).unwrap();
        data = copy;
    }
    let train = |args: &[String], extra: &[&str]| {
        let args = args.iter().map(String::as_str).chain([data.as_str()]);
        program(&args.chain(extra.iter().copied()).collect::<Vec<_>>())
    };
    let output = ["--output", &model, "--json"];
    let printed = if let Some(passes) = said("resume-after") {
        let epochs = args.iter_mut().find(|a| a.starts_with("--epochs")).unwrap();
        let longer = std::mem::replace(epochs, format!("--epochs={passes}"));
        train(&args, &["--output", &first])?;
        train(
            &["train".to_owned(), longer],
            &[&["--resume", &first], &output[..]].concat(),
        )?
    } else {
        if said("cache").is_some() {
            train(&args, &["--output", &first])?;
        }
        train(&args, &output)?
    };

    let mut facts = Facts::new();
    let printed: serde_json::Value = serde_json::from_slice(&printed).unwrap();
    for key in [
        "mistakes",
        "updates",
        "epochs",
        "stop",
        "train_accuracy",
        "radius",
        "margin",
        "updates_at_most",
    ] {
        facts.insert(key.to_owned(), printed[key].to_string());
    }
    let predicted = program(&["predict", &model, &data, "--scores"])?;
    facts.insert("predictions".to_owned(), hash(&[&predicted]));
    let file = std::fs::read(&model).unwrap();
    let file = safetensors::SafeTensors::deserialize(&file).unwrap();
    // The names in generated data are of no interest.
    let named = !Path::new(&data).starts_with(place.path(""));
    for (name, tensor) in file.iter() {
        let names = name.starts_with("classes.") || name.contains("column_names.");
        if name != "sha256" && (named || !names) {
            let kind = format!("{:?} {:?}", tensor.dtype(), tensor.shape());
            let value = hash(&[kind.as_bytes(), tensor.data()]);
            facts.insert(name.to_owned(), value);
        }
    }
    Ok(facts)
}

/// What a line of the expectations says: a name and the facts behind it.
fn parse(line: &str) -> (String, Facts) {
    let mut cells = line.split('\t');
    let name = cells.next().unwrap().to_owned();
    let facts = cells.map(|cell| {
        let (key, value) = cell.split_once('=').unwrap();
        (key.to_owned(), value.to_owned())
    });
    (name, facts.collect())
}

/// Does the work of each item on all cores.
fn each<T: Sync, R: Send>(items: &[T], work: impl Fn(usize, &T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let workers = std::thread::available_parallelism().map_or(1, Into::into);
    let mut done: Vec<(usize, R)> = std::thread::scope(|scope| {
        let worker = || {
            let mut done = Vec::new();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(item) = items.get(number) else {
                    return done;
                };
                done.push((number, work(number, item)));
            }
        };
        let threads: Vec<_> = (0..workers).map(|_| scope.spawn(worker)).collect();
        threads
            .into_iter()
            .flat_map(|thread| thread.join().unwrap())
            .collect()
    });
    done.sort_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, result)| result).collect()
}

#[test]
fn runs_give_the_numbers_they_always_gave() {
    let place = Place::new();
    let mut found: Vec<(String, Facts)> = Vec::new();
    for line in GENERATED.lines().filter(|line| !line.is_empty()) {
        let (name, args) = line.split_once(' ').unwrap();
        let path = place.to(name);
        let mut command = vec!["generate", "--output", &path];
        command.extend(args.split_whitespace());
        program(&command).unwrap();
        let facts = [("file".to_owned(), hash(&[&std::fs::read(&path).unwrap()]))];
        found.push((format!("generate {name}"), facts.into()));
    }
    let runs = runs();
    let facts = each(&runs, |number, name| {
        facts(&place, number, name).unwrap_or_else(|why| [("failed".to_owned(), why)].into())
    });
    found.extend(runs.into_iter().zip(facts));
    if let Ok(path) = std::env::var("ROSENBLATT_GOLDEN_WRITE") {
        let mut text = String::new();
        for (name, facts) in &found {
            text.push_str(name);
            for (key, value) in facts {
                write!(text, "\t{key}={value}").unwrap();
            }
            text.push('\n');
        }
        return std::fs::write(path, text).unwrap();
    }

    let expected = std::fs::read_to_string(golden("expected.txt")).unwrap();
    let expected: BTreeMap<String, Facts> = expected.lines().map(parse).collect();
    assert_eq!(found.len(), expected.len(), "another number of runs");
    let mut differences = String::new();
    for (name, found) in &found {
        let expected = expected
            .get(name)
            .unwrap_or_else(|| panic!("{name} is not expected"));
        for (key, value) in expected {
            let now = found.get(key).or(found.get("failed"));
            if now != Some(value) {
                let now = now.map_or("nothing", String::as_str);
                writeln!(differences, "{name}: {key} was {value}, is {now}").unwrap();
            }
        }
    }
    assert!(differences.is_empty(), "{differences}");
}

/// Models of version 0.1.0 and the data whose predictions lie beside them; with a number of
/// passes, what training went on to.
const MODELS: [(&str, &str, Option<&str>); 20] = [
    ("embedding-fourier", "weights.csv", None),
    ("embedding-monomials", "lattice.svm", None),
    ("embedding-nystrom", "weights.csv", None),
    ("kernel-argmax", "mixed.csv", None),
    ("kernel-precomputed", "gram.csv", None),
    ("kernel-quadratic-voted", "plain.tsv", None),
    ("kernel-rbf-averaged", "weights.csv", Some("4")),
    ("linear-unit", "weights.csv", None),
    ("max-margin-hard", "lattice.svm", None),
    ("max-margin-kernel", "weights.csv", None),
    ("max-margin-soft-ovo", "mixed.csv", None),
    ("network-relu", "weights.csv", None),
    ("network-tanh-squared", "mixed.csv", None),
    ("perceptron-averaged", "mixed.csv", Some("9")),
    ("perceptron-last-ovo", "mixed.csv", None),
    ("perceptron-normalised-double", "weights.csv", None),
    ("perceptron-pocket", "weights.csv", None),
    ("perceptron-random-ovr", "tiny-images-idx3-ubyte", None),
    ("perceptron-sparse", "gaps.svm", Some("9")),
    ("perceptron-voted", "plain.tsv", None),
];

#[test]
fn models_of_the_first_version_predict_and_go_on_as_they_did() {
    let place = Place::new();
    let text = |path: PathBuf| path.to_str().unwrap().to_owned();
    for (name, data, passes) in MODELS {
        let data = text(golden("data").join(data));
        let model = text(golden("models").join(format!("{name}.rbm")));
        let expect = |model: &str, kept: &str| {
            let kept = std::fs::read(golden("models").join(kept)).unwrap();
            let predicted = program(&["predict", model, &data, "--scores"]);
            let predicted = predicted.unwrap_or_else(|why| panic!("{name}: {why}"));
            let [kept, predicted] = [kept, predicted].map(|text| String::from_utf8(text).unwrap());
            assert_eq!(predicted, kept, "{name}");
        };
        expect(&model, &format!("{name}.txt"));
        if let Some(passes) = passes {
            let longer = place.to(name);
            program(&[
                "train", &data, "--resume", &model, "--epochs", passes, "-o", &longer,
            ])
            .unwrap_or_else(|why| panic!("{name}: {why}"));
            expect(&longer, &format!("{name}.resumed.txt"));
        }
    }
}

/// Certificates of version 0.1.0, their data and their verdicts.
const CERTIFICATES: [(&str, &str, &str); 22] = [
    ("categories", "data/plain.tsv", "separable"),
    (
        "circles-polynomial",
        "certificates/circles.csv",
        "separable",
    ),
    ("collinear", "certificates/collinear.csv", "separable"),
    (
        "contradiction",
        "certificates/contradiction.csv",
        "overlapping",
    ),
    (
        "equal-kernel-lifted",
        "certificates/grid-equal.csv",
        "separable",
    ),
    ("gaps-xz", "data/gaps.svm.xz", "quasi-separable"),
    ("margin-tiny", "certificates/margin-tiny.csv", "separable"),
    (
        "margin-zero",
        "certificates/margin-zero.csv",
        "quasi-separable",
    ),
    ("mixed", "data/mixed.csv", "separable"),
    ("mixed-one-class", "data/mixed.csv", "overlapping"),
    ("overlapping", "data/weights.csv", "overlapping"),
    ("quasi", "certificates/quasi.csv", "quasi-separable"),
    ("rbf", "data/weights.csv", "separable"),
    ("separable", "certificates/separable.csv", "separable"),
    (
        "separable-origin",
        "certificates/separable.csv",
        "separable",
    ),
    ("several-classes", "certificates/classes.csv", "separable"),
    ("sparse-integers", "data/lattice.svm", "separable"),
    ("sparse-integers-origin", "data/lattice.svm", "separable"),
    ("wide-range", "certificates/wide-range.csv", "separable"),
    ("xor", "certificates/xor.csv", "overlapping"),
    ("xor-quadratic", "certificates/xor.csv", "separable"),
    ("xor-quadratic-lp", "certificates/xor.csv", "separable"),
];

#[test]
fn certificates_of_the_first_version_still_hold() {
    for (name, data, verdict) in CERTIFICATES {
        let certificate = golden("certificates").join(format!("{name}.json"));
        let [certificate, data] =
            [certificate, golden(data)].map(|p| p.to_str().unwrap().to_owned());
        let printed = program(&["verify", &certificate, &data, "--json"])
            .unwrap_or_else(|why| panic!("{name}: {why}"));
        let printed: serde_json::Value = serde_json::from_slice(&printed).unwrap();
        assert_eq!(printed["holds"], true, "{name}");
        // Over a kernel the verdict goes on to say so.
        let said = printed["verdict"].as_str().unwrap();
        let over_kernel = !printed["question"]["kernel"].is_null();
        assert!(said.starts_with(verdict), "{name}: {said}");
        assert_eq!(said != verdict, over_kernel, "{name}: {said}");
    }
}
