//! Tables in partitions are prepared as one file with all their rows.

use super::super::partitions::{
    Cell, CellFacts, Codes, Column, ColumnCells, Found, TermCounts, Travels, prepare,
};
use super::*;
use rosenblatt_core::data::{FeatureNames, Matrix};

/// What stands on another machine.
fn sent<T: Travels>(found: &T) -> T {
    T::of_text(&found.to_text()).unwrap()
}

/// Texts cut into parts of random lengths, some of them empty.
fn cut<'a>(cells: &'a [Cell<'a>], ends: &[usize]) -> Vec<&'a [Cell<'a>]> {
    let mut ends: Vec<usize> = ends.iter().map(|end| end % (cells.len() + 1)).collect();
    ends.sort_unstable();
    let starts = [0].into_iter().chain(ends.clone());
    let ends = ends.iter().copied().chain([cells.len()]);
    starts.zip(ends).map(|(a, b)| &cells[a..b]).collect()
}

/// A column of texts that lies in parts.
fn fitted(name: &str, parts: &[&[Cell<'_>]], scale: Scale, text: &TextOptions) -> Column {
    let mut facts = CellFacts::of(parts[0].iter().copied(), false);
    for part in &parts[1..] {
        facts.merge(sent(&CellFacts::of(part.iter().copied(), false)));
    }
    let found = match facts.kind() {
        ColumnKind::Category | ColumnKind::Ignore => Found::Category(facts),
        ColumnKind::Text => {
            let of =
                |part: &&[Cell<'_>]| sent(&TermCounts::of(name, part.iter().copied(), text.cut));
            let mut counts = of(&parts[0]);
            for part in &parts[1..] {
                counts.merge(&of(part)).unwrap();
            }
            let codes = counts.asks_for_codes().then(|| {
                let mut codes = Codes::default();
                for part in parts {
                    codes.merge(sent(&Codes::of(part.iter().copied(), text.cut, &counts)));
                }
                codes
            });
            match counts.aside(name, codes.as_ref()) {
                Some(why) => Found::Aside(ColumnKind::Text, Some(sent(&why))),
                None => {
                    let vocabulary = sent(&counts.vocabulary(text, scale));
                    let mut buckets: Option<Vec<u32>> = None;
                    for part in parts.iter().filter(|_| vocabulary.weighs_buckets()) {
                        let cells = part.iter().copied();
                        let here = vocabulary.rows_with_buckets_in_batches(cells, text.cut, 5);
                        let all = buckets.get_or_insert_with(|| vec![0; here.len()]);
                        all.iter_mut().zip(here).for_each(|(all, n)| *all += n);
                    }
                    Found::Text(vocabulary, buckets)
                }
            }
        }
        kind => panic!("{kind:?}"),
    };
    Column {
        name: name.to_owned(),
        given: false,
        found,
    }
}

fn bits(matrix: &Matrix) -> Vec<Vec<(usize, u64)>> {
    let row = |i| {
        let mut row = Vec::new();
        matrix.row(i).for_each(|j, x| {
            if x != 0.0 {
                row.push((j, x.to_bits()));
            }
        });
        row
    };
    (0..matrix.rows()).map(row).collect()
}

/// Words, so that some come in one text only, and missing texts.
fn texts(rows: usize) -> impl Strategy<Value = Vec<Option<String>>> {
    let word = prop_oneof![3 => "[a-c]{1,2}", 1 => "[A-Zé]{2}[0-9]{1,2}"];
    let text = prop::collection::vec(word, 4..9).prop_map(|words| words.join(" "));
    let text = prop_oneof![9 => text.prop_map(Some), 1 => Just(None)];
    prop::collection::vec(text, rows)
}

proptest! {
    // Hashed columns have 262,144 features each.
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn partitions_are_prepared_as_one_file(
        (one, other) in (1usize..60).prop_flat_map(|n| (texts(n), texts(n))),
        ends in prop::collection::vec(any::<usize>(), 0..4),
        at_once in 1usize..200,
        standard: bool,
        vocabulary in prop_oneof![Just(1usize << 20), 1usize..12],
        terms in prop::sample::select(vec!["words", "words:1-2", "chars:2-3"]),
        weights in prop::sample::select(vec![None, Some(TermWeights::TfIdf), Some(TermWeights::Sublinear)]),
        min_df in 1usize..3,
        max_df in prop::sample::select(vec![0.6, 1.0]),
    ) {
        let scale = if standard { Scale::Standard } else { Scale::None };
        let options = ReadOptions {
            precision: Precision::F64,
            label: Some("class".into()),
            text: TextOptions {
                cut: TextCut { terms: terms.parse().unwrap(), ..TextCut::default() },
                weights,
                min_df: DocumentFrequency::Rows(min_df),
                max_df: DocumentFrequency::Share(max_df),
                vocabulary,
            },
            ..ReadOptions::default()
        };
        let mut csv = String::from("first,class,id\n");
        for (i, (a, b)) in one.iter().zip(&other).enumerate() {
            let of = |text: &Option<String>| text.clone().unwrap_or_default();
            csv += &format!("{},{},{}\n", of(a), ["x", "y"][i % 2], of(b));
        }
        let raw = from_bytes(csv.as_bytes(), "one.csv", &options).unwrap();
        let expected = Preparation::fit(&raw, None, Some(scale)).unwrap();
        let data = raw.dataset(&expected, None, Layout::AsGiven).unwrap();

        let cells: Vec<Vec<Cell<'_>>> = [&one, &other]
            .map(|column| column.iter().map(|cell| cell.as_deref()).collect())
            .into();
        let columns = [("first", &cells[0]), ("id", &cells[1])]
            .map(|(name, cells)| fitted(name, &cut(cells, &ends), scale, &options.text));
        let label = Some((1, "class".to_owned()));
        let rows = one.len() as u64;
        let (found, _) = prepare(columns.into(), label, rows, scale, &options.text).unwrap();
        prop_assert!(found.feature_names() == expected.feature_names());
        let found = Preparation::of_text(&found.to_text()).unwrap();
        let given: Vec<ColumnCells<'_>> = cells.iter().cloned().map(ColumnCells::Texts).collect();
        let made = found.partition_in_batches(one.len(), &given, at_once).unwrap();
        prop_assert_eq!(bits(&made), bits(&data.matrix));
    }
}

#[test]
fn partitions_with_other_columns_are_refused() {
    let cells: Vec<Cell<'_>> = vec![Some("a"), Some("b"), None];
    let facts = CellFacts::of(cells.iter().copied(), false);
    let column = |name: &str| Column {
        name: name.into(),
        given: false,
        found: Found::Category(facts.clone()),
    };
    let made = |columns, label: &str| {
        let label = Some((0, label.to_owned()));
        prepare(columns, label, 3, Scale::None, &TextOptions::default())
    };
    let error = made(vec![column("a"), column("a")], "class").unwrap_err();
    assert!(error.to_string().contains("two columns are called a"));
    let error = made(vec![column("a")], "a").unwrap_err();
    assert!(
        error
            .to_string()
            .contains("the column a is called like the labels")
    );
    let (preparation, warnings) = made(vec![column("a")], "class").unwrap();
    assert!(warnings.is_empty());
    let names = ["a=?", "a=a", "a=b"].iter().collect();
    assert_eq!(preparation.feature_names(), FeatureNames::Listed(names));
    let texts = ColumnCells::Texts(cells);
    for (rows, given) in [
        (3, vec![]),
        (2, vec![texts.clone()]),
        (3, vec![texts.clone(), texts.clone()]),
        (3, vec![ColumnCells::Numbers(&[1.0, 2.0, 3.0])]),
    ] {
        let error = preparation.partition(rows, &given).unwrap_err();
        assert!(error.to_string().contains("these are not the columns"));
    }
    assert_eq!(preparation.partition(3, &[texts]).unwrap().rows(), 3);
    assert!(Preparation::of_text("{}").is_err());
    assert!(TermCounts::of_text("[]").is_err());
}
