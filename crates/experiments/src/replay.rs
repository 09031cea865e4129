//! What was found, as a page to look at.

use crate::error::ExperimentError;
use crate::report::Motion;
use slipstick::{Data, Input, State, step};
use slipstick_view::Replay;

impl Motion {
    /// The motion as a page. Every step is made once more from its recorded state: a trajectory does not keep contacts.
    pub fn replay(&self, title: &str) -> Result<Replay, ExperimentError> {
        let (model, t) = (&self.model, &self.trajectory);
        let mut replay = Replay::new(model).with_title(title);
        let mut data = Data::new(model);
        let mut states = self.states()?.into_iter().peekable();
        if let Some(first) = states.peek() {
            replay.record_state(first).map_err(ExperimentError::during("recording the motion"))?;
        }
        for tau in t.tau.chunks_exact(model.nv()) {
            let (Some(x), Some(next)) = (states.next(), states.peek()) else { break };
            let mut made = x.clone();
            let done = step(model, &mut data, &x, &Input::tau(tau), &mut made);
            let contacts =
                done.map_err(ExperimentError::during("repeating the motion"))?.contacts().collect::<Vec<_>>();
            let recorded = replay.record_contacts(next, contacts, t.dt);
            recorded.map_err(ExperimentError::during("recording the motion"))?;
        }
        Ok(replay)
    }

    /// The states of the trajectory.
    fn states(&self) -> Result<Vec<State>, ExperimentError> {
        let (model, t) = (&self.model, &self.trajectory);
        let rows = t.q.chunks_exact(model.nq()).zip(t.v.chunks_exact(model.nv()));
        let state = |((q, v), time): ((&[f64], &[f64]), &f64)| {
            let mut x = State::new(model, q, v).map_err(ExperimentError::during("reading the motion"))?;
            x.time = *time;
            Ok(x)
        };
        rows.zip(&t.time).map(state).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slipstick::control::Controller;
    use slipstick::{Simulator, builtin};

    #[test]
    fn a_motion_is_shown_with_its_contacts() {
        let model = builtin("cube").expect("built in");
        let mut sim = Simulator::at_keyframe(&model, "home").expect("a keyframe");
        let trajectory = sim.rollout(50, &mut Controller::Off).expect("it lies there");
        let replay = Motion { model, trajectory }.replay("it lies there").expect("a replay");
        assert_eq!(replay.frames(), 4, "60 per second of 50 ms, and the last");
    }
}
