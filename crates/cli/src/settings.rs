//! `--set GROUP.NAME=VALUE`: other numbers for a robot than those of its file.

use crate::names;
use slipstick::Model;
use slipstick::model::{ParameterGroup, Parameters};

/// A group beside those of the parameters: to set the mass of a body scales its whole inertia.
const MASS: &str = "mass";
const INERTIAL: ParameterGroup = ParameterGroup::Inertial;

/// The model with other numbers, one setting after the other.
pub fn apply(model: Model, settings: &[String]) -> Result<Model, String> {
    if settings.is_empty() {
        return Ok(model);
    }
    let mut parameters = model.parameters().clone();
    for text in settings {
        set(&mut parameters, text).map_err(|e| format!("--set {text}: {e}"))?;
    }
    model.with_parameters(parameters).map_err(|e| format!("--set: {e}"))
}

/// Names and values of all parameters as `--set` takes them, by groups; groups without any are left out.
pub fn list(model: &Model) -> Vec<(&'static str, Vec<(String, f64)>)> {
    let p = model.parameters();
    let masses = p.group(INERTIAL).iter().step_by(INERTIAL.entries().len()).zip(masses(p));
    let masses = masses.map(|(mass, name)| (name, *mass)).collect();
    let groups =
        ParameterGroup::ALL.map(|g| (g.name(), p.layout().range(g).map(|k| (spelled(p, k), p.values()[k])).collect()));
    let all = std::iter::once((MASS, masses)).chain(groups);
    all.filter(|(_, entries): &(_, Vec<_>)| !entries.is_empty()).collect()
}

/// `friction.floor` where the layout has `friction/floor`: a slash means a folder on a command line.
fn spelled(p: &Parameters, index: usize) -> String {
    p.layout().name(index).unwrap_or_default().replace('/', ".")
}

fn masses(p: &Parameters) -> Vec<String> {
    let name = |k| spelled(p, k).replacen(INERTIAL.name(), MASS, 1);
    let of_body = |name: String| name.strip_suffix(".m").map_or(name.clone(), str::to_string);
    p.layout().range(INERTIAL).step_by(INERTIAL.entries().len()).map(name).map(of_body).collect()
}

fn set(p: &mut Parameters, text: &str) -> Result<(), String> {
    let form = || "expected GROUP.NAME=VALUE or GROUP=VALUE".to_string();
    let (key, value) = text.rsplit_once('=').ok_or_else(form)?;
    let (key, value) = (key.trim().replace('/', "."), value.trim());
    let number = value.parse().ok().filter(|x: &f64| x.is_finite());
    let number = number.ok_or_else(|| format!("expected a number after '=', got '{value}'"))?;
    let group = key.split('.').next().unwrap_or_default();
    if group == MASS {
        return set_mass(p, &key, number);
    }
    let Some(known) = ParameterGroup::ALL.into_iter().find(|g| g.name() == group) else {
        let all = ParameterGroup::ALL.iter().map(|g| g.name()).chain([MASS]);
        return Err(format!("there is no group '{group}': {}", names::hint(group, all)));
    };
    for index in matching(p, known, &key)? {
        p.values_mut()[index] = number;
    }
    Ok(())
}

/// The entries that a key stands for: one, or all of a group.
fn matching(p: &Parameters, group: ParameterGroup, key: &str) -> Result<Vec<usize>, String> {
    let range = p.layout().range(group);
    let is_group = key == group.name();
    if is_group && group.entries().len() == 1 && !range.is_empty() {
        return Ok(range.collect());
    }
    let all: Vec<String> = range.clone().map(|k| spelled(p, k)).collect();
    let found: Vec<usize> = range.zip(&all).filter(|(_, name)| *name == key).map(|(k, _)| k).collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let within: Vec<&str> = all.iter().map(String::as_str).filter(|n| n.starts_with(&format!("{key}."))).collect();
    Err(match within.is_empty() {
        false => format!("'{key}' has several numbers: {}", names::hint("", within.into_iter())),
        true => format!("the model has no '{key}': {}", names::hint(key, all.iter().map(String::as_str))),
    })
}

