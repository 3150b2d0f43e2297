//! The commands of the README and of the guide run, and print what is printed there.
//!
//! Every block marked `sh` runs, file by file, each file in a folder of its own that holds the
//! repository's `examples`; a block marked `sh ignore` does not (it needs a network, or minutes).
//! A block marked `text` right after it is what the commands print on stdout; in it, a line `…`
//! stands for any number of lines. Durations may differ. With `UPDATE_DOCS=1` in the environment
//! the printed blocks are written anew instead.
#![cfg(unix)]

#[path = "program/common/mod.rs"]
mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A fenced block of a Markdown file.
struct Block {
    info: String,
    /// The first line and the line after the last, between the fences.
    lines: std::ops::Range<usize>,
}

/// The fenced blocks of a text.
fn blocks(lines: &[&str]) -> Vec<Block> {
    let mut found = Vec::new();
    let mut open: Option<(String, usize)> = None;
    for (i, line) in lines.iter().enumerate() {
        let Some(info) = line.strip_prefix("```") else {
            continue;
        };
        match open.take() {
            None => open = Some((info.trim().to_owned(), i + 1)),
            Some((info, start)) => found.push(Block {
                info,
                lines: start..i,
            }),
        }
    }
    assert!(open.is_none(), "a block has no end");
    found
}

/// Words with the number before a unit of time left out, and blanks made equal.
fn without_durations(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    let is_unit = |word: &str| {
        let unit = word.trim_end_matches([',', '.', ':', ')']);
        matches!(unit, "ms" | "s" | "min")
    };
    // A dry run that has no time to try expects the usual number of passes.
    let tried = |i: usize| i > 0 && words[i - 1] == "about" && words.get(i + 1) == Some(&"of");
    let timed = |i: usize| words.get(i + 1).is_some_and(|next| is_unit(next)) || tried(i);
    let kept: Vec<&str> = (0..words.len())
        .map(|i| match timed(i) || is_unit(words[i]) {
            true => "_",
            false => words[i],
        })
        .collect();
    kept.join(" ")
}

/// Whether lines are as expected, `…` standing for any number of them.
fn agree(expected: &[&str], found: &[&str]) -> bool {
    match expected.split_first() {
        None => found.is_empty(),
        Some((&"…", rest)) => (0..=found.len()).any(|skip| agree(rest, &found[skip..])),
        Some((first, rest)) => found.split_first().is_some_and(|(line, others)| {
            without_durations(first) == without_durations(line) && agree(rest, others)
        }),
    }
}

/// A folder with the examples in it.
fn workplace(root: &Path) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("examples")).unwrap();
    for entry in fs::read_dir(root.join("examples")).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(
            &path,
            folder
                .path()
                .join("examples")
                .join(path.file_name().unwrap()),
        )
        .unwrap();
    }
    folder
}

/// Runs a block with the program in the path; gives its stdout.
fn execute(script: &str, folder: &Path, whose: &str) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_rosenblatt"))
        .parent()
        .unwrap();
    let path = format!(
        "{}:{}",
        program.display(),
        std::env::var("PATH").unwrap_or_default()
    );
    let script = script.replace("cargo run --release --", "rosenblatt");
    let output = Command::new("bash")
        .args(["-euo", "pipefail", "-c", &script])
        .current_dir(folder)
        .env("PATH", path)
        .env("NO_COLOR", "1")
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{whose}\n{script}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

/// Runs the blocks of one file; gives how many ran.
fn run_file(root: &Path, file: &Path) -> usize {
    let text = fs::read_to_string(file).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let folder = workplace(root);
    let all = blocks(&lines);
    let mut written: Vec<String> = lines.iter().map(ToString::to_string).collect();
    let mut ran = 0;
    // From the last to the first, an update moves no block that is still to be written.
    let mut updates = Vec::new();
    for (i, block) in all.iter().enumerate().filter(|(_, b)| b.info == "sh") {
        let script = lines[block.lines.clone()].join("\n");
        let whose = format!("{}:{}", file.display(), block.lines.start);
        let found = execute(&script, folder.path(), &whose);
        ran += 1;
        let Some(printed) = all.get(i + 1).filter(|b| b.info == "text") else {
            continue;
        };
        let expected = &lines[printed.lines.clone()];
        let found: Vec<&str> = found.lines().collect();
        if agree(expected, &found) {
            continue;
        }
        assert!(
            std::env::var_os("UPDATE_DOCS").is_some() && !expected.contains(&"…"),
            "{whose}: these commands print something else now (UPDATE_DOCS=1 writes it down)\n{}",
            found.join("\n")
        );
        let trimmed = found
            .iter()
            .map(|l| l.trim_end().to_owned())
            .collect::<Vec<_>>();
        updates.push((printed.lines.clone(), trimmed));
    }
    if !updates.is_empty() {
        for (place, new) in updates.into_iter().rev() {
            written.splice(place, new);
        }
        fs::write(file, written.join("\n") + "\n").unwrap();
    }
    ran
}

#[test]
fn every_command_of_the_readme_and_the_guide_prints_what_stands_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = vec![root.join("README.md")];
    let pages = fs::read_dir(root.join("docs/src")).unwrap();
    files.extend(
        pages
            .map(|p| p.unwrap().path())
            .filter(|p| p.extension().is_some_and(|e| e == "md")),
    );
    let ran: usize = std::thread::scope(|scope| {
        let root = &root;
        let running: Vec<_> = files
            .iter()
            .map(|file| scope.spawn(move || run_file(root, file)))
            .collect();
        running.into_iter().map(|r| r.join().unwrap()).sum()
    });
    assert!(ran >= 20, "only {ran} blocks ran");
}

#[test]
fn every_page_is_listed_and_every_link_leads_somewhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let source = root.join("docs/src");
    let summary = fs::read_to_string(source.join("SUMMARY.md")).unwrap();
    let mut files: Vec<PathBuf> = vec![root.join("README.md")];
    for entry in fs::read_dir(&source).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if name.ends_with(".md") {
            assert!(
                name == "SUMMARY.md" || summary.contains(&format!("({name})")),
                "{name}"
            );
            files.push(path);
        }
    }
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        for part in text.split("](").skip(1) {
            let target = part.split(')').next().unwrap().split('#').next().unwrap();
            if !target.is_empty() && !target.contains("://") {
                assert!(
                    file.parent().unwrap().join(target).exists(),
                    "{}: {target}",
                    file.display()
                );
            }
        }
    }
}

#[test]
fn every_test_that_the_guide_names_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut sources = String::new();
    let mut folders = vec![root.join("crates")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                sources.push_str(&fs::read_to_string(path).unwrap());
            }
        }
    }
    let mut named = 0;
    for entry in fs::read_dir(root.join("docs/src")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|e| e != "md") {
            continue;
        }
        // A test is named in the form `file::name_of_the_test`.
        for code in fs::read_to_string(&path)
            .unwrap()
            .split('`')
            .skip(1)
            .step_by(2)
        {
            let Some((_, name)) = code.rsplit_once("::") else {
                continue;
            };
            if name.contains('_')
                && name
                    .chars()
                    .all(|c| c.is_ascii_lowercase() || c == '_' || c.is_ascii_digit())
            {
                assert!(
                    sources.contains(&format!("fn {name}(")),
                    "{}: {code}",
                    path.display()
                );
                named += 1;
            }
        }
    }
    assert!(named >= 20, "only {named} tests are named");
}
