//! Figures in a row, shown one after the other.

use crate::axis::widen;
use crate::figure::{Drawn, Figure};
use crate::svg::{document, number};
use std::fmt::Write as _;

/// An animated SVG: frames of equal rank that loop, without a script.
///
/// Readers who ask their system for less motion, printers and programs that know no animation get
/// the last frame. All frames share the ranges of their axes; what all frames have in
/// common (axes, data, legend) is stored once.
///
/// ```
/// use rosenblatt_plot::{Animation, Figure, Layer, Panel};
/// let points = [(1.0, 1.0), (-1.0, 0.5)];
/// let frames = (0..5).map(|step| {
///     let boundary = Layer::boundary([1.0, step as f64 / 4.0], 0.0);
///     Figure::of(Panel::new().title(format!("after update {step}")).layer(Layer::points(points)).layer(boundary))
/// });
/// let svg = Animation::new(frames).seconds_per_frame(0.5).svg();
/// assert!(svg.contains("prefers-reduced-motion"));
/// ```
#[derive(Debug, Clone)]
pub struct Animation {
    frames: Vec<Figure>,
    seconds: f64,
    hold: usize,
}

impl Animation {
    /// An animation of these frames.
    pub fn new(frames: impl IntoIterator<Item = Figure>) -> Self {
        Animation {
            frames: frames.into_iter().collect(),
            seconds: 0.8,
            hold: 3,
        }
    }

    /// How long each frame stands; the last stands longer.
    #[must_use]
    pub fn seconds_per_frame(mut self, seconds: f64) -> Self {
        self.seconds = if seconds.is_finite() {
            seconds.clamp(0.02, 60.0)
        } else {
            0.8
        };
        self
    }

    /// For how many more frames the last one stands before the loop starts again.
    #[must_use]
    pub fn hold_last(mut self, frames: usize) -> Self {
        self.hold = frames.min(1000);
        self
    }

    /// The animation as an SVG document.
    pub fn svg(&self) -> String {
        let frames = self.aligned();
        let drawn: Vec<Drawn> = frames.iter().map(Figure::draw).collect();
        let Some(last) = frames.last() else {
            return Figure::new().svg();
        };
        let width = drawn.iter().map(|d| d.width).fold(0.0, f64::max);
        let height = drawn.iter().map(|d| d.height).fold(0.0, f64::max);
        let pieces: Vec<&[String]> = drawn.iter().map(|d| d.pieces.as_slice()).collect();
        let body = if pieces.len() == 1 {
            pieces[0].concat()
        } else {
            self.body(&pieces)
        };
        document(width, height, last.heading(), last.description(), &body)
    }

    /// The frames with common ranges.
    fn aligned(&self) -> Vec<Figure> {
        let mut frames = self.frames.clone();
        let mut common: Vec<[Option<(f64, f64)>; 2]> = Vec::new();
        for frame in &frames {
            for (i, ranges) in frame.ranges().into_iter().enumerate() {
                if common.len() <= i {
                    common.push([None, None]);
                }
                for axis in 0..2 {
                    let all = widen(common[i][axis], ranges[axis].0);
                    common[i][axis] = widen(all, ranges[axis].1);
                }
            }
        }
        let fixed: Vec<[(f64, f64); 2]> = common
            .iter()
            .map(|axes| axes.map(|range| range.unwrap_or((0.0, 1.0))))
            .collect();
        frames.iter_mut().for_each(|frame| frame.fix_ranges(&fixed));
        frames
    }

    fn body(&self, frames: &[&[String]]) -> String {
        let count = frames.len();
        let slots = count + self.hold;
        let total = number(slots as f64 * self.seconds);
        // The names say all that the rules depend on, so that two animations in a page agree.
        let name = |share: usize| format!("rosenblatt-{slots}-{share}");
        let mut out = String::from("<style>");
        for share in [1, self.hold + 1] {
            let until = 100.0 * share as f64 / slots as f64;
            let _ = write!(
                out,
                "@keyframes {}{{0%{{visibility:visible}}{until:.4}%,100%{{visibility:hidden}}}}",
                name(share)
            );
        }
        out.push_str(
            "@media (prefers-reduced-motion: reduce), print{.rosenblatt-frame{animation:none!important}}</style>\n",
        );
        for part in parts(frames) {
            if part.still {
                out.push_str(&frames[0][part.start..frames[0].len() - part.rest].concat());
                continue;
            }
            for (i, frame) in frames.iter().enumerate() {
                let last = i + 1 == count;
                let fallback = if last { "visible" } else { "hidden" };
                let name = name(if last { self.hold + 1 } else { 1 });
                let delay = number((i as f64 - slots as f64) * self.seconds);
                let _ = writeln!(
                    out,
                    "<g class=\"rosenblatt-frame\" visibility=\"{fallback}\" \
                     style=\"animation:{name} {total}s step-end {delay}s infinite\">"
                );
                out.push_str(&frame[part.start..frame.len() - part.rest].concat());
                out.push_str("</g>\n");
            }
        }
        out
    }
}

/// Pieces from `start` up to `rest` pieces before the end, which either stand still or change.
struct Part {
    start: usize,
    rest: usize,
    still: bool,
}

/// Cuts the frames where they begin or cease to agree, keeping the order back to front.
fn parts(frames: &[&[String]]) -> Vec<Part> {
    let shortest = frames.iter().map(|f| f.len()).min().unwrap_or(0);
    let agree = |i: usize| frames.iter().all(|f| f[i] == frames[0][i]);
    let agree_back = |i: usize| {
        frames
            .iter()
            .all(|f| f[f.len() - 1 - i] == frames[0][frames[0].len() - 1 - i])
    };
    if frames.iter().any(|f| f.len() != shortest) {
        // Of different lengths, only the two ends can be compared.
        let start = (0..shortest).take_while(|&i| agree(i)).count();
        let rest = (0..shortest - start).take_while(|&i| agree_back(i)).count();
        let first = frames[0].len();
        return vec![
            Part {
                start: 0,
                rest: first - start,
                still: true,
            },
            Part {
                start,
                rest,
                still: false,
            },
            Part {
                start: first - rest,
                rest: 0,
                still: true,
            },
        ];
    }
    let still: Vec<bool> = (0..shortest).map(agree).collect();
    let mut start = 0;
    let mut parts = Vec::new();
    for run in still.chunk_by(|a, b| a == b) {
        parts.push(Part {
            start,
            rest: shortest - start - run.len(),
            still: run[0],
        });
        start += run.len();
    }
    parts
}
