//! Files read straight against the same files read in parts.

use std::io::Write;

use proptest::prelude::*;

use super::Straight;
use crate::Options;
use crate::data::read::source::tests::{Passing, gzip};
use crate::data::read::{Preparation, ReadOptions, Scale, read};
use crate::data::{Layout, Matrix, Precision};
use crate::options::{Order, Readout};
use crate::random::{Random, Stream};
use crate::session::Session;

fn options(precision: Precision, threads: usize) -> ReadOptions {
    ReadOptions {
        precision,
        threads,
        format: Some(crate::data::read::Format::Libsvm),
        ..ReadOptions::default()
    }
}

/// Whether these bytes are read straight; if so, that everything is as if they were not.
fn agrees(bytes: &[u8], options: &ReadOptions, scale: Option<Scale>, layout: Layout) -> bool {
    let file = Passing::new(bytes);
    let begun = Straight::of_lines(&file.0, 0, options, scale, layout);
    let Ok(Some(found)) = begun.and_then(|begun| begun.map_or(Ok(None), |b| b.finish(2))) else {
        return false;
    };
    let raw = read(&file.0, options).unwrap();
    let report = |report| serde_json::to_string(report).unwrap();
    assert_eq!(report(found.report()), report(raw.report()));
    assert_eq!(found.label_texts(), raw.label_texts());
    let expected = Preparation::fit(&raw, None, scale).unwrap();
    let data = raw.dataset(&expected, None, layout).unwrap();
    let (preparation, examples) = found.into_parts();
    assert_eq!(preparation, expected);
    assert_eq!(examples.labels, data.labels);
    assert_eq!(examples.classes, data.classes);
    assert_eq!(examples.layout, data.layout);
    assert_eq!(examples.matrix, data.matrix);
    let narrow = |matrix: &Matrix| match matrix {
        Matrix::Sparse { indices, .. } => matches!(indices, crate::data::Indices::Narrow(_)),
        Matrix::Dense { .. } => panic!("dense rows"),
    };
    assert_eq!(narrow(&examples.matrix), narrow(&data.matrix));
    true
}

fn plainly(text: &str) -> bool {
    agrees(
        text.as_bytes(),
        &options(Precision::F32, 2),
        None,
        Layout::Scattered,
    )
}

#[test]
fn usual_lines_are_read_straight() {
    for text in [
        "1 1:2\n",
        "1 1:2\n-1 3:4 5:1e-3",
        "+1 2:0.25 65535:7\r\n-1 1:3\r\n",
        "a 0:1 1:2\nb 1:4\n",
        "a 00:1 1:2\nb 1:4\n",
        "a 01:1 2:2\nb 1:4\n",
        "\u{feff}a 1:1\nb 2:4\n",
        "a\nb 1:2\nc \n",
        "a 1:1\t2:3  4:5 \nb 2:-4\n",
        "a 1:123456789.123456789e-5 70000:1\nb 2:0.1234567890123456789012345678901234567890\n",
        "a 65536:1\nb 65537:1\n",
        "the_first_class 1:1 # without a mark\nthe_second_class 2:1\n",
    ] {
        assert!(plainly(text), "{text:?}");
    }
}

#[test]
fn unusual_lines_are_left_to_those_who_know() {
    for text in [
        "",
        "\n",
        "1 1:2\n\n-1 2:1\n",
        " 1 1:2\n",
        "# a comment\n1 1:2\n",
        "1 1:2 # a: comment\n-1 3:1\n",
        "1# 1:2 2:3 3:4 4:5 5:6 6:7 7:8 8:9\n-1 3:1\n",
        "1 qid:3 1:2\n-1 qid:4 1:1\n",
        "1 3:1 2:1\n-1 1:1\n",
        "1 2:1 0:1\n-1 1:1\n",
        "1 1:0 2:3\n-1 1:1\n",
        "1 1:1 1:2\n-1 1:1\n",
        "1 1:x\n-1 1:1\n",
        "1 1:nan\n-1 1:1\n",
        "1 1:1e99\n-1 1:1\n",
        "1 1:2 3\n-1 1:1\n",
        "1:2 2:3\n-1 1:1\n",
        "1 1: 2\n-1 1:1\n",
        "1 1:2:3\n-1 1:1\n",
        "1 4294967296:2\n-1 1:1\n",
        "\u{1}\u{2}\n1 1:1\n",
        // 65,536 features, which fit 16 bits although the last index does not.
        "1 65536:2\n-1 1:1\n",
    ] {
        assert!(!plainly(text), "{text:?}");
    }
    let file = Passing::new(b"1 1:2\n-1 2:1\n");
    let f32s = options(Precision::F32, 1);
    let by_column = Straight::of_lines(&file.0, 0, &f32s, Some(Scale::Standard), Layout::AsGiven);
    assert!(by_column.unwrap().is_none());
    let long = ReadOptions {
        keep_long_decimals: true,
        ..f32s.clone()
    };
    let kept = Straight::of_lines(&file.0, 0, &long, None, Layout::AsGiven);
    assert!(kept.unwrap().is_none());
    let gzip = Passing::new(&gzip(b"1 1:2\n-1 2:1\n"));
    let compressed = Straight::of_lines(&gzip.0, 0, &f32s, None, Layout::AsGiven);
    assert!(compressed.unwrap().is_none());
    let short = Straight::read(&file.0, &f32s, None, Layout::AsGiven);
    assert!(short.unwrap().is_none());
    let nowhere = Straight::read(file.0.with_extension("none"), &f32s, None, Layout::AsGiven);
    assert!(nowhere.unwrap().is_none());
}

