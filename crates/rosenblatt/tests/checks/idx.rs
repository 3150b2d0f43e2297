//! Two choices, a length, labels of that length, then images: read and met again.

use rosenblatt::data::Precision;
use rosenblatt::read::{Format, ReadOptions, Scale};

use super::{Choices, check_met_again, read_twice};

pub fn check(data: &[u8]) {
    let mut choices = Choices { rest: data };
    let bits = choices.next();
    let Some((&length, rest)) = choices.rest.split_first() else {
        return;
    };
    let (labels, images) = rest.split_at(usize::from(length).min(rest.len()));
    let path = labels_file();
    std::fs::write(&path, labels).expect("a file for the labels");
    let options = ReadOptions {
        format: [None, Some(Format::Idx)][bits & 1],
        precision: [Precision::F32, Precision::F64][bits >> 1 & 1],
        labels: Some(path.clone()),
        ..ReadOptions::default()
    };
    let scale = [Scale::None, Scale::UnitRows, Scale::Standard, Scale::Minmax][bits >> 2 & 3];
    if let Some(found) = read_twice(images, "f.idx", &options, Some(scale), 7) {
        check_met_again(images, "f.idx", &found, &options, 7);
    }
    std::fs::remove_file(&path).expect("the file of the labels");
}

/// A file of this thread's own.
fn labels_file() -> std::path::PathBuf {
    let id = format!("{:?}", std::thread::current().id());
    let id: String = id.chars().filter(char::is_ascii_digit).collect();
    let name = format!("rosenblatt-labels-{}-{id}.idx", std::process::id());
    std::env::temp_dir().join(name)
}
