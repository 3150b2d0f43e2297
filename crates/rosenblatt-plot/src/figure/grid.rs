//! Where the panels of a figure stand.

use crate::panel::{Margins, PanelLayout};

/// Rows and columns wide enough for the labels of their panels, so that axes line up.
pub(super) struct Grid {
    pub(super) columns: usize,
    /// Left edge of each column's plotting areas, and top edge of each row's.
    pub(super) lefts: Vec<f64>,
    pub(super) tops: Vec<f64>,
    /// Breadth of each column's plotting areas, and height of each row's.
    pub(super) sizes: (Vec<f64>, Vec<f64>),
    pub(super) width: f64,
    pub(super) height: f64,
}

impl Grid {
    const GAP: f64 = 14.0;

    pub(super) fn of(layouts: &[PanelLayout<'_>], columns: usize) -> Self {
        let rows = layouts.len().div_ceil(columns);
        let mut across = vec![(Margins::default(), 0f64); columns];
        let mut down = vec![(Margins::default(), 0f64); rows];
        for (i, panel) in layouts.iter().enumerate() {
            let (m, size) = &mut across[i % columns];
            m.left = m.left.max(panel.margins.left);
            *size = size.max(panel.w);
            m.right = m.right.max(panel.margins.right);
            let (m, size) = &mut down[i / columns];
            m.top = m.top.max(panel.margins.top);
            *size = size.max(panel.h);
            m.bottom = m.bottom.max(panel.margins.bottom);
        }
        let (mut lefts, mut tops) = (Vec::new(), Vec::new());
        let (mut x, mut y) = (0.0, 0.0);
        for (m, size) in &across {
            lefts.push(x + m.left);
            x += m.left + size + m.right + Self::GAP;
        }
        for (m, size) in &down {
            tops.push(y + m.top);
            y += m.top + size + m.bottom + Self::GAP;
        }
        let less = |v: f64| (v - Self::GAP).max(0.0);
        let sizes = (
            across.iter().map(|c| c.1).collect(),
            down.iter().map(|r| r.1).collect(),
        );
        Grid {
            columns,
            lefts,
            tops,
            sizes,
            width: less(x),
            height: less(y),
        }
    }

    /// The corner of a plotting area. Without axes to line up, it stands in the middle of its cell.
    pub(super) fn place(&self, index: usize, panel: &PanelLayout<'_>) -> (f64, f64) {
        let (column, row) = (index % self.columns, index / self.columns);
        let (left, top) = (self.lefts[column], self.tops[row]);
        if panel.has_axes() {
            return (left, top);
        }
        (
            left + (self.sizes.0[column] - panel.w) / 2.0,
            top + (self.sizes.1[row] - panel.h) / 2.0,
        )
    }

    /// The height at which a legend at the side looks centred.
    pub(super) fn first_middle(&self, layouts: &[PanelLayout<'_>]) -> f64 {
        match (layouts, self.tops.first()) {
            ([only], Some(top)) => top + only.h / 2.0,
            _ => self.height / 2.0,
        }
    }
}
