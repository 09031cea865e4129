//! Damage to texts and bytes.

use slipstick::random::Rng;

/// Texts that break readers.
const SPLINTERS: [&str; 40] = [
    "-1",
    "0",
    "1",
    "2",
    "nan",
    "inf",
    "-inf",
    "1e308",
    "-1e308",
    "1e-320",
    "1e9",
    "0x10",
    "",
    " ",
    "\"",
    "<",
    ">",
    "/>",
    "&",
    "&#0;",
    "<!--",
    "]]>",
    "{",
    "}",
    "[",
    ",",
    "null",
    "true",
    "false",
    "auto",
    "free",
    "mesh",
    "world",
    "é",
    "\u{0}",
    "\n",
    "4294967296",
    "2147483647",
    "1 0 0",
    "0 0 0 0",
];
/// Numbers at the borders of binary formats.
const BORDERS: [u32; 8] = [0, 1, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 0x7f80_0000, 0x7fc0_0000, 0xffff];

/// One to five kinds of damage, one after the other. `other` is a second good input, of which pieces are taken.
pub fn damage(rng: &mut Rng, good: &[u8], other: &[u8]) -> Vec<u8> {
    let mut bytes = good.to_vec();
    for _ in 0..=rng.below(5) {
        match rng.below(10) {
            0 => flip(rng, &mut bytes),
            1 => border(rng, &mut bytes),
            2 => splinter(rng, &mut bytes),
            3 => bytes.truncate(rng.below(bytes.len() + 1)),
            4 => remove(rng, &mut bytes),
            5 => double(rng, &mut bytes),
            6 => graft(rng, &mut bytes, other),
            7 | 8 => replace_number(rng, &mut bytes),
            _ => replace_value(rng, &mut bytes),
        }
    }
    bytes
}

/// Other values in one to three places, and nothing else: most readers take such an input, so that what comes behind them is reached.
pub fn values(rng: &mut Rng, good: &[u8]) -> Vec<u8> {
    let mut bytes = good.to_vec();
    for _ in 0..=rng.below(3) {
        match rng.below(2) {
            0 => replace_number(rng, &mut bytes),
            _ => replace_value(rng, &mut bytes),
        }
    }
    bytes
}

/// A piece of at most `longest` bytes.
fn piece(rng: &mut Rng, length: usize, longest: usize) -> std::ops::Range<usize> {
    let start = rng.below(length + 1);
    start..(start + rng.below(longest + 1)).min(length)
}

fn flip(rng: &mut Rng, bytes: &mut [u8]) {
    if !bytes.is_empty() {
        let at = rng.below(bytes.len());
        bytes[at] ^= 1 << rng.below(8);
    }
}

fn border(rng: &mut Rng, bytes: &mut [u8]) {
    let (word, at) = (BORDERS[rng.below(BORDERS.len())], rng.below(bytes.len().max(1)));
    let word = if rng.chance(0.5) { word.to_le_bytes() } else { word.to_be_bytes() };
    bytes.iter_mut().skip(at).zip(word).for_each(|(b, w)| *b = w);
}

fn splinter(rng: &mut Rng, bytes: &mut Vec<u8>) {
    let at = piece(rng, bytes.len(), 6);
    bytes.splice(at, SPLINTERS[rng.below(SPLINTERS.len())].bytes());
}

fn remove(rng: &mut Rng, bytes: &mut Vec<u8>) {
    let at = piece(rng, bytes.len(), 200);
    bytes.drain(at);
}

fn double(rng: &mut Rng, bytes: &mut Vec<u8>) {
    let from = piece(rng, bytes.len(), 200);
    let (copy, to) = (bytes[from].repeat(1 + rng.below(3)), rng.below(bytes.len() + 1));
    bytes.splice(to..to, copy);
}

fn graft(rng: &mut Rng, bytes: &mut Vec<u8>, other: &[u8]) {
    let (from, at) = (piece(rng, other.len(), 300), piece(rng, bytes.len(), 300));
    bytes.splice(at, other[from].iter().copied());
}

/// Replaces one of the numbers of a text.
fn replace_number(rng: &mut Rng, bytes: &mut Vec<u8>) {
    let is_part = |b: u8| b.is_ascii_digit() || matches!(b, b'.' | b'-');
    let starts: Vec<usize> = (0..bytes.len())
        .filter(|&k| is_part(bytes[k]) && (k == 0 || !bytes[k - 1].is_ascii_alphanumeric() && !is_part(bytes[k - 1])))
        .collect();
    if starts.is_empty() {
        return;
    }
    let start = starts[rng.below(starts.len())];
    let end = start + bytes[start..].iter().take_while(|b| is_part(**b)).count();
    let number = number(rng);
    bytes.splice(start..end, number.bytes());
}

/// A number that a file may have, or should not.
fn number(rng: &mut Rng) -> String {
    match rng.below(5) {
        0 => SPLINTERS[rng.below(12)].to_string(),
        1 => format!("{}", rng.below(300)),
        2 => format!("{:e}", rng.sign() * 10f64.powf(rng.between(-12.0, 12.0))),
        _ => format!("{:.3}", 3.0 * rng.sign()),
    }
}

/// Replaces what is between two quotes, by a splinter or by another such value: the text stays well-formed.
fn replace_value(rng: &mut Rng, bytes: &mut Vec<u8>) {
    let quotes: Vec<usize> = (0..bytes.len()).filter(|&k| bytes[k] == b'"').collect();
    if quotes.len() < 2 {
        return;
    }
    let pair = |rng: &mut Rng| 2 * rng.below(quotes.len() / 2);
    let (to, from) = (pair(rng), pair(rng));
    let value = match rng.below(3) {
        0 => bytes[quotes[from] + 1..quotes[from + 1]].to_vec(),
        1 => number(rng).into_bytes(),
        _ => SPLINTERS[rng.below(SPLINTERS.len())].replace(['"', '<', '&'], "").into_bytes(),
    };
    bytes.splice(quotes[to] + 1..quotes[to + 1], value);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damage_is_the_same_for_the_same_seed_and_seldom_none() {
        let good = b"<a b=\"1 2\" c=\"x\"/>";
        let of = |seed| damage(&mut Rng(seed), good, b"other");
        assert!((0..200).all(|seed| of(seed) == of(seed)));
        assert!((0..200).filter(|seed| of(*seed) != good).count() > 180);
        (0..500).for_each(|seed| drop(damage(&mut Rng(seed), b"", b"")));
    }
}
