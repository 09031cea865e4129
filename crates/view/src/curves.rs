//! Numbers over time, for the plots of a page.

use crate::encode;
use crate::frames::Frames;
use serde_json::{Value, json};
use slipstick::dynamics::Workspace;
use slipstick::{InputError, Model};

/// What is known about a state and the step that led to it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Known<'a> {
    pub q: &'a [f64],
    /// Empty: not known.
    pub v: &'a [f64],
    /// Controls and forces of the step; empty: not known.
    pub ctrl: &'a [f64],
    pub tau: &'a [f64],
    /// Residual and iterations of its solve.
    pub solve: Option<[f64; 2]>,
}

/// Curves of every model: name, unit.
const COMMON: [(&str, &str); 5] = [
    ("height of the center of mass", "m"),
    ("kinetic energy", "J"),
    ("potential energy", "J"),
    ("residual", ""),
    ("iterations", ""),
];

/// The numbers of all curves at a state, in the order of [`to_json`].
pub(crate) fn row(model: &Model, work: &mut Workspace, known: Known) -> Result<Vec<f32>, InputError> {
    let height = work.center_of_mass(model, known.q)?.z;
    let (kinetic, potential) = match known.v.is_empty() && model.nv() > 0 {
        true => (f64::NAN, work.energy(model, known.q, &vec![0.0; model.nv()])?.1),
        false => work.energy(model, known.q, known.v)?,
    };
    let [residual, iterations] = known.solve.unwrap_or([f64::NAN; 2]);
    let mut row = vec![height, kinetic, potential, residual, iterations];
    row.extend_from_slice(known.q);
    for (numbers, width) in [(known.v, model.nv()), (known.ctrl, model.nu()), (known.tau, model.nv())] {
        match numbers.is_empty() {
            true => row.extend(std::iter::repeat_n(f64::NAN, width)),
            false => row.extend_from_slice(numbers),
        }
    }
    Ok(row.into_iter().map(|x| x as f32).collect())
}

/// Name, unit and group of each curve, with its numbers. Curves of which nothing is known are left out.
pub(crate) fn to_json(model: &Model, frames: &Frames) -> Value {
    let curve = |(k, (name, unit, group)): (usize, (String, &str, &str))| {
        let numbers = frames.curve(k);
        let known = numbers.iter().any(|x| !x.is_nan());
        known.then(|| json!({ "name": name, "unit": unit, "group": group, "values": encode::floats(&numbers) }))
    };
    names(model).into_iter().enumerate().filter_map(curve).collect()
}

fn names(model: &Model) -> Vec<(String, &'static str, &'static str)> {
    let mut names: Vec<_> = COMMON.map(|(name, unit)| (name.to_string(), unit, "motion and solver")).into();
    for joint in model.joints() {
        let numbered = (0..joint.q.len()).map(|k| match joint.q.len() {
            1 => joint.name.clone(),
            _ => format!("{}[{k}]", joint.name),
        });
        names.extend(numbered.map(|name| (name, "", "q")));
    }
    names.extend(model.dof_names().iter().map(|name| (name.clone(), "", "v")));
    let actuator = |(k, name): (usize, &String)| if name.is_empty() { format!("actuator {k}") } else { name.clone() };
    let actuators: Vec<String> = model.actuators().iter().map(|a| a.name.clone()).collect();
    names.extend(actuators.iter().enumerate().map(|pair| (actuator(pair), "", "ctrl")));
    names.extend(model.dof_names().iter().map(|name| (name.clone(), "", "tau")));
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frames::Shot;
    use slipstick::builtin;

    #[test]
    fn every_number_has_a_name_and_unknown_ones_are_left_out() {
        let model = builtin("quadruped").unwrap();
        let mut work = Workspace::new(&model);
        let q = model.keyframe("home").unwrap().q.clone();
        let known = Known { q: &q, ..Known::default() };
        let curves = row(&model, &mut work, known).unwrap();
        assert_eq!(curves.len(), names(&model).len());
        let mut frames = Frames::default();
        frames.push(0.0, 0.0, 60.0, &Shot { curves, ..Shot::default() });
        let told = to_json(&model, &frames);
        let groups: Vec<&str> = told.as_array().unwrap().iter().filter_map(|c| c["group"].as_str()).collect();
        assert_eq!(groups.len(), 2 + model.nq(), "height, potential energy and q");
        assert!(!groups.contains(&"v"));
    }
}
