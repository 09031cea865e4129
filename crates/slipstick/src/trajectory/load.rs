//! A trajectory from the file that it was saved in.

use super::error::{Fault, LoadTrajectoryError};
use super::npy::ArrayReader;
use super::{Trajectory, TrajectoryFormat, contacts, npz};
use slipstick_core::constraint::Stage;
use slipstick_core::{Model, Status};
use std::io;
use std::path::Path;

impl Trajectory {
    /// Reads a file that [`Trajectory::save`] wrote for numpy (`.npz`), with the model that it was recorded with: number by
    /// number what was saved, the contacts included if they were kept. Its time step and its name are those of the file.
    ///
    /// ```
    /// use slipstick::{Simulator, Trajectory, control::Controller};
    /// let model = slipstick::builtin("cartpole")?;
    /// let trajectory = Simulator::new(&model).rollout(100, &mut Controller::Zero)?;
    /// let file = std::env::temp_dir().join("slipstick-load.npz");
    /// trajectory.save(&file)?;
    /// assert_eq!(Trajectory::load(&file, &model)?, trajectory);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn load(path: impl AsRef<Path>, model: &Model) -> Result<Trajectory, LoadTrajectoryError> {
        let path = path.as_ref();
        let name = || path.display().to_string();
        if TrajectoryFormat::of_path(path) != Some(TrajectoryFormat::Npz) {
            return Err(LoadTrajectoryError::UnknownFormat { path: name() });
        }
        let file = file(path).map_err(|error| LoadTrajectoryError::Io { path: name(), error })?;
        parse(model, &file).map_err(|fault| fault.in_file(name()))
    }

    /// [`Trajectory::load`] from the bytes of such a file.
    pub fn from_npz(bytes: &[u8], model: &Model) -> Result<Trajectory, LoadTrajectoryError> {
        parse(model, bytes).map_err(|fault| fault.in_file("npz".into()))
    }
}

/// Bytes of a regular file: a device may have no end.
fn file(path: &Path) -> io::Result<Vec<u8>> {
    match std::fs::metadata(path)?.is_file() {
        true => std::fs::read(path),
        false => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file")),
    }
}

fn parse(model: &Model, file: &[u8]) -> Result<Trajectory, Fault> {
    let arrays = ArrayReader::new(file)?;
    format(&arrays)?;
    let mut t = Trajectory::new(model);
    for (entry, names) in npz::NAMES.into_iter().zip(&t.names) {
        same_names(entry, names, &arrays.words(entry)?)?;
    }
    t.model = single(arrays.words("model")?, "model")?;
    t.dt = arrays.floats("dt", &[])?[0];
    let ([nq, nv, nu], states) = (t.sizes, arrays.length("time")?);
    let steps = states.saturating_sub(1);
    t.time = arrays.floats("time", &[states])?;
    t.q = arrays.floats("q", &[states, nq])?;
    t.v = arrays.floats("v", &[states, nv])?;
    if t.na() > 0 {
        same_names("act_names", &t.act_names, &arrays.words("act_names")?)?;
        t.act = arrays.floats("act", &[states, t.na()])?;
    }
    t.ctrl = arrays.floats("ctrl", &[steps, nu])?;
    t.tau = arrays.floats("tau", &[steps, nv])?;
    if arrays.has("mocap") {
        t.mocap = arrays.floats("mocap", &[steps, 7 * model.n_mocap()])?;
    }
    t.penetration = arrays.floats("penetration", &[steps])?;
    t.residual = arrays.floats("residual", &[steps])?;
    t.compliance_shift = arrays.floats("compliance_shift", &[steps])?;
    t.correction = arrays.floats("correction", &[steps])?;
    t.contacts = arrays.integers("contacts", &[steps], usize::MAX)?;
    let iterations = arrays.integers("iterations", &[steps], u32::MAX as usize)?;
    t.iterations = iterations.into_iter().map(|n| n as u32).collect();
    let status = |word: &str| Status::ALL.into_iter().find(|s| s.name() == word);
    t.status = words_of(&arrays, "status", "status_names", steps, status)?;
    let stage = |word: &str| Stage::ALL.into_iter().find(|s| s.name() == word);
    t.stage = words_of(&arrays, "stage", "stage_names", steps, stage)?;
    t.views = contacts::read(model, &arrays, steps)?;
    Ok(t)
}

/// Whether it is a trajectory of a version that can be read.
fn format(arrays: &ArrayReader) -> Result<(), Fault> {
    let foreign = |got: &str| Fault::new("format", format!("'{}'", TrajectoryFormat::NAME), got);
    if !arrays.has("format") {
        return Err(foreign("an archive without it"));
    }
    let format = single(arrays.words("format")?, "format")?;
    if format != TrajectoryFormat::NAME {
        return Err(foreign(&format!("'{format}'")));
    }
    let (version, known) = (arrays.integers("version", &[], usize::MAX)?[0], TrajectoryFormat::VERSION);
    match version == known as usize {
        true => Ok(()),
        false => Err(Fault::new("version", known.to_string(), version.to_string())),
    }
}

fn single(words: Vec<String>, entry: &str) -> Result<String, Fault> {
    let count = words.len();
    <[String; 1]>::try_from(words).map(|[word]| word).map_err(|_| Fault::new(entry, "one word", count.to_string()))
}

