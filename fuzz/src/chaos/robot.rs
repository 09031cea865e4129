//! Which robots, and how an episode changes them.

use crate::case::load_options;
use crate::tree;
use slipstick::model::Solver;
use slipstick::random::Rng;
use slipstick::{LoadOptions, Model, builtin, builtin_names, load_with};

/// Where a robot comes from.
#[derive(Debug, Clone)]
pub enum Robot {
    Model {
        name: String,
        model: Box<Model>,
    },
    /// A new random tree in every episode.
    Random,
}

impl Robot {
    pub fn name(&self) -> &str {
        match self {
            Robot::Model { name, .. } => name,
            Robot::Random => "random",
        }
    }

    /// The model of an episode: of a random robot a new one, of others a copy with other numbers.
    pub fn model(&self, rng: &mut Rng) -> Model {
        let model = match self {
            Robot::Model { model, .. } => (**model).clone(),
            Robot::Random => {
                let options = load_options();
                let xml = tree::mjcf(Rng(rng.bits()));
                slipstick::files::load_mjcf_str("random.xml", &xml, &options).expect("random trees are valid")
            }
        };
        changed(model, rng)
    }
}

/// The robots that are asked for; built-in ones and random trees if none are.
pub fn robots(names: &[String]) -> Result<Vec<Robot>, String> {
    let all = || builtin_names().map(String::from).chain(["random".into()]).collect();
    let names: Vec<String> = if names.is_empty() { all() } else { names.to_vec() };
    names.into_iter().map(|name| robot(&name)).collect()
}

pub fn robot(name: &str) -> Result<Robot, String> {
    if name == "random" {
        return Ok(Robot::Random);
    }
    let model = match builtin(name) {
        Ok(model) => model,
        Err(_) => load_with(name, &LoadOptions::default().with_ground()).map_err(|e| e.to_string())?,
    };
    Ok(Robot::Model { name: name.into(), model: Box::new(model) })
}

/// Another time step (1e-6 … 0.1 s), other friction (0 … 10), other masses (ratios to 1e6), another solver.
fn changed(mut model: Model, rng: &mut Rng) -> Model {
    let mut options = model.options().clone();
    if rng.chance(0.5) {
        options.dt = 10f64.powf(rng.between(-6.0, -1.0));
    }
    if rng.chance(0.1) {
        options.solver = Solver::Cold;
    }
    model = model.with_options(options).expect("positive numbers");
    if rng.chance(0.4) {
        let mu = if rng.chance(0.2) { 0.0 } else { rng.between(0.0, 10.0) };
        model = model.with_uniform_friction(mu).expect("a positive number");
    }
    if rng.chance(0.3) { heavier(model, rng) } else { model }
}

/// Masses of some bodies times 1e-3 … 1e3.
fn heavier(model: Model, rng: &mut Rng) -> Model {
    let named: Vec<(String, f64)> = (1..model.n_bodies())
        .filter(|_| rng.chance(0.4))
        .map(|k| (model.bodies()[k].name.clone(), model.inertias()[k].mass))
        .collect();
    let masses: Vec<(&str, f64)> = named
        .iter()
        .filter(|(_, m)| *m > 0.0)
        .map(|(n, m)| (n.as_str(), m * 10f64.powf(rng.between(-3.0, 3.0))))
        .collect();
    model.with_mass(&masses).unwrap_or(model)
}
