//! Numbers as text that a page can hold: base64 of their bytes, least significant first.

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

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

pub(crate) fn floats(numbers: &[f32]) -> String {
    base64(&numbers.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<_>>())
}

pub(crate) fn doubles(numbers: &[f64]) -> String {
    base64(&numbers.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<_>>())
}

pub(crate) fn integers(numbers: &[u32]) -> String {
    base64(&numbers.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<_>>())
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
        assert_eq!(integers(&[1]), base64(&[1, 0, 0, 0]));
        assert_eq!(floats(&[1.0]), base64(&[0, 0, 0x80, 0x3f]));
        assert_eq!(doubles(&[1.0]), base64(&[0, 0, 0, 0, 0, 0, 0xf0, 0x3f]));
    }
}
