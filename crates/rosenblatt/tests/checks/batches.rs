//! A choice of model and two more, then a file that the model meets.

use std::io::Cursor;
use std::sync::OnceLock;

use rosenblatt::data::{Classes, Precision};
use rosenblatt::model::StoredPreparation;
use rosenblatt::read::{
    ColumnKind, Delimiter, Format, OnError, Preparation, ReadOptions, Scale, read_from,
};

use super::{Choices, batches_twice};

struct Prepared {
    preparation: Preparation,
    classes: Classes,
}

pub fn check(data: &[u8]) {
    static MODELS: OnceLock<Vec<Prepared>> = OnceLock::new();
    let models = MODELS.get_or_init(all);
    let mut choices = Choices { rest: data };
    let model = &models[choices.next() % models.len()];
    let bits = choices.next();
    let chunk = 1 + choices.next();
    let options = ReadOptions {
        on_error: [OnError::Fail, OnError::Skip][bits & 1],
        header: [None, None, Some(true), Some(false)][bits >> 1 & 3],
        label: (bits & 8 != 0).then(|| "label".to_owned()),
        delimiter: (bits & 16 != 0).then_some(Delimiter::Byte(b';')),
        ..ReadOptions::default()
    };
    let (preparation, classes) = (&model.preparation, &model.classes);
    batches_twice(choices.rest, "f", preparation, classes, &options, chunk);
}

fn prepared(text: &str, scale: Option<Scale>, options: ReadOptions) -> Prepared {
    let raw = read_from(Cursor::new(text.as_bytes().to_vec()), "model", &options)
        .expect("a good training file");
    Prepared {
        preparation: Preparation::fit(&raw, None, scale).expect("a good training file"),
        classes: raw.classes().clone(),
    }
}

fn all() -> Vec<Prepared> {
    let libsvm = || ReadOptions {
        format: Some(Format::Libsvm),
        threads: 1,
        ..ReadOptions::default()
    };
    let csv = || ReadOptions {
        format: Some(Format::Csv),
        threads: 1,
        ..ReadOptions::default()
    };
    let double = |options: ReadOptions| ReadOptions {
        precision: Precision::F64,
        ..options
    };
    let sparse = "1 1:1 3:-2.5\n-1 2:1e30\n1 5:0.125\n";
    let from_zero = "a 0:1\nb 7:1\nc 3:2\n";
    let wide = "1 4294967294:1\n2 1:1\n";
    let table = "size,colour,text,id,label\n\
        1.5,red,the quick brown fox,1,yes\n\
        ,blue,jumps over the lazy dog,2,no\n\
        1e-30,,\"a \"\"quoted\"\" word, and\nmore\",3,yes\n\
        3,red,...,4,no\n";
    let mut typed = csv();
    typed.columns = vec![
        ("colour".to_owned(), ColumnKind::Category),
        ("text".to_owned(), ColumnKind::Text),
    ];
    let no_header = "1;2;x\n3;4;y\n5;6;x\n";
    // The last text column has no words, and so no features.
    let wordless = "a,b,c,label\nx,up,..,1\ny,down,!!,2\nx,up,??,1\n";
    let mut texts = csv();
    texts.columns = ["b", "c"].map(|n| (n.to_owned(), ColumnKind::Text)).into();
    let mut tabs = csv();
    tabs.format = Some(Format::Tsv);
    tabs.label = Some("0".to_owned());
    tabs.positive = Some("spam".to_owned());
    let mut blanks = csv();
    blanks.delimiter = Some(Delimiter::Blanks);
    let mut models = vec![
        prepared(sparse, None, libsvm()),
        prepared(sparse, Some(Scale::Standard), double(libsvm())),
        prepared(sparse, Some(Scale::UnitRows), libsvm()),
        prepared(from_zero, Some(Scale::Minmax), libsvm()),
        prepared(wide, None, libsvm()),
        prepared(table, None, typed.clone()),
        prepared(table, Some(Scale::UnitRows), double(typed)),
        prepared(no_header, None, csv()),
        prepared(no_header, Some(Scale::Minmax), double(csv())),
        prepared(wordless, None, texts),
        prepared("ham\thello there\nspam\tbuy now\n", None, tabs),
        prepared("1 2 a\n3 4 b\n5 6 a\n", None, blanks),
    ];
    models.push(images());
    models
}

/// Images of 2 × 2 bytes, standardised. Labels are a file of their own, so it is put together
/// from parts.
fn images() -> Prepared {
    let json = r#"{"input":"images","scale":"standard","precision":"f32",
        "labels":{"map":[],"positive":null},"width":4,"shape":[2,2]}"#;
    let numbers = [
        ("centre".to_owned(), vec![0.0, 128.0, 10.0, 1.0]),
        ("scale".to_owned(), vec![1.0, 0.5, 1e-3, 255.0]),
    ];
    let stored = StoredPreparation {
        json: json.to_owned(),
        numbers: numbers.into(),
        ..StoredPreparation::default()
    };
    Prepared {
        preparation: Preparation::from_stored(&stored).expect("good parts"),
        classes: Classes::from_labels(["0", "1"]),
    }
}
