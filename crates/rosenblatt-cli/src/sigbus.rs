//! The handler of SIGBUS: what is said when a mapped file is truncated while it is read.
//!
//! The program maps its input files. Pages behind a new end can no longer be read, and the system
//! raises a signal that would end the program without a word.

/// Installs the handler, which ends the program with an error like any other.
#[cfg(target_os = "linux")]
#[allow(unsafe_code)] // Signal handlers have no safe interface.
pub(crate) fn install() {
    extern "C" fn end(_: libc::c_int) {
        const WORDS: &[u8] = b"error: a file was truncated while it was read; \
            start again once nobody writes to it\n";
        // SAFETY: pointer and length are those of the text, and both functions may be called in a
        // handler.
        unsafe {
            libc::write(libc::STDERR_FILENO, WORDS.as_ptr().cast(), WORDS.len());
            libc::_exit(1);
        }
    }
    let end: extern "C" fn(libc::c_int) = end;
    // SAFETY: the handler calls async-signal-safe functions alone. Stack overflows, for which the
    // standard library has a handler of its own, raise SIGSEGV here.
    unsafe {
        libc::signal(libc::SIGBUS, end as libc::sighandler_t);
    }
}

/// Elsewhere the system says something, or stack overflows raise the same signal.
#[cfg(not(target_os = "linux"))]
pub(crate) fn install() {}
