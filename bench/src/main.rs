//! Side-by-side timings of slipstick and its peers, on the same states in one run.

use std::process::ExitCode;

fn main() -> ExitCode {
    slipstick_bench::main()
}
