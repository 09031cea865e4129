//! Memory on the heap, counted field by field: how many bytes it has, and whether it has grown.

use crate::error::InputError;
use std::sync::Arc;

/// Models with more dofs get dense matrices, of nv² numbers and more, only when something asks for them.
pub(crate) const FEW_DOFS: usize = 1000;
/// Bytes that a single question may take for dense matrices.
const MOST: u64 = 1 << 32;

/// Refuses dense matrices of so many numbers before memory is taken for them.
pub(crate) fn check_room(what: &'static str, numbers: usize) -> Result<(), InputError> {
    let bytes = numbers.saturating_mul(size_of::<f64>());
    let fits = bytes as u64 <= MOST && Vec::<u8>::new().try_reserve_exact(bytes).is_ok();
    if fits { Ok(()) } else { Err(InputError::Memory { what, bytes }) }
}

/// What owns memory.
pub(crate) trait Footprint {
    /// Sum over all lists, used or not: of their bytes, or of the elements there is room for.
    fn measure<const BYTES: bool>(&self) -> usize;

    /// Bytes on the heap.
    fn heap(&self) -> usize {
        self.measure::<true>()
    }

    /// Elements there is room for: an addition per list, so that every step can ask whether its memory has grown.
    #[inline(always)]
    fn room(&self) -> usize {
        self.measure::<false>()
    }
}

/// Of numbers and plain structs, which own nothing themselves.
impl<T> Footprint for Vec<T> {
    #[inline(always)]
    fn measure<const BYTES: bool>(&self) -> usize {
        self.capacity() * if BYTES { size_of::<T>() } else { 1 }
    }
}

impl<T: Footprint, const N: usize> Footprint for [T; N] {
    #[inline(always)]
    fn measure<const BYTES: bool>(&self) -> usize {
        self.iter().map(T::measure::<BYTES>).sum()
    }
}

impl<T: Footprint> Footprint for Option<Box<T>> {
    #[inline(always)]
    fn measure<const BYTES: bool>(&self) -> usize {
        self.as_ref().map_or(0, Box::measure::<BYTES>)
    }
}

impl<T: Footprint> Footprint for Box<T> {
    #[inline(always)]
    fn measure<const BYTES: bool>(&self) -> usize {
        if BYTES { size_of::<T>() + T::heap(self) } else { T::room(self) }
    }
}

/// What several share never grows; of its bytes each of them counts a part.
impl<T: Footprint> Footprint for Arc<T> {
    #[inline(always)]
    fn measure<const BYTES: bool>(&self) -> usize {
        if BYTES { (size_of::<T>() + T::heap(self)) / Arc::strong_count(self) } else { 0 }
    }
}

/// The sum over the fields that own something. A test compares it with what the allocator gave.
macro_rules! footprint {
    ($type:ty: $($field:tt),+) => {
        impl crate::footprint::Footprint for $type {
            #[inline(always)]
            fn measure<const BYTES: bool>(&self) -> usize {
                0 $(+ crate::footprint::Footprint::measure::<BYTES>(&self.$field))+
            }
        }
    };
}
pub(crate) use footprint;

/// How often memory has grown.
#[derive(Debug, Clone, Default)]
pub(crate) struct Growths {
    /// Elements there was room for when it was last watched.
    room: usize,
    pub count: usize,
}

impl Growths {
    /// Of memory that is new.
    pub fn of(memory: &impl Footprint) -> Growths {
        Growths { room: memory.room(), count: 0 }
    }

    /// Notes how much there is room for now. A copy of memory has less room than it had: that too is counted once.
    #[inline(always)]
    pub fn watch(&mut self, room: usize) {
        self.count += usize::from(room != self.room);
        self.room = room;
    }
}
