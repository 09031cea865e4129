//! `<hfield>`: heights over a grid, in the text or in a file of their own.

use crate::attribute::{Attribute, Attributes};
use crate::error::{LoadError, Place};
use crate::limits::Limits;
use crate::source;
use crate::xml::Element;
use slipstick_core::model::HeightField;
use std::path::Path;

/// Rows, columns and heights from 0 to 1, rows from −y to +y.
struct Grid {
    rows: usize,
    columns: usize,
    heights: Vec<f64>,
}

/// Reads a height field; `path` is its file, where it has one. Of the heights that are allowed, others have `spent` some.
pub(super) fn read(
    element: Element,
    name: &str,
    path: Option<&Path>,
    spent: usize,
    limits: &Limits,
) -> Result<HeightField, LoadError> {
    let size = element.required("size")?;
    let [x, y, elevation, base] = size.array()?;
    if [x, y, elevation, base].iter().any(|s| *s <= 0.0) {
        return Err(size.wrong("4 positive numbers: half sizes along x and y, height, depth below"));
    }
    let grid = match path {
        Some(path) => from_file(path, spent, limits)?,
        None => from_text(element, spent, limits)?,
    };
    let heights = normalized(grid.heights).into_iter().map(|h| h * elevation).collect();
    Ok(HeightField { name: name.into(), half_size: [x, y], rows: grid.rows, columns: grid.columns, heights, base })
}

/// From 0 to 1, as MuJoCo does with whatever it is given.
fn normalized(heights: Vec<f64>) -> Vec<f64> {
    let least = heights.iter().copied().fold(f64::INFINITY, f64::min);
    let most = heights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let range = if most > least { most - least } else { 1.0 };
    heights.into_iter().map(|h| (h - least) / range).collect()
}

/// Refuses a grid before memory is taken for it.
fn bound(place: impl FnOnce() -> Place, size: [usize; 2], spent: usize, limits: &Limits) -> Result<(), LoadError> {
    let ([rows, columns], allowed) = (size, limits.heights);
    if rows.saturating_mul(columns).saturating_add(spent) <= allowed {
        return Ok(());
    }
    let before = if spent > 0 { format!(", beside {spent} of other height fields") } else { String::new() };
    let got = format!("{rows} rows of {columns}{before}");
    Err(LoadError::Limit { place: Box::new(place()), limit: "heights", what: "heights of height fields", allowed, got })
}

fn from_text(element: Element, spent: usize, limits: &Limits) -> Result<Grid, LoadError> {
    let count = |name| {
        let a: Attribute = element.required(name)?;
        a.value.trim().parse::<usize>().ok().filter(|n| *n >= 2).ok_or_else(|| a.wrong("at least 2"))
    };
    let (rows, columns) = (count("nrow")?, count("ncol")?);
    bound(|| element.place(), [rows, columns], spent, limits)?;
    let Some(elevation) = element.attribute("elevation") else {
        return Ok(Grid { rows, columns, heights: vec![0.0; rows * columns] });
    };
    let numbers = elevation.floats(0..=usize::MAX)?;
    if numbers.len() != rows * columns {
        return Err(elevation.wrong(format!("nrow times ncol = {} numbers, not {}", rows * columns, numbers.len())));
    }
    // a text is read from top to bottom, the grid from −y to +y
    let heights = numbers.chunks(columns).rev().flatten().copied().collect();
    Ok(Grid { rows, columns, heights })
}

/// A picture, or MuJoCo's own format: two integers (rows, columns) and heights in single precision.
fn from_file(path: &Path, spent: usize, limits: &Limits) -> Result<Grid, LoadError> {
    let place = || Place { file: path.display().to_string(), ..Place::default() };
    let bytes = source::read(path, limits)?;
    if bytes.starts_with(b"\x89PNG") || path.extension().is_some_and(|e| e.eq_ignore_ascii_case("png")) {
        let allowed = |size| bound(place, size, spent, limits);
        return from_picture(&bytes, allowed, |got| LoadError::Syntax { place: Box::new(place()), got });
    }
    let wrong = |got: &str| LoadError::Syntax { place: Box::new(place()), got: got.into() };
    let number = |k: usize| bytes[4 * k..].first_chunk().map(|four| i32::from_le_bytes(*four));
    let (Some(rows), Some(columns)) = (number(0), bytes.get(4..).and_then(|_| number(1))) else {
        return Err(wrong("the file ends before the numbers of rows and columns"));
    };
    let (Ok(rows), Ok(columns)) = (usize::try_from(rows), usize::try_from(columns)) else {
        return Err(wrong("the number of rows or columns is negative"));
    };
    if rows.checked_mul(columns).and_then(|n| n.checked_mul(4)) != Some(bytes.len() - 8) {
        return Err(wrong("the file's length does not fit its rows and columns"));
    }
    bound(place, [rows, columns], spent, limits)?;
    let heights: Vec<f64> =
        bytes[8..].chunks_exact(4).map(|c| f64::from(f32::from_le_bytes([c[0], c[1], c[2], c[3]]))).collect();
    if heights.iter().any(|h| !h.is_finite()) {
        return Err(wrong("a height is not finite"));
    }
    Ok(Grid { rows, columns, heights })
}

