//! Pictures on surfaces as addresses that hold them: PNG at most 512 pixels wide, JPEG as it is.

use crate::encode;
use serde_json::{Value, json};
use slipstick::files::{Limits, Paint, read_file};
use slipstick::model::{Look, Pattern, Texture, TextureSource};
use std::collections::HashMap;
use std::path::Path;

/// Pixels along an edge: wider pictures are scaled down by whole numbers.
const WIDEST: usize = 512;
/// Larger files [bytes] are refused.
const LARGEST_FILE: usize = 64 << 20;
/// JPEG is not decoded, only passed on: larger ones [bytes] are refused.
const LARGEST_JPEG: usize = 512 << 10;
/// Pixels of a PNG beyond which it is refused.
const MOST_PIXELS: usize = 64 << 20;

/// The pictures of a page, each once.
#[derive(Default)]
pub(super) struct Pictures {
    pub addresses: Vec<String>,
    known: HashMap<String, Option<Picture>>,
}

/// Number of a picture, and its mean color for surfaces without texture coordinates.
#[derive(Clone, Copy)]
struct Picture {
    number: usize,
    mean: [f64; 3],
}

impl Pictures {
    pub fn look(&mut self, look: &Look, warnings: &mut Vec<String>) -> Value {
        let Some(m) = &look.material else { return json!({ "rgba": look.rgba() }) };
        let mut value = json!({ "rgba": look.rgba(), "shininess": m.shininess, "emission": m.emission });
        if let Some(texture) = &m.texture
            && let Some(picture) = self.texture(texture, warnings)
        {
            value["tint"] = json!(picture.mean);
            if !texture.cube {
                value["picture"] = json!(picture.number);
                value["repeat"] = json!(m.repeat);
            }
        }
        value
    }

    /// The color of a mesh file.
    pub fn paint(&mut self, paint: &Paint, warnings: &mut Vec<String>) -> Value {
        let mut value = json!({ "rgba": paint.rgba });
        let path = paint.picture.as_deref();
        if let Some(picture) = path.and_then(|path| self.file(path, warnings)) {
            value["picture"] = json!(picture.number);
            value["tint"] = json!(picture.mean);
        }
        value
    }

    fn texture(&mut self, texture: &Texture, warnings: &mut Vec<String>) -> Option<Picture> {
        match &texture.source {
            TextureSource::File(path) => self.file(path, warnings),
            TextureSource::Pattern { pattern, first, second } => {
                let key = format!("{pattern:?} {first:?} {second:?}");
                self.once(key, || Ok(drawn(*pattern, *first, *second).finished()), warnings)
            }
            _ => None,
        }
    }

    fn file(&mut self, path: &Path, warnings: &mut Vec<String>) -> Option<Picture> {
        let made = || read(path).map_err(|got| format!("{}: the picture is not shown: {got}", path.display()));
        self.once(path.display().to_string(), made, warnings)
    }

    fn once(
        &mut self,
        key: String,
        make: impl FnOnce() -> Result<(String, [f64; 3]), String>,
        warnings: &mut Vec<String>,
    ) -> Option<Picture> {
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let made = make().map_err(|warning| warnings.push(warning)).ok();
        let picture = made.map(|(address, mean)| {
            self.addresses.push(address);
            Picture { number: self.addresses.len() - 1, mean }
        });
        self.known.insert(key, picture);
        picture
    }
}

/// Address and mean color of a file.
fn read(path: &Path) -> Result<(String, [f64; 3]), String> {
    let mut limits = Limits::default();
    limits.file_bytes = LARGEST_FILE;
    let bytes = read_file(path, &limits).map_err(|e| e.to_string())?;
    match bytes.get(..4) {
        Some([0x89, b'P', b'N', b'G']) => Ok(decoded(&bytes)?.finished()),
        Some([0xff, 0xd8, ..]) if bytes.len() > LARGEST_JPEG => {
            Err(format!("a JPEG of {} bytes, and at most {LARGEST_JPEG} are passed on; make it a PNG", bytes.len()))
        }
        // its colors are not known here
        Some([0xff, 0xd8, ..]) => Ok((format!("data:image/jpeg;base64,{}", encode::base64(&bytes)), [1.0; 3])),
        _ => Err("expected PNG or JPEG".into()),
    }
}

/// Pixels with red, green, blue and opacity.
struct Image {
    width: usize,
    height: usize,
    pixels: Vec<[u8; 4]>,
}

fn decoded(bytes: &[u8]) -> Result<Image, String> {
    let unreadable = |e: png::DecodingError| format!("a PNG that cannot be read: {e}");
    let mut decoder = png::Decoder::new(std::io::Cursor::new(bytes));
    decoder.set_transformations(png::Transformations::normalize_to_color8());
    let mut reader = decoder.read_info().map_err(unreadable)?;
    let (width, height) = (reader.info().width as usize, reader.info().height as usize);
    if width.saturating_mul(height) > MOST_PIXELS {
        return Err(format!("{width} × {height} pixels, and pictures may have {MOST_PIXELS}"));
    }
    let mut data = vec![0; reader.output_buffer_size().ok_or("a picture too large to read")?];
    let info = reader.next_frame(&mut data).map_err(unreadable)?;
    let pixel = |p: &[u8]| match *p {
        [l] => [l, l, l, 255],
        [l, a] => [l, l, l, a],
        [r, g, b] => [r, g, b, 255],
        _ => [p[0], p[1], p[2], p[3]],
    };
    let pixels = data[..info.buffer_size()].chunks_exact(info.color_type.samples()).map(pixel).collect();
    Ok(Image { width, height, pixels })
}

