use super::digits::plain_not_digits;
use super::*;
use crate::random::{Random, Stream};
use std::fmt::Write;

/// The fast way, with the instructions of this processor.
struct Within<'a>(&'a [u8; WINDOW]);

impl simd::Work for Within<'_> {
    type Output = (Option<Number<f64>>, Option<Number<f32>>);

    #[inline(always)]
    fn run<const LEVEL: u8>(self) -> Self::Output {
        (
            read_within::<f64, LEVEL>(self.0),
            read_within::<f32, LEVEL>(self.0),
        )
    }
}

/// The number as one of eight, each behind a comma, with the instructions of this processor.
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))] // nowhere else are eight read at once
struct AmongEight<'a>(&'a str);

impl simd::Work for AmongEight<'_> {
    type Output = Option<(Option<f64>, Option<f32>)>;

    #[inline(always)]
    fn run<const LEVEL: u8>(self) -> Self::Output {
        #[cfg(target_arch = "x86_64")]
        if let Some(text) = simd::Text::at::<LEVEL>() {
            let lane = self.0.len() % 8;
            let mut line = String::from("0123456789abcdef");
            let ends = std::array::from_fn(|k| {
                line += if k == lane { self.0 } else { "-7.25" };
                line.push(',');
                line.len() as u32 - 1
            });
            line += "0123456789abcdef";
            let stops = text.places(&ends);
            let starts = text.starts(16, stops);
            let often = text.numbers::<true>(line.as_bytes(), starts, stops);
            let rarely = text.numbers::<false>(line.as_bytes(), starts, stops);
            let wide = f64::from_eight(text, &often);
            let same = f64::from_eight(text, &rarely);
            // Where all are short a few more are told.
            assert_eq!(same.1 & !wide.1, 0, "{}", self.0);
            let (narrow, good) = f32::from_eight(text, &often);
            for (k, &narrow) in narrow.iter().enumerate() {
                if same.1 >> k & 1 == 1 {
                    assert_eq!(wide.0[k].to_bits(), same.0[k].to_bits(), "{}", self.0);
                }
                if k != lane {
                    assert!((wide.1 & good) >> k & 1 == 1, "{}", self.0);
                    assert_eq!((wide.0[k], narrow), (-7.25, -7.25), "{}", self.0);
                }
            }
            return Some((
                (wide.1 >> lane & 1 == 1).then_some(wide.0[lane]),
                (good >> lane & 1 == 1).then_some(narrow[lane]),
            ));
        }
        None
    }
}

/// The number as that of one of eight tokens that lie together: with its bits, whether it is
/// told, as `f64` and as `f32`.
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))] // see above
struct AmongTokens<'a>(&'a str);

impl simd::Work for AmongTokens<'_> {
    type Output = Option<(Option<f64>, Option<f32>)>;

    #[inline(always)]
    fn run<const LEVEL: u8>(self) -> Self::Output {
        #[cfg(target_arch = "x86_64")]
        if let Some(text) = simd::Text::at::<LEVEL>() {
            let lane = self.0.len() % 8;
            let indices = [1, 98, 345, 4321, 56_789, 987_654, 7_654_321, 12_345_678];
            let (mut line, mut pairs) = (String::from("+1 "), [0; 16]);
            let ends: [u32; 8] = std::array::from_fn(|k| {
                line += &indices[k].to_string();
                pairs[2 * k] = line.len() as u32;
                line.push(':');
                line += if k == lane { self.0 } else { "-7.25" };
                line.push(' ');
                pairs[2 * k + 1] = line.len() as u32 - 1;
                pairs[2 * k + 1]
            });
            line += &"x".repeat(128);
            let pairs = text.pairs(&pairs);
            let tokens = text.near_tokens(line.as_bytes(), 3, pairs).unwrap();
            let near = ends.map(|end| end < 3 + 128);
            assert_eq!(std::array::from_fn(|k| tokens.near >> k & 1 == 1), near);
            assert_eq!(tokens.whole, tokens.near);
            let wide = f64::from_eight(text, &tokens.numbers);
            let narrow = f32::from_eight(text, &tokens.numbers);
            assert_eq!((wide.1 | narrow.1) & !tokens.near, 0);
            for k in (0..8).filter(|&k| near[k] && k != lane) {
                assert!((wide.1 & narrow.1) >> k & 1 == 1, "{}", self.0);
                assert_eq!((wide.0[k], narrow.0[k]), (-7.25, -7.25), "{}", self.0);
                assert_eq!(text.listed(tokens.indices)[k], indices[k]);
            }
            return Some((
                (wide.1 >> lane & 1 == 1).then_some(wide.0[lane]),
                (narrow.1 >> lane & 1 == 1).then_some(narrow.0[lane]),
            ));
        }
        None
    }
}

