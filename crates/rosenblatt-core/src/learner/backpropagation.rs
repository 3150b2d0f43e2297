//! A network with hidden layers, by back-propagation.
//!
//! *Rule.* Outputs are sums over hidden units, hidden units a function (tanh or max(0, ·)) of
//! sums over what is below them. Every step takes the gradient of the loss over a small batch
//! of examples and moves all weights by Adam's rule: the gradient's running mean over the
//! root of its running square, times the rate. The loss is cross-entropy of the softmax
//! (logistic for two classes), or half the squared distance from ±1.
//!
//! *Guarantee.* None: the loss has valleys that are not the lowest. A run whose loss stops
//! falling while examples are wrong is called stuck and begun anew from other first weights,
//! as often as `restarts` allows; the best start is kept, and all are reported. From the same
//! seed the same network comes out on any number of threads.
//!
//! *Cost.* Three matrix products a batch and layer, in which zeros cost what other numbers do.
//!
//! *Defaults.* Inputs are divided by their root mean square; first weights are normal with
//! variance 2/inputs for ReLU and 1/inputs for tanh; batches of 64; rate 0.001, but 0.01 for
//! fewer than 1000 examples; Adam with β = 0.9 and 0.999.
//!
//! *Reference.* D. Rumelhart, G. Hinton and R. Williams, "Learning representations by
//! back-propagating errors", Nature 323 (1986); D. Kingma and J. Ba, "Adam: a method for
//! stochastic optimization", ICLR (2015).

use super::adam::{Adam, AdamStep};
use super::network::{Loss, NetworkLearner};
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::kernel::{Products, WIDTH, products};
use crate::model::{Activation, Attempt, Decision, Forward, Layer, Network};
use crate::options::{Options, Readout, list_text};
use crate::progress::{Limits, Pass, Progress, Stop};
use crate::random::{Random, Stream};
use crate::scheme::Scheme;
use crate::simd;
use crate::training::{Judgement, PassOrder, Rule, SampleWeights, Snapshot, Training};

/// Passes in which the loss must fall by a hundredth, or the run is stuck.
const STUCK_AFTER: u64 = 200;

/// A network under training.
pub(crate) struct Backpropagation<'a> {
    data: &'a Dataset,
    sample_weights: &'a SampleWeights<'a>,
    settings: &'a NetworkLearner,
    options: &'a Options,
    scheme: Scheme,
    network: Network,
    /// Of each layer the running means of the gradient and of its squares.
    moments: Vec<[Layer; 2]>,
    steps: u64,
    rate: f64,
    /// The best start that ended, with its errors and loss.
    best: Option<(u64, f64, Network)>,
    work: Buffers,
}

#[derive(Default)]
struct Buffers {
    forward: Forward,
    /// ∂loss/∂sum of the layer in hand, row by row, and of the one below.
    delta: Vec<f64>,
    below: Vec<f64>,
    transposed: Vec<f64>,
    panel: Vec<[f64; WIDTH]>,
    sums: Vec<[f64; WIDTH]>,
    rows: Vec<u32>,
}

impl<'a> Backpropagation<'a> {
    pub(crate) fn new(settings: &'a NetworkLearner, training: &Training<'a>) -> Result<Self> {
        let (data, sample_weights) = (training.data, training.sample_weights);
        let (scheme, options) = (training.scheme, training.options);
        let mut sizes = vec![data.features()];
        sizes.extend(settings.hidden.iter().map(|&n| n as usize));
        sizes.push(scheme.discriminators());
        const MOST_WEIGHTS: usize = 1 << 30;
        let weights = sizes.windows(2).try_fold(0usize, |sum, w| {
            sum.checked_add(w[0].checked_mul(w[1].checked_next_multiple_of(WIDTH)?)?)
        });
        if weights.is_none_or(|n| n > MOST_WEIGHTS) {
            return Err(Error::options(format!(
                "a network of {} inputs and ⟨hidden {}⟩ has too many weights",
                data.features(),
                list_text(&settings.hidden)
            ))
            .remedy("use fewer hidden units"));
        }
        let squares: f64 = (0..data.len())
            .map(|r| sample_weights.squared_norm(data.position(r)))
            .sum();
        let mean = squares / (data.len() as f64 * data.features() as f64);
        let mut learner = Backpropagation {
            settings,
            data,
            sample_weights,
            options,
            scheme,
            network: Network {
                scale: if mean > 0.0 { 1.0 / mean.sqrt() } else { 1.0 },
                activation: settings.activation,
                layers: Vec::new(),
                attempts: Vec::new(),
            },
            moments: Vec::new(),
            steps: 0,
            rate: options
                .learning_rate
                .unwrap_or(if data.len() < 1000 { 0.01 } else { 0.001 }),
            best: None,
            work: Buffers::default(),
        };
        learner.begin(&sizes, 0);
        Ok(learner)
    }

