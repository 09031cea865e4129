//! Ctrl-C: the first one ends the work early, so that what there is can be written; the second one ends the program.

use crate::output::INTERRUPTED;
use signal_hook::{consts::SIGINT, flag};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Knows whether Ctrl-C was pressed.
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Watches from here on. Where signals cannot be watched Ctrl-C ends the program, as always.
    pub fn watch() -> Interrupt {
        let seen: Arc<AtomicBool> = Arc::default();
        // in this order: the first signal must not find the mark that it makes
        let second = flag::register_conditional_shutdown(SIGINT, INTERRUPTED.into(), seen.clone());
        let _ = second.and_then(|_| flag::register(SIGINT, seen.clone()));
        Interrupt(seen)
    }

    pub fn came(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