fn agree_among_tokens(text: &str) {
    let Some((wide, narrow)) = simd::dispatch_bytes(AmongTokens(text)) else {
        return;
    };
    if let Some(wide) = wide {
        let expected = text.parse::<f64>().unwrap();
        assert_eq!(wide.to_bits(), expected.to_bits(), "{text}");
    }
    if let Some(narrow) = narrow {
        let expected = text.parse::<f32>().unwrap();
        assert_eq!(narrow.to_bits(), expected.to_bits(), "{text}");
    }
    // What is short and usual is told; what is no number is not.
    let digits = text.strip_prefix('-').unwrap_or(text);
    let (whole, places) = digits.split_once('.').unwrap_or((digits, ""));
    let usual = (1..=8).contains(&text.len())
        && !whole.is_empty()
        && whole
            .bytes()
            .chain(places.bytes())
            .all(|b| b.is_ascii_digit());
    assert_eq!(wide.is_some(), usual, "{text}");
}

#[test]
fn what_is_no_number_is_not_told_among_tokens() {
    for text in [
        "", ".", "-", "-.", "--1", "1-", "1-2", "1.2.3", "..1", "1..", "+1", "1e5", "1e-3", "nan",
        "0x10", ":", "1:2", "1,5", ".5", "-.5", "/", "0/", "9:", "1_0", "\u{e9}",
    ] {
        agree_among_tokens(text);
    }
    for text in [
        "0", "-0", "-0.0", "7.", "00000001", "1234567.", "0.123456", "-1.2345", "99999999",
    ] {
        agree_among_tokens(text);
    }
}

fn agree(text: &str) {
    agree_among_tokens(text);
    if let Some((wide, narrow)) = simd::dispatch_bytes(AmongEight(text)) {
        if let Some(wide) = wide {
            assert_eq!(
                wide.to_bits(),
                text.parse::<f64>().unwrap().to_bits(),
                "{text}"
            );
        }
        if let Some(narrow) = narrow {
            assert_eq!(
                narrow.to_bits(),
                text.parse::<f32>().unwrap().to_bits(),
                "{text}"
            );
        }
        // What is usual is not left to the other ways.
        let usual = text.trim_start_matches('-').split_once('.');
        if let Some((whole, places)) = usual
            && (1..8).contains(&whole.len())
            && whole.len() + places.len() <= 15
            && (whole.bytes().chain(places.bytes())).all(|b| b.is_ascii_digit())
            && !text.starts_with("--")
        {
            let longest = if text.starts_with('-') { 6 } else { 7 };
            assert_eq!(wide.is_some(), whole.len() <= longest, "{text}");
        }
    }
    // Alone, where words reach past the end, and inside other text.
    for within in [
        text.to_owned(),
        format!("{text} and some more text, longer than a window"),
    ] {
        let bytes = within.as_bytes();
        let wide = text.parse::<f64>().unwrap();
        match read::<f64>(bytes, 0) {
            Some(found) => {
                assert_eq!(found.value.to_bits(), wide.to_bits(), "{text}");
                assert_eq!(found.end, text.len(), "{text}");
                assert_eq!(found.stop, byte(bytes, text.len()), "{text}");
            }
            None => assert!(wide.is_infinite(), "{text}"),
        }
        let narrow = text.parse::<f32>().unwrap();
        match read::<f32>(bytes, 0) {
            Some(found) => assert_eq!(found.value.to_bits(), narrow.to_bits(), "{text}"),
            None => assert!(too_large_at::<f32>(bytes, 0).is_some(), "{text}"),
        }
        assert_eq!(
            whole::<f64>(text.as_bytes()).map(f64::to_bits),
            Some(wide.to_bits())
        );
        if let Some(window) = bytes.first_chunk() {
            let (a, b) = simd::dispatch_bytes(Within(window));
            if let Some(found) = a.filter(|found| !found.may_go_on()) {
                assert_eq!(found.value.to_bits(), wide.to_bits(), "{text}");
                assert_eq!(found.end, text.len(), "{text}");
            }
            if let Some(found) = b.filter(|found| !found.may_go_on()) {
                assert_eq!(found.value.to_bits(), narrow.to_bits(), "{text}");
                assert_eq!(found.end, text.len(), "{text}");
            }
        }
    }
}

