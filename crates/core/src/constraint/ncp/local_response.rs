//! Response of a constraint to a change of its velocity in the linear system: `dλ = c − E dσ`.   (ncp-5)
#![allow(non_snake_case)]

use crate::constraint::problem::Block;

/// Linear response of one block: `dλ = c − E dσ`.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct LocalResponse {
    pub E: [[f64; 3]; 3],
    pub c: [f64; 3],
    /// Whether E is zero.
    pub inactive: bool,
}

impl LocalResponse {
    /// A response that depends on velocities.
    pub fn new(E: [[f64; 3]; 3], c: [f64; 3]) -> LocalResponse {
        LocalResponse { E, c, inactive: false }
    }

    /// A change of the impulse that does not depend on the velocity.
    pub fn fixed(c: [f64; 3]) -> LocalResponse {
        LocalResponse { E: [[0.0; 3]; 3], c, inactive: true }
    }

    /// The response of a block with one row.
    pub fn scalar(E: f64, c: f64) -> LocalResponse {
        LocalResponse { E: [[E, 0.0, 0.0], [0.0; 3], [0.0; 3]], c: [c, 0.0, 0.0], inactive: E == 0.0 }
    }

    /// The response to the velocity without the part `R dλ` that the block's own compliance adds.
    pub fn without_compliance(mut self, b: &Block) -> LocalResponse {
        let R = b.compliance;
        if R == 0.0 {
            return self;
        }
        let n = b.cone.rows() - 1;
        // (1 + E R eₙ eₙᵀ)⁻¹ by Sherman and Morrison
        let column = [self.E[0][n], self.E[1][n], self.E[2][n]];
        let factor = R / (1.0 + R * column[n]);
        let (row, c) = (self.E[n], self.c[n]);
        for i in 0..=n {
            self.c[i] -= column[i] * factor * c;
            for j in 0..=n {
                self.E[i][j] -= column[i] * factor * row[j];
            }
        }
        self
    }
}
