//! What compiled programs of XLA refer to by a number. An entry lives as long as the process: a program that was compiled may
//! be run at any time.

use super::frames::Frames;
use slipstick::rollout::ControlStep;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

enum Entry {
    ControlStep(Arc<ControlStep>),
    Frames(Arc<Frames>),
}

static ENTRIES: Mutex<Vec<Entry>> = Mutex::new(Vec::new());

fn entries() -> MutexGuard<'static, Vec<Entry>> {
    ENTRIES.lock().unwrap_or_else(PoisonError::into_inner)
}

fn add(entry: Entry) -> i64 {
    let mut entries = entries();
    entries.push(entry);
    entries.len() as i64 - 1
}

pub fn add_control_step(x: Arc<ControlStep>) -> i64 {
    add(Entry::ControlStep(x))
}

pub fn add_frames(x: Frames) -> i64 {
    add(Entry::Frames(Arc::new(x)))
}

pub fn control_step(handle: i64) -> Result<Arc<ControlStep>, String> {
    match usize::try_from(handle).ok().and_then(|k| entries().get(k).map(|entry| entry.clone_control_step())) {
        Some(Some(found)) => Ok(found),
        _ => Err(unknown(handle)),
    }
}

pub fn frames(handle: i64) -> Result<Arc<Frames>, String> {
    match usize::try_from(handle).ok().and_then(|k| entries().get(k).map(|entry| entry.clone_frames())) {
        Some(Some(found)) => Ok(found),
        _ => Err(unknown(handle)),
    }
}

impl Entry {
    fn clone_control_step(&self) -> Option<Arc<ControlStep>> {
        if let Entry::ControlStep(x) = self { Some(x.clone()) } else { None }
    }

    fn clone_frames(&self) -> Option<Arc<Frames>> {
        if let Entry::Frames(x) = self { Some(x.clone()) } else { None }
    }
}

fn unknown(handle: i64) -> String {
    format!("this program was compiled in another process: there is no model with number {handle} here")
}
