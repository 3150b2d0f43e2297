//! The same answers on every machine: what a few runs find, written down to the last bit.
//!
//! A change that is meant to change an answer changes its line here. One that is not has let
//! something in that systems do differently.

mod common;

use rosenblatt::Options;
use rosenblatt::Session;
use rosenblatt::data::Dataset;

/// A digest of the scores that a model gives its own examples.
fn answers(data: &Dataset, options: &str) -> u64 {
    let mut all = Options::default();
    for option in options.split_whitespace() {
        let (name, value) = option.split_once('=').unwrap();
        all.set(name, value).unwrap();
    }
    let model = Session::new(&all).train(data).unwrap().model;
    let scores = model.scores(&data.matrix, 2).unwrap();
    scores.iter().fold(0xCBF2_9CE4_8422_2325, |digest, score| {
        (digest ^ score.to_bits()).wrapping_mul(0x0000_0100_0000_01B3)
    })
}

#[test]
fn answers_are_those_of_every_other_machine() {
    let apart = common::separable(5, 300, 10, 0.1, 0.02).0.dataset();
    let mixed = common::reals(6, 200, 6, 2).dataset();
    let several = common::reals(7, 200, 6, 4).dataset();
    let lines: &[(&Dataset, &str, u64)] = &[
        (&apart, "keep=last", 0x6776_724E_5C49_F275),
        (
            &apart,
            "readout=averaged-normalised keep=last",
            0x6BA4_B069_59DB_158D,
        ),
        (&apart, "readout=voted", 0xB851_8A92_FE7F_4315),
        (&apart, "start=random:1 keep=last", 0x6BF9_3C1D_B8D8_A8B2),
        (&apart, "learner=max-margin", 0xA980_6646_FF46_2DC5),
        (
            &apart,
            "learner=max-margin bias=unlifted",
            0x8087_96D3_6797_D17B,
        ),
        (&mixed, "learner=max-margin c=1", 0xF9FB_0D9C_F1F5_9FAD),
        (
            &mixed,
            "learner=max-margin c=1 kernel=rbf:0.5",
            0x67E0_2420_C261_E76A,
        ),
        (
            &mixed,
            "learner=kernel kernel=rbf:0.5 epochs=5",
            0xBC50_43D1_FED1_10BF,
        ),
        (
            &mixed,
            "learner=kernel kernel=sigmoid:0.1,0 epochs=5",
            0x52A3_675D_A1D8_20DB,
        ),
        (
            &mixed,
            "learner=kernel kernel=laplacian:1 epochs=5",
            0x0503_6A12_A119_6B85,
        ),
        (
            &mixed,
            "learner=kernel kernel=polynomial:3 epochs=5",
            0x43B7_BD2F_7742_3133,
        ),
        (
            &mixed,
            "embed=fourier:32,0.5 epochs=5",
            0x3DE0_ADBE_6583_5E91,
        ),
        (
            &mixed,
            "embed=nystrom:16,0.5 epochs=5",
            0x5D18_6DB3_7BB0_0C04,
        ),
        (
            &mixed,
            "learner=linear-unit epochs=5",
            0xCC74_05CD_87D6_5453,
        ),
        (&several, "epochs=5", 0x7440_379A_6FE4_F3B8),
        (&several, "multiclass=ovo epochs=5", 0x0C2F_75D0_BE18_40FE),
        (
            &several,
            "learner=network hidden=8 epochs=5",
            0x48AC_7F95_3102_1967,
        ),
        (
            &several,
            "learner=network hidden=8 activation=tanh epochs=5",
            0x78C6_2106_7BB5_3DD8,
        ),
    ];
    let mut other = Vec::new();
    for &(data, options, expected) in lines {
        let found = answers(data, options);
        if found != expected {
            other.push(format!("{options}: {found:#X}"));
        }
    }
    assert!(other.is_empty(), "other answers:\n{}", other.join("\n"));
}