#[test]
fn digits_are_told_from_all_other_bytes() {
    let all: Vec<u8> = (0..=255).chain(0..=255).collect();
    for start in 0..256 {
        let window = all[start..].first_chunk().unwrap();
        assert_eq!(not_digits(window), plain_not_digits(window));
    }
}

#[test]
fn the_grammar() {
    for good in [
        "0",
        "-0",
        "+1",
        "1.5",
        ".5",
        "-.5",
        "5.",
        "1e5",
        "1E-5",
        "1.e+3",
        "00012",
        "123456789",
        "12345678.12345678",
        "1e400",
        "1e-400",
        "0.000000000000000000000000000001",
    ] {
        agree(good);
    }
    for bad in [
        "", "-", ".", "e5", "+.", "inf", "nan", "NaN", "-inf", "x", " 1",
    ] {
        assert!(read::<f32>(bad.as_bytes(), 0).is_none(), "{bad}");
    }
    for (text, end) in [
        ("1e", 1),
        ("1e+", 1),
        ("1.2.3", 3),
        ("12x", 2),
        ("1_000", 1),
        ("1,5", 1),
    ] {
        assert_eq!(
            read::<f32>(text.as_bytes(), 0).map(|d| d.end),
            Some(end),
            "{text}"
        );
    }
    assert!(whole::<f32>(b"1e39").is_some_and(f32::is_infinite));
}

/// The exact decimal expansion of m·2^e.
fn expansion(mantissa: u64, exponent: i32) -> String {
    let mut digits = vec![0u8];
    let multiply = |digits: &mut Vec<u8>, by: u64, plus: u64| {
        let mut carry = plus;
        for d in digits.iter_mut() {
            carry += u64::from(*d) * by;
            *d = (carry % 10) as u8;
            carry /= 10;
        }
        while carry > 0 {
            digits.push((carry % 10) as u8);
            carry /= 10;
        }
    };
    for bit in (0..64).rev() {
        multiply(&mut digits, 2, mantissa >> bit & 1);
    }
    // 2^-k = 5^k / 10^k
    for _ in 0..exponent.unsigned_abs() {
        multiply(&mut digits, if exponent < 0 { 5 } else { 2 }, 0);
    }
    let mut text: String = digits.iter().rev().map(|d| char::from(b'0' + d)).collect();
    if exponent < 0 {
        write!(text, "e{exponent}").unwrap();
    }
    text
}

