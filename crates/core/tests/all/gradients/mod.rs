//! Derivatives of the step against what can be written down, and against differences of the step itself. Nothing here
//! knows how they are computed.

mod activations;
mod adjoint;
mod bare;
mod chains;
mod classics;
mod couplings;
mod driven_compensation;
mod forces;
mod gauge;
mod ground;
mod islands;
mod joints;
mod mocap;
mod modes;
pub mod oracle;
mod parameters;
mod puck;
mod rollouts;
mod scenes;
mod sensor_adjoints;
mod sensor_parameters;
mod sensors;
mod shapes;
mod smoothed;
mod symmetry;
mod transmissions;
mod worlds;
