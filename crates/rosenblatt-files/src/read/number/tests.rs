use super::digits::scalar_not_digits;
use super::*;
use rosenblatt_core::internal::random::{Random, Stream};
use std::fmt::Write;

/// The fast way, with the instructions of this processor.
struct Within<'a>(&'a [u8; WINDOW]);

impl simd::Work for Within<'_> {
    type Output = (Option<Number<f64>>, Option<Number<f32>>);

    #[inline(always)]
    fn run<L: Level>(self, level: L) -> Self::Output {
        (
            read_within::<f64>(level, self.0),
            read_within::<f32>(level, self.0),
        )
    }
}

fn agree(text: &str) {
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
            let (a, b) = simd::dispatch_avx2(Within(window));
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
        assert_eq!(not_digits(window), scalar_not_digits(window));
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
        // As programs write an `f64` in full.
        "1234567890123456",
        "0.1234567890123456",
        "-0.30000000000000004",
        "5.551115123125783e-17",
        "9007199254740992",
    ] {
        assert!(!long(t), "{t}");
    }
    for t in [
        "12345678901234567",
        "0.10000000000000001",
        "0.1000000000000000055",
        "9007199254740993",
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
