//! Memory of a simulator, shared with the steps it has made: one thread inside at a time.

use crate::errors::Failure;
use slipstick::Simulator;
use slipstick::sensors::Sensors;
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};

/// A model and the simulator that steps it.
pub struct Shared {
    pub model: slipstick::Model,
    memory: Mutex<Memory>,
}

pub struct Memory {
    pub simulator: Simulator,
    pub sensors: Sensors,
    /// Steps begun so far: the number of the one that the simulator holds.
    pub steps: u64,
    /// Whether the user was told that a step is not what it should be.
    pub warned: bool,
}

impl Shared {
    pub fn new(model: slipstick::Model) -> Arc<Shared> {
        let (simulator, sensors) = (Simulator::new(&model), Sensors::new(&model));
        Arc::new(Shared { model, memory: Mutex::new(Memory { simulator, sensors, steps: 0, warned: false }) })
    }

    /// The memory, unless another thread is in it.
    pub fn enter(&self) -> Result<MutexGuard<'_, Memory>, Failure> {
        match self.memory.try_lock() {
            Ok(memory) => Ok(memory),
            Err(TryLockError::WouldBlock) => Err(Failure::Busy),
            Err(TryLockError::Poisoned(memory)) => {
                // a step that broke off may have left half a warm start, and no step to differentiate
                self.memory.clear_poison();
                let mut memory = memory.into_inner();
                memory.simulator.clear_warm_start();
                memory.steps += 1;
                Ok(memory)
            }
        }
    }
}

/// Where a finished step came from.
pub struct Origin {
    pub shared: Arc<Shared>,
    pub step: u64,
}

impl Origin {
    /// Takes the step up again, with the memory of its sensors, while the memory still holds it.
    pub fn resume<T, E: Into<Failure>>(
        &self,
        work: impl FnOnce(&mut slipstick::Step, &mut Sensors) -> Result<T, E>,
    ) -> Result<T, Failure> {
        let mut memory = self.shared.enter()?;
        if memory.steps != self.step {
            return Err(Failure::Stale);
        }
        let Memory { simulator, sensors, .. } = &mut *memory;
        let mut step = simulator.last_step().ok_or(Failure::Stale)?;
        work(&mut step, sensors).map_err(E::into)
    }
}