#[test]
fn halfway_cases_and_their_neighbours() {
    let mut random = Random::new(3, Stream::Sample, 0);
    let bump = |text: &str, by: i8| {
        let cut = text.find('e').unwrap_or(text.len());
        let exponent: i32 = text[cut..].trim_start_matches('e').parse().unwrap_or(0);
        let last = if by > 0 { "1" } else { "9" };
        if by > 0 {
            format!("{}{last}e{}", &text[..cut], exponent - 1)
        } else {
            // One less in the last place, then a nine.
            let mut digits: Vec<u8> = text[..cut].bytes().collect();
            for d in digits.iter_mut().rev() {
                if *d > b'0' {
                    *d -= 1;
                    break;
                }
                *d = b'9';
            }
            format!(
                "{}{last}e{}",
                String::from_utf8(digits).unwrap(),
                exponent - 1
            )
        }
    };
    for _ in 0..3_000 {
        // Halfway between two f32: 25 bits, the last one set; f64: 54 bits.
        let m32 = (random.bits() >> 40) << 1 | 1;
        let m64 = (random.bits() >> 11) << 1 | 1;
        for (m, e) in [
            (m32, random.below(60) as i32 - 40),
            (m64, random.below(40) as i32 - 60),
            (random.below(1 << 20) << 1 | 1, -150), // f32 subnormals
        ] {
            let text = expansion(m, e);
            agree(&text);
            agree(&bump(&text, 1));
            agree(&bump(&text, -1));
        }
    }
}

#[test]
fn a_million_random_decimals() {
    let mut random = Random::new(4, Stream::Sample, 0);
    let mut text = String::new();
    for i in 0..1_000_000u32 {
        text.clear();
        if i % 3 == 0 {
            text.push('-');
        }
        match i % 8 {
            0 => write!(text, "{}", f32::from_bits(random.below(0x7F80_0000) as u32)),
            1 => write!(text, "{:e}", f64::from_bits(random.below(0x7FF << 52))),
            2 => write!(text, "0.{:06}", random.below(1_000_000)),
            3 => write!(text, "{}.{}", random.below(1 << 30), random.below(1 << 30)),
            4 => write!(text, "{}e{}", random.bits(), random.below(80) as i32 - 60),
            5 => write!(
                text,
                "{}{}{}",
                random.bits(),
                random.bits(),
                random.below(99)
            ),
            // f32 values written with one digit more or less than needed.
            6 => write!(
                text,
                "{:.7e}",
                f32::from_bits(random.below(0x7F80_0000) as u32)
            ),
            _ => write!(text, "{:.1$}", random.unit(), random.below(20) as usize),
        }
        .unwrap();
        agree(&text);
    }
}

#[test]
fn long_decimals_are_known() {
    let long = |t: &str| is_long(t.as_bytes(), 0);
    for t in [
        "1",
        "0.1",
        "123456789012345",
        "0.000000000000000000001",
        "1.50000000000000000000",
        "1e289",
        "1e-290",
        "0e999",
        "100000000000000000000000",
    ] {
        assert!(!long(t), "{t}");
    }
    for t in [
        "1234567890123456",
        "0.1234567890123456",
        "1e291",
        "1e-291",
        "1e400",
    ] {
        assert!(long(t), "{t}");
    }
}

#[test]
fn short_decimals_about_halfway_between_two_f32() {
    let mut random = Random::new(5, Stream::Sample, 0);
    for _ in 0..20_000 {
        // Halfway between two f32 below 100, cut off after some places: as near as so few
        // digits come, on either side.
        let halfway =
            ((random.bits() >> 40) << 1 | 1) as f64 * 2f64.powi(-(20 + random.below(20) as i32));
        let places = 6 + random.below(9) as usize;
        let units = (halfway * 10f64.powi(places as i32)) as u64;
        for units in [units, units + 1] {
            let digits = format!("{units:0width$}", width = places + 1);
            let (whole, fraction) = digits.split_at(digits.len() - places);
            agree(&format!("{whole}.{fraction}"));
        }
    }
}

#[test]
fn no_decimal_of_eight_characters_is_about_halfway_between_two_f32() {
    for places in 0..8 {
        let told = (0..10_000_000).all(|m| f32::from_small(m, places, false).is_some());
        assert!(told, "{places}");
    }
}
