//! `serve`: predictions over HTTP, and learning from a stream.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rosenblatt::Error;
use rosenblatt_serve::{LearnSettings, Limits, Loaded, Settings};
use sha2::{Digest, Sha256};

use super::context::Context;
use crate::args::{DataArgs, ServeArgs};
use crate::output::{Done, Outcome};

pub fn run(context: Context, args: &ServeArgs) -> Outcome {
    let learn = match (&args.log, args.learn) {
        (Some(log), true) => Some(LearnSettings {
            log: log.clone(),
            sync: args.sync,
            new_classes: args.new_classes,
        }),
        (None, true) => {
            return Err(Error::options("what is learned needs a place to be kept")
                .remedy("name a folder with --log")
                .into());
        }
        (_, false) => None,
    };
    let settings = Settings {
        models: args.model.clone(),
        load: Arc::new(load),
        listen: args.listen,
        learn,
        token_file: args.token_file.clone(),
        insecure: args.insecure,
        tls: args.tls_certificate.clone().zip(args.tls_key.clone()),
        limits: Limits {
            body: usize::try_from(args.max_body).unwrap_or(usize::MAX),
            rows: args.max_rows,
            connections: args.max_connections,
            time: Duration::from_secs(args.max_time),
        },
        threads: context.threads,
        quiet: context.quiet,
    };
    let scheme = if settings.tls.is_some() {
        "https"
    } else {
        "http"
    };
    rosenblatt_serve::serve(settings, &|address| {
        // The server runs as well where nobody reads where.
        let _ = crate::output::print(&format!("{scheme}://{address}\n"));
    })?;
    Ok(Done::Finished)
}

/// A model with what reads rows for it, as `predict` has it.
fn load(path: &Path) -> rosenblatt::Result<Loaded> {
    let bytes = std::fs::read(path).map_err(|e| Error::io(path, &e))?;
    let (model, preparation) = super::load_model(path)?;
    let preparation = preparation.ok_or_else(|| {
        Error::model("this model does not say how rows become its features")
            .in_file(path)
            .remedy("it was trained on arrays; save it with the names of their columns")
    })?;
    let look = DataArgs::default().recalled_look(&model.recipe);
    Ok(Loaded {
        options: look.options(1)?.read,
        model,
        preparation,
        digest: Sha256::digest(&bytes).into(),
    })
}
