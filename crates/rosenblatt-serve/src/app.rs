//! What all requests share: the models by name, the token, the limits.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwap;
use rosenblatt::{Error, Result};
use sha2::{Digest, Sha256};

use crate::learn::journal::Journal;
use crate::learn::{NewClasses, Sync, Task};
use crate::learner::Learner;
use crate::log::files::Folder;
use crate::metrics::Metrics;
use crate::model::{Load, Loaded, Served, find};
use crate::problem::{Answer, Problem};
use crate::report::Report;

/// How a server is to be run.
pub struct Settings {
    /// A model, or a folder of models.
    pub models: PathBuf,
    /// Loads a model.
    pub load: Load,
    /// Where to listen.
    pub listen: SocketAddr,
    /// How to learn, if at all.
    pub learn: Option<LearnSettings>,
    /// A file with the token that requests must bear.
    pub token_file: Option<PathBuf>,
    /// Whether anybody may ask.
    pub insecure: bool,
    /// The certificate chain and the private key, as PEM.
    pub tls: Option<(PathBuf, PathBuf)>,
    /// What a client may ask for.
    pub limits: Limits,
    /// Threads that answer.
    pub threads: usize,
    /// Whether nothing is logged.
    pub quiet: bool,
}

/// How to learn.
#[derive(Debug, Clone)]
pub struct LearnSettings {
    /// The folder of the logs, one for each model.
    pub log: PathBuf,
    /// When to sync them.
    pub sync: Sync,
    /// What to do with labels that are no classes.
    pub new_classes: NewClasses,
}

/// What a client may ask for.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Bytes of a body.
    pub body: usize,
    /// Rows of a request.
    pub rows: usize,
    /// Connections at a time.
    pub connections: usize,
    /// How long a request may take to arrive.
    pub time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            body: 32 << 20,
            rows: 100_000,
            connections: 1024,
            time: Duration::from_secs(30),
        }
    }
}

/// The models by their names.
pub type Models = BTreeMap<String, Arc<Served>>;

/// What all requests share.
pub struct App {
    /// The models.
    pub models: ArcSwap<Models>,
    /// How the server is run.
    pub settings: Settings,
    /// Its metrics.
    pub metrics: Metrics,
    /// The digest of the token.
    token: Option<[u8; 32]>,
    /// Says what happens.
    pub report: Report,
    /// Whether it is ending.
    pub ending: AtomicBool,
    loading: Mutex<()>,
}

/// Tokens shorter than this can be guessed.
const SHORTEST_TOKEN: usize = 16;

impl App {
    /// Loads the models and recovers what they learned.
    ///
    /// # Errors
    /// If a setting would leave the server open, or a model cannot be served.
    pub fn new(settings: Settings) -> Result<Self> {
        let token = settings.token_file.as_deref().map(read_token).transpose()?;
        let report = Report {
            quiet: settings.quiet,
        };
        let app = App {
            models: ArcSwap::default(),
            metrics: Metrics::default(),
            token,
            report,
            ending: AtomicBool::new(false),
            loading: Mutex::default(),
            settings,
        };
        app.check_address(app.settings.listen)?;
        app.reload_all()?;
        Ok(app)
    }

    /// Refuses an address that others could ask without a token, unless that is wanted.
    ///
    /// # Errors
    /// If it is such a one.
    pub fn check_address(&self, address: SocketAddr) -> Result<()> {
        if self.has_token() || self.settings.insecure || address.ip().is_loopback() {
            return Ok(());
        }
        Err(Error::options(format!(
            "{address} can be reached from other machines, and anybody there could ask"
        ))
        .remedy("name a ⟨token-file⟩, or say ⟨insecure⟩"))
    }

    /// Reads all models again; those that cannot be read stay as they are.
    ///
    /// # Errors
    /// If there are none, or the first time if any cannot be served.
    pub fn reload_all(&self) -> Result<()> {
        let _alone = self.loading.lock().unwrap_or_else(PoisonError::into_inner);
        let before = self.models.load_full();
        let mut models = Models::new();
        for (name, path) in find(&self.settings.models)? {
            let old = before.get(&name);
            match (self.load(&name, &path, old), old) {
                (Ok(served), _) => drop(models.insert(name, served)),
                (Err(error), _) if before.is_empty() => return Err(error),
                (Err(error), old) => {
                    let why = error.wording().as_command_line();
                    self.report
                        .say("reload failed", &[("model", &name), ("error", &why)]);
                    models.extend(old.map(|old| (name, old.clone())));
                }
            }
        }
        // A model that learns stays although its file is gone.
        for (name, old) in before.iter().filter(|(_, old)| old.learner.is_some()) {
            models.entry(name.clone()).or_insert_with(|| old.clone());
        }
        self.models.store(Arc::new(models));
        Ok(())
    }

