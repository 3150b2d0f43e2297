//! A network as parts, and back.

use super::file::bad;
use super::network::{Attempt, Layer, Network};
use super::parts::Parts;
use crate::error::Result;
use crate::options::{Options, parse_choice};
use crate::scheme::Scheme;

/// Puts a network among the parts.
pub(super) fn put(parts: &mut Parts<'_>, network: &Network) {
    parts.put_fact("network.scale", network.scale);
    parts.put_fact("network.layers", network.layers.len() as u64);
    parts.put_fact("network.attempts", &network.attempts);
    for (l, layer) in network.layers.iter().enumerate() {
        parts.put_table(
            &format!("network.{l}.weights"),
            layer.outputs(),
            layer.weights().into(),
        );
        parts.put(&format!("network.{l}.bias"), layer.biases());
    }
}

/// Takes a network from the parts.
pub(super) fn take(parts: &mut Parts<'_>, scheme: Scheme, options: &Options) -> Result<Network> {
    let scale: f64 = parts.take_fact("network.scale")?;
    let count: u64 = parts.take_fact("network.layers")?;
    let attempts: Vec<Attempt> = parts.take_fact("network.attempts")?;
    let mut layers = Vec::new();
    for l in 0..count {
        let weights: Vec<f64> = parts.take(&format!("network.{l}.weights"))?;
        let bias: Vec<f64> = parts.take(&format!("network.{l}.bias"))?;
        let inputs = weights.len() / bias.len().max(1);
        layers.push(
            Layer::from_parts(inputs, &weights, &bias)
                .ok_or_else(|| bad(format_args!("layer {l} of its network is not whole")))?,
        );
    }
    let activation = options.get("activation").unwrap_or_default();
    let network = Network {
        scale,
        activation: parse_choice(&activation).map_err(bad)?,
        layers,
        attempts,
    };
    if network.is_whole() && network.outputs() == scheme.discriminators() {
        Ok(network)
    } else {
        Err(bad("the layers of its network do not fit each other"))
    }
}
