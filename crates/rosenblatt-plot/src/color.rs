//! Colours that survive colour-blindness, and palettes that survive a grey printer.
//!
//! Series use the palette of Okabe and Ito (2008) without its yellow, which vanishes on paper. Lines
//! and points of different series also differ in dash and marker, bars in tint.

/// A colour by its part in the figure, or by its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Color {
    /// Text, axes, arrows.
    Ink,
    /// Captions and other quiet marks.
    Muted,
    /// The n-th series, counted from 0; the palette repeats.
    Series(usize),
    /// Exactly this colour, in dark mode too.
    Rgb(u8, u8, u8),
}

pub(crate) const INK: &str = "#1f2328";
pub(crate) const MUTED: &str = "#59636e";
pub(crate) const GRID: &str = "#d9dee4";
pub(crate) const QUIET_GRID: &str = "#eef1f4";

/// Blue, vermilion, green, orange, purple, sky blue, grey: neighbours differ in hue and lightness.
pub(crate) const SERIES: [&str; 7] = [
    "#0072b2", "#d55e00", "#009e73", "#e69f00", "#cc79a7", "#56b4e9", "#4d545c",
];

/// What the colours of a figure become on a dark page: pairs of light and dark.
pub(crate) const DARK: [(&str, &str); 10] = [
    (INK, "#e6e9ed"),
    (MUTED, "#a3adb8"),
    (GRID, "#363c44"),
    (QUIET_GRID, "#23282e"),
    ("#0072b2", "#4aa8e0"),
    ("#d55e00", "#f0813a"),
    ("#009e73", "#2fc79b"),
    ("#e69f00", "#f2b63d"),
    ("#cc79a7", "#dd95bb"),
    ("#4d545c", "#b4bcc6"),
];

impl Color {
    /// The colour as SVG spells it.
    pub(crate) fn hex(self) -> String {
        match self {
            Color::Ink => INK.to_string(),
            Color::Muted => MUTED.to_string(),
            Color::Series(i) => SERIES[i % SERIES.len()].to_string(),
            Color::Rgb(r, g, b) => format!("#{r:02x}{g:02x}{b:02x}"),
        }
    }
}

/// How a heat map turns a number into a colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Palette {
    /// White to deep blue, for amounts.
    #[default]
    Sequential,
    /// Deep blue through white to orange, for signed values; the blue end is darker, so that the
    /// sign survives a grey printer.
    Diverging,
    /// White to black, for pictures.
    Grey,
}

/// Levels of a palette: enough to look smooth, few enough to keep files small.
pub(crate) const LEVELS: usize = 64;

impl Palette {
    const fn stops(self) -> &'static [[f64; 3]] {
        match self {
            Palette::Sequential => &[
                [250.0, 252.0, 254.0],
                [198.0, 219.0, 239.0],
                [107.0, 174.0, 214.0],
                [33.0, 113.0, 181.0],
                [8.0, 48.0, 107.0],
            ],
            Palette::Diverging => &[
                [9.0, 48.0, 112.0],
                [53.0, 122.0, 189.0],
                [166.0, 206.0, 232.0],
                [250.0, 250.0, 250.0],
                [253.0, 212.0, 158.0],
                [246.0, 150.0, 60.0],
                [214.0, 94.0, 0.0],
            ],
            Palette::Grey => &[[255.0, 255.0, 255.0], [0.0, 0.0, 0.0]],
        }
    }

    /// The colour at a position from 0 to 1; what lies outside is clamped.
    ///
    /// ```
    /// use rosenblatt_plot::Palette;
    /// assert_eq!(Palette::Grey.at(0.0), [255, 255, 255]);
    /// assert_eq!(Palette::Grey.at(2.0), [0, 0, 0]);
    /// ```
    pub fn at(self, position: f64) -> [u8; 3] {
        let stops = self.stops();
        let t = if position.is_nan() {
            0.0
        } else {
            position.clamp(0.0, 1.0)
        };
        let scaled = t * (stops.len() - 1) as f64;
        let i = (scaled as usize).min(stops.len() - 2);
        let part = scaled - i as f64;
        let mut rgb = [0; 3];
        for (channel, value) in rgb.iter_mut().enumerate() {
            let mixed = stops[i][channel] * (1.0 - part) + stops[i + 1][channel] * part;
            *value = mixed.round() as u8;
        }
        rgb
    }

    pub(crate) fn level(position: f64) -> usize {
        let t = if position.is_nan() {
            0.0
        } else {
            position.clamp(0.0, 1.0)
        };
        (t * (LEVELS - 1) as f64).round() as usize
    }

    pub(crate) fn level_hex(self, level: usize) -> String {
        let [r, g, b] = self.at(level as f64 / (LEVELS - 1) as f64);
        format!("#{r:02x}{g:02x}{b:02x}")
    }
}

/// Relative luminance of an sRGB colour, from 0 (black) to 1 (white).
pub(crate) fn luminance([r, g, b]: [u8; 3]) -> f64 {
    let linear = |v: u8| {
        let v = f64::from(v) / 255.0;
        if v <= 0.040_45 {
            v / 12.92
        } else {
            ((v + 0.055) / 1.055).powf(2.4)
        }
    };
    0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_darken_steadily() {
        for palette in [Palette::Sequential, Palette::Grey] {
            let lights: Vec<f64> = (0..LEVELS)
                .map(|i| luminance(palette.at(i as f64 / (LEVELS - 1) as f64)))
                .collect();
            assert!(lights.windows(2).all(|w| w[1] < w[0]), "{palette:?}");
        }
    }

    #[test]
    fn signs_differ_in_grey() {
        for size in [0.5, 1.0] {
            let negative = luminance(Palette::Diverging.at(0.5 - size / 2.0));
            let positive = luminance(Palette::Diverging.at(0.5 + size / 2.0));
            assert!(positive > negative * 1.4, "{size}: {negative} {positive}");
        }
    }
}
