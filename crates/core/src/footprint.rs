//! Bytes that memory holds on the heap, counted field by field.

use std::sync::Arc;

/// What owns memory.
pub(crate) trait Footprint {
    /// Bytes on the heap: room that was made, used or not.
    fn heap(&self) -> usize;
}

/// Of numbers and plain structs, which own nothing themselves.
impl<T> Footprint for Vec<T> {
    fn heap(&self) -> usize {
        self.capacity() * size_of::<T>()
    }
}

impl<T: Footprint, const N: usize> Footprint for [T; N] {
    fn heap(&self) -> usize {
        self.iter().map(T::heap).sum()
    }
}

impl<T: Footprint> Footprint for Option<Box<T>> {
    fn heap(&self) -> usize {
        self.as_ref().map_or(0, |x| size_of::<T>() + x.heap())
    }
}

impl<T: Footprint> Footprint for Box<T> {
    fn heap(&self) -> usize {
        size_of::<T>() + T::heap(self)
    }
}

/// What several share counts for each of them in part.
impl<T: Footprint> Footprint for Arc<T> {
    fn heap(&self) -> usize {
        (size_of::<T>() + T::heap(self)) / Arc::strong_count(self)
    }
}

/// The sum over the fields that own something. A test compares it with what the allocator gave.
macro_rules! footprint {
    ($type:ty: $($field:tt),+) => {
        impl crate::footprint::Footprint for $type {
            fn heap(&self) -> usize {
                0 $(+ crate::footprint::Footprint::heap(&self.$field))+
            }
        }
    };
}
pub(crate) use footprint;
