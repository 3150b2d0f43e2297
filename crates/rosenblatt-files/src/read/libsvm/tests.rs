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

#[test]
fn indices_of_16_bits_are_tried_first_and_change_nothing() {
    let rules = |narrow| Rules {
        labels_required: true,
        narrow,
        ..Rules::default()
    };
    let usual = "1 4:0.5 7:-1.25 9:2 11:1 12:1 13:1 14:1 15:1 16:1 17:1\n".repeat(9);
    for (odd, fits) in [
        ("", true),
        ("2 65535:1\n", true),
        ("2 65536:1\n", false),
        ("2 3:1 70000:0\n", true),
        ("2 3:1e-3 65535:1e-3 # 70000:1\n", true),
        ("2 70000:1 3:1\n", false),
        ("2 99999999:2.5e-3\n", false),
        ("2 70000:1 5:x\n", false),
        ("2 5:x\n", true),
    ] {
        for at in [0, usual.len() / 9, usual.len()] {
            let text = format!("{}{odd}{}", &usual[..at], &usual[at..]);
            let chunk = Chunk::from_bytes(text.as_bytes());
            let [narrow, wide] = [true, false].map(|n| parse::<f32>(&chunk, rules(n)));
            let found = matches!(narrow.indices, Indices::Narrow(_));
            // A zero is not stored, but may have been looked at together with others.
            assert!(found == fits || odd.ends_with(":0\n"), "{odd} at {at}");
            assert!(matches!(wide.indices, Indices::Wide(_)));
            assert_eq!(narrow.indices, wide.indices, "{odd} at {at}");
            assert_eq!((narrow.ends, narrow.width), (wide.ends, wide.width));
            assert_eq!(narrow.values, wide.values);
            let [a, b] = [narrow.faults, wide.faults].map(|faults| {
                let mut tally = super::super::row_errors::Tally::new(&named_f());
                tally.add(faults).map_err(|e| e.to_string())
            });
            assert_eq!(a, b, "{odd} at {at}");
        }
    }
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
