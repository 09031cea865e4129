//! The code blocks of README, CONTRIBUTING and docs: each has one who runs it. Commands run here as they are printed, Rust
//! blocks are doctests (`guide.rs` of two crates), Python blocks belong to `python/tests/test_guide.py`.

use crate::common::{Folder, slipstick_in};
use std::fs;
use std::path::{Path, PathBuf};

/// Commands that are not run, by their first words, and why.
const NOT_RUN: [(&str, &str); 8] = [
    ("pip install", "installs; the part 'python' builds the same module with maturin"),
    ("cargo add", "changes the package of a user"),
    ("cargo xtask test", "is what runs this"),
    ("cargo test", "the part 'tests' runs these and more"),
    ("python -m slipstick.learn", "trains for minutes; python/tests/test_learn.py runs the program"),
    ("slipstick run quadruped --time 5 --out stand.html", "leaves a page; the part 'replay' opens such pages"),
    ("slipstick solve biped-push-up --models FOLDER", "names a folder of the user's"),
    ("slipstick solve cube-velocity", "solve.rs runs it and reads what it writes"),
];

/// Commands that are run by `cargo xtask test --full` only, and what is run instead.
const LONG: [(&str, &str); 2] = [
    ("slipstick solve cube-impulse", "half a minute; solve.rs solves cube-velocity by the same means"),
    ("slipstick grad-check quadruped --states 2000", "two minutes; docs/gradients-check.md has 200 states"),
];

/// The file that examples call robot.urdf: a bob on a heavy block.
const ROBOT: &str = r#"<robot name="pendulum">
  <link name="block"><inertial><mass value="5"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
    <collision><geometry><box size="0.4 0.4 0.2"/></geometry></collision></link>
  <link name="bob"><inertial><mass value="2"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
    <collision><geometry><sphere radius="0.1"/></geometry></collision></link>
  <joint name="hinge" type="revolute"><parent link="block"/><child link="bob"/><origin xyz="0 0 1"/>
    <axis xyz="0 1 0"/><limit lower="-1" upper="2" effort="30" velocity="4"/></joint></robot>"#;

struct Block {
    page: PathBuf,
    line: usize,
    language: String,
    text: Vec<String>,
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// README, CONTRIBUTING and every page of docs.
fn pages() -> Vec<PathBuf> {
    let mut found = vec![repository().join("README.md"), repository().join("CONTRIBUTING.md")];
    let mut folders = vec![repository().join("docs")];
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "md") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Fenced blocks of a page.
fn blocks(page: &Path) -> Vec<Block> {
    let (text, mut found, mut open) = (fs::read_to_string(page).unwrap(), Vec::new(), None);
    for (number, line) in text.lines().enumerate() {
        match (line.trim_start().strip_prefix("```"), open.take()) {
            (Some(language), None) => {
                open = Some(Block { page: page.into(), line: number + 1, language: language.into(), text: vec![] });
            }
            (Some(_), Some(block)) => found.push(block),
            (None, Some(mut block)) => {
                block.text.push(line.into());
                open = Some(block);
            }
            (None, None) => {}
        }
    }
    found
}

/// What a line of a block asks for: without its comment.
fn command(line: &str) -> &str {
    line.split(" #").next().unwrap_or("").trim()
}

/// Commands of a page: lines of its sh blocks, and the last column of the table of verbs.
fn commands(page: &Path) -> Vec<String> {
    let shell = blocks(page).into_iter().filter(|block| block.language == "sh");
    let mut found: Vec<String> = shell.flat_map(|block| block.text).map(|line| command(&line).into()).collect();
    for row in fs::read_to_string(page).unwrap().lines().filter(|line| line.starts_with('|')) {
        let example = row.trim_end_matches([' ', '|']).rsplit('|').next().unwrap_or("").trim();
        let example = example.strip_prefix('`').and_then(|text| text.strip_suffix('`')).unwrap_or("");
        if example.starts_with("slipstick ") {
            found.push(example.into());
        }
    }
    found.retain(|line| !line.is_empty());
    found
}

/// Arguments of the program, whether it is called by its name or through cargo.
fn arguments(command: &str) -> Option<Vec<&str>> {
    let words = ["slipstick ", "cargo run --release -- "].iter().find_map(|start| command.strip_prefix(start))?;
    Some(words.split_whitespace().collect())
}

#[test]
fn every_block_says_its_language() {
    for block in pages().iter().flat_map(|page| blocks(page)) {
        let formulas = block.page.components().any(|part| part.as_os_str() == "math");
        let known = ["rust", "rust,no_run", "python", "sh", "text"].contains(&block.language.as_str());
        let place = format!("{}:{}", block.page.display(), block.line);
        assert!(known || formulas && block.language.is_empty(), "{place}: language '{}'", block.language);
    }
}

#[test]
fn pages_with_rust_are_doctests() {
    let guides = ["slipstick", "view"].map(|name| repository().join("crates").join(name).join("src/guide.rs"));
    let included = guides.map(|file| fs::read_to_string(file).unwrap()).concat();
    for page in pages() {
        let name = page.strip_prefix(repository()).unwrap().display().to_string();
        if blocks(&page).iter().any(|block| block.language.starts_with("rust")) {
            assert!(included.contains(&format!("../../../{name}\"")), "{name}: no guide.rs includes it");
        }
    }
}

#[test]
fn commands_run_as_they_are_printed() {
    let full = std::env::var_os("SLIPSTICK_FULL").is_some();
    let mut unseen: Vec<&str> = NOT_RUN.iter().chain(&LONG).map(|(words, _)| *words).collect();
    for page in pages() {
        let folder = Folder::new(&page.file_stem().unwrap().to_string_lossy());
        folder.file("robot.urdf", ROBOT);
        for command in commands(&page) {
            unseen.retain(|words| !command.starts_with(words));
            let is_among = |list: &[(&str, &str)]| list.iter().any(|(words, _)| command.starts_with(words));
            if is_among(&NOT_RUN) || !full && is_among(&LONG) {
                continue;
            }
            let place = page.display();
            let arguments = arguments(&command).unwrap_or_else(|| panic!("{place}: who runs '{command}'?"));
            let (code, out, error) = slipstick_in(&folder.0, &arguments);
            assert_eq!(code, Some(0), "{place}: {command}\n{out}{error}");
        }
    }
    assert!(unseen.is_empty(), "no page has these commands: {unseen:?}");
}
