//! `slipstick convert`: from one format to another, with a list of what the format cannot express.

use crate::output::{Failure, check_writable, make_folder, say, write};
use crate::source::{self, Options};
use slipstick::Model;
use slipstick::files::ConversionWarning;
use std::path::{Path, PathBuf};

/// Arguments of `slipstick convert`.
#[derive(clap::Args)]
#[command(after_help = "Example: slipstick convert robot.urdf robot.xml --free-root --ground\n         \
                        slipstick convert quadruped quadruped.urdf\n\nExit codes: 0 written, 1 failure, 2 usage error.")]
pub struct Arguments {
    /// A built-in robot or a file (MJCF or URDF).
    #[arg(value_name = "IN")]
    input: String,
    /// The file to write: .xml for MJCF, .urdf for URDF (meshes go into a folder `meshes` next to it).
    #[arg(value_name = "OUT")]
    output: PathBuf,
    /// Replace files of other content in the folder `meshes`.
    #[arg(long)]
    overwrite: bool,
    #[command(flatten)]
    options: Options,
}

#[derive(Clone, Copy, PartialEq)]
enum Format {
    Mjcf,
    Urdf,
}

pub fn main(arguments: &Arguments) -> Result<(), Failure> {
    let output = &arguments.output;
    let extension = output.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
    let format = match extension.as_str() {
        "xml" | "mjcf" => Format::Mjcf,
        "urdf" => Format::Urdf,
        _ => return Err(Failure::Use(format!("{}: expected a name that ends in .xml or .urdf", output.display()))),
    };
    if is_same_file(Path::new(&arguments.input), output) {
        return Err(Failure::Use("the output would overwrite the input".into()));
    }
    check_writable(output)?;
    let model = source::load_named(&arguments.input, &arguments.options).map_err(String::from)?;
    let (text, losses) = match format {
        Format::Mjcf => slipstick::files::to_mjcf_with_warnings(&model),
        Format::Urdf => slipstick::files::to_urdf(&model),
    };
    if format == Format::Urdf {
        write_meshes(&model, output, arguments.overwrite)?; // first: a robot that is there has its meshes
    }
    write(output, &text)?;
    let back = slipstick::load(output).map_err(|e| format!("the written file does not load: {e}"))?;
    report(&model, &back, output, &losses);
    Ok(())
}

fn is_same_file(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

/// The folder may hold the meshes of other robots: files of other content are only replaced if the user says so.
fn write_meshes(model: &Model, output: &Path, overwrite: bool) -> Result<(), String> {
    if model.meshes().is_empty() {
        return Ok(());
    }
    let folder = output.parent().unwrap_or(Path::new("")).join("meshes");
    make_folder(&folder)?;
    let names = slipstick::files::mesh_file_names(model).into_iter().map(|name| folder.join(name));
    let files: Vec<_> = names.zip(model.meshes().iter().map(slipstick::files::mesh_to_obj)).collect();
    let differs = |(path, text): &&(PathBuf, String)| std::fs::read(path).is_ok_and(|old| old != text.as_bytes());
    if let Some((path, _)) = files.iter().find(differs).filter(|_| !overwrite) {
        let advice = "write into another folder, or replace it with --overwrite";
        return Err(format!("{}: another mesh of this name is there; {advice}", path.display()));
    }
    files.iter().try_for_each(|(path, text)| write(path, text))
}

fn report(model: &Model, back: &Model, output: &Path, losses: &[ConversionWarning]) {
    let sizes = |m: &Model| format!("{} dofs, {:.4} kg, {} geoms", m.nv(), m.total_mass(), m.geoms().len());
    let floats = model.joints().iter().any(|j| j.kind.name() == "free");
    let fixed = if floats && back.nv() < model.nv() { "; base fixed unless loaded with free_root" } else { "" };
    say!("{} ({}) → {} ({}{fixed})", model.name(), sizes(model), output.display(), sizes(back));
    if losses.is_empty() {
        say!("nothing was dropped");
    } else {
        say!("dropped or changed");
        losses.iter().for_each(|loss| say!("  {loss}"));
    }
    if !model.warnings().is_empty() {
        say!("not supported when the input was read");
        model.warnings().iter().for_each(|w| say!("  {w}"));
    }
}
