//! Synthetic data that go straight to a file.

use std::io::Write;

use rosenblatt_core::Result;
use rosenblatt_core::data::FeatureNames;
use rosenblatt_core::synthetic::{self, Kind, Options, Separator, TextRows};

use super::{RowWriter, TextFormat, write};

/// What is known of synthetic data that went straight to a file.
#[derive(Debug, Clone)]
pub struct Written {
    /// The separator the labels come from, where there is one.
    pub separator: Option<Separator>,
    /// Its margin, as in [`Synthetic::margin`](synthetic::Synthetic::margin).
    pub margin: Option<f64>,
}

/// Makes the data and writes them; `sparse` data never lie in memory as a whole.
pub fn generate(options: &Options, format: TextFormat, out: impl Write) -> Result<Written> {
    if options.kind != Kind::Sparse {
        let made = synthetic::generate(options)?;
        write(&made.dataset, format, out)?;
        return Ok(Written {
            separator: made.separator,
            margin: made.margin,
        });
    }
    let mut rows = TextRows::new(options)?;
    let names = FeatureNames::default();
    let (classes, features) = (rows.classes().clone(), rows.features());
    let mut writer = RowWriter::new(out, format, &classes, &names, features, false)?;
    while let Some((label, row)) = rows.next_row()? {
        writer.row(label, None, row)?;
    }
    writer.finish()?;
    Ok(Written {
        margin: Some(rows.margin()),
        separator: Some(rows.separator()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(options: &Options, format: TextFormat) -> String {
        let mut out = Vec::new();
        generate(options, format, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn what_is_written_is_what_is_made() {
        for kind in Kind::all() {
            let options = Options {
                examples: (kind == Kind::Sparse).then_some(300),
                ..Options::new(kind)
            };
            let made = synthetic::generate(&options).unwrap();
            let mut out = Vec::new();
            write(&made.dataset, TextFormat::Libsvm, &mut out).unwrap();
            assert_eq!(text(&options, TextFormat::Libsvm).as_bytes(), out);
        }
    }

    #[test]
    fn worked_examples_are_as_written() {
        assert_eq!(
            text(&Options::new(Kind::And), TextFormat::Libsvm),
            "-1\n-1 2:1\n-1 1:1\n+1 1:1 2:1\n"
        );
        assert_eq!(
            text(&Options::new(Kind::Critics), TextFormat::Csv),
            "label,A,B\n-1,1,1\n+1,3,2\n+1,2,4\n+1,3,4\n-1,2,3\n"
        );
    }
}
