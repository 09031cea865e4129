//! What is fed with random input: how an input is made, and what must hold for whatever comes of it.

mod assets;
mod bytes;
mod checksum;
mod model;
mod problems;
mod shapes;

use crate::case::{Answer, Verdict, numbers};
use crate::{corpus, mutate, tree};
use slipstick::random::Rng;

pub use model::steps;

/// A kind of input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    Mjcf,
    Urdf,
    Tree,
    Stl,
    Obj,
    Dae,
    Gltf,
    Png,
    Trajectory,
    WarmStart,
    Pairs,
    Controller,
    Collision,
    Ncp,
}

impl Target {
    pub const ALL: [Target; 14] = [
        Target::Mjcf,
        Target::Urdf,
        Target::Tree,
        Target::Stl,
        Target::Obj,
        Target::Dae,
        Target::Gltf,
        Target::Png,
        Target::Trajectory,
        Target::WarmStart,
        Target::Pairs,
        Target::Controller,
        Target::Collision,
        Target::Ncp,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Target::Mjcf => "mjcf",
            Target::Urdf => "urdf",
            Target::Tree => "tree",
            Target::Stl => "stl",
            Target::Obj => "obj",
            Target::Dae => "dae",
            Target::Gltf => "gltf",
            Target::Png => "png",
            Target::Trajectory => "trajectory",
            Target::WarmStart => "warm-start",
            Target::Pairs => "pairs",
            Target::Controller => "controller",
            Target::Collision => "collision",
            Target::Ncp => "ncp",
        }
    }

    pub fn named(name: &str) -> Result<Target, String> {
        let names = || Target::ALL.map(Target::name).join(", ");
        Target::ALL
            .into_iter()
            .find(|t| t.name() == name)
            .ok_or_else(|| format!("unknown target '{name}' (expected one of {})", names()))
    }

    /// The input of a case.
    pub fn input(self, seed: u64, case: u64) -> Vec<u8> {
        let mut rng = numbers(seed, self.name(), case);
        match self {
            Target::Tree => tree::mjcf(rng).into_bytes(),
            Target::Collision | Target::Ncp => format!("{}", rng.bits()).into_bytes(),
            Target::Png => assets::picture(&mut rng),
            Target::Trajectory => bytes::trajectory(&mut rng),
            _ => self.damaged(&mut rng),
        }
    }

    fn damaged(self, rng: &mut Rng) -> Vec<u8> {
        let good = corpus::good(self);
        let [a, b] = [(); 2].map(|()| rng.below(good.len()));
        match rng.chance(0.5) {
            true => mutate::values(rng, &good[a]),
            false => mutate::damage(rng, &good[a], &good[b]),
        }
    }

    /// Feeds an input, and checks what comes of it.
    pub fn run(self, input: &[u8]) -> Verdict {
        match self {
            Target::Mjcf | Target::Urdf => model::text(input),
            Target::Tree => match model::text(input)? {
                Answer::Accepted => Ok(Answer::Accepted),
                Answer::Refused => Err("a valid tree is refused".into()),
            },
            Target::Stl | Target::Obj | Target::Dae | Target::Gltf => assets::mesh(self.name(), input),
            Target::Png => assets::field(input),
            Target::Trajectory => bytes::read_trajectory(input),
            Target::WarmStart => bytes::warm_start(input),
            Target::Pairs => bytes::pairs(input),
            Target::Controller => bytes::controller(input),
            Target::Collision => shapes::pair(seed_of(input)),
            Target::Ncp => problems::solve(seed_of(input)),
        }
    }

    /// Names of all MJCF elements that mean something to the reader.
    #[cfg(test)]
    pub fn elements_of_mjcf() -> Vec<&'static str> {
        vec![
            "compiler",
            "option",
            "flag",
            "default",
            "asset",
            "mesh",
            "hfield",
            "worldbody",
            "body",
            "inertial",
            "joint",
            "freejoint",
            "geom",
            "site",
            "frame",
            "replicate",
            "attach",
            "contact",
            "pair",
            "exclude",
            "tendon",
            "fixed",
            "equality",
            "connect",
            "weld",
            "actuator",
            "general",
            "motor",
            "position",
            "velocity",
            "intvelocity",
            "damper",
            "cylinder",
            "sensor",
            "touch",
            "accelerometer",
            "velocimeter",
            "gyro",
            "force",
            "torque",
            "magnetometer",
            "rangefinder",
            "insidesite",
            "distance",
            "normal",
            "fromto",
            "user",
            "clock",
            "e_potential",
            "e_kinetic",
            "ballquat",
            "framepos",
            "subtreecom",
            "keyframe",
            "key",
        ]
    }
}

/// Inputs that are a number: all else follows from it.
fn seed_of(input: &[u8]) -> u64 {
    let text = String::from_utf8_lossy(input);
    text.trim().parse().unwrap_or(0)
}