/// A generated picture.
fn drawn(pattern: Pattern, first: [f64; 3], second: [f64; 3]) -> Image {
    let n = 64;
    let share = |i: usize, j: usize| match pattern {
        Pattern::Checker => f64::from(((2 * i / n + 2 * j / n) % 2) as u8),
        Pattern::Gradient => {
            let from_middle = |k: usize| 2.0 * (k as f64 + 0.5) / n as f64 - 1.0;
            from_middle(i).hypot(from_middle(j)).min(1.0)
        }
        _ => 0.0,
    };
    let mixed = |s: f64| [0, 1, 2].map(|k| (255.0 * (first[k] + s * (second[k] - first[k]))).round() as u8);
    let pixel = |(i, j)| {
        let [r, g, b] = mixed(share(i, j));
        [r, g, b, 255]
    };
    let pixels = (0..n).flat_map(|i| (0..n).map(move |j| (i, j))).map(pixel).collect();
    Image { width: n, height: n, pixels }
}

impl Image {
    fn finished(self) -> (String, [f64; 3]) {
        let small = self.smaller();
        let sum = |k: usize| small.pixels.iter().map(|p| f64::from(p[k])).sum::<f64>();
        let mean = [0, 1, 2].map(|k| sum(k) / (255.0 * small.pixels.len().max(1) as f64));
        (format!("data:image/png;base64,{}", encode::base64(&small.png())), mean)
    }

    /// Blocks of pixels become one, so that no edge is longer than [`WIDEST`].
    fn smaller(self) -> Image {
        let step = self.width.max(self.height).div_ceil(WIDEST);
        if step <= 1 {
            return self;
        }
        let (width, height) = (self.width.div_ceil(step), self.height.div_ceil(step));
        let block = |row: usize, column: usize| {
            let (mut sum, mut count) = ([0_u32; 4], 0);
            for i in row * step..((row + 1) * step).min(self.height) {
                for j in column * step..((column + 1) * step).min(self.width) {
                    let p = self.pixels[i * self.width + j];
                    (0..4).for_each(|k| sum[k] += u32::from(p[k]));
                    count += 1;
                }
            }
            sum.map(|s| (s / count) as u8)
        };
        let block = &block;
        let pixels = (0..height).flat_map(|i| (0..width).map(move |j| block(i, j))).collect();
        Image { width, height, pixels }
    }

    fn png(&self) -> Vec<u8> {
        let opaque = self.pixels.iter().all(|p| p[3] == 255);
        let mut out = Vec::new();
        let mut encoder = png::Encoder::new(&mut out, self.width as u32, self.height as u32);
        encoder.set_color(if opaque { png::ColorType::Rgb } else { png::ColorType::Rgba });
        encoder.set_compression(png::Compression::High);
        let data: Vec<u8> = self.pixels.iter().flat_map(|p| p[..if opaque { 3 } else { 4 }].iter().copied()).collect();
        // writing into memory fails for an image without pixels only: it stays empty
        let written = encoder.write_header().and_then(|mut w| w.write_image_data(&data));
        if written.is_ok() { out } else { Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_pictures_are_scaled_down_and_keep_their_mean() {
        let pixels = (0..1200 * 30).map(|k| if k % 2 == 0 { [200, 0, 0, 255] } else { [100, 0, 0, 255] }).collect();
        let image = Image { width: 1200, height: 30, pixels };
        let bytes = image.png();
        let small = decoded(&bytes).unwrap().smaller();
        assert_eq!((small.width, small.height), (400, 10));
        let (address, mean) = small.finished();
        assert!(
            address.starts_with("data:image/png;base64,iVBOR") && (mean[0] - 150.0 / 255.0).abs() < 0.02,
            "{mean:?}"
        );
    }

    #[test]
    fn a_checker_has_four_fields() {
        let image = drawn(Pattern::Checker, [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]);
        let at = |i: usize, j: usize| image.pixels[i * image.width + j][..3].to_vec();
        assert_eq!([at(0, 0), at(0, 63), at(63, 0), at(63, 63)], [[255, 0, 0], [0, 255, 0], [0, 255, 0], [255, 0, 0]]);
    }

    #[test]
    fn files_that_are_no_pictures_are_told() {
        let folder = std::env::temp_dir().join(format!("slipstick-picture-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let told = |name: &str, bytes: &[u8]| {
            std::fs::write(folder.join(name), bytes).unwrap();
            read(&folder.join(name)).unwrap_err()
        };
        assert!(told("a.bmp", b"BM....").contains("expected PNG or JPEG"));
        assert!(told("b.png", b"\x89PNG\r\n\x1a\nxx").contains("cannot be read"));
        assert!(told("c.jpg", &[0xff; LARGEST_JPEG + 1]).contains("expected PNG"));
        let mut large = vec![0xff, 0xd8];
        large.resize(LARGEST_JPEG + 1, 0);
        assert!(told("d.jpg", &large).contains("make it a PNG"));
        assert!(read(&folder.join("none.png")).is_err());
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
