//! A build with the feature `png` writes pictures as PNG wherever it writes SVG.

#[path = "program/common/mod.rs"]
mod common;

use common::{AND, Place, ok};

#[track_caller]
fn is_png(path: std::path::PathBuf) {
    let bytes = std::fs::read(&path).unwrap();
    assert_eq!(&bytes[1..4], b"PNG", "{}", path.display());
}

#[test]
fn figures_traces_and_studies_are_drawn() {
    let place = Place::new();
    ok(&["figure", "hulls", "-o", &place.to("hulls.png")]);
    is_png(place.path("hulls.png"));
    let data = place.file("and.csv", AND);
    ok(&["trace", &data, "--plot", &place.to("and.png")]);
    is_png(place.path("and.png"));
    let folder = place.to("studies");
    ok(&[
        "experiment",
        "bound",
        "--quick",
        "--seeds",
        "2",
        "-o",
        &folder,
    ]);
    is_png(place.path("studies/bound-loglog.png"));
}
