//! Memory for the functions of a model: made when first needed and kept, one for each thread inside at the same time.

use crate::errors::Failure;
use crate::interrupt::interruptible;
use pyo3::prelude::*;
use slipstick::Model;
use slipstick::dynamics::Workspace;
use std::sync::{Mutex, PoisonError};

/// Workspaces at rest. Models that differ in parameters only share them.
#[derive(Debug, Default)]
pub struct Workspaces(Mutex<Vec<Workspace>>);

impl Workspaces {
    /// Runs `work` without the interpreter's lock.
    pub fn run<T: Send>(
        &self,
        py: Python<'_>,
        model: &Model,
        work: impl FnOnce(&mut Workspace) -> Result<T, Failure> + Send,
    ) -> Result<T, Failure> {
        interruptible(py, || {
            let mut workspace = self.take().unwrap_or_else(|| Workspace::new(model));
            let result = work(&mut workspace);
            self.put(workspace);
            result
        })
    }

    // The list is whole at every moment, so a panic elsewhere does not spoil it.
    fn take(&self) -> Option<Workspace> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    fn put(&self, workspace: Workspace) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(workspace);
    }
}
