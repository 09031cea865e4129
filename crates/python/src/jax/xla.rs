//! The C interface of XLA's foreign functions, as far as handlers on a CPU need it: `xla/ffi/api/c_api.h`, version 0.3.
//!
//! The only place where raw pointers of XLA are read. What comes out are slices that live as long as the call.
#![allow(unsafe_code)] // a C interface; every block says why it may be entered

use std::borrow::Cow;
use std::ffi::{CString, c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::slice;

/// Version of the interface that these structures follow. XLA asks for it when a handler is registered.
pub const API_VERSION: (c_int, c_int) = (0, 3);

const F32: c_int = 11;
const F64: c_int = 12;
const S32: c_int = 4;
const S64: c_int = 5;
const EXECUTE: c_int = 3;
const METADATA: c_int = 1;
const SCALAR: c_int = 3;
const INVALID_ARGUMENT: c_int = 3;

#[repr(C)]
struct Extension {
    struct_size: usize,
    kind: c_int,
    next: *mut Extension,
}

#[repr(C)]
struct ApiVersion {
    struct_size: usize,
    extension_start: *mut Extension,
    major: c_int,
    minor: c_int,
}

#[repr(C)]
struct Metadata {
    struct_size: usize,
    api_version: ApiVersion,
    traits: u32,
    state_type_id: i64,
}

#[repr(C)]
struct MetadataExtension {
    base: Extension,
    metadata: *mut Metadata,
}

#[repr(C)]
struct ErrorCreateArgs {
    struct_size: usize,
    extension_start: *mut Extension,
    message: *const c_char,
    code: c_int,
}

/// An error that XLA owns.
#[repr(C)]
pub struct XlaError {
    _private: [u8; 0],
}

/// The beginning of the table of functions; those after it are not used.
#[repr(C)]
struct Api {
    struct_size: usize,
    extension_start: *mut Extension,
    api_version: ApiVersion,
    internal_api: *const c_void,
    error_create: unsafe extern "C" fn(*mut ErrorCreateArgs) -> *mut XlaError,
}

#[repr(C)]
struct Buffer {
    struct_size: usize,
    extension_start: *mut Extension,
    dtype: c_int,
    data: *mut c_void,
    rank: i64,
    dims: *const i64,
}

/// Arguments and results have one layout.
#[repr(C)]
struct Buffers {
    struct_size: usize,
    extension_start: *mut Extension,
    size: i64,
    types: *const c_int,
    buffers: *const *const Buffer,
}

#[repr(C)]
struct Name {
    start: *const u8,
    length: usize,
}

#[repr(C)]
struct Scalar {
    dtype: c_int,
    value: *const c_void,
}

#[repr(C)]
struct Attributes {
    struct_size: usize,
    extension_start: *mut Extension,
    size: i64,
    types: *const c_int,
    names: *const *const Name,
    values: *const *const c_void,
}

/// One call of a handler.
#[repr(C)]
pub struct CallFrame {
    struct_size: usize,
    extension_start: *mut Extension,
    api: *const Api,
    context: *mut c_void,
    stage: c_int,
    arguments: Buffers,
    results: Buffers,
    attributes: Attributes,
    future: *mut c_void,
}

/// A handler, as XLA calls it.
pub type Handler = unsafe extern "C" fn(*mut CallFrame) -> *mut XlaError;

/// What a handler reads and writes in a call.
pub struct Call<'a> {
    frame: &'a CallFrame,
}

impl<'a> Call<'a> {
    /// An argument of floats; an empty one is an argument that was left out. Those of 32 bits are widened.
    pub fn argument(&self, index: usize) -> Result<Cow<'a, [f64]>, String> {
        let buffer = buffer(&self.frame.arguments, index).ok_or_else(|| format!("argument {index} is missing"))?;
        let n = length(buffer).ok_or_else(|| format!("argument {index} has an impossible size"))?;
        match buffer.dtype {
            F64 | F32 if n == 0 => Ok(Cow::Borrowed(&[])),
            // SAFETY: XLA hands in n numbers of this type that nobody writes during the call.
            F64 => Ok(Cow::Borrowed(unsafe { slice::from_raw_parts(buffer.data.cast::<f64>(), n) })),
            // SAFETY: as above.
            F32 => Ok(unsafe { slice::from_raw_parts(buffer.data.cast::<f32>(), n) }
                .iter()
                .map(|x| f64::from(*x))
                .collect()),
            other => Err(format!("argument {index}: expected floats of 32 or 64 bits, got type {other} of XLA")),
        }
    }

    /// A result of floats. Each may be asked for once.
    pub fn result(&mut self, index: usize) -> Result<Room<'a>, String> {
        let buffer = buffer(&self.frame.results, index).ok_or_else(|| format!("result {index} is missing"))?;
        match buffer.dtype {
            F64 => Ok(Room::Wide(room(buffer, index)?)),
            F32 => {
                let out: &mut [f32] = room(buffer, index)?;
                Ok(Room::Narrow(vec![0.0; out.len()], out))
            }
            other => Err(format!("result {index}: expected floats of 32 or 64 bits, got type {other} of XLA")),
        }
    }

    /// A result of 32-bit integers. Each may be asked for once.
    pub fn integers(&mut self, index: usize) -> Result<&'a mut [i32], String> {
        let buffer = buffer(&self.frame.results, index).ok_or_else(|| format!("result {index} is missing"))?;
        match buffer.dtype {
            S32 => room(buffer, index),
            other => Err(format!("result {index}: expected integers of 32 bits, got type {other} of XLA")),
        }
    }

    /// An attribute that is a 64-bit integer.
    pub fn attribute(&self, name: &str) -> Result<i64, String> {
        let all = &self.frame.attributes;
        for k in 0..usize::try_from(all.size).unwrap_or(0) {
            // SAFETY: names, types and values have `size` entries; a scalar of type S64 points to one.
            unsafe {
                let given = &**all.names.add(k);
                if slice::from_raw_parts(given.start, given.length) != name.as_bytes() || *all.types.add(k) != SCALAR {
                    continue;
                }
                let scalar = &*(*all.values.add(k)).cast::<Scalar>();
                if scalar.dtype == S64 {
                    return Ok(scalar.value.cast::<i64>().read_unaligned());
                }
            }
        }
        Err(format!("attribute '{name}' is missing"))
    }
}

