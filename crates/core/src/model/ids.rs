//! Typed indices: a joint cannot be asked for by a body's number.

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub usize);

        impl $name {
            /// The plain index.
            pub const fn index(self) -> usize {
                self.0
            }
        }
    };
}

id!(/** A moving body; 0 is the world. */ BodyId);
id!(/** A joint, in the order of its coordinates in q and v. */ JointId);
id!(/** A named frame: a link of the file or a site. */ FrameId);
id!(/** A shape fixed to a body. */ GeomId);
id!(/** A mesh that shapes refer to. */ MeshId);
id!(/** A height field that shapes refer to. */ FieldId);
id!(/** An actuator, in the order of ctrl. */ ActuatorId);

impl BodyId {
    /// The world.
    pub const WORLD: BodyId = BodyId(0);
}
