//! How costs grow with the size of the problem: with dofs along a chain, with contacts in a stack (one island) and in a pile
//! of separate bodies (many islands), with the number of environments of a batch and of steps of a rollout.

mod batch;
mod chart;
mod horizon;
mod scenes;
mod watch;

pub use chart::{Curve, Growth};

use crate::error::BenchError;

/// How many sizes are measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sizes {
    /// Up to 200 dofs, 200 contacts, 4096 environments, 1000 steps.
    All,
    /// A few small ones, for a first look.
    Few,
}

impl Sizes {
    /// Of the list for all sizes, for a first look only those up to a bound.
    fn of(self, all: &[usize], most: usize) -> Vec<usize> {
        all.iter().copied().filter(|n| self == Sizes::All || *n <= most).collect()
    }
}

const DOFS: [usize; 9] = [2, 4, 8, 16, 32, 64, 100, 140, 200];
const CONTACTS: [usize; 10] = [1, 2, 4, 8, 16, 32, 64, 100, 140, 200];
const ENVIRONMENTS: [usize; 7] = [1, 4, 16, 64, 256, 1024, 4096];
const STEPS: [usize; 7] = [1, 3, 10, 30, 100, 300, 1000];

/// How many measurements [`measure`] tells of.
pub fn count(sizes: Sizes) -> usize {
    sizes.of(&DOFS, 16).len()
        + 2 * sizes.of(&CONTACTS, 8).len()
        + sizes.of(&ENVIRONMENTS, 16).len()
        + sizes.of(&STEPS, 30).len()
}

/// Measures all curves. `progress` hears how many measurements are done.
pub fn measure(sizes: Sizes, mut progress: impl FnMut(usize)) -> Result<Growth, BenchError> {
    let mut done = 0;
    let mut tick = || {
        done += 1;
        progress(done);
    };
    let (dofs, contacts, steps) = (sizes.of(&DOFS, 16), sizes.of(&CONTACTS, 8), sizes.of(&STEPS, 30));
    let curves = vec![
        watch::curve("chain", "dofs of a chain", &dofs, scenes::chain, &mut tick)?,
        watch::curve("stack", "contacts in a stack: one island", &contacts, scenes::stack, &mut tick)?,
        watch::curve("pile", "contacts of separate bodies: many islands", &contacts, scenes::pile, &mut tick)?,
        batch::curve(&sizes.of(&ENVIRONMENTS, 16), &mut tick)?,
        horizon::curve(&steps, &mut tick)?,
    ];
    Ok(Growth { curves })
}
