//! Switching optimisations off, so that what each gains can be measured.

use std::sync::OnceLock;

/// Whether the optimisation of this name is switched on: all are, but those that the environment
/// variable `ROSENBLATT_DISABLE` names, separated by commas. `docs/src/optimisations.md` lists the
/// names. No result depends on any of them.
pub fn enabled(name: &str) -> bool {
    static DISABLED: OnceLock<Vec<String>> = OnceLock::new();
    let disabled = DISABLED.get_or_init(|| {
        let list = std::env::var("ROSENBLATT_DISABLE").unwrap_or_default();
        let names = list.split(',').map(str::trim);
        names
            .filter(|name| !name.is_empty())
            .map(str::to_owned)
            .collect()
    });
    !disabled.iter().any(|disabled| disabled == name)
}
