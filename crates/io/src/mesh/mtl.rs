//! MTL, the materials of OBJ files: diffuse color, opacity, and the picture of the diffuse color.

use super::painted::Paint;
use crate::limits::Limits;
use crate::source;
use std::collections::HashMap;
use std::path::Path;

/// Larger files [bytes] are no lists of materials.
const LARGEST: usize = 4 << 20;

/// Adds the materials of a file to those known; the error says why it cannot be read.
pub(super) fn read(path: &Path, into: &mut HashMap<String, Paint>) -> Result<(), String> {
    let limits = Limits { file_bytes: LARGEST, ..Limits::default() };
    let bytes = source::read(path, &limits).map_err(|e| e.to_string())?;
    parse(&String::from_utf8_lossy(&bytes), path.parent().unwrap_or(Path::new("")), into);
    Ok(())
}

fn parse(text: &str, folder: &Path, into: &mut HashMap<String, Paint>) {
    let mut name = String::new();
    for line in text.lines() {
        let (word, rest) = line.trim().split_once(char::is_whitespace).unwrap_or((line.trim(), ""));
        if word == "newmtl" {
            name = rest.trim().into();
            into.insert(name.clone(), Paint { rgba: [0.8, 0.8, 0.8, 1.0], picture: None });
            continue;
        }
        let Some(paint) = into.get_mut(&name) else { continue };
        let number = |k: usize| rest.split_whitespace().nth(k)?.parse::<f64>().ok().filter(|x| x.is_finite());
        match word {
            "Kd" => (0..3).for_each(|k| paint.rgba[k] = number(k).unwrap_or(paint.rgba[k])),
            "d" => paint.rgba[3] = number(0).unwrap_or(1.0),
            "Tr" => paint.rgba[3] = 1.0 - number(0).unwrap_or(0.0),
            // options stand before the name
            "map_Kd" => paint.picture = rest.split_whitespace().last().map(|file| folder.join(file.replace('\\', "/"))),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colors_and_pictures_are_read() {
        let mut paints = HashMap::new();
        let text = "# made by hand\nnewmtl black plastic\n Kd 0.1 0.2 0.3\nd 0.5\nnewmtl b\nTr 0.25\nmap_Kd -s 1 1 1 a.png\nKd x 1 1\n";
        parse(text, Path::new("f"), &mut paints);
        assert_eq!(paints["black plastic"], Paint { rgba: [0.1, 0.2, 0.3, 0.5], picture: None });
        assert_eq!(paints["b"], Paint { rgba: [0.8, 1.0, 1.0, 0.75], picture: Some("f/a.png".into()) });
    }
}
