//! The rules of ARCHITECTURE.md §2, read from the page, against the `use crate::…` lines of all files; sizes of the roots.

use std::fs;
use std::path::{Path, PathBuf};

/// Tools that everyone may use.
const TOOLS: [&str; 7] = ["error", "bytes", "names", "input_check", "dispatch", "footprint", "random"];

/// Who may use whom inside the core, from the table of ARCHITECTURE.md.
fn allowed() -> Vec<(String, Vec<String>)> {
    let text = page();
    let table = text.split("| module | may use |").nth(1).expect("the table of section 2");
    let rows = table.lines().skip(2).take_while(|l| l.starts_with('|'));
    let names = |cell: &str| cell.split('`').skip(1).step_by(2).map(str::to_string).collect::<Vec<_>>();
    let row = |l: &str| {
        let cells: Vec<&str> = l.split('|').collect();
        (names(cells[1]).remove(0), names(cells[2]))
    };
    rows.map(row).collect()
}

fn page() -> String {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ARCHITECTURE.md");
    fs::read_to_string(page).expect("ARCHITECTURE.md is in the root of the repository")
}

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn rust_files(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the source folder exists") {
        let path = entry.expect("readable").path();
        if path.is_dir() {
            rust_files(&path, out);
        } else if path.extension().is_some_and(|e| e == "rs") {
            out.push(path);
        }
    }
}

/// The module of a file: its folder under src, or its own name.
fn module_of(file: &Path) -> String {
    let inside = file.strip_prefix(source()).expect("under src");
    let first = inside.components().next().expect("a file").as_os_str().to_string_lossy();
    first.trim_end_matches(".rs").to_string()
}

/// Modules named after `crate::` outside the tests of a file.
fn used_modules(text: &str) -> Vec<String> {
    // tests inside a file come last; a line that only names a module of tests does not end the code
    let inline = text.find("#[cfg(test)]\nmod tests {").unwrap_or(text.len());
    let code = &text[..inline];
    let lines = code.lines().filter(|l| !l.trim_start().starts_with("//"));
    let tails = lines.flat_map(|l| l.split("crate::").skip(1).map(str::to_string).collect::<Vec<_>>());
    let names = tails.map(|t| t.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>());
    names.filter(|n| n.chars().next().is_some_and(char::is_lowercase)).collect()
}

#[test]
fn modules_use_only_what_the_architecture_allows() {
    let mut files = Vec::new();
    rust_files(&source(), &mut files);
    assert!(files.len() > 30, "the core has more files than {}", files.len());
    let (mut seen, rules) = (0, allowed());
    assert!(rules.len() >= 9, "the table names the modules of the core: {rules:?}");
    let is_code = |f: &PathBuf| !f.strip_prefix(source()).expect("under src").to_string_lossy().contains("tests");
    for file in files.into_iter().filter(is_code) {
        let module = module_of(&file);
        if module == "lib" || TOOLS.contains(&module.as_str()) {
            continue;
        }
        let rule = rules.iter().find(|(m, _)| *m == module);
        let (_, allowed) = rule.unwrap_or_else(|| panic!("module '{module}' is not in ARCHITECTURE.md §2"));
        for used in used_modules(&fs::read_to_string(&file).expect("readable")) {
            seen += 1;
            let ok = used == module || allowed.contains(&used) || TOOLS.contains(&used.as_str());
            assert!(ok, "{}: '{module}' may not use '{used}'", file.display());
        }
    }
    assert!(seen > 50, "the test reads use lines, but found only {seen}");
}

#[test]
fn folders_named_in_the_architecture_exist() {
    let text = page();
    for (module, _) in allowed() {
        let folder = source().join(&module);
        assert!(folder.is_dir() || folder.with_extension("rs").is_file(), "{module} does not exist");
    }
    // folders in the page's list of the workspace
    let listed = text.lines().filter_map(|l| l.strip_prefix("  - `")).filter_map(|l| l.split('`').next());
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut count = 0;
    for folder in listed {
        count += 1;
        assert!(root.join(folder).exists(), "ARCHITECTURE.md names {folder}, which does not exist");
    }
    assert!(count >= 8, "the list of folders in ARCHITECTURE.md was not found");
}

#[test]
fn solvers_see_a_problem_and_do_not_change_it() {
    let mut files = Vec::new();
    rust_files(&source().join("constraint/ncp"), &mut files);
    assert!(files.len() > 10, "the folder of the solvers has moved");
    let robot = ["assembly", "Scene", "Kinematics", "ContactSet", "crate::collision", "crate::step", "&mut Problem"];
    for file in files.into_iter().filter(|f| !f.ends_with("tests.rs")) {
        let text = fs::read_to_string(&file).expect("readable");
        let named = robot.iter().find(|word| text.contains(**word));
        assert!(named.is_none(), "{}: a solver may not name '{}'", file.display(), named.unwrap_or(&""));
    }
}

/// Names that start with a capital or are functions, in the `pub use` items at the first level of a file.
fn root_names(text: &str) -> Vec<String> {
    let uses = text.split("\npub use ").skip(1).map(|rest| rest.split(';').next().unwrap_or_default());
    // modules are exported from the path of a crate alone, names of their own from a module
    let hidden = |list: &&str| !list.contains("linalg") && !list.contains("input_check");
    let lists = uses.filter(hidden).map(|path| path.split_once('{').map_or(path, |(_, list)| list));
    let names =
        lists.flat_map(|list| list.split([',', '}']).map(|n| n.trim().rsplit("::").next().unwrap_or("").to_string()));
    names.filter(|n| !n.is_empty()).collect()
}

#[test]
fn at_most_25_names_at_a_root() {
    for lib in ["../slipstick/src/lib.rs", "src/lib.rs"] {
        let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(lib)).expect("a crate has a root");
        let names = root_names(&text);
        assert!(names.contains(&"Model".to_string()) && !names.contains(&"*".to_string()), "{lib}: {names:?}");
        assert!(names.len() <= 25, "{lib} has {} names: {names:?}", names.len());
    }
}
