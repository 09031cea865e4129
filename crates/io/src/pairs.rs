//! Which geoms may touch: the choice of a user made into the rule of a model, and lists of pairs from JSON files.

use crate::error::{LoadError, Place};
use crate::limits::{self, Limits};
use crate::options::PairChoice;
use crate::source;
use crate::write::PAIR_RULE;
use crate::xml::Element;
use serde_json::Value;
use slipstick_core::dynamics::Workspace;
use slipstick_core::model::{BodyId, GeomId, PairRule, PairSurface, Surface};
use slipstick_core::spatial::Pose;
use slipstick_core::{InputError, Model, collision};
use std::cmp::Ordering;
use std::collections::HashMap;
use std::path::Path;

/// The rule that a MJCF file asks for: MuJoCo's, unless a custom text of ours names the paper's.
pub(crate) fn rule_of_mjcf(root: Element) -> PairRule {
    let texts = root.all("custom").flat_map(|section| section.all("text"));
    let said = texts.filter(|t| t.text("name") == Some(PAIR_RULE)).find_map(|t| t.text("data"));
    if said == Some("paper") { PairRule::Paper } else { PairRule::Mujoco }
}

/// What two surfaces make together: that of higher priority decides, else the larger numbers; offsets add up.
pub(crate) fn mixed(a: &Surface, b: &Surface) -> PairSurface {
    let offset = a.offset + b.offset;
    let of = |s: &Surface| PairSurface { friction: s.friction, condim: s.condim, offset };
    match a.priority.cmp(&b.priority) {
        Ordering::Greater => of(a),
        Ordering::Less => of(b),
        Ordering::Equal => PairSurface { friction: a.friction.max(b.friction), condim: a.condim.max(b.condim), offset },
    }
}

/// The model with the list of pairs that was asked for; `file` is the rule of its file.
pub(crate) fn apply(model: Model, choice: &PairChoice, file: PairRule, limits: &Limits) -> Result<Model, LoadError> {
    let rule = match choice {
        PairChoice::FileDefault => file,
        PairChoice::Paper => PairRule::Paper,
        PairChoice::Mujoco => PairRule::Mujoco,
        PairChoice::File(path) => PairRule::List(read(path, &model, limits)?),
    };
    if rule == *model.pair_rule() {
        return Ok(model);
    }
    let paper = rule == PairRule::Paper;
    let model = model.with_pair_rule(rule);
    let model = model.and_then(|m| if paper { without_near_pairs(&m) } else { Ok(m) });
    model.map_err(|e| wrong("pairs", "pairs of geoms of the model", e.to_string()))
}

/// Refuses a model whose list of pairs would be too long, before it is made.
pub(crate) fn check_number(model: &Model, path: &Path, limits: &Limits) -> Result<(), LoadError> {
    let place = || Place { file: path.display().to_string(), ..Place::default() };
    limits::check(place, "pairs", "pairs of geoms that may touch", limits.pairs, model.pair_bound())
}

/// Pairs nearer than this in the neutral configuration are no part of the paper's rule (m).
const NEAR: f64 = 0.01;
/// Models with more geoms keep them: the list of pairs grows with the square, and is made only when it is needed.
const MANY: usize = 1000;

/// The distance part of the paper's rule: neighbors that overlap by design do not touch.
fn without_near_pairs(model: &Model) -> Result<Model, InputError> {
    if model.geoms().len() > MANY {
        return Ok(model.clone());
    }
    let mut workspace = Workspace::new(model);
    workspace.kinematics(model, model.neutral())?;
    let poses = (0..model.n_bodies()).map(|k| workspace.body_pose(BodyId(k)));
    let poses: Vec<Pose> = poses.collect::<Result<_, _>>()?;
    let near = collision::near_pairs(model, &poses, NEAR)?;
    let near: Vec<_> = near.into_iter().map(|k| model.pairs()[k].geoms).collect();
    if near.is_empty() { Ok(model.clone()) } else { model.without_pairs(&near) }
}