    /// Reads a model's file again.
    ///
    /// # Errors
    /// If it cannot be served; it then stays as it was.
    pub fn reload(&self, name: &str) -> Result<()> {
        let _alone = self.loading.lock().unwrap_or_else(PoisonError::into_inner);
        let before = self.models.load_full();
        if let Some(old) = before.get(name) {
            let served = self.load(name, &old.path, Some(old))?;
            let mut models = (*before).clone();
            models.insert(name.to_owned(), served);
            self.models.store(Arc::new(models));
        }
        Ok(())
    }

    fn load(&self, name: &str, path: &Path, old: Option<&Arc<Served>>) -> Result<Arc<Served>> {
        let loaded = (self.settings.load)(path)?;
        if let Some(old) = old.filter(|old| old.digest == loaded.digest) {
            return Ok(old.clone());
        }
        if old.is_some_and(|old| old.learner.is_some()) {
            return Err(Error::options(
                "the model learns, and its file was replaced: what it learned would be lost",
            )
            .in_file(path)
            .remedy("put the file back, or start the server again with another ⟨log⟩ folder"));
        }
        let learner = match &self.settings.learn {
            Some(learn) => Some(self.learner(name, &loaded, learn).map_err(
                |e| match e.position() {
                    Some(_) => e,
                    None => e.in_file(path),
                },
            )?),
            None => None,
        };
        let served = Served::new(
            name.to_owned(),
            path,
            loaded,
            learner,
            self.metrics.of_model(name).rows,
        );
        self.report.say("model loaded", &[("model", name)]);
        Ok(Arc::new(served))
    }

    fn learner(&self, name: &str, loaded: &Loaded, learn: &LearnSettings) -> Result<Learner> {
        let path = learn.log.join(name);
        // Before a log is begun.
        rosenblatt::OnlineLearner::new(loaded.model.clone())?;
        let files = Arc::new(Folder::open(&path)?);
        let in_folder = |e: Error| match e.position() {
            Some(at) => {
                let file = path.join(&at.file);
                e.in_file(file)
            }
            None => e.in_file(&path),
        };
        let opened = Journal::open(files, loaded.digest, || Ok(loaded.model.clone()));
        let opened = opened.map_err(in_folder)?;
        let recovery = opened.2;
        if recovery != Default::default() {
            let (replayed, cut) = (recovery.replayed.to_string(), recovery.cut.to_string());
            self.report.say(
                "log recovered",
                &[
                    ("model", name),
                    ("examples", &replayed),
                    ("bytes cut off", &cut),
                ],
            );
        }
        let metrics = self.metrics.of_model(name);
        Learner::start(
            name,
            opened,
            (learn.sync, learn.new_classes),
            metrics,
            self.report,
        )
    }

    /// The model of this name.
    ///
    /// # Errors
    /// If there is none.
    pub fn model(&self, name: &str) -> Answer<Arc<Served>> {
        let models = self.models.load();
        models
            .get(name)
            .cloned()
            .ok_or_else(|| Problem::unknown(format!("there is no model {name:?}")))
    }

    /// Whether all models answer, and learn if they are to.
    pub fn is_ready(&self) -> bool {
        !self.ending.load(Ordering::Relaxed) && self.models.load().values().all(|m| m.is_ready())
    }

    /// Whether requests must bear a token.
    pub fn has_token(&self) -> bool {
        self.token.is_some()
    }

    /// Whether this is the token. Digests of a length are compared to the end, so that the time
    /// tells nothing.
    pub fn is_token(&self, said: &[u8]) -> bool {
        let Some(token) = self.token else { return true };
        let said: [u8; 32] = Sha256::digest(said).into();
        let differ = token.iter().zip(said).fold(0, |all, (a, b)| all | (a ^ b));
        std::hint::black_box(differ) == 0
    }

    /// Has all models save what they learned, and end.
    pub async fn stop(&self) {
        let models = self.models.load_full();
        for learner in models.values().filter_map(|m| m.learner.as_ref()) {
            // Where nothing is learned any more there is nothing to save.
            let _ = learner.ask(Task::Stop, None).await;
            learner.join();
        }
    }
}

fn read_token(path: &Path) -> Result<[u8; 32]> {
    let text = std::fs::read_to_string(path).map_err(|e| Error::io(path, &e))?;
    let token = text.trim();
    if token.len() < SHORTEST_TOKEN || token.contains(char::is_whitespace) {
        return Err(Error::options(format!(
            "expected a token of at least {SHORTEST_TOKEN} characters without blanks"
        ))
        .in_file(path)
        .remedy("make one, for example with: openssl rand -hex 32"));
    }
    Ok(Sha256::digest(token.as_bytes()).into())
}
