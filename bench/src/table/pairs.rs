//! The paper's lists of pairs: their geometries are matched with a model's geoms by the joint that carries them and their
//! kind, then by name or order, because files name them differently.

use serde_json::Value;
use slipstick::Model;
use slipstick::model::{GeomId, JointKind};

/// The listed pairs as geoms of the model, in rising order.
pub fn listed(model: &Model, text: &str) -> Result<Vec<[GeomId; 2]>, String> {
    let json: Value = serde_json::from_str(text).map_err(|e| e.to_string())?;
    let geometries = json["geometries"].as_array().ok_or("expected a list 'geometries'")?;
    let mut free: Vec<usize> = (0..model.geoms().len()).collect();
    let mut matched = Vec::new();
    for geometry in geometries {
        let number = geometry["i"].as_u64().ok_or("expected a number 'i' in every geometry")?;
        let found = find(model, geometry, &free).ok_or_else(|| format!("no geom of the scene is {geometry}"))?;
        free.retain(|g| *g != found);
        matched.push((number, GeomId(found)));
    }
    let geom = |x: &Value| matched.iter().find(|(n, _)| Some(*n) == x.as_u64()).map(|(_, g)| *g);
    let pair = |p: &Value| Some([geom(&p[0])?, geom(&p[1])?]);
    let pairs = json["pairs"].as_array().ok_or("expected a list 'pairs'")?;
    let mut pairs: Vec<[GeomId; 2]> = pairs
        .iter()
        .map(|p| pair(p).ok_or(format!("expected numbers of two geometries, got {p}")))
        .collect::<Result<_, _>>()?;
    pairs.iter_mut().for_each(|p| p.sort());
    pairs.sort();
    Ok(pairs)
}

/// Among the geoms that are not matched yet.
fn find(model: &Model, geometry: &Value, free: &[usize]) -> Option<usize> {
    let joint = geometry["parent_joint"].as_str()?.trim_start_matches("Composite_");
    let joint = if ["root_joint", "rootx"].contains(&joint) { "root" } else { joint };
    let kind = match geometry["type"].as_str()?.to_lowercase().as_str() {
        "halfspace" => "plane".to_string(),
        "convex" => "mesh".to_string(),
        other => other.to_string(),
    };
    let is_same = |g: &&usize| model.geoms()[**g].shape.name() == kind && carrier(model, **g) == joint;
    let same: Vec<usize> = free.iter().filter(is_same).copied().collect();
    let named = same.iter().find(|g| Some(model.geoms()[**g].name.as_str()) == geometry["name"].as_str());
    named.or(same.first()).copied()
}

/// Name of the first joint of the body that carries a geom.
fn carrier(model: &Model, geom: usize) -> &str {
    let body = model.geoms()[geom].body;
    match model.joints().iter().find(|j| j.body == body) {
        None => "universe",
        Some(joint) if matches!(joint.kind, JointKind::Free) => "root",
        Some(joint) => &joint.name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = r#"{ "geometries": [
        { "i": 5, "name": "floor of another name", "parent_joint": "universe", "type": "Halfspace" },
        { "i": 2, "name": "?", "parent_joint": "root_joint", "type": "Box" } ], "pairs": [[2, 5]] }"#;

    #[test]
    fn geometries_are_found_by_joint_and_kind() {
        let cube = slipstick::builtin("cube").unwrap();
        let all: Vec<[GeomId; 2]> = cube.pairs().iter().map(|p| p.geoms).collect();
        assert_eq!(listed(&cube, LIST), Ok(all));
    }

    #[test]
    fn what_a_list_lacks_is_named() {
        let sphere = slipstick::builtin("sphere").unwrap();
        assert!(listed(&sphere, LIST).unwrap_err().contains(r#""type":"Box""#));
        assert!(listed(&sphere, "{}").unwrap_err().contains("geometries"));
        let stranger = LIST.replace("[2, 5]", "[2, 7]");
        let cube = slipstick::builtin("cube").unwrap();
        assert!(listed(&cube, &stranger).unwrap_err().contains("[2,7]"));
    }
}