/// Scales all of a body's inertia: its shape and its center of mass stay.
fn set_mass(p: &mut Parameters, key: &str, mass: f64) -> Result<(), String> {
    let all = masses(p);
    let bodies: Vec<usize> = (0..all.len()).filter(|k| key == MASS || all[*k] == key).collect();
    if bodies.is_empty() {
        return Err(format!("the model has no '{key}': {}", names::hint(key, all.iter().map(String::as_str))));
    }
    if mass <= 0.0 {
        return Err(format!("expected a positive mass (kg), got {mass}"));
    }
    let width = INERTIAL.entries().len();
    for k in bodies {
        let entries = &mut p.group_mut(INERTIAL)[width * k..width * (k + 1)];
        if entries[0] <= 0.0 {
            return Err(format!("'{}' has no mass that could be scaled", all[k]));
        }
        let factor = mass / entries[0];
        entries.iter_mut().for_each(|x| *x *= factor);
        entries[0] = mass; // without rounding
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(settings: &[&str]) -> Result<Model, String> {
        let settings: Vec<String> = settings.iter().map(ToString::to_string).collect();
        apply(slipstick::builtin("quadruped").unwrap(), &settings)
    }

    #[test]
    fn one_number_or_a_whole_group_is_set() {
        let group = |m: &Model, g| m.parameters().group(g).to_vec();
        let m = with(&["friction=0.3", "friction.floor=0.2", "damping/FL_hip_joint=0.5"]).unwrap();
        let friction = group(&m, ParameterGroup::Friction);
        assert_eq!(friction.iter().filter(|x| **x == 0.3).count(), friction.len() - 1);
        assert!(friction.contains(&0.2) && group(&m, ParameterGroup::Damping).contains(&0.5));
        let m = with(&["gravity.z=-1.62"]).unwrap();
        assert_eq!(m.options().gravity, [0.0, 0.0, -1.62]);
    }

    #[test]
    fn a_mass_scales_the_inertia_of_its_body() {
        let before = with(&[]).unwrap();
        let after = with(&["mass.trunk=20"]).unwrap();
        let [a, b] = [&before, &after].map(|m| m.inertias()[1]);
        assert_eq!(b.mass, 20.0);
        assert_eq!(before.bodies()[1].name, "trunk");
        assert!((b.com.x - a.com.x).abs() < 1e-15 && (b.com.z - a.com.z).abs() < 1e-15);
        let heavier = after.parameters().group(INERTIAL)[4] / before.parameters().group(INERTIAL)[4];
        assert!((heavier - 20.0 / a.mass).abs() < 1e-12);
    }

    #[test]
    fn everything_that_is_listed_can_be_set() {
        let model = with(&[]).unwrap();
        let all: Vec<String> = list(&model)
            .into_iter()
            .flat_map(|(_, entries)| entries)
            .map(|(name, x)| format!("{name}={x:?}"))
            .collect();
        assert!(all.len() > model.parameters().values().len());
        let set: Vec<&str> = all.iter().map(String::as_str).collect();
        assert_eq!(
            with(&set).unwrap().parameters().group(ParameterGroup::Friction),
            model.parameters().group(ParameterGroup::Friction)
        );
    }

    #[test]
    fn wrong_settings_say_what_there_is() {
        for (setting, parts) in [
            ("frction=1", "there is no group 'frction': did you mean 'friction'?"),
            ("friction.flor=1", "no 'friction.flor': did you mean 'friction.floor'?"),
            ("mass.trnk=1", "no 'mass.trnk': did you mean 'mass.trunk'?"),
            ("mass.trunk=-1", "expected a positive mass (kg), got -1"),
            ("inertial.trunk=1", "'inertial.trunk' has several numbers: there are inertial.trunk.m, "),
            ("gravity=1", "'gravity' has several numbers: there are gravity.x, gravity.y, gravity.z"),
            ("mesh_scale.a.x=2", "there are none"),
            ("friction", "expected GROUP.NAME=VALUE"),
            ("friction=nan", "expected a number after '=', got 'nan'"),
            ("friction.floor=-1", "--set: "),
        ] {
            let error = with(&[setting]).unwrap_err();
            assert!(error.starts_with("--set") && error.contains(parts), "{error}");
        }
    }
}