/// Names of coordinates, dofs or actuators are those of the model.
fn same_names(entry: &str, model: &[String], file: &[String]) -> Result<(), Fault> {
    if model.len() != file.len() {
        return Err(Fault::of_model(entry, format!("{} names", model.len()), file.len().to_string()));
    }
    match model.iter().map(|n| npz::bare(n)).zip(file).find(|(a, b)| a != b) {
        Some((expected, got)) => Err(Fault::of_model(entry, format!("'{expected}'"), format!("'{got}'"))),
        None => Ok(()),
    }
}

/// Words that are stored as their places in a list of names.
pub(super) fn words_of<T: Copy>(
    arrays: &ArrayReader,
    entry: &str,
    names: &str,
    n: usize,
    word: impl Fn(&str) -> Option<T>,
) -> Result<Vec<T>, Fault> {
    let all = arrays.words(names)?;
    let known = all.iter().map(|w| word(w).ok_or_else(|| Fault::new(names, "words of this version", format!("'{w}'"))));
    let known = known.collect::<Result<Vec<T>, Fault>>()?;
    let places = arrays.integers(entry, &[n], known.len().saturating_sub(1))?;
    let no_names = || Fault::new(names, "a word", "none");
    places.into_iter().map(|k| known.get(k).copied().ok_or_else(no_names)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::{Controller, Random};
    use crate::{Simulator, builtin};

    fn recorded(name: &str, steps: usize) -> (Model, Trajectory) {
        let model = builtin(name).unwrap();
        let mut t = Trajectory::new(&model).with_contacts();
        let controller = if model.nu() > 0 { Controller::Random(Random::new(3)) } else { Controller::Zero };
        Simulator::new(&model).rollout_into(steps, controller, &mut t).unwrap();
        (model, t)
    }

    fn bytes(t: &Trajectory) -> Vec<u8> {
        let mut bytes = Vec::new();
        t.write(TrajectoryFormat::Npz, &mut bytes).unwrap();
        bytes
    }

    fn told(result: Result<Trajectory, Fault>) -> String {
        result.unwrap_err().in_file("run.npz".into()).to_string()
    }

    #[test]
    fn what_was_saved_is_loaded_number_by_number() {
        for name in ["cube", "ant", "quadruped", "cartpole", "double_pendulum"] {
            let (model, t) = recorded(name, 40);
            assert!(parse(&model, &bytes(&t)).unwrap() == t, "{name}");
        }
        let (model, t) = recorded("quadruped", 5);
        assert!(
            parse(&model, &bytes(&t))
                .unwrap()
                .contacts_of(4)
                .is_some_and(|c| c.len() >= 4 && c == t.contacts_of(4).unwrap())
        );
        let empty = Trajectory::new(&model);
        assert!(parse(&model, &bytes(&empty)).unwrap() == empty, "nothing recorded");
    }

    #[test]
    fn trajectories_of_other_models_are_refused() {
        let (_, t) = recorded("ant", 2);
        let error = told(parse(&builtin("quadruped").unwrap(), &bytes(&t)));
        assert!(
            error.starts_with("run.npz: q_names: expected 19 names as the model has, got 15; load it with"),
            "{error}"
        );
        let (model, mut t) = recorded("quadruped", 2);
        t.names[1][7] = "v:knie".into();
        let error = told(parse(&model, &bytes(&t)));
        assert!(error.starts_with("run.npz: v_names: expected '") && error.contains("got 'knie'"), "{error}");
    }

    #[test]
    fn every_damaged_file_is_an_error_or_says_the_same() {
        let (model, t) = recorded("cube", 3);
        let sound = bytes(&t);
        for cut in 0..sound.len() {
            assert!(parse(&model, &sound[..cut]).is_err(), "{cut} bytes of {}", sound.len());
        }
        let (mut errors, mut file) = (0, sound.clone());
        for k in 0..file.len() {
            for flip in [0x01, 0x80, 0xff] {
                file[k] ^= flip;
                match parse(&model, &file) {
                    Ok(read) => assert!(read == t, "byte {k}"),
                    Err(_) => errors += 1,
                }
                file[k] ^= flip;
            }
        }
        assert!(errors > 2 * sound.len(), "{errors} of {}", 3 * sound.len());
    }

    #[test]
    fn foreign_files_and_versions_say_what_they_are() {
        let (model, t) = recorded("cube", 1);
        assert!(told(parse(&model, b"PK")).contains("expected a zip archive, got something else"));
        let mut other = Vec::new();
        let mut arrays = super::super::npy::ArrayWriter::new(&mut other);
        arrays.floats("x", &[1], &[1.0]).unwrap();
        arrays.finish().unwrap();
        let error = told(parse(&model, &other));
        assert_eq!(error, "run.npz: format: expected 'slipstick-trajectory', got an archive without it");
        let mut broken = t.clone();
        broken.time.push(1.0);
        assert!(told(parse(&model, &bytes(&broken))).contains("q: expected <f8 of shape [3, 7]"));
        let refused = |path: &str| Trajectory::load(path, &model).unwrap_err();
        assert!(matches!(refused("run.csv"), LoadTrajectoryError::UnknownFormat { .. }));
        assert!(matches!(refused("no-such-run.npz"), LoadTrajectoryError::Io { .. }));
    }
}
