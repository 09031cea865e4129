//! Arguments of the benchmarks on moving robots.

use std::path::PathBuf;

/// Robots, motions and peers: arguments of `slipstick-bench step` and `slipstick-bench gradient`.
#[derive(clap::Args)]
pub struct Motions {
    /// A Python interpreter that has the package mujoco, which prepares the scenes.
    #[arg(long, value_name = "PROGRAM")]
    pub python: Option<PathBuf>,
    /// The program made by bench/mujoco/step.sh or gradient.sh.
    #[arg(long, value_name = "PROGRAM")]
    pub mujoco: Option<PathBuf>,
    /// The program made by bench/pinocchio/step.sh or gradient.sh: the Pinocchio baseline.
    #[arg(long = "recipe", value_name = "PROGRAM")]
    pub baseline: Option<PathBuf>,
    /// Folder with the robots of the paper's table; built-in robots are used where it is missing.
    #[arg(long, value_name = "FOLDER", env = "SLIPSTICK_MODELS", default_value = "../shared/models")]
    pub models: PathBuf,
    /// Only scenes (atlas) whose name contains this; in a sweep robots (quadruped, paper/atlas).
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub only: String,
    /// Motions per scene and phase.
    #[arg(long = "motions", value_name = "MOTIONS", default_value_t = 3)]
    pub count: usize,
    /// Steps per motion.
    #[arg(long, default_value_t = 1000)]
    pub steps: usize,
    /// Times that a motion is repeated, per round.
    #[arg(long, default_value_t = 4)]
    pub repeats: usize,
    /// Times that each engine is timed, in turns.
    #[arg(long, default_value_t = 3)]
    pub rounds: usize,
    /// Thickness (m) by which MuJoCo's shapes are inflated on our states, so that it has about as many active contacts:
    /// ours rest at a distance of zero, or a few µm apart on flat soles. The figures from our states depend on it.
    #[arg(long, value_name = "METERS", default_value_t = 5e-5)]
    pub thicker: f64,
    /// Seed of the random motions.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// A short run: 1 motion, 2 repeats, 1 round.
    #[arg(long)]
    pub quick: bool,
    /// Write the figures to this file as JSON.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

impl Motions {
    pub fn shortened(mut self) -> Motions {
        if self.quick {
            (self.count, self.repeats, self.rounds) = (1, 2, 1);
        }
        self
    }
}

/// Arguments of `slipstick-bench step`.
#[derive(clap::Args)]
pub struct StepArguments {
    #[command(flatten)]
    pub motions: Motions,
    /// Instead of timings: residuals over many random steps of all built-in robots and those of the paper's table.
    #[arg(long)]
    pub sweep: bool,
    /// Motions per robot and kind in a sweep.
    #[arg(long, default_value_t = 4)]
    pub sweep_motions: usize,
    /// Steps per motion in a sweep.
    #[arg(long, default_value_t = 500)]
    pub sweep_steps: usize,
    /// Solve every N-th step of a sweep with ADMM and projected Gauss–Seidel too; 0: none.
    #[arg(long, default_value_t = 50)]
    pub compare_every: usize,
    /// Write the states of unsolved and infeasible steps of a sweep to this folder.
    #[arg(long, value_name = "FOLDER")]
    pub dump: Option<PathBuf>,
}

impl StepArguments {
    pub fn shortened(mut self) -> StepArguments {
        if self.motions.quick {
            self.sweep_motions = 1;
        }
        StepArguments { motions: self.motions.shortened(), ..self }
    }
}

/// Arguments of `slipstick-bench gradient`.
#[derive(clap::Args)]
pub struct GradientArguments {
    #[command(flatten)]
    pub motions: Motions,
    /// Time derivatives at every N-th step.
    #[arg(long, default_value_t = 20)]
    pub every: usize,
    /// Write the tables, with how they were made, to this file as Markdown.
    #[arg(long, value_name = "FILE")]
    pub page: Option<PathBuf>,
}

impl GradientArguments {
    pub fn shortened(self) -> GradientArguments {
        GradientArguments { motions: self.motions.shortened(), every: self.every.max(1), ..self }
    }
}
