use super::*;
use crate::read::source::Source;

fn named_f() -> Source {
    Source::stream(std::path::Path::new("f"), Box::new(std::io::empty()))
}

fn read(text: &str) -> SparsePart {
    let rules = Rules {
        labels_required: true,
        ..Rules::default()
    };
    parse::<f32>(&Chunk::from_bytes(text.as_bytes()), rules)
}

fn row(part: &SparsePart, i: usize) -> Vec<(u32, f64)> {
    part.range(i).map(|k| part.get(k)).collect()
}

#[test]
fn rows_are_read_as_written() {
    let part =
        read("+1 1:0.5 3:-2e1\t10:7 # tail 5:5\r\n\n  # only\n-1\n0 qid:7 2:1 9:0\nx 123456789:1");
    let mut tally = super::super::row_errors::Tally::new(&named_f());
    assert_eq!(part.rows(), 4);
    assert_eq!(row(&part, 0), [(1, 0.5), (3, -20.0), (10, 7.0)]);
    assert_eq!(row(&part, 1), []);
    assert_eq!(row(&part, 2), [(2, 1.0)]);
    assert_eq!(row(&part, 3), [(123_456_789, 1.0)]);
    assert_eq!((part.smallest, part.width, part.qids), (1, 123_456_790, 1));
    assert_eq!(part.labels.names.text(2), "0");
    tally.add(part.faults).unwrap();
}

#[test]
fn unsorted_rows_are_sorted_and_zeros_count() {
    let part = read("1 5:5 2:2 0:0\n1 9:0\n");
    assert_eq!(row(&part, 0), [(2, 2.0), (5, 5.0)]);
    assert_eq!((part.unsorted, part.smallest, part.width), (1, 0, 10));
}

#[test]
fn a_lone_index_zero_counts_for_the_width() {
    let part = read("a 0:1\nb\n");
    assert_eq!(row(&part, 0), [(0, 1.0)]);
    assert_eq!((part.smallest, part.width), (0, 1));
    let part = read("a 0:0\nb\n");
    assert_eq!((part.smallest, part.width), (0, 1));
}

/// It hid the index 0 behind it from the count of indices, but not from the rows.
#[test]
fn a_comment_begins_in_a_query_id_too() {
    let part = read("1 qid:# 0:1 2:1\n1 qid:7#x 0:1\n1 1:1#y 0:1\n");
    assert_eq!(row(&part, 0), []);
    assert_eq!(row(&part, 1), []);
    assert_eq!(row(&part, 2), [(1, 1.0)]);
    assert_eq!((part.smallest, part.width, part.qids), (1, 2, 2));
}

#[test]
fn skipped_rows_leave_no_trace() {
    let rules = Rules {
        labels_required: true,
        on_error: OnError::Skip,
        ..Rules::default()
    };
    let text = b"1 1:1 2:x\n2 1:1\n1 3:3 3:4\n3 2:2 1:1\n";
    let part = parse::<f64>(&Chunk::from_bytes(text), rules);
    assert_eq!(part.rows(), 2);
    assert_eq!(part.labels.codes.len(), 2);
    assert_eq!(row(&part, 1), [(1, 1.0), (2, 2.0)]);
    let mut tally = super::super::row_errors::Tally::new(&named_f());
    tally.add(part.faults).unwrap();
    assert_eq!(tally.skipped, 2);
    assert!(
        tally.messages[0]
            .to_string()
            .starts_with("f:1:9: expected a number for feature 2")
    );
    assert!(
        tally.messages[1]
            .to_string()
            .starts_with("f:3:7: the index 3 comes twice")
    );
}

/// Tokens that look much like usual ones are read, or refused, as the general way would.
#[test]
fn nearly_usual_tokens() {
    for (token, expected) in [
        ("12345678:1", Some((12_345_678, 1.0))),
        ("123456789:1", Some((123_456_789, 1.0))),
        ("3:12345678.1234567", Some((3, 12_345_678.123_456_7))),
        ("3:123456789.25", Some((3, 123_456_789.25))),
        ("3:1.", Some((3, 1.0))),
        ("3:.5", Some((3, 0.5))),
        ("3:-.5", Some((3, -0.5))),
        ("3:+.5", Some((3, 0.5))),
        ("3:-0.12345678901", Some((3, -0.123_456_789_01))),
        ("3:1.2.3", None),
        ("3:1-2", None),
        ("3:--1", None),
        ("3:-", None),
        ("3:", None),
        (":1", None),
        ("3.5:2", None),
        ("3:4:5", None),
        ("-3:4", None),
        ("3:1.5-", None),
        ("3:00000000000000000000000000000000001.5", Some((3, 1.5))),
    ] {
        // With much text behind it, a token is looked at together with others.
        let usual = "\n1 4:0.5".repeat(40);
        for behind in ["", "\n", " 999999999:1.5\n", "\r\n", "\t \n", &usual] {
            let text = format!("1 {token}{behind}");
            let part = parse::<f64>(
                &Chunk::from_bytes(text.as_bytes()),
                Rules {
                    labels_required: true,
                    ..Rules::default()
                },
            );
            if let Some(expected) = expected {
                assert_eq!(part.get(0), expected, "{text:?}");
                let more = usize::from(behind.starts_with(' '));
                assert_eq!(part.range(0).len(), 1 + more, "{text:?}");
            }
            let mut tally = super::super::row_errors::Tally::new(&named_f());
            let refused = tally.add(part.faults).is_err();
            assert_eq!(refused, expected.is_none(), "{text:?}");
        }
    }
}