/// Reads a list of pairs, by rising numbers and without repetition.
fn read(path: &Path, model: &Model, limits: &Limits) -> Result<Vec<[GeomId; 2]>, LoadError> {
    let file = path.display().to_string();
    let text = source::read_text(path, limits)?;
    let json: Value = serde_json::from_str(&text).map_err(|e| LoadError::Syntax {
        place: Box::new(Place { file: file.clone(), line: e.line() as u32, element: String::new() }),
        got: format!("not well-formed JSON: {e}"),
    })?;
    let list = List { file: &file, model, by_name: by_name(model) };
    let pairs = json.get("pairs").unwrap_or(&json).as_array().ok_or_else(|| list.unreadable())?;
    let geometries = match json.get("geometries") {
        Some(entries) => Some(list.geometries(entries)?),
        None => None,
    };
    let mut out = Vec::with_capacity(pairs.len());
    for pair in pairs {
        let [a, b] = pair.as_array().map(Vec::as_slice).ok_or_else(|| list.unreadable())? else {
            return Err(wrong(&file, "two geoms per pair", pair.to_string()));
        };
        let mut pair = [list.geom(a, geometries.as_deref())?, list.geom(b, geometries.as_deref())?];
        pair.sort();
        if pair[0] == pair[1] {
            return Err(wrong(&file, "two different geoms per pair", format!("[{a}, {b}]")));
        }
        out.push(pair);
    }
    out.sort();
    out.dedup();
    Ok(out)
}

fn by_name(model: &Model) -> HashMap<&str, GeomId> {
    let named = model.geoms().iter().enumerate().filter(|(_, g)| !g.name.is_empty());
    named.map(|(i, g)| (g.name.as_str(), GeomId(i))).collect()
}

/// A list that is being read.
struct List<'a> {
    file: &'a str,
    model: &'a Model,
    by_name: HashMap<&'a str, GeomId>,
}

impl List<'_> {
    /// The geoms that the entries of `geometries` stand for, in their order.
    fn geometries(&self, entries: &Value) -> Result<Vec<GeomId>, LoadError> {
        entries.as_array().ok_or_else(|| self.unreadable())?.iter().map(|entry| self.geometry(entry)).collect()
    }

    /// A geometry is known by its name; its type, if given, must be that of the geom.
    fn geometry(&self, entry: &Value) -> Result<GeomId, LoadError> {
        let name = entry.get("name").and_then(Value::as_str);
        let name = name.ok_or_else(|| wrong(self.file, "a name for every geometry", entry.to_string()))?;
        let id = self.named(name)?;
        let shape = self.model.geoms()[id.0].shape.name();
        match entry.get("type").and_then(Value::as_str).map(shape_name) {
            Some(expected) if expected != shape => {
                Err(wrong(self.file, &format!("geom '{name}' to be a {expected}"), format!("a {shape}")))
            }
            _ => Ok(id),
        }
    }

    /// A geom of a pair: its name, or its number in `geometries` or in the model.
    fn geom(&self, value: &Value, geometries: Option<&[GeomId]>) -> Result<GeomId, LoadError> {
        match (value, value.as_u64()) {
            (Value::String(name), _) => self.named(name),
            (_, Some(i)) => {
                let n = geometries.map_or(self.model.geoms().len(), <[GeomId]>::len);
                let i = usize::try_from(i).ok().filter(|i| *i < n);
                let i = i.ok_or_else(|| wrong(self.file, &format!("a number below {n}"), value.to_string()))?;
                Ok(geometries.map_or(GeomId(i), |g| g[i]))
            }
            _ => Err(wrong(self.file, "names or numbers of geoms", value.to_string())),
        }
    }

    fn named(&self, name: &str) -> Result<GeomId, LoadError> {
        self.by_name.get(name).copied().ok_or_else(|| LoadError::Unknown {
            place: Box::new(Place { file: self.file.into(), ..Place::default() }),
            expected: "geom",
            got: crate::xml::shown(name),
            hint: if name == "floor" { "load the robot with ground".into() } else { String::new() },
        })
    }

    fn unreadable(&self) -> LoadError {
        wrong(
            self.file,
            "a list [[\"geom a\", \"geom b\"], …] or an object with geometries and pairs",
            "something else",
        )
    }
}

/// Our word for a type of geometry as Pinocchio names it.
fn shape_name(kind: &str) -> String {
    match kind {
        "Halfspace" | "Plane" => "plane".into(),
        "Convex" | "BVHModelBase" | "Mesh" => "mesh".into(),
        other => other.to_lowercase(),
    }
}

fn wrong(file: &str, expected: &str, got: impl Into<String>) -> LoadError {
    let place = Box::new(Place { file: file.into(), ..Place::default() });
    LoadError::Structure { place, expected: expected.into(), got: got.into(), hint: String::new() }
}
