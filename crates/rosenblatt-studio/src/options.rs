//! What a learner can be told, as a form: straight from the library's declarations.

use rosenblatt::learner::LEARNERS;
use rosenblatt::options::{Order, Readout};
use rosenblatt::{Options, Result};
use serde_json::{Value, json};
use std::collections::BTreeMap;

use crate::command;

/// Parameters of no use on a page: nothing is held out, and a clock makes no two runs alike.
const LEFT_OUT: [&str; 6] = [
    "time-limit",
    "patience",
    "keep",
    "metric",
    "threshold",
    "start-dual",
];

/// Values worth proposing where any text of a form is allowed.
const PROPOSED: [(&str, &[&str]); 7] = [
    ("bias", &["auto", "lifted", "none", "unlifted"]),
    ("start", &["zero", "random:1"]),
    (
        "kernel",
        &[
            "linear",
            "quadratic",
            "polynomial:3",
            "geometric:3",
            "monomial:2",
            "rbf:1",
            "rbf:5",
            "laplacian:1",
        ],
    ),
    (
        "embed",
        &[
            "none",
            "monomials:2",
            "monomials:3",
            "circle",
            "squares",
            "fourier:50,1",
            "nystrom:20,1",
        ],
    ),
    ("class-weight", &["none", "balanced"]),
    ("hidden", &["2", "4", "8", "8,8", "16"]),
    ("epochs", &["auto", "1", "2", "5", "10", "50", "200"]),
];

/// What the page chose, by name.
pub type Given = BTreeMap<String, String>;

/// The options that a page chose.
pub fn read(given: &Given) -> Result<Options> {
    let learner = given.get("learner").map_or("perceptron", String::as_str);
    let mut options = Options::default();
    options.set("learner", learner)?;
    let start = command::base(options.learner.is_mistake_driven());
    options.order = start.order;
    options.readout = start.readout;
    options.set_all(
        given
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str())),
    )?;
    Ok(options)
}

/// The same, refused where they make no sense together.
pub fn checked(given: &Given) -> Result<Options> {
    let options = read(given)?;
    options.validate()?;
    Ok(options)
}

/// The names that stand for a value of this parameter, where it is one of a few; found by asking
/// for a value that there is not.
fn names(parameter: &str) -> Option<Vec<String>> {
    let expected = Options::expected(parameter, "\u{0}")?;
    let list = expected.strip_prefix("expected one of ")?;
    let names = list.split(", ");
    Some(names.map(|n| n.trim_start_matches("or ").into()).collect())
}

/// Why these options with this value of a parameter make no sense, if so.
fn refusal(options: &Options, name: &str, value: &str) -> Option<String> {
    let mut tried = options.clone();
    let set = tried.set(name, value).and_then(|()| tried.validate());
    set.err().map(|e| e.wording().as_command_line())
}

/// The form for what the page chose: every parameter that the learner takes, with its help, its
/// default, its value and those of its values that are valid beside the others.
pub fn form(given: &Given) -> Result<Value> {
    let options = read(given)?;
    let base = {
        let learner = Given::from([("learner".into(), options.learner.name().into())]);
        read(&learner)?
    };
    let traced = options.learner.is_mistake_driven();
    let all = Options::parameters();
    let mut parameters = Vec::new();
    for parameter in &all {
        let name = parameter.name;
        let (Some(value), Some(default)) = (options.get(name), base.get(name)) else {
            continue;
        };
        if LEFT_OUT.contains(&name) || !takes(&base, name, &value) {
            continue;
        }
        let one_of = match (name, parameter.value) {
            ("learner", _) => Some(LEARNERS.iter().map(|l| l.name.to_owned()).collect()),
            (_, "") => Some(vec!["false".to_owned(), "true".to_owned()]),
            _ => names(name),
        };
        let choices = one_of.as_ref().map(|names: &Vec<String>| {
            let each = names.iter().map(|choice| {
                let why = match name {
                    "learner" => None,
                    _ => refusal(&options, name, choice),
                };
                json!({"value": choice, "refused": why})
            });
            each.collect::<Vec<_>>()
        });
        let proposed = PROPOSED.iter().find(|(known, _)| *known == name);
        parameters.push(json!({
            "name": name,
            "form": parameter.value,
            "help": parameter.help,
            "default": default,
            "value": value,
            "choices": choices,
            "proposed": proposed.map(|(_, values)| values),
        }));
    }
    let wrong = options.validate().err();
    Ok(json!({
        "parameters": parameters,
        "traced": traced,
        "wrong": wrong.map(|e| e.wording().as_command_line()),
    }))
}

/// Whether any value of this parameter but the one it has is valid.
fn takes(base: &Options, name: &str, value: &str) -> bool {
    if name == "learner" || base.get(name).as_deref() != Some(value) {
        return true;
    }
    let probes: Vec<String> = names(name).unwrap_or_else(|| {
        let proposed = PROPOSED.iter().find(|(known, _)| *known == name);
        match proposed {
            Some((_, values)) => values.iter().map(|v| (*v).to_owned()).collect(),
            None => ["0.5", "2", "true"].map(str::to_owned).into(),
        }
    });
    let others = probes.iter().filter(|probe| *probe != value);
    // Beside another start or order that may be what makes it valid.
    let bases = [
        base.clone(),
        Options {
            order: Order::Shuffled,
            ..base.clone()
        },
        Options {
            readout: Some(Readout::Last),
            ..base.clone()
        },
    ];
    others
        .flat_map(|probe| bases.iter().map(move |b| refusal(b, name, probe)))
        .any(|why| why.is_none())
}