    pub(crate) fn rate(&self) -> f64 {
        self.rate
    }

    /// First weights for the start of this number.
    fn begin(&mut self, sizes: &[usize], attempt: u64) {
        let mut random = Random::new(self.options.seed, Stream::Start, attempt);
        let gain: f64 = match self.settings.activation {
            Activation::Relu => 2.0,
            Activation::Tanh => 1.0,
        };
        self.network.layers = sizes
            .windows(2)
            .enumerate()
            .map(|(l, w)| {
                let gain = if l + 2 == sizes.len() { 1.0 } else { gain };
                Layer::random(w[0], w[1], (gain / w[0] as f64).sqrt(), &mut random)
            })
            .collect();
        let zero = |layer: &Layer| Layer::zero(layer.inputs(), layer.outputs());
        let moments = |layer| [zero(layer), zero(layer)];
        self.moments = self.network.layers.iter().map(moments).collect();
        self.steps = 0;
    }

    fn sizes(&self) -> Vec<usize> {
        let layers = &self.network.layers;
        std::iter::once(self.network.features())
            .chain(layers.iter().map(Layer::outputs))
            .collect()
    }

    /// The loss of one example by its outputs, and its slopes into `delta`.
    fn judge(&self, label: u32, outputs: &[f64], delta: &mut [f64]) -> f64 {
        let target = |c: usize| self.scheme.sides(c).1 == label;
        match self.settings.loss {
            Loss::Squared => {
                let mut loss = 0.0;
                for (c, (d, &o)) in delta.iter_mut().zip(outputs).enumerate() {
                    *d = o - if target(c) { 1.0 } else { -1.0 };
                    loss += 0.5 * *d * *d;
                }
                loss
            }
            Loss::Softmax if outputs.len() == 1 => {
                // log(1 + exp(−y·s)), without overflow.
                let y = if label == 1 { 1.0 } else { -1.0 };
                let margin = y * outputs[0];
                let small = libm::exp(-margin.abs());
                delta[0] = -y
                    * if margin >= 0.0 {
                        small / (1.0 + small)
                    } else {
                        1.0 / (1.0 + small)
                    };
                libm::log1p(small) + (-margin).max(0.0)
            }
            Loss::Softmax => {
                let largest = outputs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let mut sum = 0.0;
                for (d, &o) in delta.iter_mut().zip(outputs) {
                    *d = libm::exp(o - largest);
                    sum += *d;
                }
                let own = label as usize;
                let loss = libm::log(sum) + largest - outputs[own];
                delta.iter_mut().for_each(|d| *d /= sum);
                delta[own] -= 1.0;
                loss
            }
        }
    }

    /// One batch: forward, judge, back, step. Gives the sum of the losses.
    fn batch(
        &mut self,
        batch: &[u32],
        rule: Rule,
        judgement: &mut Judgement,
        pass: &mut Pass,
    ) -> f64 {
        let mut work = std::mem::take(&mut self.work);
        let data = self.data;
        self.network.forward(
            batch.iter().map(|&i| data.row(i as usize)),
            &mut work.forward,
        );
        let k = self.scheme.discriminators();
        let outputs = &work.forward.activations[self.network.layers.len()];
        work.delta.clear();
        work.delta.resize(outputs.len(), 0.0);
        let mut loss = 0.0;
        let share = 1.0 / batch.len() as f64;
        for ((&i, scores), delta) in batch
            .iter()
            .zip(outputs.chunks_exact(k))
            .zip(work.delta.chunks_exact_mut(k))
        {
            let label = data.labels[i as usize];
            let c = self.sample_weights.of(i as usize, label);
            loss += c * self.judge(label, scores, delta);
            delta.iter_mut().for_each(|d| *d *= c * share);
            rule.judge(self.scheme, label, scores, judgement);
            let is_wrong = self.scheme.decide(scores, self.options.at_zero) != label;
            judgement.count_in(pass, u64::from(is_wrong));
        }
        pass.updates += 1;
        self.steps += 1;
        for l in (0..self.network.layers.len()).rev() {
            if l > 0 {
                self.slopes_below(l, batch.len(), &mut work);
            }
            self.step(l, batch.len(), &mut work);
            std::mem::swap(&mut work.delta, &mut work.below);
        }
        self.work = work;
        loss
    }

