//! Arrays with one row per environment, from which threads take the first remaining rows.

use crate::workers::Splittable;
use slipstick_core::InputError;

/// Rows to be read, one per environment. Omitted arrays have rows without numbers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rows<'a> {
    numbers: &'a [f64],
    width: usize,
    /// Whether every environment has the first row.
    shared: bool,
}

impl<'a> Rows<'a> {
    /// `n` rows.
    pub fn new(what: &'static str, numbers: &'a [f64], n: usize, width: usize) -> Result<Rows<'a>, InputError> {
        length(what, numbers.len(), n.saturating_mul(width))?;
        Ok(Rows { numbers, width, shared: false })
    }

    /// `n` rows, a single one for all, or nothing at all.
    pub fn shared(what: &'static str, numbers: &'a [f64], n: usize, width: usize) -> Result<Rows<'a>, InputError> {
        match numbers.len() == width && n != 1 {
            true => Ok(Rows { numbers, width, shared: true }),
            false => Rows::optional(what, numbers, n, width),
        }
    }

    /// `n` rows, or nothing at all.
    pub fn optional(what: &'static str, numbers: &'a [f64], n: usize, width: usize) -> Result<Rows<'a>, InputError> {
        Rows::new(what, numbers, n, if numbers.is_empty() { 0 } else { width })
    }

    /// Row `i`.
    pub fn row(&self, i: usize) -> &'a [f64] {
        let first = if self.shared { 0 } else { i * self.width };
        &self.numbers[first..first + self.width]
    }

    fn take(&mut self, n: usize) -> Rows<'a> {
        if self.shared {
            return *self;
        }
        let (taken, left) = self.numbers.split_at(n * self.width);
        self.numbers = left;
        Rows { numbers: taken, ..*self }
    }
}

/// Rows to be written, likewise.
#[derive(Debug)]
pub(crate) struct RowsMut<'a> {
    numbers: &'a mut [f64],
    width: usize,
}

impl<'a> RowsMut<'a> {
    /// `n` rows.
    pub fn new(what: &'static str, numbers: &'a mut [f64], n: usize, width: usize) -> Result<RowsMut<'a>, InputError> {
        length(what, numbers.len(), n.saturating_mul(width))?;
        Ok(RowsMut { numbers, width })
    }

    /// `n` rows, or nothing at all.
    pub fn optional(
        what: &'static str,
        numbers: &'a mut [f64],
        n: usize,
        width: usize,
    ) -> Result<RowsMut<'a>, InputError> {
        let width = if numbers.is_empty() { 0 } else { width };
        RowsMut::new(what, numbers, n, width)
    }

    fn take(&mut self, n: usize) -> RowsMut<'a> {
        let (taken, left) = std::mem::take(&mut self.numbers).split_at_mut(n * self.width);
        self.numbers = left;
        RowsMut { numbers: taken, width: self.width }
    }
}

fn length(what: &'static str, got: usize, expected: usize) -> Result<(), InputError> {
    if got == expected { Ok(()) } else { Err(InputError::Length { what, expected, got }) }
}

/// Environments, each of type `T`, and the rows that belong to them.
#[derive(Debug)]
pub(crate) struct Work<'a, T, const I: usize, const O: usize> {
    pub environments: &'a mut [T],
    pub given: [Rows<'a>; I],
    pub out: [RowsMut<'a>; O],
}

impl<'a, T: Send, const I: usize, const O: usize> Splittable for Work<'a, T, I, O> {
    fn count(&self) -> usize {
        self.environments.len()
    }

    fn take(&mut self, n: usize) -> Option<Work<'a, T, I, O>> {
        let environments = self.environments.take(n)?;
        let n = environments.len();
        let given = self.given.each_mut().map(|rows| rows.take(n));
        let out = self.out.each_mut().map(|rows| rows.take(n));
        Some(Work { environments, given, out })
    }
}

impl<T, const I: usize, const O: usize> Work<'_, T, I, O> {
    /// One environment after the other.
    pub fn each(mut self, mut go: impl FnMut(&mut T, [&[f64]; I], [&mut [f64]; O])) {
        for environment in self.environments {
            let given = self.given.each_mut().map(|rows| rows.take(1).numbers);
            go(environment, given, self.out.each_mut().map(|rows| rows.take(1).numbers));
        }
    }
}
