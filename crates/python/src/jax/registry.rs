//! What compiled programs of XLA refer to by a key. The key follows from the content of the model, so that a program from
//! a cache on disk finds the right one in another process, or none. An entry lives as long as the process: a program
//! that was compiled may be run at any time.

use super::frames::Frames;
use slipstick::rollout::ControlStep;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Entries by their keys.
pub struct Registry<T>(Mutex<BTreeMap<i64, Arc<T>>>);

pub static CONTROL_STEPS: Registry<ControlStep> = Registry(Mutex::new(BTreeMap::new()));
pub static FRAMES: Registry<Frames> = Registry(Mutex::new(BTreeMap::new()));

impl<T> Registry<T> {
    /// Adds an entry; the first one with a key stays.
    pub fn add(&self, key: i64, entry: Arc<T>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_insert(entry);
    }

    pub fn find(&self, key: i64) -> Result<Arc<T>, String> {
        let found = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        found.ok_or_else(|| {
            format!("this program was compiled in another process, for a model that is not here ({key})")
        })
    }
}
