//! `export`: a model as ONNX.

use std::io::Write;

use rosenblatt::Error;
use rosenblatt::write::write_atomic;

use crate::args::ExportArgs;
use crate::output::{self, Done, Outcome};

pub fn run(args: &ExportArgs) -> Outcome {
    output::refuse_overwriting(&args.model, &args.output)?;
    let (model, _) = super::load_model(&args.model)?;
    let graph = rosenblatt_onnx::export(&model).map_err(|e| e.in_file(&args.model))?;
    if output::is_dash(&args.output) {
        let mut out = std::io::stdout().lock();
        out.write_all(&graph)
            .and_then(|()| out.flush())
            .map_err(|e| output::stdout_failed(&e))?;
    } else {
        write_atomic(&args.output, |out| {
            out.write_all(&graph)
                .map_err(|e| Error::io(&args.output, &e))
        })?;
    }
    Ok(Done::Finished)
}
