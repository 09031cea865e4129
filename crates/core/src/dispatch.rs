//! Wider vectors where the machine has them, chosen at run time once per pass.
//!
//! The body of a pass is compiled twice, for the portable baseline and for AVX2; both do the same operations in the
//! same order and nothing is fused, so the choice changes no bit (tested in `dynamics`).

/// Declares `$name` as the run-time choice between two compilations of the `#[inline(always)]` function `$body`.
macro_rules! dispatch {
    ($(#[$doc:meta])* pub(crate) fn $name:ident($($arg:ident: $type:ty),* $(,)?) => $body:path) => {
        $(#[$doc])*
        pub(crate) fn $name($($arg: $type),*) {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2")]
                fn wide($($arg: $type),*) {
                    $body($($arg),*)
                }
                if std::arch::is_x86_feature_detected!("avx2") {
                    // SAFETY: the machine has AVX2, checked in the line above; `wide` needs nothing else.
                    #[allow(unsafe_code)]
                    return unsafe { wide($($arg),*) };
                }
            }
            $body($($arg),*)
        }
    };
}
pub(crate) use dispatch;
