//! Messages of the libraries mention parameters without the spelling of one front end.

use std::path::Path;

/// Whether a line of code holds `--name`.
fn holds_an_option(line: &str) -> bool {
    let code = line.split_once("//").map_or(line, |(code, _)| code);
    code.match_indices("--").any(|(at, dashes)| {
        let after = code[at + dashes.len()..].chars().next();
        after.is_some_and(|c| c.is_ascii_lowercase())
    })
}

fn search(folder: &Path, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            search(&path, found);
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
        let lines = code.lines().filter(|line| holds_an_option(line));
        found.extend(lines.map(|line| format!("{}: {}", path.display(), line.trim())));
    }
}

#[test]
fn no_message_of_a_library_spells_an_option() {
    assert!(holds_an_option("    .remedy(\"pass --header no\") // why"));
    assert!(!holds_an_option("    x - -y; // as --header no"));
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut found = Vec::new();
    for library in ["core", "files", "proof", "onnx"] {
        search(
            &crates.join(format!("rosenblatt-{library}/src")),
            &mut found,
        );
    }
    assert!(found.is_empty(), "{found:#?}");
}
