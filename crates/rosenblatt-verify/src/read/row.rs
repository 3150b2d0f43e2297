//! One row, with the values that are written.

use crate::certificate::Certificate;
use crate::number::{Decimal, power_of_ten};
use crate::outcome::Flaw;
use dashu_int::IBig;

/// A row. Zeros are left out.
#[derive(Default)]
pub(crate) struct Row {
    /// Counted from 1.
    pub(crate) number: u64,
    /// The file in which it is, counted from 1, where there are several.
    pub(crate) file: Option<u64>,
    /// The line of the file on which the row starts, counted from 1.
    pub(crate) line: u64,
    pub(crate) class: usize,
    /// The least number of decimals that makes every value an integer over 10^scale.
    pub(crate) scale: usize,
    /// Those integers, by feature, if 128 bits hold them all; else nothing.
    pub(crate) small: Vec<(u32, i128)>,
    /// The values as written: feature, mantissa, power of ten.
    written: Vec<(u32, i64, i32)>,
    written_big: Vec<(u32, IBig, i32)>,
}

/// The powers of ten that times 64 bits fit 128.
const TENS: [i128; 19] = {
    let mut tens = [1; 19];
    let mut i = 1;
    while i < tens.len() {
        tens[i] = tens[i - 1] * 10;
        i += 1;
    }
    tens
};

impl Row {
    /// Starts the next row, with the lifted constant as feature 0 where there is one. (A
    /// kernel adds its own constant.)
    pub(super) fn start(&mut self, certificate: &Certificate, line: u64) {
        self.number += 1;
        self.line = line;
        self.written.clear();
        self.written_big.clear();
        if certificate.lifted && certificate.kernel.is_none() {
            self.written.push((0, 1, 0));
        }
    }

    pub(super) fn push(&mut self, feature: u32, value: Decimal) {
        match value {
            Decimal::Small { mantissa: 0, .. } => {}
            Decimal::Small { mantissa, exponent } => {
                self.written.push((feature, mantissa, exponent));
            }
            // More digits than a machine integer holds, so not zero.
            Decimal::Big { mantissa, exponent } => {
                self.written_big.push((feature, mantissa, exponent));
            }
        }
    }

    /// Sets the class from the label as written.
    pub(super) fn label(&mut self, certificate: &Certificate, label: &[u8]) -> Result<(), Flaw> {
        let class = certificate.labels.class_of(label);
        self.class = class.ok_or_else(|| {
            let label = super::shown(label);
            self.flaw(format!(
                "the certificate does not say what the label {label} means"
            ))
        })?;
        Ok(())
    }

    /// Ends the row; `ascending` tells whether the features came in order.
    pub(super) fn finish(&mut self, ascending: bool) {
        if !ascending {
            self.written.sort_unstable_by_key(|entry| entry.0);
        }
        let exponents = self.written.iter().map(|entry| entry.2);
        let exponents = exponents.chain(self.written_big.iter().map(|entry| entry.2));
        let least = exponents.fold(0, i32::min);
        self.scale = least.unsigned_abs() as usize;
        self.small.clear();
        if self.written_big.is_empty() {
            for &(feature, mantissa, exponent) in &self.written {
                let Some(ten) = TENS.get((exponent - least) as usize) else {
                    self.small.clear();
                    return;
                };
                self.small.push((feature, i128::from(mantissa) * ten));
            }
        }
    }

    /// Whether `small` has all there is.
    pub(crate) fn is_small(&self) -> bool {
        self.small.len() == self.written.len() + self.written_big.len()
    }

    /// The values as written: feature, mantissa, power of ten; ascending by feature.
    pub(crate) fn as_written(&self) -> Vec<(u32, IBig, i32)> {
        let mut values = self.written_big.clone();
        let short = self.written.iter();
        values.extend(
            short.map(|&(feature, mantissa, exponent)| (feature, mantissa.into(), exponent)),
        );
        values.sort_unstable_by_key(|value| value.0);
        values
    }

    /// The integers over 10^scale, ascending by feature. They are made one by one: a row
    /// that spans many powers of ten is far longer as integers than as written.
    pub(crate) fn integers(&self) -> impl Iterator<Item = (u32, IBig)> + '_ {
        let small = self
            .small
            .iter()
            .map(|&(feature, value)| (feature, value.into()));
        let long = if self.is_small() {
            Vec::new()
        } else {
            self.as_written()
        };
        let mut ten = (0, IBig::ONE);
        let long = long.into_iter().map(move |(feature, mantissa, exponent)| {
            let shift = (self.scale as i32 + exponent).unsigned_abs() as usize;
            if ten.0 != shift {
                ten = (shift, power_of_ten(shift));
            }
            (feature, mantissa * &ten.1)
        });
        small.chain(long)
    }

    /// A copy to keep while other rows are read.
    pub(crate) fn kept(&self) -> Row {
        Row {
            small: self.small.clone(),
            written: self.written.clone(),
            written_big: self.written_big.clone(),
            ..*self
        }
    }

    /// A row for tests, from decimals.
    #[cfg(test)]
    pub(crate) fn of(values: &[(u32, &str)]) -> Row {
        let mut row = Row::default();
        for (feature, text) in values {
            row.push(*feature, crate::number::decimal(text.as_bytes()).unwrap());
        }
        row.finish(false);
        row
    }

    /// Whether it is of the positive class, where there are two.
    pub(crate) fn is_positive(&self) -> bool {
        self.class == 1
    }

    /// A complaint about this row.
    pub(crate) fn flaw(&self, reason: impl Into<String>) -> Flaw {
        Flaw::at_row(reason, self.number, self.file, self.line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_to_one_power_of_ten() {
        let row = Row::of(&[(2, "0.25"), (1, "-3"), (7, "1e3"), (4, "0.0")]);
        assert_eq!(row.scale, 2);
        assert_eq!(row.small, [(1, -300), (2, 25), (7, 100_000)]);
        assert!(row.is_small());
        let empty = Row::of(&[]);
        assert!(empty.is_small() && empty.integers().next().is_none());
    }

    #[test]
    fn values_far_apart_or_long_stay_exact() {
        for (texts, scale, longest) in [
            ([(1, "1e-300"), (2, "1")], 300, 301),
            ([(2, "0.5"), (1, "12345678901234567890.5")], 1, 21),
        ] {
            let row = Row::of(&texts);
            assert!(!row.is_small());
            assert_eq!(row.scale, scale);
            let integers: Vec<_> = row.integers().collect();
            assert_eq!([integers[0].0, integers[1].0], [1, 2]);
            let digits = integers.iter().map(|(_, v)| v.to_string().len()).max();
            assert_eq!(digits, Some(longest));
        }
    }
}