    /// What the slopes of layer `l` over `n` examples make of those of the layer below.
    fn slopes_below(&self, l: usize, n: usize, work: &mut Buffers) {
        let layer = &self.network.layers[l];
        let (inputs, outputs) = (layer.inputs(), layer.outputs());
        let input = &work.forward.activations[l];
        work.below.clear();
        work.below.resize(n * inputs, 0.0);
        work.rows.clear();
        work.rows.extend(0..n as u32);
        work.sums.resize(n, [0.0; WIDTH]);
        for first in (0..inputs).step_by(WIDTH) {
            let here = first..(first + WIDTH).min(inputs);
            work.panel.clear();
            work.panel.resize(outputs, [0.0; WIDTH]);
            for (o, lanes) in work.panel.iter_mut().enumerate() {
                for (lane, i) in lanes.iter_mut().zip(here.clone()) {
                    *lane = layer.weight(i, o);
                }
            }
            products(Products {
                table: &work.delta,
                stride: outputs,
                from: 0,
                rows: &work.rows,
                panel: &work.panel,
                fused: false,
                out: &mut work.sums,
            });
            for (b, sums) in work.sums.iter().enumerate() {
                for (i, sum) in here.clone().zip(sums) {
                    let slope = self.network.activation.slope(input[b * inputs + i]);
                    work.below[b * inputs + i] = sum * slope;
                }
            }
        }
    }

    /// Moves layer `l` by its gradient over `n` examples: inputs × slopes, summed.
    fn step(&mut self, l: usize, n: usize, work: &mut Buffers) {
        let adam = Adam::at(self.rate, self.steps);
        let layer = &mut self.network.layers[l];
        let [means, squares] = &mut self.moments[l];
        let (inputs, outputs) = (layer.inputs(), layer.outputs());
        work.transposed.clear();
        work.transposed.resize(inputs * n, 0.0);
        let input = work.forward.activations[l].chunks_exact(inputs);
        for (b, row) in input.enumerate() {
            for (i, &x) in row.iter().enumerate() {
                work.transposed[i * n + b] = x;
            }
        }
        work.rows.clear();
        work.rows.extend(0..inputs as u32);
        work.sums.resize(inputs, [0.0; WIDTH]);
        for p in 0..layer.panels.len() {
            work.panel.clear();
            work.panel.resize(n, [0.0; WIDTH]);
            let mut bias_gradient = [0.0; WIDTH];
            let here = p * WIDTH..((p + 1) * WIDTH).min(outputs);
            for (row, lanes) in work.delta.chunks_exact(outputs).zip(&mut work.panel) {
                for (k, &d) in row[here.clone()].iter().enumerate() {
                    lanes[k] = d;
                    bias_gradient[k] += d;
                }
            }
            products(Products {
                table: &work.transposed,
                stride: n,
                from: 0,
                rows: &work.rows,
                panel: &work.panel,
                fused: false,
                out: &mut work.sums,
            });
            simd::dispatch(AdamStep {
                adam,
                weights: &mut layer.panels[p],
                means: &mut means.panels[p],
                squares: &mut squares.panels[p],
                gradient: &work.sums,
            });
            simd::dispatch(AdamStep {
                adam,
                weights: &mut layer.bias[p..=p],
                means: &mut means.bias[p..=p],
                squares: &mut squares.bias[p..=p],
                gradient: &[bias_gradient],
            });
        }
    }

    /// Wrong answers over all examples, and how many lie on the boundary.
    fn sweep(&self) -> (u64, u64) {
        let scores = self.network.scores(&self.data.matrix, 1);
        let k = self.scheme.discriminators();
        let rule = Rule::new(self.options, 1.0);
        let mut judgement = Judgement::default();
        let (mut errors, mut on_boundary) = (0, 0);
        for (scores, &label) in scores.chunks_exact(k).zip(&self.data.labels) {
            rule.judge(self.scheme, label, scores, &mut judgement);
            errors += u64::from(self.scheme.decide(scores, self.options.at_zero) != label);
            on_boundary += u64::from(judgement.margin == 0.0);
        }
        (errors, on_boundary)
    }

