//! Names that do not exist: what there is instead, and what was probably meant.

use slipstick::error::nearest_name;

/// How many names a message has room for.
const MOST: usize = 16;

/// `did you mean 'home'? there are home, stand`, or nothing where there are no names.
pub fn hint<'n>(name: &str, all: impl Iterator<Item = &'n str> + Clone) -> String {
    let meant = nearest_name(name, all.clone()).map_or(String::new(), |name| format!("did you mean '{name}'? "));
    let (listed, more) = (all.clone().take(MOST).collect::<Vec<_>>().join(", "), all.count().saturating_sub(MOST));
    match (listed.is_empty(), more) {
        (true, _) => "there are none".into(),
        (false, 0) => format!("{meant}there are {listed}"),
        (false, more) => format!("{meant}there are {listed} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_name_the_nearest_and_the_rest() {
        let names = ["home", "stand", "handstand"];
        assert_eq!(hint("hom", names.into_iter()), "did you mean 'home'? there are home, stand, handstand");
        assert_eq!(hint("x", names.into_iter()), "there are home, stand, handstand");
        assert_eq!(hint("x", std::iter::empty()), "there are none");
        assert!(hint("x", std::iter::repeat_n("y", 19)).ends_with("y, y and 3 more"));
    }
}
