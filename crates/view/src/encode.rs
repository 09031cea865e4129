//! Numbers as text that a page can hold: base64 of their bytes, least significant first, deflated where that is smaller.

use flate2::Compression;
use flate2::write::DeflateEncoder;
use serde_json::{Value, json};
use std::io::Write;

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
/// Shorter lists [bytes] stay as they are: there is nothing to win.
const SHORT: usize = 256;

/// Three bytes are four digits; the last ones are filled up with `=`.
pub(crate) fn base64(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let bits = (0..3).fold(0_u32, |bits, k| bits << 8 | u32::from(*three.get(k).unwrap_or(&0)));
        for k in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * k)) as usize & 63];
            out.push(if k <= three.len() { digit as char } else { '=' });
        }
    }
    out
}

/// Bytes for the page: base64 as a string, or `{"deflate": base64}` of the deflated bytes (RFC 1951) where that is shorter.
/// `web/src/data.js` reads both.
pub(crate) fn octets(bytes: &[u8]) -> Value {
    if bytes.len() < SHORT {
        return base64(bytes).into();
    }
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    // writing into memory does not fail; if it did, plain bytes are right as well
    let deflated = encoder.write_all(bytes).and_then(|()| encoder.finish());
    match deflated {
        Ok(deflated) if deflated.len() < bytes.len() => json!({ "deflate": base64(&deflated) }),
        _ => base64(bytes).into(),
    }
}

pub(crate) fn floats(numbers: &[f32]) -> Value {
    octets(&numbers.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<_>>())
}

pub(crate) fn doubles(numbers: &[f64]) -> Value {
    octets(&numbers.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<_>>())
}

pub(crate) fn integers(numbers: &[u32]) -> Value {
    octets(&numbers.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_the_standard_come_out() {
        // RFC 4648, §10
        for (plain, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64(plain.as_bytes()), text);
        }
        assert_eq!(base64(&[0xfb, 0xff, 0xfe]), "+//+");
    }

    #[test]
    fn the_least_significant_byte_comes_first() {
        assert_eq!(integers(&[1]), json!(base64(&[1, 0, 0, 0])));
        assert_eq!(floats(&[1.0]), json!(base64(&[0, 0, 0x80, 0x3f])));
        assert_eq!(doubles(&[1.0]), json!(base64(&[0, 0, 0, 0, 0, 0, 0xf0, 0x3f])));
    }

    #[test]
    fn long_lists_are_deflated_and_come_back_whole() {
        let numbers: Vec<u32> = (0..5000).collect();
        let told = integers(&numbers);
        let text = told["deflate"].as_str().expect("rising numbers are worth it");
        assert!(text.len() < 4 * numbers.len() / 2, "{} characters", text.len());
        let mut back = Vec::new();
        flate2::write::DeflateDecoder::new(&mut back).write_all(&plain(text)).unwrap();
        assert_eq!(back, numbers.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<_>>());
    }

    #[test]
    fn what_does_not_shrink_stays_as_it_is() {
        // a linear congruential generator: no byte tells the next one
        let noise: Vec<u8> =
            (0..999_u32).map(|k| (k.wrapping_mul(2_654_435_761) >> 13) as u8 ^ (k * k) as u8).collect();
        assert_eq!(octets(&noise[..9]), json!(base64(&noise[..9])));
        let told = octets(&noise);
        assert!(told.is_string() || told["deflate"].as_str().is_some_and(|text| text.len() < base64(&noise).len()));
    }

    fn plain(text: &str) -> Vec<u8> {
        let value = |c: u8| DIGITS.iter().position(|d| *d == c).unwrap_or(0) as u32;
        let four = |four: &[u8]| {
            let bits = four.iter().fold(0, |bits, c| bits << 6 | value(*c));
            let kept = 3 - four.iter().filter(|c| **c == b'=').count();
            bits.to_be_bytes()[1..=kept].to_vec()
        };
        text.as_bytes().chunks(4).flat_map(four).collect()
    }
}
