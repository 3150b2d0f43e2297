//! Numbers as people read them.

/// 1234567 as 1,234,567.
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

/// A count with its noun.
pub fn counted(n: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(n), if n == 1 { one } else { many })
}

/// 0.8523 as 85.23 %.
pub fn percent(share: f64) -> String {
    format!("{:.2} %", share * 100.0)
}

/// A number with four significant digits, plain where that is short.
pub fn short(x: f64) -> String {
    digits(x, 4)
}

/// A number with nine significant digits, for those that are to be compared.
pub fn precise(x: f64) -> String {
    digits(x, 9)
}

/// A number with so many significant digits, plain where that is short.
pub fn digits(x: f64, significant: i32) -> String {
    if x == 0.0 {
        return "0".into();
    }
    if !x.is_finite() {
        return x.to_string();
    }
    if x == x.trunc() && x.abs() < 1e6 {
        return format!("{x}");
    }
    let magnitude = x.abs().log10().floor() as i32;
    if (-4..6).contains(&magnitude) {
        let decimals = (significant - 1 - magnitude).max(0) as usize;
        let text = format!("{x:.decimals$}");
        if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        } else {
            text
        }
    } else {
        format!("{x:.*e}", significant as usize - 1)
    }
}

/// A size in bytes.
pub fn bytes(n: u64) -> String {
    const UNITS: [&str; 5] = ["B", "kB", "MB", "GB", "TB"];
    let mut size = n as f64;
    let mut unit = 0;
    while size >= 1000.0 && unit + 1 < UNITS.len() {
        size /= 1000.0;
        unit += 1;
    }
    if unit == 0 {
        format!("{n} B")
    } else {
        format!("{size:.1} {}", UNITS[unit])
    }
}

/// A duration in seconds.
pub fn seconds(s: f64) -> String {
    if s < 0.0095 {
        format!("{:.1} ms", s * 1e3)
    } else if s < 0.95 {
        format!("{:.0} ms", s * 1e3)
    } else if s < 120.0 {
        format!("{s:.1} s")
    } else {
        format!("{:.1} min", s / 60.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(counted(1, "row", "rows"), "1 row");
        assert_eq!(percent(0.85231), "85.23 %");
        assert_eq!(short(0.0), "0");
        assert_eq!(short(-24.0), "-24");
        assert_eq!(short(0.123456), "0.1235");
        assert_eq!(short(1234.567), "1235");
        assert_eq!(short(1.5e-9), "1.500e-9");
        assert_eq!(short(2.5e12), "2.500e12");
        assert_eq!(digits(-0.60402, 3), "-0.604");
        assert_eq!(bytes(999), "999 B");
        assert_eq!(bytes(1_500_000), "1.5 MB");
        assert_eq!(seconds(0.0012), "1.2 ms");
        assert_eq!(seconds(0.25), "250 ms");
        assert_eq!(seconds(3.04), "3.0 s");
    }
}
