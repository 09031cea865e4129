//! `slipstick completions` and `slipstick man` as users run them.

use crate::common::{Folder, slipstick};

#[test]
fn shells_know_verbs_and_options() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let (code, out, error) = slipstick(&["completions", shell]);
        assert_eq!(code, Some(0), "{error}");
        assert!(["grad-check", "keyframe"].iter().all(|word| out.contains(word)), "{shell}");
    }
    let (code, _, error) = slipstick(&["completions", "csh"]);
    assert!(code == Some(2) && error.contains("possible values: bash"), "{error}");
}

#[test]
fn every_verb_has_a_manual_page() {
    let folder = Folder::new("man");
    let (code, out, error) = slipstick(&["man", &folder.path("man1")]);
    assert_eq!(code, Some(0), "{error}");
    let page = |name: &str| std::fs::read_to_string(folder.0.join("man1").join(name)).unwrap();
    assert!(page("slipstick.1").contains(".TH slipstick 1") && out.contains("slipstick.1"));
    let run = page("slipstick-run.1");
    assert!(run.contains("keyframe") && run.contains("130 ended early"), "{run}");
    assert_eq!(std::fs::read_dir(folder.0.join("man1")).unwrap().count(), out.lines().count());
    assert_eq!(slipstick(&["man"]).1.trim_end(), page("slipstick.1").trim_end());
    assert_eq!(slipstick(&["man", "/dev/null/man1"]).0, Some(1));
}
