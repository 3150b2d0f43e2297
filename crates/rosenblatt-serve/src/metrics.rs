//! Metrics for Prometheus.

use std::sync::atomic::AtomicU64;
use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

use crate::learner::Recent;

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfRequest {
    route: &'static str,
    status: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfRoute {
    route: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfModel {
    model: String,
}

type Share = Gauge<f64, AtomicU64>;

/// All metrics.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    requests: Family<OfRequest, Counter>,
    seconds: Family<OfRoute, Histogram, fn() -> Histogram>,
    rows: Family<OfModel, Counter>,
    examples: Family<OfModel, Counter>,
    mistakes: Family<OfModel, Counter>,
    window: Family<OfModel, Share>,
    progressive: Family<OfModel, Share>,
    log: Family<OfModel, Gauge>,
    sync: Family<OfModel, Histogram, fn() -> Histogram>,
}

/// From 50 µs to 3 s.
fn seconds() -> Histogram {
    Histogram::new((0..17).map(|i| 50e-6 * f64::from(1u32 << i)))
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("rosenblatt");
        let new: fn() -> Histogram = seconds;
        let metrics = Metrics {
            requests: Family::default(),
            seconds: Family::new_with_constructor(new),
            rows: Family::default(),
            examples: Family::default(),
            mistakes: Family::default(),
            window: Family::default(),
            progressive: Family::default(),
            log: Family::default(),
            sync: Family::new_with_constructor(new),
            registry: Registry::default(),
        };
        let r = &mut registry;
        r.register("requests", "Requests answered", metrics.requests.clone());
        let help = "Time from a request's head to its answer";
        let seconds = metrics.seconds.clone();
        r.register_with_unit("request", help, Unit::Seconds, seconds);
        r.register("predicted_rows", "Rows predicted", metrics.rows.clone());
        let help = "Examples learned since the server started";
        r.register("learned_examples", help, metrics.examples.clone());
        let help = "Wrong predictions of examples, each before it was learned";
        r.register("mistakes", help, metrics.mistakes.clone());
        let help = "Share of mistakes among the last examples learned, at most 1,000";
        r.register("window_error", help, metrics.window.clone());
        let help = "Share of mistakes among all examples learned since the server started";
        r.register("progressive_error", help, metrics.progressive.clone());
        let help = "Size of the log since the last snapshot";
        r.register_with_unit("log", help, Unit::Bytes, metrics.log.clone());
        let help = "Time that a sync of the log took";
        r.register_with_unit("log_sync", help, Unit::Seconds, metrics.sync.clone());
        Metrics {
            registry,
            ..metrics
        }
    }
}

impl Metrics {
    /// A request was answered.
    pub fn answered(&self, route: &'static str, status: u16, took: Duration) {
        self.requests
            .get_or_create(&OfRequest { route, status })
            .inc();
        let seconds = self.seconds.get_or_create(&OfRoute { route });
        seconds.observe(took.as_secs_f64());
    }

    /// Those of a model.
    pub fn of_model(&self, model: &str) -> ModelMetrics {
        let of = OfModel {
            model: model.to_owned(),
        };
        ModelMetrics {
            rows: self.rows.get_or_create_owned(&of),
            examples: self.examples.get_or_create_owned(&of),
            mistakes: self.mistakes.get_or_create_owned(&of),
            window: self.window.get_or_create_owned(&of),
            progressive: self.progressive.get_or_create_owned(&of),
            log_bytes: self.log.get_or_create_owned(&of),
            sync: self.sync.get_or_create_owned(&of),
        }
    }

    /// What Prometheus reads.
    pub fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = encode(&mut text, &self.registry);
        text
    }
}

/// Metrics of a model.
#[derive(Debug, Clone)]
pub struct ModelMetrics {
    /// Rows predicted.
    pub rows: Counter,
    examples: Counter,
    mistakes: Counter,
    window: Share,
    progressive: Share,
    /// The size of its log.
    pub log_bytes: Gauge,
    /// How long its syncs took.
    pub sync: Histogram,
}

impl ModelMetrics {
    /// Examples were learned, so many of them after a wrong prediction.
    pub fn learned(&self, examples: u64, mistakes: u64, recent: &Recent) {
        self.examples.inc_by(examples);
        self.mistakes.inc_by(mistakes);
        self.window.set(recent.error());
        let all = recent.examples.max(1) as f64;
        self.progressive.set(recent.mistakes as f64 / all);
    }
}