/// Rows of up to so many values, the line of one of them longer than a range of the survey.
fn many_rows(rows: usize, features: u64, seed: u64) -> String {
    let mut random = Random::new(seed, Stream::Start, 0);
    let mut text = String::new();
    for row in 0..rows {
        text += ["1", "-1", "some", "a_rather_long_label"][random.below(4) as usize];
        let (mut index, last) = (0, row == rows / 2);
        let values = if last { 200_000 } else { random.below(90) };
        for _ in 0..values {
            index += 1 + random.below((features / 300).max(1));
            match random.below(4) {
                0 => text += &format!(" {index}:{}", random.below(1000) + 1),
                1 => text += &format!(" {index}:-{}.5", random.below(100)),
                2 => text += &format!(" {index}:{:e}", random.positive_unit()),
                _ => text += &format!(" {index}:0.{:04}", random.below(9999) + 1),
            }
        }
        text.push('\n');
    }
    text
}

#[test]
fn large_files_are_the_same_by_both_ways() {
    let text = many_rows(6_000, 3000, 1);
    assert!(text.len() > 4 << 20);
    for (precision, threads) in [
        (Precision::F32, 1),
        (Precision::F32, 3),
        (Precision::F64, 2),
    ] {
        for layout in [Layout::Scattered, Layout::AsGiven] {
            for scale in [None, Some(Scale::UnitRows)] {
                let options = options(precision, threads);
                assert!(agrees(text.as_bytes(), &options, scale, layout));
            }
        }
    }
}

/// Rows of plain tokens, one in `odd` of them with something else in it.
fn plain_rows(rows: usize, first: u64, features: u64, odd: u64, seed: u64) -> String {
    let mut random = Random::new(seed, Stream::Start, 0);
    let mut text = String::new();
    for _ in 0..rows {
        text += ["1", "-1", "0", "+1", "a_rather_long_label"][random.below(5) as usize];
        let (mut index, values) = (first, random.below(60));
        let spoiled = match random.below(odd) {
            0 => random.below(values.max(1)),
            _ => u64::MAX,
        };
        for k in 0..values {
            text.push(' ');
            let value = match random.below(5) {
                0 => format!("{}", random.below(99_999_999) + 1),
                1 => format!("-{}.{:02}", random.below(1000) + 1, random.below(100)),
                2 => format!("{}.", random.below(999) + 1),
                _ => format!("0.{:06}", random.below(999_999) + 1),
            };
            text += &match (k == spoiled).then(|| random.below(6)) {
                None => format!("{index}:{value}"),
                Some(0) => format!(" {index}:{value}"),
                Some(1) => format!("{index}:{value}\t"),
                Some(2) => format!("{index}:{:e}", random.positive_unit()),
                Some(3) => format!("{index}:+{}", random.positive_unit()),
                Some(4) => format!("000000{index}:{value}"),
                Some(_) => format!("{index}:{:.12}", random.positive_unit() + 1.0),
            };
            index += 1 + random.below(features / 60);
        }
        text += ["\n", "\n", "\n", " \n", "\r\n"][random.below(5) as usize];
    }
    text
}

#[test]
fn plain_rows_are_the_same_by_both_ways() {
    let mut seed = 10;
    for (first, features) in [
        (0, 60),
        (1, 3000),
        (0, 50_000),
        (1, 70_000),
        (1, 90_000_000),
    ] {
        for odd in [u64::MAX, 40, 3] {
            for precision in [Precision::F32, Precision::F64] {
                seed += 1;
                let text = plain_rows(1_500, first, features, odd, seed);
                let options = options(precision, 2);
                for layout in [Layout::Scattered, Layout::AsGiven] {
                    assert!(agrees(text.as_bytes(), &options, None, layout), "{seed}");
                }
            }
        }
    }
}

/// A learner's options, by a few of them.
fn learner(order: Order, readout: Readout, epochs: u64) -> Options {
    Options {
        order,
        readout: Some(readout),
        epochs: Some(epochs),
        seed: 3,
        ..Options::default()
    }
}

