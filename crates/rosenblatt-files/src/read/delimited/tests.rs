use super::super::chunk::Chunk;
use super::super::sniff::sample_records;
use super::*;

pub(crate) fn dialect(delimiter: Delimiter) -> Dialect {
    Dialect {
        delimiter,
        quoting: true,
        comment: None,
    }
}

fn cells(text: &str, dialect: &Dialect) -> Vec<Vec<String>> {
    sample_records(text.as_bytes(), dialect, usize::MAX)
        .into_iter()
        .map(|r| {
            r.into_iter()
                .map(|c| String::from_utf8(c.into_owned()).unwrap())
                .collect()
        })
        .collect()
}

#[test]
fn cells_are_what_rfc_4180_says() {
    let comma = dialect(Delimiter::Byte(b','));
    assert_eq!(
        cells(
            "a, b ,\"c, \"\"d\"\"\n e\"\r\n\r\n  \n,,\n5\" x,\"\",\"\"\"\"\n",
            &comma
        ),
        vec![
            vec!["a", "b", "c, \"d\"\n e"],
            vec!["", "", ""],
            vec!["5\" x", "", "\""]
        ]
    );
    let chunk = Chunk::from_bytes(b"a,\"b\nc");
    assert_eq!(
        next_cell(chunk.data(), 2, &comma).err(),
        Some(CellError::Unclosed(2))
    );
    let chunk = Chunk::from_bytes(b"\"b\"c,d");
    assert_eq!(
        next_cell(chunk.data(), 0, &comma).err(),
        Some(CellError::AfterQuote(3))
    );
}

#[test]
fn blanks_and_tabs_delimit() {
    let blanks = dialect(Delimiter::Blanks);
    assert_eq!(
        cells("  1  2\t3 \r\n4 \"5 6\" 7\n", &blanks),
        vec![vec!["1", "2", "3"], vec!["4", "5 6", "7"]]
    );
    let tabs = Dialect {
        quoting: false,
        ..dialect(Delimiter::Byte(b'\t'))
    };
    assert_eq!(
        cells("a\t\"b\n\t\n", &tabs),
        vec![vec!["a", "\"b"], vec!["", ""]]
    );
    let comments = Dialect {
        comment: Some(b"|".to_vec()),
        ..dialect(Delimiter::Byte(b','))
    };
    assert_eq!(cells("|x,\"\na,b\n", &comments), vec![vec!["a", "b"]]);
}
