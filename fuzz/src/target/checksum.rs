//! The two checksums of PNG and zip files: without the right ones a reader refuses before it has read anything.

/// Of the chunks of a PNG and the files of a zip archive.
pub fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32| if crc & 1 == 1 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 };
    !bytes.iter().fold(!0_u32, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), |crc, _| step(crc)))
}

/// Of a zlib stream.
pub fn adler32(bytes: &[u8]) -> u32 {
    const MODULUS: u32 = 65_521;
    let (a, b) = bytes.iter().fold((1, 0), |(a, b), byte| {
        let a = (a + u32::from(*byte)) % MODULUS;
        (a, (b + a) % MODULUS)
    });
    b << 16 | a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksums_are_those_of_their_standards() {
        assert_eq!((crc32(b"123456789"), adler32(b"Wikipedia")), (0xcbf4_3926, 0x11e6_0398));
    }
}
