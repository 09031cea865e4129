//! Memory of a step: one struct per stage, each with one writer.

use crate::collision::ContactSet;
use crate::constraint::{Assembly, EndVelocity, Solution, SolveReport, WarmImpulses, WarmStart};
use crate::dynamics::{FreeMotion, Kinematics, StepMass};
use crate::error::InputError;
use crate::footprint::{Footprint, check_room, footprint};
use crate::gradient::{Gradient, StepInputs, StepRecord};
use crate::model::{Model, StructureId};

/// Memory for the steps of one model. From one step to the next it carries the warm start and nothing else: impulses and
/// places where searches begin. They decide how soon a solution is found and, where several exist, which.
#[derive(Debug, Clone)]
pub struct Data {
    pub(crate) structure: StructureId,
    pub(crate) kin: Kinematics,
    pub(crate) mass: StepMass,
    pub(crate) free: FreeMotion,
    pub(crate) contacts: ContactSet,
    pub(crate) assembly: Assembly,
    pub(crate) solution: Solution,
    pub(crate) warm: WarmImpulses,
    pub(crate) report: SolveReport,
    /// Velocities at the end of the step.
    pub(crate) end: EndVelocity,
    /// Acceleration over the step, (v_next − v) / dt (nv).
    pub(crate) acceleration: Vec<f64>,
    /// The part of it that forces made (nv): without what free rotation adds.
    pub(crate) forced: Vec<f64>,
    /// Whether a step has been made and came to its end.
    pub(crate) finished: bool,
    /// Inputs of the step.
    pub(crate) given: StepInputs,
    /// Memory of derivatives, made when the first one is asked for.
    gradient: Option<Box<Gradient>>,
}

footprint!(Data: kin, mass, free, contacts, assembly, solution, warm, end, acceleration, forced, given, gradient);

impl Data {
    /// Memory for a model; steps allocate nothing more, except where more things touch than ever before.
    pub fn new(model: &Model) -> Data {
        Data {
            structure: model.structure_id(),
            kin: Kinematics::new(model),
            mass: StepMass::new(model),
            free: FreeMotion::new(model),
            contacts: ContactSet::new(model),
            assembly: Assembly::new(model),
            solution: Solution::default(),
            warm: WarmImpulses::default(),
            report: SolveReport::default(),
            end: EndVelocity::new(model),
            acceleration: vec![0.0; model.nv()],
            forced: vec![0.0; model.nv()],
            finished: false,
            given: StepInputs::new(model),
            gradient: None,
        }
    }

    /// The step that it holds, and memory for its derivatives.
    pub(crate) fn differentiate<'a>(
        &'a mut self,
        model: &'a Model,
    ) -> Result<(StepRecord<'a>, &'a mut Gradient), InputError> {
        if self.gradient.is_none() {
            check_room("derivatives of a step", Gradient::dense_numbers(model))?;
        }
        let finished = StepRecord {
            model,
            given: &self.given,
            kin: &mut self.kin,
            mass: &mut self.mass,
            free: &self.free,
            contacts: &mut self.contacts,
            assembly: &self.assembly,
            solution: &self.solution,
            end: &self.end,
            acceleration: &self.forced,
        };
        Ok((finished, self.gradient.get_or_insert_with(|| Box::new(Gradient::new(model)))))
    }

    /// Exchanges memory for the search for impulses and for derivatives, which is larger than all the rest, with that of
    /// another `Data` of the model's structure. Where many robots are stepped or differentiated one after the other, one
    /// memory serves all and stays in the cache. Derivatives that were computed in either become invalid.
    pub fn exchange_scratch(&mut self, other: &mut Data) {
        if !self.structure.is(&other.structure) {
            return;
        }
        core::mem::swap(&mut self.gradient, &mut other.gradient);
        core::mem::swap(&mut self.solution.scratch, &mut other.solution.scratch);
        self.invalidate_derivatives();
        other.invalidate_derivatives();
    }

    /// Invalidates the derivatives of the step before.
    pub(crate) fn invalidate_derivatives(&mut self) {
        if let Some(gradient) = &mut self.gradient {
            gradient.invalidate();
        }
    }

    /// Bytes that it takes, itself included. Contacts and derivatives make room when they first need it, and keep it.
    pub fn bytes(&self) -> usize {
        size_of::<Data>() + self.heap()
    }

    /// Drops the warm start: the next step is solved as if it were the first.
    pub fn clear_warm_start(&mut self) {
        self.warm.clear();
        self.contacts.clear_searches();
    }

    /// A copy of the warm start.
    pub fn warm_start(&self) -> WarmStart {
        let structure = Some(self.structure.key());
        WarmStart { impulses: self.warm.clone(), searches: self.contacts.searches(), structure }
    }

    /// Copies the warm start into `out`, whose memory is used again.
    pub fn copy_warm_start(&self, out: &mut WarmStart) {
        out.structure = Some(self.structure.key());
        out.impulses.copy_from(&self.warm);
        self.contacts.copy_searches(&mut out.searches);
    }

    /// Puts a warm start back. With the same state and input the next step is then the same, bit for bit. One of another
    /// model is refused: what its impulses belong to is not what they would be given to.
    pub fn restore(&mut self, warm: &WarmStart) -> Result<(), InputError> {
        if let Some(expected) = warm.structure.filter(|key| *key != self.structure.key()) {
            return Err(InputError::OtherModel { what: "warm start", expected, got: self.structure.key() });
        }
        self.contacts.restore(&warm.searches)?;
        self.warm.copy_from(&warm.impulses);
        Ok(())
    }
}
