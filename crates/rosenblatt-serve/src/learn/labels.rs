//! The classes that labels are, or become.

use rosenblatt::OnlineLearner;
use rosenblatt::data::Classes;
use rosenblatt::read::LabelFound;

use super::NewClasses;
use crate::problem::Problem;

/// Classes that a model may grow to.
const MOST_CLASSES: usize = 1000;

/// The classes of labels, and the names of those that are new, which are then among `classes`.
///
/// # Errors
/// If one is missing, or is no class and cannot become one.
pub fn resolve(
    learner: &OnlineLearner,
    policy: NewClasses,
    labels: &[LabelFound],
    classes: &mut Classes,
) -> Result<(Vec<u32>, Vec<String>), Problem> {
    let (mut numbers, mut new) = (Vec::with_capacity(labels.len()), Vec::new());
    let mut grown: Option<Classes> = None;
    for (label, row) in labels.iter().zip(1..) {
        let refused = |why: String| Problem::unfit(format!("row {row}: {why}")).at_row(row);
        let text = match label {
            LabelFound::Class(class) => {
                numbers.push(*class);
                continue;
            }
            LabelFound::Unknown(text) if !text.is_empty() => text,
            _ => return Err(refused("there is no label to learn".into())),
        };
        let known = grown.as_ref().unwrap_or(classes);
        if let Some(class) = known.find(text) {
            numbers.push(class);
            continue;
        }
        let more = with_class(policy, known, text).map_err(refused)?;
        numbers.push(known.len() as u32);
        new.push(text.clone());
        grown = Some(more);
    }
    if let Some(name) = new.first() {
        let joint = learner.check_new_class(name);
        joint.map_err(|error| Problem::of(&error))?;
    }
    if let Some(grown) = grown {
        *classes = grown;
    }
    Ok((numbers, new))
}

/// The classes with another one, or why that cannot be.
fn with_class(policy: NewClasses, known: &Classes, text: &str) -> Result<Classes, String> {
    let mut names = known.names().to_vec();
    if policy == NewClasses::Refuse {
        return Err(format!(
            "{text:?} is none of the model's classes, which are {}; correct the label, or start the server with --new-classes add",
            names.join(", ")
        ));
    }
    if names.len() >= MOST_CLASSES {
        return Err(format!("a model has at most {MOST_CLASSES} classes"));
    }
    names.push(text.to_owned());
    // A name that is not found again would be another class each time.
    match Classes::from_stored(names) {
        Ok(more) if more.find(text) == Some(known.len() as u32) => Ok(more),
        _ => Err(format!("{text:?} is no name of a class")),
    }
}
