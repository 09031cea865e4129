//! What became of a case.

use slipstick::LoadOptions;
use slipstick::random::Rng;

/// How a sound library may answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Answer {
    /// The input was taken, and what came of it is finite.
    Accepted,
    /// A typed error.
    Refused,
}

/// An answer, or what is wrong with it.
pub type Verdict = Result<Answer, String>;

/// The random numbers of a case: of its seed, its kind and its number, and of nothing else.
pub fn numbers(seed: u64, kind: &str, case: u64) -> Rng {
    let kind = kind.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3));
    let mut mixed = Rng(seed ^ kind.rotate_left(17));
    let first = mixed.bits();
    Rng(first ^ case.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

/// How files are loaded: what a case finds does not depend on the user's cache.
pub fn load_options() -> LoadOptions {
    let mut options = LoadOptions::default();
    options.cache = false;
    options
}

/// Fails if a number is not finite.
pub fn finite(what: &str, numbers: &[f64]) -> Result<(), String> {
    match numbers.iter().position(|x| !x.is_finite()) {
        Some(k) => Err(format!("{what}[{k}] is {}", numbers[k])),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_depends_on_seed_kind_and_number() {
        let first = |seed, kind, case| numbers(seed, kind, case).bits();
        assert_eq!(first(1, "stl", 5), first(1, "stl", 5));
        let others = [first(2, "stl", 5), first(1, "obj", 5), first(1, "stl", 6)];
        assert!(others.iter().all(|x| *x != first(1, "stl", 5)));
    }

    #[test]
    fn what_is_not_finite_is_named() {
        assert_eq!(finite("v", &[0.0, f64::NAN]), Err("v[1] is NaN".into()));
        assert!(finite("v", &[0.0, 1e300]).is_ok());
    }
}