/// Room for a result: numbers of 64 bits as they are, or such that become numbers of 32 bits in the end.
pub enum Room<'a> {
    Wide(&'a mut [f64]),
    Narrow(Vec<f64>, &'a mut [f32]),
}

impl Room<'_> {
    pub fn numbers(&mut self) -> &mut [f64] {
        match self {
            Room::Wide(numbers) => numbers,
            Room::Narrow(numbers, _) => numbers,
        }
    }
}

impl Drop for Room<'_> {
    fn drop(&mut self) {
        if let Room::Narrow(numbers, out) = self {
            out.iter_mut().zip(numbers).for_each(|(out, x)| *out = *x as f32);
        }
    }
}

fn room<'a, T>(buffer: &Buffer, index: usize) -> Result<&'a mut [T], String> {
    match length(buffer).ok_or_else(|| format!("result {index} has an impossible size"))? {
        0 => Ok(&mut []),
        // SAFETY: XLA hands in room for n numbers of this type, apart from all other buffers of the call, which lives as long
        // as the slice: handlers do not keep it.
        n => Ok(unsafe { slice::from_raw_parts_mut(buffer.data.cast::<T>(), n) }),
    }
}

fn buffer(all: &Buffers, index: usize) -> Option<&Buffer> {
    let exists = i64::try_from(index).is_ok_and(|index| index < all.size);
    // SAFETY: the list has `size` pointers to buffers that live as long as the call.
    exists.then(|| unsafe { &**all.buffers.add(index) })
}

/// How many numbers a buffer has.
fn length(buffer: &Buffer) -> Option<usize> {
    let rank = usize::try_from(buffer.rank).ok()?;
    // SAFETY: `dims` has `rank` sizes; a scalar has none, and no list perhaps.
    let dims = if rank == 0 { &[][..] } else { unsafe { slice::from_raw_parts(buffer.dims, rank) } };
    dims.iter().try_fold(1usize, |n, size| n.checked_mul(usize::try_from(*size).ok()?))
}

/// Runs the body of a handler: answers questions about the interface, turns errors and panics into errors of XLA.
///
/// # Safety
/// `frame` must be what XLA hands to a handler.
pub unsafe fn handle(frame: *mut CallFrame, body: fn(&mut Call) -> Result<(), String>) -> *mut XlaError {
    // SAFETY: by contract XLA's frame, which lives as long as the call.
    let frame = unsafe { &*frame };
    if answer_metadata(frame) || frame.stage != EXECUTE {
        return std::ptr::null_mut();
    }
    let run = catch_unwind(AssertUnwindSafe(|| body(&mut Call { frame })));
    match run {
        Ok(Ok(())) => std::ptr::null_mut(),
        Ok(Err(message)) => error(frame, &message),
        Err(_) => error(frame, "a step panicked; this is a bug of slipstick"),
    }
}

/// Whether the call only asks for the version of the interface; then it is written.
fn answer_metadata(frame: &CallFrame) -> bool {
    let mut extension = frame.extension_start;
    while !extension.is_null() {
        // SAFETY: XLA chains extensions by pointers that are valid or null; one of this kind has room for the metadata.
        unsafe {
            if (*extension).kind == METADATA {
                let metadata = &mut *(*extension.cast::<MetadataExtension>()).metadata;
                (metadata.api_version.major, metadata.api_version.minor) = API_VERSION;
                metadata.traits = 0;
                return true;
            }
            extension = (*extension).next;
        }
    }
    false
}

fn error(frame: &CallFrame, message: &str) -> *mut XlaError {
    let message = CString::new(message.replace('\0', " ")).unwrap_or_default();
    let mut arguments = ErrorCreateArgs {
        struct_size: size_of::<ErrorCreateArgs>(),
        extension_start: std::ptr::null_mut(),
        message: message.as_ptr(),
        code: INVALID_ARGUMENT,
    };
    // SAFETY: XLA copies the message before it returns.
    unsafe { ((*frame.api).error_create)(&mut arguments) }
}
