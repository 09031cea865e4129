//! The page: a template, the data, the script.

use serde_json::Value;

const TEMPLATE: &str = include_str!("../web/page.html");
const STYLE: &str = include_str!("../web/page.css");
/// three.js and `web/src` in one, made by `cargo xtask viewer`.
pub(crate) const SCRIPT: &str = include_str!("../web/viewer.js");

/// Fills the template.
pub(crate) fn render(title: &str, data: &Value, script: &str) -> String {
    // in JSON, `<` stands in strings only, where it may be spelled otherwise: so no name can end the element early
    let data = data.to_string().replace('<', "\\u003c");
    fill(TEMPLATE, |slot| match slot {
        "title" => escaped(title),
        "style" => STYLE.into(),
        "data" => data.clone(),
        "script" => script.into(),
        _ => String::new(),
    })
}

/// Text with each `{{slot}}` replaced; what is put in is not looked at again.
fn fill(template: &str, part: impl Fn(&str) -> String) -> String {
    let mut out = String::new();
    for (k, piece) in template.split("{{").enumerate() {
        match piece.split_once("}}") {
            Some((slot, rest)) if k > 0 => out.extend([part(slot).as_str(), rest]),
            _ => out.push_str(piece),
        }
    }
    out
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn no_name_ends_an_element_early() {
        let nasty = "</script><script>alert(\"{{script}}\")</script> & <!-- 'x'";
        let page = render(nasty, &json!({ "title": nasty }), "run()");
        assert_eq!(page.matches("<script").count(), 2, "{page}");
        assert_eq!(page.matches("</script>").count(), 2, "{page}");
        assert_eq!(page.matches("run()").count(), 1, "what is filled in is not filled again");
        assert!(page.contains("<title>&lt;/script&gt;"), "{page}");
        assert!(!page.contains("<!--"), "{page}");
    }

    #[test]
    fn every_slot_is_filled() {
        let page = render("title", &json!({"format": "slipstick-replay"}), "run()");
        assert!(!page.contains("{{") && !page.contains("}}"), "{page}");
        for part in ["<title>title</title>", STYLE, r#"{"format":"slipstick-replay"}"#, "run()"] {
            assert!(page.contains(part), "{part}");
        }
    }

    #[test]
    fn the_page_asks_for_nothing_outside_itself() {
        let page = render("title", &json!({}), "");
        assert!(page.contains("default-src 'none'"), "{page}");
        assert!(!page.contains("://") && !page.contains(" src="), "{page}");
    }

    #[test]
    fn the_script_fits_into_an_element() {
        assert!(SCRIPT.len() > 100_000, "three.js is in it");
        assert!(!SCRIPT.contains("</script") && !SCRIPT.contains("<!--"));
        assert!(SCRIPT.contains("three.js") && SCRIPT.contains("MIT"), "the license notice stays");
    }
}