/// The first channel of a PNG, which is its brightness if it has no colors; its top row is that of greatest y. The header
/// tells its size: a few bytes can stand for any number of pixels.
fn from_picture(
    bytes: &[u8],
    allowed: impl FnOnce([usize; 2]) -> Result<(), LoadError>,
    wrong: impl Fn(String) -> LoadError,
) -> Result<Grid, LoadError> {
    let unreadable = |e: png::DecodingError| wrong(format!("a PNG that cannot be read: {e}"));
    let mut decoder = png::Decoder::new(std::io::Cursor::new(bytes));
    decoder.set_transformations(png::Transformations::normalize_to_color8());
    let (columns, rows) = decoder.read_header_info().map_err(unreadable)?.size();
    let (rows, columns) = (rows as usize, columns as usize);
    allowed([rows, columns])?;
    if rows < 2 || columns < 2 {
        return Err(wrong(format!("a picture of {columns} × {rows} pixels; expected at least 2 × 2")));
    }
    let mut reader = decoder.read_info().map_err(unreadable)?;
    let size = reader.output_buffer_size().ok_or_else(|| wrong("a picture too large to read".into()))?;
    let mut pixels = vec![0; size];
    let info = reader.next_frame(&mut pixels).map_err(unreadable)?;
    let channels = info.color_type.samples();
    let lines = pixels[..info.buffer_size()].chunks(columns * channels).rev();
    let heights = lines.flat_map(|line| line.chunks(channels).map(|p| f64::from(p[0]))).collect();
    Ok(Grid { rows, columns, heights })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::xml::Document;

    fn field(xml: &str, path: Option<&Path>) -> Result<HeightField, LoadError> {
        let mut d = Document::default();
        let root = d.add("f.xml", xml).unwrap();
        read(d.element(root), "ground", path, 0, &Limits::default())
    }

    #[test]
    fn rows_of_a_text_go_from_top_to_bottom() {
        let f = field(r#"<hfield nrow="2" ncol="3" size="1 2 10 0.5" elevation="1 2 3 5 4 1"/>"#, None).unwrap();
        assert_eq!((f.rows, f.columns, f.half_size, f.base), (2, 3, [1.0, 2.0], 0.5));
        assert_eq!(f.heights, [10.0, 7.5, 0.0, 0.0, 2.5, 5.0]);
        let flat = field(r#"<hfield nrow="2" ncol="2" size="1 2 10 0.5"/>"#, None).unwrap();
        assert_eq!(flat.heights, [0.0; 4]);
    }

    #[test]
    fn numbers_that_do_not_fit_are_refused() {
        for (xml, text) in [
            (
                r#"<hfield nrow="2" ncol="2" size="1 2 10 0.5" elevation="1 2 3"/>"#,
                "nrow times ncol = 4 numbers, not 3",
            ),
            (r#"<hfield nrow="1" ncol="2" size="1 2 10 0.5"/>"#, "nrow: expected at least 2"),
            (r#"<hfield nrow="2" ncol="2" size="1 2 0 0.5"/>"#, "size: expected 4 positive numbers"),
            (r#"<hfield nrow="2" ncol="2"/>"#, "size"),
        ] {
            let error = field(xml, None).unwrap_err().to_string();
            assert!(error.contains(text), "{error}");
        }
    }

    #[test]
    fn files_are_read_in_mujocos_format_and_as_pictures() {
        let folder = std::env::temp_dir().join(format!("slipstick-hfield-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let xml = r#"<hfield size="1 1 2 0.5"/>"#;
        let written = |name: &str, bytes: &[u8]| {
            let path = folder.join(name);
            std::fs::write(&path, bytes).unwrap();
            field(xml, Some(&path))
        };
        let mut bytes: Vec<u8> = [2i32, 3].iter().flat_map(|n| n.to_le_bytes()).collect();
        bytes.extend([0.0f32, 1.0, 2.0, 3.0, 4.0, 8.0].iter().flat_map(|x| x.to_le_bytes()));
        assert_eq!(written("a.bin", &bytes).unwrap().heights, [0.0, 0.25, 0.5, 0.75, 1.0, 2.0]);
        let mut picture = Vec::new();
        let mut encoder = png::Encoder::new(&mut picture, 2, 3);
        encoder.set_color(png::ColorType::Grayscale);
        encoder.write_header().unwrap().write_image_data(&[10, 20, 30, 40, 50, 60]).unwrap();
        let f = written("picture.png", &picture).unwrap();
        assert_eq!((f.rows, f.columns), (3, 2));
        assert_eq!(f.heights, [1.6, 2.0, 0.8, 1.2, 0.0, 0.4], "the top row comes last");
        for (name, bytes, text) in [
            ("b.bin", &bytes[..30], "length does not fit"),
            ("c.bin", &bytes[..5], "ends before"),
            ("d.bin", &[], "ends before"),
            ("e.png", &bytes[..], "a PNG that cannot be read"),
        ] {
            let error = written(name, bytes).unwrap_err().to_string();
            assert!(error.contains(text), "{error}");
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
