//! Help with a name that nothing has: the nearest name, or some of those that there are.

use core::fmt;

/// Names that a message lists at most.
const LISTED: usize = 5;

/// What a message about an unknown name says besides.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum NameHint {
    /// A name that differs in a few letters.
    Nearest(String),
    /// No name is near: the first few names, and how many there are.
    Some {
        /// Up to five names.
        first: Vec<String>,
        /// Number of names.
        count: usize,
    },
}

impl NameHint {
    /// Finds the hint for a name among all that exist. Things without a name are passed over.
    pub fn new<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> NameHint {
        let names: Vec<&str> = names.into_iter().filter(|n| !n.is_empty()).collect();
        match nearest_name(name, names.iter().copied()) {
            Some(near) => NameHint::Nearest(near.into()),
            None => {
                let first = names.iter().take(LISTED).map(|n| n.to_string()).collect();
                NameHint::Some { first, count: names.len() }
            }
        }
    }
}

impl fmt::Display for NameHint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NameHint::Nearest(name) => write!(f, "did you mean '{name}'?"),
            NameHint::Some { count: 0, .. } => f.write_str("it has none with a name"),
            NameHint::Some { first, count } => {
                let more = if *count > first.len() { ", …" } else { "" };
                write!(f, "it has: {}{more}", first.join(", "))
            }
        }
    }
}

/// The name that can be reached by the fewest changes, if these are few.
pub fn nearest_name<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let (distance, near) = names.into_iter().map(|n| (changes(name, n), n)).min_by_key(|(d, _)| *d)?;
    // of short names one letter at least must be right
    let length = near.chars().count();
    (distance <= 1 + length / 4 && distance < length).then_some(near)
}

/// How many letters must be put in, taken out or replaced to come from one word to another.
fn changes(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().take(40).collect();
    let mut row: Vec<usize> = (0..=b.chars().count()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, y) in b.chars().enumerate() {
            let replaced = corner + usize::from(*x != y);
            corner = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(corner + 1);
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_proposed_only_if_it_is_near() {
        let names = ["friction", "size", "pos"];
        assert_eq!(nearest_name("frction", names), Some("friction"));
        assert_eq!(nearest_name("sise", names), Some("size"));
        assert_eq!(nearest_name("colour", names), None);
        assert_eq!(nearest_name("a", ["b"]), None);
        assert_eq!(nearest_name("ä", ["", "ö"]), None);
        assert_eq!(changes("kitten", "sitting"), 3);
    }

    #[test]
    fn without_a_near_name_some_are_listed() {
        let hint = |names: &[&str]| NameHint::new("waist", names.iter().copied()).to_string();
        assert_eq!(hint(&["hip", "", "knee"]), "it has: hip, knee");
        assert_eq!(hint(&["a", "b", "c", "d", "e", "f"]), "it has: a, b, c, d, e, …");
        assert_eq!(hint(&["", ""]), "it has none with a name");
        assert_eq!(hint(&["hip", "waist1"]), "did you mean 'waist1'?");
    }
}
