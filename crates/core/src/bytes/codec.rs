//! Values as bytes, field by field.

use core::ops::Range;

/// What is left of bytes that are read.
pub(crate) struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    /// The next bytes.
    pub fn next(&mut self, n: usize) -> Option<&'a [u8]> {
        let (taken, left) = self.0.split_at_checked(n)?;
        self.0 = left;
        Some(taken)
    }

    /// A count of things that take a byte each at least: never more than memory that is there already.
    fn count(&mut self) -> Option<usize> {
        usize::take(self).filter(|n| *n <= self.0.len())
    }
}

/// What can be written and read back bit for bit.
pub(crate) trait Bytes: Sized {
    fn put(&self, out: &mut Vec<u8>);
    /// `None` where the bytes are none of this type.
    fn take(input: &mut Reader) -> Option<Self>;
}

macro_rules! numbers {
    ($($type:ty),*) => {
        $(impl Bytes for $type {
            fn put(&self, out: &mut Vec<u8>) {
                out.extend(self.to_le_bytes());
            }

            fn take(input: &mut Reader) -> Option<$type> {
                Some(<$type>::from_le_bytes(*input.next(size_of::<$type>())?.first_chunk()?))
            }
        })*
    };
}
numbers!(u8, u32, i32, u64, f64);

impl Bytes for usize {
    fn put(&self, out: &mut Vec<u8>) {
        (*self as u64).put(out);
    }

    fn take(input: &mut Reader) -> Option<usize> {
        usize::try_from(u64::take(input)?).ok()
    }
}

impl Bytes for bool {
    fn put(&self, out: &mut Vec<u8>) {
        u8::from(*self).put(out);
    }

    fn take(input: &mut Reader) -> Option<bool> {
        match u8::take(input)? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }
}

impl Bytes for String {
    fn put(&self, out: &mut Vec<u8>) {
        self.len().put(out);
        out.extend(self.as_bytes());
    }

    fn take(input: &mut Reader) -> Option<String> {
        let n = input.count()?;
        String::from_utf8(input.next(n)?.to_vec()).ok()
    }
}

impl<T: Bytes> Bytes for Vec<T> {
    fn put(&self, out: &mut Vec<u8>) {
        self.len().put(out);
        self.iter().for_each(|x| x.put(out));
    }

    fn take(input: &mut Reader) -> Option<Vec<T>> {
        let n = input.count()?;
        (0..n).map(|_| T::take(input)).collect()
    }
}

impl<T: Bytes> Bytes for Option<T> {
    fn put(&self, out: &mut Vec<u8>) {
        self.is_some().put(out);
        self.iter().for_each(|x| x.put(out));
    }

    fn take(input: &mut Reader) -> Option<Option<T>> {
        match bool::take(input)? {
            true => Some(Some(T::take(input)?)),
            false => Some(None),
        }
    }
}

impl<T: Bytes, const N: usize> Bytes for [T; N] {
    fn put(&self, out: &mut Vec<u8>) {
        self.iter().for_each(|x| x.put(out));
    }

    fn take(input: &mut Reader) -> Option<[T; N]> {
        let all: Option<Vec<T>> = (0..N).map(|_| T::take(input)).collect();
        all?.try_into().ok()
    }
}

impl<A: Bytes, B: Bytes> Bytes for (A, B) {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
        self.1.put(out);
    }

    fn take(input: &mut Reader) -> Option<(A, B)> {
        Some((A::take(input)?, B::take(input)?))
    }
}

impl Bytes for Range<usize> {
    fn put(&self, out: &mut Vec<u8>) {
        (self.start, self.end).put(out);
    }

    fn take(input: &mut Reader) -> Option<Range<usize>> {
        let (start, end) = Bytes::take(input)?;
        Some(start..end)
    }
}

/// A struct with all its fields: one that is left out does not compile.
macro_rules! struct_bytes {
    ($($type:ident { $($field:ident),* $(,)? })*) => {
        $(impl Bytes for $type {
            fn put(&self, out: &mut Vec<u8>) {
                let $type { $($field),* } = self;
                $($field.put(out);)*
            }

            fn take(input: &mut Reader) -> Option<$type> {
                Some($type { $($field: Bytes::take(input)?),* })
            }
        })*
    };
}
pub(crate) use struct_bytes;

/// A struct around one value.
macro_rules! newtype_bytes {
    ($($type:ident)*) => {
        $(impl Bytes for $type {
            fn put(&self, out: &mut Vec<u8>) {
                self.0.put(out);
            }

            fn take(input: &mut Reader) -> Option<$type> {
                Some($type(Bytes::take(input)?))
            }
        })*
    };
}
pub(crate) use newtype_bytes;

/// An enum with the numbers of its variants, which stay when others are added.
macro_rules! enum_bytes {
    ($($type:ident { $($number:literal $variant:ident $({ $($field:ident),* })? $(( $value:ident ))?),* $(,)? })*) => {
        $(impl Bytes for $type {
            fn put(&self, out: &mut Vec<u8>) {
                match self {
                    $($type::$variant $({ $($field),* })? $(($value))? => {
                        out.push($number);
                        $($($field.put(out);)*)?
                        $($value.put(out);)?
                    })*
                }
            }

            fn take(input: &mut Reader) -> Option<$type> {
                match u8::take(input)? {
                    $($number => {
                        $(let $value = Bytes::take(input)?;)?
                        Some($type::$variant $({ $($field: Bytes::take(input)?),* })? $(($value))?)
                    })*
                    _ => None,
                }
            }
        })*
    };
}
pub(crate) use enum_bytes;
