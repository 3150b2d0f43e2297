//! PNG drawing: the embedded font alone, sizes as asked, errors instead of panics.
#![cfg(feature = "png")]
#![allow(clippy::unwrap_used)]

use rosenblatt_plot::{Figure, Layer, Panel, svg_to_png};

fn size(png: &[u8]) -> (u32, u32) {
    let word = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
    (word(16), word(20))
}

#[test]
fn the_scale_multiplies_the_size() {
    let figure = Figure::of(Panel::new().layer(Layer::line([(0.0, 0.0), (1.0, 1.0)])));
    let (one, three) = (
        size(&figure.png(1.0).unwrap()),
        size(&figure.png(3.0).unwrap()),
    );
    assert_eq!((one.0 * 3, one.1 * 3), three);
}

#[test]
fn text_is_drawn_with_the_embedded_font() {
    let blank = Figure::of(Panel::bare()).png(1.0).unwrap();
    let svg = |text: &str| {
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"60\" height=\"20\" font-family=\"Nowhere, sans-serif\">\
             <text x=\"2\" y=\"15\" font-size=\"14\">{text}</text></svg>"
        )
    };
    let words = svg_to_png(&svg("γ ≤ ‖w‖"), 1.0).unwrap();
    assert_ne!(words, svg_to_png(&svg(""), 1.0).unwrap());
    assert!(!blank.is_empty());
}

#[test]
fn impossible_pictures_are_refused() {
    let figure = Figure::of(Panel::new());
    for scale in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(figure.png(scale).unwrap_err().to_string().contains("scale"));
    }
    assert!(
        figure
            .png(1e4)
            .unwrap_err()
            .to_string()
            .contains("too large")
    );
    assert!(svg_to_png("not a drawing", 1.0).is_err());
}