    /// Descends until something stops it.
    pub(crate) fn go(&mut self, training: &mut Training<'_>) -> Result<Stop> {
        let limits = training.limits;
        let (progress, recorder) = (&mut training.progress, &mut training.recorder);
        let sizes = self.sizes();
        let mut attempt = Attempt::default();
        // The lowest loss, and the one that a falling run must come below by its deadline.
        let (mut lowest, mut to_beat, mut deadline) = (f64::INFINITY, f64::INFINITY, STUCK_AFTER);
        let stop = loop {
            if let Some(stop) = limits.before_pass(progress).or_else(|| limits.now()) {
                break stop;
            }
            let (mut pass, stop) = self.pass(progress, limits);
            progress.count(&pass);
            if let Some(stop) = stop {
                break stop;
            }
            attempt.passes += 1;
            let (loss, mistakes) = (pass.squared_error, pass.mistakes);
            recorder.validate(self, &mut pass, progress)?;
            progress.passes.push(pass);
            recorder.pass_done(self, progress)?;
            if !loss.is_finite() {
                break Stop::Diverged {
                    safe_rate: self.rate / 10.0,
                };
            }
            if mistakes == 0 && self.sweep() == (0, 0) {
                break Stop::Separated;
            }
            if let Some(stop) = limits.after_pass(progress) {
                break stop;
            }
            lowest = lowest.min(loss);
            if lowest < 0.99 * to_beat {
                (to_beat, deadline) = (lowest, attempt.passes + STUCK_AFTER);
            } else if attempt.passes >= deadline {
                attempt.stuck = true;
                self.end_attempt(&mut attempt, lowest);
                if self.network.attempts.len() as u64 >= self.settings.restarts {
                    break Stop::Stuck {
                        starts: self.network.attempts.len() as u64,
                    };
                }
                self.begin(&sizes, self.network.attempts.len() as u64);
                (lowest, to_beat, deadline) = (f64::INFINITY, f64::INFINITY, STUCK_AFTER);
            }
        };
        if attempt.passes > 0 {
            self.end_attempt(&mut attempt, lowest);
        }
        if let Some((_, _, best)) = self.best.take() {
            let attempts = std::mem::take(&mut self.network.attempts);
            self.network = Network { attempts, ..best };
        }
        Ok(stop)
    }

    /// Writes a start down, and keeps its network if it is the best so far.
    fn end_attempt(&mut self, attempt: &mut Attempt, loss: f64) {
        attempt.errors = self.sweep().0;
        let better = self.best.as_ref().is_none_or(|(errors, least, _)| {
            attempt.errors < *errors || (attempt.errors == *errors && loss < *least)
        });
        if better {
            self.best = Some((attempt.errors, loss, self.network.clone()));
        }
        self.network.attempts.push(std::mem::take(attempt));
    }

    /// A pass, or as much of one as there was time for.
    fn pass(&mut self, progress: &Progress, limits: Limits<'_>) -> (Pass, Option<Stop>) {
        let epoch = progress.passes.len() as u64;
        let rule = Rule::new(self.options, 1.0);
        let mut judgement = Judgement::default();
        let mut pass = Pass::default();
        let data = self.data;
        let Some(mut order) = PassOrder::new(data, self.options.order, self.options.seed, epoch)
        else {
            unreachable!("options are validated: networks have orders known ahead")
        };
        let size = usize::try_from(self.settings.batch_size).unwrap_or(usize::MAX);
        while let Some(block) = order.next_block() {
            for batch in block.chunks(size) {
                // A batch of many features may take long.
                let stop = limits.now();
                if stop.is_some() {
                    return (pass, stop);
                }
                pass.squared_error += self.batch(batch, rule, &mut judgement, &mut pass);
            }
        }
        (pass, None)
    }
}

impl Snapshot for Backpropagation<'_> {
    fn decision(&mut self, _: &Dataset, _: Readout) -> Decision {
        Decision::Network(Box::new(self.network.clone()))
    }
}