#[test]
fn training_while_rows_arrive_is_training_on_rows_that_are_there() {
    let file = Passing::new(many_rows(6_000, 3000, 2).as_bytes());
    for (precision, threads, options) in [
        (
            Precision::F32,
            1,
            learner(Order::Shuffled, Readout::Averaged, 2),
        ),
        (
            Precision::F32,
            2,
            learner(Order::Shuffled, Readout::Averaged, 2),
        ),
        (Precision::F32, 3, learner(Order::Given, Readout::Voted, 1)),
        (Precision::F32, 2, learner(Order::Random, Readout::Last, 1)),
        (
            Precision::F32,
            2,
            learner(Order::Shuffled, Readout::Pocket, 1),
        ),
        (
            Precision::F64,
            2,
            learner(Order::Shuffled, Readout::Last, 2),
        ),
        (
            Precision::F32,
            2,
            Options {
                max_updates: Some(9),
                ..learner(Order::Shuffled, Readout::Last, 2)
            },
        ),
    ] {
        let layout = match options.order {
            Order::Shuffled => Layout::Scattered,
            _ => Layout::AsGiven,
        };
        let reading = self::options(precision, threads);
        let begin = || {
            Straight::of_lines(&file.0, 0, &reading, None, layout)
                .unwrap()
                .unwrap()
        };
        let train = |data: &crate::data::Dataset| {
            let session = Session::new(&options).threads(threads);
            session.train(data).unwrap().model.to_bytes().unwrap()
        };
        let arriving = begin().into_parts().1;
        let there = begin().finish(threads).unwrap().unwrap().into_parts().1;
        assert!(!arriving.matrix.arrival().unwrap().is_over());
        assert!(there.matrix.arrival().unwrap().is_over());
        assert!(train(&arriving) == train(&there), "{options:?}");
        assert!(arriving.matrix.arrival().unwrap().is_over());
    }
}

#[test]
fn training_on_an_unusual_line_fails_and_is_told_from_other_failures() {
    let mut text = many_rows(3_000, 3000, 4);
    text += "1 3:1 2:1\n";
    let file = Passing::new(text.as_bytes());
    let reading = options(Precision::F32, 2);
    for (threads, order) in [
        (1, Order::Shuffled),
        (2, Order::Shuffled),
        (2, Order::Given),
    ] {
        let layout = match order {
            Order::Shuffled => Layout::Scattered,
            _ => Layout::AsGiven,
        };
        let begun = Straight::of_lines(&file.0, 0, &reading, None, layout);
        let data = begun.unwrap().unwrap().into_parts().1;
        let options = learner(order, Readout::Last, 3);
        let session = Session::new(&options).threads(threads);
        let error = session.train(&data).unwrap_err();
        assert!(error.to_string().contains("usual sort"), "{error}");
        assert!(!data.arrived(1).unwrap());
    }
}

#[test]
fn a_file_that_is_changed_while_its_rows_arrive_is_refused() {
    let file = Passing::new(many_rows(300, 3000, 5).as_bytes());
    let reading = options(Precision::F32, 2);
    let begun = Straight::of_lines(&file.0, 0, &reading, None, Layout::AsGiven);
    let data = begun.unwrap().unwrap().into_parts().1;
    let mut longer = std::fs::OpenOptions::new()
        .append(true)
        .open(&file.0)
        .unwrap();
    longer.write_all(b"1 1:1\n").unwrap();
    drop(longer);
    let options = learner(Order::Given, Readout::Last, 1);
    for error in [
        Session::new(&options).train(&data).unwrap_err(),
        data.arrived(1).unwrap_err(),
    ] {
        assert!(error.to_string().contains("changed while"), "{error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// However a file is put together, it is read straight only with the same result.
    #[test]
    fn any_lines_are_the_same_by_both_ways(
        lines in prop::collection::vec(
            "(1|-1|\\+1|b|) ?(|[0-3]:[0-9]{1,2}|0:1)( [1-9][0-9]{0,5}:-?[0-9]{1,3}(\\.[0-9]{0,9})?){0,12}[ \t\r]?",
            0..40,
        ),
        ended: bool,
        threads in 1_usize..4,
    ) {
        let mut text = lines.join("\n");
        if ended {
            text.push('\n');
        }
        agrees(text.as_bytes(), &options(Precision::F32, threads), None, Layout::Scattered);
    }

    /// Whatever spoils a plain line, it is read straight only with the same result.
    #[test]
    fn spoiled_lines_are_the_same_by_both_ways(
        seed: u64,
        first in 0_u64..2,
        features in prop::sample::select(vec![60_u64, 50_000, 90_000_000]),
        edits in prop::collection::vec(
            (any::<prop::sample::Index>(), 0..3, prop::sample::select(b" :\t\r\n0195.-+#eqx\0\xFF".to_vec())),
            0..4,
        ),
        precision in prop::sample::select(vec![Precision::F32, Precision::F64]),
    ) {
        let mut text = plain_rows(8, first, features, u64::MAX, seed).into_bytes();
        for (at, edit, byte) in edits {
            let at = at.index(text.len());
            match edit {
                0 => text[at] = byte,
                1 => text.insert(at, byte),
                _ => drop(text.remove(at)),
            }
        }
        agrees(&text, &options(precision, 2), None, Layout::Scattered);
    }
}
