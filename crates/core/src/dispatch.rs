//! Wider vectors where the machine has them, chosen at run time once per pass.
//!
//! The body of a pass is compiled twice, for the portable baseline and for AVX2; both do the same operations in the
//! same order and nothing is fused, so the choice changes no bit (tested in `dynamics`).

/// Declares a function as the run-time choice between two compilations of its body. Written `dispatch!(fn …)`: rustfmt
/// formats functions in parentheses, but not in braces.
macro_rules! dispatch {
    ($(#[$doc:meta])* $vis:vis fn $name:ident($($arg:ident: $type:ty),* $(,)?) $(-> $result:ty)? $body:block) => {
        $(#[$doc])*
        $vis fn $name($($arg: $type),*) $(-> $result)? {
            #[inline(always)]
            fn pass($($arg: $type),*) $(-> $result)? $body
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2")]
                fn wide($($arg: $type),*) $(-> $result)? {
                    pass($($arg),*)
                }
                if crate::dispatch::has_avx2() {
                    // SAFETY: the machine has AVX2, checked in the line above; `wide` needs nothing else.
                    #[allow(unsafe_code)]
                    return unsafe { wide($($arg),*) };
                }
            }
            pass($($arg),*)
        }
    };
}
pub(crate) use dispatch;

/// Whether the machine has AVX2. In tests: not while [`portably`] runs.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn has_avx2() -> bool {
    #[cfg(test)]
    if PORTABLE.get() {
        return false;
    }
    std::arch::is_x86_feature_detected!("avx2")
}

#[cfg(test)]
thread_local! {
    static PORTABLE: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// Runs `f` with the portable compilation of every pass.
#[cfg(test)]
pub(crate) fn portably(f: impl FnOnce()) {
    PORTABLE.set(true);
    f();
    PORTABLE.set(false);
}
