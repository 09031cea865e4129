//! Objects with threads know the process that made them: in a child of os.fork there are no such threads, and to wait for
//! them would be to wait for ever.

use crate::errors::{Failure, ForkError};

/// The process in which an object was made; `None`: it has no threads and works in every process.
pub struct Owner(Option<u32>);

impl Owner {
    /// Of an object with this many threads.
    pub fn of(threads: usize) -> Owner {
        Owner((threads > 1).then(std::process::id))
    }

    /// An error in any other process.
    pub fn check(&self, what: &str) -> Result<(), Failure> {
        match self.0 {
            Some(owner) if owner != std::process::id() => {
                let text = "was made before os.fork, and its threads stayed in the other process";
                let way = "make one in each process, or start processes by 'spawn'";
                Err(ForkError::new_err(format!("this {what} {text}; {way}")).into())
            }
            _ => Ok(()),
        }
    }
}
