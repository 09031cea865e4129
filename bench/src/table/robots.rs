//! Who is in the table: the six robots of the paper, built-in ones that stand in for them, or any others.

use crate::error::BenchError;
use crate::paper::{PaperRobot, Place, ROBOTS};
use crate::table::pairs::listed;
use slipstick::Model;
use slipstick::model::PairRule;
use std::path::Path;

/// A robot of the table.
pub struct Candidate {
    /// As the table calls it.
    pub name: String,
    /// Where it comes from, in words.
    pub source: String,
    /// The robot.
    pub model: Model,
    /// Which robot of the paper it is or stands for, and its files: peers know these only.
    pub(crate) paper: Option<(&'static PaperRobot, Place)>,
}

impl Candidate {
    /// Any robot; one that is built in may stand for one of the paper.
    pub fn new(name: &str, source: &str, model: Model) -> Candidate {
        let paper = ROBOTS.iter().find(|r| r.built_in().source == source).map(|r| (r, r.built_in()));
        Candidate { name: name.to_string(), source: source.to_string(), model, paper }
    }
}

/// Names of the robots that a models folder holds.
pub fn paper_names() -> impl Iterator<Item = &'static str> {
    ROBOTS.iter().map(|r| r.name)
}

/// The six robots of the paper's table in its order: from the models folder, built-in ones without it.
///
/// A robot that the folder lacks is replaced by the built-in one, which is said on standard error.
pub fn paper_robots(models: Option<&Path>) -> Result<Vec<Candidate>, BenchError> {
    ROBOTS.iter().map(|robot| load(robot, models)).collect()
}

/// The robot of the paper with this name, from the models folder.
pub fn paper_robot(name: &str, models: &Path) -> Option<Result<Candidate, BenchError>> {
    let robot = ROBOTS.iter().find(|r| r.name == name)?;
    Some(load(robot, Some(models)))
}

fn load(robot: &'static PaperRobot, models: Option<&Path>) -> Result<Candidate, BenchError> {
    let Some(models) = models else { return builtin(robot) };
    if !models.is_dir() {
        return Err(BenchError::Folder { folder: models.to_path_buf() });
    }
    let place = robot.find(models);
    let Some(pairs) = &place.pairs else { return builtin(robot) };
    let name = robot.name.to_string();
    let model = slipstick::load(&place.file);
    let model = model.map_err(|error| BenchError::Load { robot: name.clone(), error: Box::new(error) })?;
    let failed = |got: String| BenchError::Pairs { file: pairs.clone(), got };
    let text = std::fs::read_to_string(pairs).map_err(|e| failed(e.to_string()))?;
    let rule = PairRule::List(listed(&model, &text).map_err(failed)?);
    let model = model.with_pair_rule(rule).map_err(|e| failed(e.to_string()))?;
    Ok(Candidate { name, source: place.source.clone(), model, paper: Some((robot, place)) })
}

fn builtin(robot: &'static PaperRobot) -> Result<Candidate, BenchError> {
    let model = slipstick::builtin(robot.builtin).map_err(BenchError::Builtin)?;
    Ok(Candidate::new(robot.builtin, &robot.built_in().source, model))
}
