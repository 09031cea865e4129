//! A fingerprint of a model: the same for the same robot in every run and on every machine.

use super::mjcf::without_colors;
use slipstick_core::Model;
use slipstick_core::model::ParameterGroup;
use std::fmt::Write;

/// 128 bits of FNV-1a (Fowler, Noll, Vo) as 32 hexadecimal digits.
///
/// Two models have the same hash if they are written as the same MJCF and agree in what MJCF cannot say. Warnings and
/// notes do not count: they tell of the file, not of the robot.
pub fn content_hash(model: &Model) -> String {
    let mut text = without_colors(model);
    let _ = writeln!(text, "{:?} {:?}", model.pair_rule(), model.options());
    for j in model.joints() {
        let _ = writeln!(text, "{:?} {:?} {:?}", j.range, j.effort, j.velocity);
    }
    let _ = writeln!(text, "{:?}", model.gravity_compensation());
    for group in ParameterGroup::ALL {
        let _ = writeln!(text, "{:?}", model.parameters().group(group));
    }
    format!("{:032x}", fnv1a(text.as_bytes()))
}

fn fnv1a(bytes: &[u8]) -> u128 {
    const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    bytes.iter().fold(OFFSET, |hash, byte| (hash ^ u128::from(*byte)).wrapping_mul(PRIME))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_that_of_its_authors() {
        assert_eq!(fnv1a(b""), 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d);
        assert_eq!(fnv1a(b"a"), 0xd228_cb69_6f1a_8caf_7891_2b70_4e4a_8964);
    }
}
